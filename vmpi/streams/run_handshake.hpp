// Opens one end of a stream over MPI: runs a Handshake (handshake.hpp) with backoff until it has a result, and checks
// now and then whether the missing peers can still come.
#pragma once

#include <vector>

#include "vmpi/streams/endpoint.hpp"
#include "vmpi/streams/handshake.hpp"

namespace ardoise::vmpi {

// Waits for every rank. VMPI_SUCCESS: endpoints are filled, in the order of ranks. VMPI_ERR_PROTOCOL: a peer has
// another block size, version or direction, or found such a peer itself. VMPI_ERR_PEER: a peer died, or ended MPI,
// without opening. VMPI_ERR_TIMEOUT: a peer took longer than VMPI_OPEN_TIMEOUT (seconds; 600). The process that detects
// an error reports it in one sentence on standard error. endpoints stay empty on errors.
int run_handshake(const std::vector<int>& ranks, const StreamTerms& terms, std::vector<Endpoint>& endpoints);

}  // namespace ardoise::vmpi

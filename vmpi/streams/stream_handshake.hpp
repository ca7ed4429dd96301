// Opens one end of a stream over MPI: runs a Meeting (meeting.hpp) until it has a result, without spinning, and looks
// now and then whether those that are missing can still come.
#pragma once

#include <vector>

#include "vmpi/streams/endpoint.hpp"
#include "vmpi/streams/meeting.hpp"

namespace ardoise::vmpi {

// Waits for every rank. VMPI_SUCCESS: endpoints are filled, in the order of ranks. VMPI_ERR_PROTOCOL: a peer has
// another block size, version or an unfitting direction, or met such a peer itself. VMPI_ERR_PEER: a peer died, or
// ended MPI, without opening. VMPI_ERR_TIMEOUT: a peer needs longer than VMPI_OPEN_TIMEOUT says (seconds; 600). Said in
// one sentence on standard error by the process that sees it first hand. endpoints stay empty on errors.
int meet(const std::vector<int>& ranks, const StreamTerms& terms, std::vector<Endpoint>& endpoints);

}  // namespace ardoise::vmpi

// How the two ends of a stream meet. Each process sends every peer a hello that says what it wants and on which tag it
// will receive, and compares the hello it gets; then each tells its verdict, so that nobody goes on with a peer that
// gave up. Opens of the same two processes pair up in the order in which each called them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vmpi/endpoint.hpp"

namespace ardoise::vmpi {

struct StreamTerms {
  std::uint64_t block_bytes = 0;
  Mode mode;
  int tag = 0;  // where this end wants to receive
};

// Waits for every rank without spinning. VMPI_SUCCESS: endpoints are filled, in the order of ranks. VMPI_ERR_PROTOCOL:
// a peer has another block size, version or an unfitting direction, or met such a peer itself; said in one sentence on
// standard error by the process that sees it first hand. endpoints stay empty on errors.
int meet(MPI_Comm comm, const std::vector<int>& ranks, const StreamTerms& terms, std::vector<Endpoint>& endpoints);

}  // namespace ardoise::vmpi

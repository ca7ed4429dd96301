// The MPI calls of MpiRecorder. Made inside an observed call or under vmpi::Unobserved.
#pragma once

#include "instrument/record/mpi_recorder.hpp"

namespace ardoise::instrument {

[[nodiscard]] MpiQueries mpi_queries();

// The handle that this MPI library uses for requests that are complete from the start, 0: none. Posts two sends to
// MPI_PROC_NULL.
[[nodiscard]] std::uint64_t find_shared_request();

// Finds out where this MPI library stores that a request is complete, for MpiQueries::is_complete. Completes a request
// of its own.
void learn_completion();

}  // namespace ardoise::instrument

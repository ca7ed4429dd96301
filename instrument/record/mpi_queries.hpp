// The questions of MpiRecorder, asked of MPI. Called inside an observed call or with vmpi::Unobserved around it.
#pragma once

#include "instrument/record/mpi_recorder.hpp"

namespace ardoise::instrument {

[[nodiscard]] MpiQueries mpi_queries();

// The handle that this MPI library gives to requests which are complete from the start, 0 when it has none. Posts two
// sends to nobody.
[[nodiscard]] std::uint64_t find_shared_request();

// Finds out where a request of this MPI library says that it is complete, for MpiQueries::is_complete. Completes a
// request of its own.
void learn_completion();

}  // namespace ardoise::instrument

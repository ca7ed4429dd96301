// MPI_Finalize of one program must not wait for another. In Open MPI it is a fence over the whole job, unless its
// parameter async_mpi_finalize says no; then we fence the program's own world ourselves, as a launch of the program
// alone would have done. Used by world.cpp around MPI_Init and inside MPI_Finalize.
#pragma once

#include <mpi.h>

namespace ardoise::vmpi {

// Before the real MPI_Init: asks for no fence over the job, through the environment, unless the user decided already.
void drop_job_fence() noexcept;

[[nodiscard]] bool job_fence_is_dropped() noexcept;

// After it: the environment as it was, so that children do not inherit the request.
void restore_fence_environment() noexcept;

// Inside the real MPI_Finalize, when nothing of the program runs any more: waits for all processes of `world`.
void fence(MPI_Comm world) noexcept;

}  // namespace ardoise::vmpi

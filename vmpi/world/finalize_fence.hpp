// MPI_Finalize of one program must not wait for another. Open MPI's MPI_Finalize is a fence over the whole job unless
// its parameter async_mpi_finalize is set; with it set, we fence the program's own world, as in a launch of that
// program alone. Used by world.cpp around MPI_Init and inside MPI_Finalize.
#pragma once

#include <mpi.h>

namespace ardoise::vmpi {

// Before the real MPI_Init: disables the fence over the job through the environment, unless the user has set the
// parameter.
void drop_job_fence() noexcept;

[[nodiscard]] bool job_fence_is_dropped() noexcept;

// MPI_Finalize returns only when all processes of the job are in it: MPICH, or Open MPI as the user has set it.
[[nodiscard]] bool finalize_waits_for_job() noexcept;

// After the real MPI_Init: restores the environment, so that children do not inherit the parameter.
void restore_fence_environment() noexcept;

// Inside the real MPI_Finalize, after the program's last callback: waits for all processes of `world`.
void fence(MPI_Comm world) noexcept;

}  // namespace ardoise::vmpi

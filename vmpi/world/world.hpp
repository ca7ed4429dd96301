// The communicator behind MPI_COMM_WORLD in this process, and the two translations. Every wrapper of a function with a
// communicator calls to_library(); the few places where the library returns a communicator that may be the program's
// world call to_program(). Fortran goes through PMPI_Comm_f2c and PMPI_Comm_c2f (fortran_handles.cpp).
#pragma once

#include <mpi.h>

namespace ardoise::vmpi {

// The partition's communicator from the end of MPI_Init to the end of MPI_Finalize, otherwise MPI_COMM_WORLD. Written
// in MPI_Init and MPI_Finalize, which the program orders before and after all other MPI calls.
extern MPI_Comm world;

inline MPI_Comm to_library(MPI_Comm comm) {
  return comm == MPI_COMM_WORLD ? __atomic_load_n(&world, __ATOMIC_RELAXED) : comm;
}
inline MPI_Comm to_program(MPI_Comm comm) {
  return comm == __atomic_load_n(&world, __ATOMIC_RELAXED) ? MPI_COMM_WORLD : comm;
}
inline bool is_virtual() { return __atomic_load_n(&world, __ATOMIC_RELAXED) != MPI_COMM_WORLD; }

// Prepares the environment before the library reads its parameters there.
void prepare_environment() noexcept;
// Around the real MPI_Init. Only the first call has an effect: with a tool's MPI_Init there are two.
void before_init() noexcept;
void after_init(int argc, char** argv) noexcept;  // the real call succeeded
// Around the real MPI_Finalize.
void before_finalize() noexcept;

// True: `comm` has the predefined attributes natively, because it is the world or a duplicate of it.
bool has_world_attributes(MPI_Comm comm) noexcept;

// MPI_APPNUM as in a launch of this program alone; nullptr: not set.
int* application_number() noexcept;

}  // namespace ardoise::vmpi

// Conversion between Fortran's integers and C handles. fortran_handles.cpp replaces the library's PMPI_Comm_f2c and
// PMPI_Comm_c2f, which virtualises every Fortran routine: each converts its communicator there.
#pragma once

#include <mpi.h>

namespace ardoise::vmpi {

// These exchange MPI_COMM_WORLD and the program's world.
MPI_Comm comm_from_fortran(MPI_Fint comm) noexcept;
MPI_Fint comm_to_fortran(MPI_Comm comm) noexcept;

// The library's own conversions.
MPI_Comm real_comm_f2c(MPI_Fint comm) noexcept;
MPI_Fint real_comm_c2f(MPI_Comm comm) noexcept;

// The integer of MPI_COMM_WORLD in Fortran.
MPI_Fint fortran_world() noexcept;

// In MPI_Init: MPICH's MPI_IN_PLACE, MPI_STATUS_IGNORE … of Fortran are known afterwards, even when C initialises MPI.
void learn_fortran_sentinels() noexcept;

// MPI_IN_PLACE of Fortran is the address of a variable that only programs with Fortran have.
bool is_fortran_in_place(const void* buffer) noexcept;
bool is_fortran_bottom(const void* buffer) noexcept;

}  // namespace ardoise::vmpi

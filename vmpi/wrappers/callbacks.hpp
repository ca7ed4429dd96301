// Callbacks of the program that receive a communicator from MPI: error handlers and attribute functions. The library
// calls them with the partition's communicator, the program expects MPI_COMM_WORLD and may compare. Each distinct
// function gets a small translating function in front, for the life of the process. Beyond kCallbackSlots distinct
// functions of one kind, callbacks are called untranslated.
#pragma once

#include <mpi.h>

namespace ardoise::vmpi {

inline constexpr int kCallbackSlots = 128;

MPI_Comm_errhandler_function* translated(MPI_Comm_errhandler_function* function) noexcept;
MPI_Comm_copy_attr_function* translated_copy(MPI_Comm_copy_attr_function* function) noexcept;
MPI_Comm_delete_attr_function* translated_delete(MPI_Comm_delete_attr_function* function) noexcept;

// The same for Fortran procedures, whose arguments are addresses.
void* translated_fortran_errhandler(void* procedure) noexcept;
void* translated_fortran_copy(void* procedure) noexcept;
void* translated_fortran_delete(void* procedure) noexcept;

}  // namespace ardoise::vmpi

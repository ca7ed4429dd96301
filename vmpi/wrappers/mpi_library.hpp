// The MPI library behind us, among all libraries of this process that have MPI functions.
#pragma once

namespace ardoise::vmpi {

// Its function `name`, by way of the twin in PMPI_ that no tool defines; nullptr: it has none.
void* find_in_mpi_library(const char* name) noexcept;

}  // namespace ardoise::vmpi

// What the generator writes. Each function returns the whole text of one generated file.
#pragma once

#include <string>

#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

// vmpi/mpi_functions.hpp: numbers, names and roles of the functions. Needs no MPI.
std::string emit_functions_header(const Table& table);

}  // namespace ardoise::generator

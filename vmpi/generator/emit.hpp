// The generator's outputs. Each function returns the whole text of one generated file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vmpi/generator/prototypes.hpp"
#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

// vmpi/mpi_functions.hpp: numbers, names and roles of the functions. It needs no MPI.
std::string emit_functions_header(const Table& table);

// The implementation whose mpi.h was read. The C wrappers are the same for both, the Fortran wrappers differ.
enum class Library { kOpenMpi, kMpich };
Library library_of(std::string_view preprocessed_header);

// A function of the table together with its C signature in the installed mpi.h.
struct Wrapped {
  Function function;
  Prototype prototype;
};

// Pairs the table with the header. Throws TableError when the header declares a function that is neither in the table
// nor skipped, or one with another number of parameters. A function that the header lacks gets no wrapper.
std::vector<Wrapped> match(const Table& table, const std::vector<Prototype>& prototypes);

// real_functions.hpp: pointers to the functions that wrappers call; real_functions.cpp: their definition.
std::string emit_real_functions_header(const std::vector<Wrapped>& wrapped);
std::string emit_real_functions(const std::vector<Wrapped>& wrapped);

// The C wrappers: every parts-th one from `part` on, so that several sources compile in parallel.
std::string emit_c_wrappers(const std::vector<Wrapped>& wrapped, std::size_t part, std::size_t parts);

// The Fortran wrappers: f08 false: mpif.h and use mpi (mpi_send_ and its aliases), true: mpi_send_f08_.
std::string emit_fortran_wrappers(const std::vector<Wrapped>& wrapped, Library library, bool f08, std::size_t part,
                                  std::size_t parts);

}  // namespace ardoise::generator

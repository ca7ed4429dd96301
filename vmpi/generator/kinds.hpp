// The words of the table: kinds of parameters, and byte rules with the kinds that they need and the role that they give
// a function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ardoise::generator {

bool is_kind(std::string_view word);

// A CHARACTER argument of Fortran: its length is a hidden argument after all others.
bool is_fortran_string(std::string_view kind);
// Fortran lacks the parameter.
bool is_c_parameter_only(std::string_view kind);
// Fortran passes the address of one or more INTEGERs, which wrappers may read.
bool is_fortran_integer(std::string_view kind);
// A buffer of any type, for which mpi_f08 may pass a descriptor.
bool is_choice_buffer(std::string_view kind);
// An INTEGER(MPI_COUNT_KIND), or an array of them: counts of functions whose counts are MPI_Count.
bool is_large_integer(std::string_view kind, bool large_function);

struct Rule {
  std::string name;
  std::string role;                // enumerator of vmpi::Role
  std::vector<std::string> needs;  // kinds that a function of this rule has exactly once each
};
const Rule* find_rule(std::string_view name);  // nullptr: none
const std::vector<Rule>& rules();

}  // namespace ardoise::generator

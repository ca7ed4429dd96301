// The words of the table: kinds of parameters, and byte rules with the kinds they need and the role they give a
// function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ardoise::generator {

bool is_kind(std::string_view word);

// A CHARACTER argument of Fortran: its length is passed as a hidden argument behind all others.
bool is_fortran_string(std::string_view kind);
// Not there in Fortran.
bool is_c_parameter_only(std::string_view kind);
// Fortran passes the address of one INTEGER or of several, and wrappers may read them.
bool is_fortran_integer(std::string_view kind);
// A buffer of any type: mpi_f08 may pass a descriptor.
bool is_choice_buffer(std::string_view kind);
// An INTEGER(MPI_COUNT_KIND), or an array of them: counts of functions whose counts are MPI_Count.
bool is_large_integer(std::string_view kind, bool large_function);

struct Rule {
  std::string name;
  std::string role;                // enumerator of vmpi::Role
  std::vector<std::string> needs;  // kinds that a function of this rule has exactly once
};
const Rule* find_rule(std::string_view name);  // nullptr: none
const std::vector<Rule>& rules();

}  // namespace ardoise::generator

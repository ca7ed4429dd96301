// The MPI functions that the installed mpi.h declares, read from its preprocessed text. They give the wrappers their C
// signatures, which so always agree with the header of the build.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ardoise::generator {

struct Parameter {
  std::string declaration;  // "const int sendcounts[]"
  std::string name;         // "sendcounts"; "arg3" when the header names none; "..." for the ellipsis
};

struct Prototype {
  std::string name;         // "MPI_Alltoallv"
  std::string return_type;  // "int"
  std::vector<Parameter> parameters;
};

// All functions whose names start with MPI_ or MPIX_, in the order of the header, each once.
std::vector<Prototype> parse_prototypes(std::string_view preprocessed);

}  // namespace ardoise::generator

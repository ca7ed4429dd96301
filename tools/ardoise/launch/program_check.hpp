// Checks one app context's program before the launch: is it there, may it be executed, can it be measured?
#pragma once

#include <optional>
#include <string>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

struct ProgramCheck {
  std::string path;                           // where it was found
  std::optional<std::string> not_measurable;  // one sentence: why nothing can be preloaded into it
  // The runtime of GCC's AddressSanitizer where the program is linked to it: it has to be the first library of all. "":
  // there is none.
  std::string sanitizer;
  bool is_mpi_program = false;  // is linked with MPI itself, and not a script or a program that starts others
};

// Looks for the program as mpirun does: with a slash in its name relative to the working directory of the context, else
// along PATH (or mpirun's --path), then in the working directory. `own_mpi` is the MPI library Ardoise was built with
// ("libmpi.so.40"). Throws UsageError when the program is missing or not executable.
[[nodiscard]] ProgramCheck check_program(const AppContext& context, const std::string& own_mpi);

}  // namespace ardoise::launcher

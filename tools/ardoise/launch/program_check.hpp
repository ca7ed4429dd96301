// Checks one app context's program before the launch: whether it exists, may be executed, and can be measured.
#pragma once

#include <optional>
#include <string>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

struct ProgramCheck {
  std::string path;                           // where the program was found
  std::optional<std::string> not_measurable;  // one sentence: why no library can be preloaded into it
  // Runtime of GCC's AddressSanitizer if the program is linked with it; it must be the first library. "": none.
  std::string sanitizer;
  bool is_mpi_program = false;  // linked with MPI itself; not a script or a program that starts others
};

// Searches the program as mpirun does: a name with a slash in the working directory of the context, any other name in
// PATH (or mpirun's --path), then in the working directory. `own_mpi` is the MPI library of this build
// ("libmpi.so.40"). Throws UsageError if the program is missing or not executable.
[[nodiscard]] ProgramCheck check_program(const AppContext& context, const std::string& own_mpi);

}  // namespace ardoise::launcher

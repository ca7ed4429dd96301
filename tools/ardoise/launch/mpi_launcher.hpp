// Identifies the mpirun on the launch line.
#pragma once

#include <string>

#include "tools/ardoise/launch/launch_plan.hpp"

namespace ardoise::launcher {

struct MpiLauncher {
  bool open_mpi = false;
  bool hydra = false;  // of MPICH
  unsigned major = 0, minor = 0;
};

// Throws UsageError for words that are no launcher of MPI programs, and for srun.
void check_launcher_name(const std::string& word);

// "MPICH" or "Open MPI", from the name of the library ("libmpich.so.12").
[[nodiscard]] std::string family_of(const std::string& mpi_library);

// Runs `launcher --version`. Throws UsageError if there is no such program.
[[nodiscard]] MpiLauncher identify_launcher(const std::string& launcher);

// Parses the output of --version.
[[nodiscard]] MpiLauncher read_version(const std::string& output);

}  // namespace ardoise::launcher

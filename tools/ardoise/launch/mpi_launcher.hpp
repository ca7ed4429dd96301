// Which mpirun is it that stands on the launch line?
#pragma once

#include <string>

#include "tools/ardoise/launch/launch_plan.hpp"

namespace ardoise::launcher {

struct MpiLauncher {
  bool open_mpi = false;
  bool hydra = false;  // of MPICH
  unsigned major = 0, minor = 0;
};

// Refuses, with a sentence each, words that are no launcher of MPI programs, and srun.
void check_launcher_name(const std::string& word);

// "MPICH" or "Open MPI", by the name of the library ("libmpich.so.12").
[[nodiscard]] std::string family_of(const std::string& mpi_library);

// Asks `launcher --version`. Throws UsageError when it is not there.
[[nodiscard]] MpiLauncher identify_launcher(const std::string& launcher);

// Pure part of it.
[[nodiscard]] MpiLauncher read_version(const std::string& output);

}  // namespace ardoise::launcher

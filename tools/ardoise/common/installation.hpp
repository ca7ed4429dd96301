// Finds the parts of Ardoise, beside this executable: in the build folder or in an installation.
#pragma once

#include <string>

namespace ardoise::launcher {

struct Installation {
  std::string preload_library;  // libardoise.so
  std::string analyzer;         // ardoise-analyzer
  std::string mpi_library;      // the MPI of this build, "libmpi.so.40"
};

// Throws UsageError that names a missing part.
[[nodiscard]] Installation find_installation();

}  // namespace ardoise::launcher

// How the tests launch programs by hand: the launcher of the MPI at hand, asked for more processes than there are slots.
#pragma once

#include <string>
#include <vector>

#include "tools/ardoise/process.hpp"

namespace ardoise::launcher {

inline std::vector<std::string> mpirun() {
#if MPI_IS_MPICH
  return {MPIEXEC};
#else
  return {"mpirun", "--oversubscribe"};
#endif
}

inline Captured by_hand(const std::vector<std::string>& words) {
  auto line = mpirun();
  line.insert(line.end(), words.begin(), words.end());
  return run_and_read(line);
}

}  // namespace ardoise::launcher

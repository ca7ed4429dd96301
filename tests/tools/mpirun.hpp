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

// The launcher's option that gives a context's processes an environment variable.
inline std::vector<std::string> exported(const std::string& name, const std::string& value) {
#if MPI_IS_MPICH
  return {"-env", name, value};
#else
  return {"-x", name + "=" + value};
#endif
}

inline Captured by_hand(const std::vector<std::string>& words) {
  auto line = mpirun();
  line.insert(line.end(), words.begin(), words.end());
  return run_and_read(line);
}

}  // namespace ardoise::launcher

// The processes below another one, for the end of a launch whose mpirun does not end it.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ardoise::launcher {

// Those of the session of `process` that descend from it, itself not among them. What writes the remains of a launch
// has a session of its own: analyzers behind their guardians, and the programs' survivors.
[[nodiscard]] std::vector<pid_t> processes_below(pid_t process);

}  // namespace ardoise::launcher

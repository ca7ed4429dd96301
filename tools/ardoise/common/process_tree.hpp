// Lists the descendants of a process, for a launch whose mpirun does not end them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ardoise::launcher {

// Descendants of `process` in its session, without itself. Processes that write the remains of a launch have sessions
// of their own and are not listed: analyzers behind their guardians, and the programs' survivors.
[[nodiscard]] std::vector<pid_t> processes_below(pid_t process);

}  // namespace ardoise::launcher

// `ardoise status`: where the ranks of a running launch are, and a summary of the results so far.
#pragma once

#include <string>

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Returns the exit status: 1 where no launch is running, or has run, there.
[[nodiscard]] int status(const CommandLine& line);

// Launches that run: those whose folder has the usual name and is in the current one, and those of this user
// with a process on this host. The last one whose folder is in the current one, else the last one. Throws UsageError
// where there is none.
[[nodiscard]] std::string find_running_folder();

}  // namespace ardoise::launcher

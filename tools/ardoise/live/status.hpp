// `ardoise status`: prints the position of the ranks of a running launch, and a summary of the results so far.
#pragma once

#include <string>

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Returns the exit status: 1 if the folder has no launch, running or ended.
[[nodiscard]] int status(const CommandLine& line);

// Searches running launches: folders with the usual name in the current one, and launches of this user with a process
// on this host. Prefers a folder in the current one, then the latest. "": there is none, which
// a message says.
[[nodiscard]] std::string find_running_folder();

}  // namespace ardoise::launcher

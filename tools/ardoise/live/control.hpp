// `ardoise control`: changes settings while a launch runs.
#pragma once

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Returns the exit status.
[[nodiscard]] int control(const CommandLine& line);

}  // namespace ardoise::launcher

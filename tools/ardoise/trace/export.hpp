// `ardoise export`: converts a profile, a trace in OTF2, or captured packs for other tools.
#pragma once

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Returns the exit status. Throws UsageError.
[[nodiscard]] int export_for_tools(const CommandLine& line);

}  // namespace ardoise::launcher

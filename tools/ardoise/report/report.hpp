// `ardoise report`: renders the report of a profile again, or makes the report of a trace by any tool or of captured
// packs, as if the program had run under ardoise.
#pragma once

#include <string>
#include <vector>

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Returns the exit status. Throws UsageError.
[[nodiscard]] int report(const CommandLine& line);

// Runs ardoise-analyzer on a trace or on captured packs, with additional arguments. Returns the exit status.
[[nodiscard]] int analyze_again(const std::vector<std::string>& paths, const std::string& output,
                                const std::vector<std::string>& words);

}  // namespace ardoise::launcher

// `ardoise snapshots`: lists, sums, merges, cuts and converts files of snapshots (docs/guide/snapshots.md).
#pragma once

#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

// Returns the exit status.
[[nodiscard]] int snapshots(const CommandLine& line);

}  // namespace ardoise::launcher

// Runs one measured launch from the checks to the report: `ardoise mpirun …`.
#pragma once

#include <string>
#include <vector>

#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/options.hpp"

namespace ardoise::launcher {

// words: the user's launch line. Returns the exit status. Throws UsageError before anything is started.
[[nodiscard]] int measure(const Options& options, const std::vector<std::string>& words);

}  // namespace ardoise::launcher

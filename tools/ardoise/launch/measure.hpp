// One measured launch from the checks to the report: what `ardoise mpirun …` does.
#pragma once

#include <string>
#include <vector>

#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/options.hpp"

namespace ardoise::launcher {

// words: the user's launch line. Returns the exit status. Throws UsageError before anything was started.
[[nodiscard]] int measure(const Options& options, const std::vector<std::string>& words);

}  // namespace ardoise::launcher

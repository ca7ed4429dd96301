// Analysis of captured packs without MPI: the same path and end as in a running launch. For tests, for analyzing a run
// again with another plug-in, and for measuring the analyzer alone.
#pragma once

#include "analyzer/options/options.hpp"

namespace ardoise::analyzer {

// ardoise-analyzer --replay: returns the exit status.
[[nodiscard]] int replay(const Options& options);

}  // namespace ardoise::analyzer

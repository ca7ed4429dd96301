// Analysis of captured packs, without MPI: the same path and the same end as in a running launch. For tests, for
// looking at a run again with another plug-in, and for measuring the analyzer alone.
#pragma once

#include "analyzer/options/options.hpp"

namespace ardoise::analyzer {

// ardoise-analyzer --replay: returns the exit status.
[[nodiscard]] int replay(const Options& options);

}  // namespace ardoise::analyzer

// How many worker threads an analyzer starts when nobody says.
#pragma once

#include <algorithm>

namespace ardoise::analyzer {

// cores: that this process may use; local_ranks: all processes of the launch on this machine, this one included (0:
// unknown). What the programs leave over, shared with nobody: a second analyzer on a full machine makes no more cores.
// More than eight read memory no faster.
[[nodiscard]] constexpr unsigned workers_for(unsigned cores, unsigned local_ranks) {
  constexpr unsigned kMost = 8;
  const unsigned programs = local_ranks > 0 ? local_ranks - 1 : 0;
  return cores <= programs ? 1U : std::clamp(cores - programs, 1U, kMost);
}

[[nodiscard]] unsigned default_workers();

}  // namespace ardoise::analyzer

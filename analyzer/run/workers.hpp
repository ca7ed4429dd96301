// How many worker threads an analyzer starts by default, and whether the launch has processors enough at all.
#pragma once

#include <algorithm>
#include <string>

namespace ardoise::analyzer {

// cores: that this process may use; local_ranks: all processes of the launch on this machine, this one included (0:
// unknown). What the programs leave over, not shared: a second analyzer on a full machine makes no more cores.
// More than eight read memory no faster.
[[nodiscard]] constexpr unsigned workers_for(unsigned cores, unsigned local_ranks) {
  constexpr unsigned kMost = 8;
  const unsigned programs = local_ranks > 0 ? local_ranks - 1 : 0;
  return cores <= programs ? 1U : std::clamp(cores - programs, 1U, kMost);
}

[[nodiscard]] unsigned default_workers();

// Lets this process run wherever the process that started it may, mpirun or its daemon: an analyzer that is bound like
// a rank (tools/ardoise/launch/binding.hpp) would share that rank's core while others are free.
void take_processors_of_launcher() noexcept;

// A sentence for the report when the processes of the launch on one machine are more than its processors; else empty.
// local_ranks as above.
[[nodiscard]] std::string crowding_notice(unsigned processors, unsigned local_ranks);
// The same for this machine.
[[nodiscard]] std::string crowding_notice();

}  // namespace ardoise::analyzer

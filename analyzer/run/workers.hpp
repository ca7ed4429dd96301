// The default number of worker threads of an analyzer, and whether the launch has enough processors.
#pragma once

#include <algorithm>
#include <string>

namespace ardoise::analyzer {

// cores: available to this process; local_ranks: all processes of the launch on this machine, this one included (0:
// unknown). Uses the cores that the programs leave, undivided: a second analyzer on a full machine makes no more cores.
// More than eight workers read memory no faster.
[[nodiscard]] constexpr unsigned workers_for(unsigned cores, unsigned local_ranks) {
  constexpr unsigned kMost = 8;
  const unsigned programs = local_ranks > 0 ? local_ranks - 1 : 0;
  return cores <= programs ? 1U : std::clamp(cores - programs, 1U, kMost);
}

[[nodiscard]] unsigned default_workers();

// Widens this process's affinity to that of its parent, mpirun or its daemon: an analyzer bound like a rank
// (tools/ardoise/launch/binding.hpp) would share that rank's core while others are idle.
void take_processors_of_launcher() noexcept;

// A sentence for the report when the launch has more processes on one machine than processors; otherwise empty.
// local_ranks as above.
[[nodiscard]] std::string crowding_notice(unsigned processors, unsigned local_ranks);
// The same for this machine.
[[nodiscard]] std::string crowding_notice();

// s of CPU time of this process, all threads.
[[nodiscard]] double cpu_seconds();

}  // namespace ardoise::analyzer

// Times of a replay compared with the recorded run: by function, by rank, and the components of the difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/replay/player.hpp"

namespace ardoise::replay {

// Times of a process, summed over its threads.
struct ReplayTimes {
  std::vector<FunctionTimes> functions;  // by function of CallShape
  std::uint64_t pauses_asked = 0, pauses_taken = 0;
  std::uint64_t recorded = 0, replayed = 0;  // of the whole run, ns
};

// Collective over MPI_COMM_WORLD. Returns the text in rank 0, "" elsewhere.
[[nodiscard]] std::string replay_report(const ReplayTimes& own);

}  // namespace ardoise::replay

// Ranks that spend their time in one way, and the cost of that for the others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

// Sum over all ranks, s.
[[nodiscard]] double total(const std::vector<RankTime>& times, double RankTime::*part);
// Sum over these ranks, s.
[[nodiscard]] double sum_over(const std::vector<std::uint32_t>& ranks, const std::vector<RankTime>& times,
                              double RankTime::*part);

// The ranks that spent much in this: in ascending order.
[[nodiscard]] std::vector<std::uint32_t> affected(const std::vector<RankTime>& times, const auto& seconds_of) {
  constexpr double kAlso = 0.3;  // of the most affected rank
  double most = 0;
  for (const RankTime& time : times) most = std::max(most, seconds_of(time));
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < times.size(); ++rank) {
    if (most > 0 && seconds_of(times[rank]) >= kAlso * most) ranks.push_back(rank);
  }
  return ranks;
}

// s. Time that these ranks sleep, or lack a processor, costs the others no more than these wait for them, and no more
// than one of them waits. All ranks: no limit.
[[nodiscard]] double waiting_of_others(const RunView& view, const std::vector<std::uint32_t>& ranks);

}  // namespace ardoise::reports

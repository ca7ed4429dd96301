#include "reports/losses/affected_ranks.hpp"

#include <numeric>

namespace ardoise::reports {

double total(const std::vector<RankTime>& times, double RankTime::*part) {
  return std::accumulate(times.begin(), times.end(), 0.0, [&](double sum, const RankTime& t) { return sum + t.*part; });
}

double sum_over(const std::vector<std::uint32_t>& ranks, const std::vector<RankTime>& times, double RankTime::*part) {
  double sum = 0;
  for (const std::uint32_t rank : ranks) sum += times[rank].*part;
  return sum;
}

double waiting_of_others(const RunView& view, const std::vector<std::uint32_t>& ranks) {
  constexpr double kMostWaitsUnknown = 0.3;  // of the waits
  const std::vector<double>& waiting = view.app.waiting.per_rank.waiting_seconds;
  const std::vector<double>& caused = view.app.waiting.per_rank.caused_seconds;
  if (ranks.size() == view.times.size() || waiting.size() != view.times.size() || caused.size() != waiting.size() ||
      view.unknown_waits > kMostWaitsUnknown)
    return view.run;
  double longest = 0, for_them = 0;
  for (std::uint32_t rank = 0; rank < waiting.size(); ++rank) {
    if (std::ranges::binary_search(ranks, rank))
      for_them += caused[rank];
    else
      longest = std::max(longest, waiting[rank]);
  }
  return std::min(longest, for_them);
}

}  // namespace ardoise::reports

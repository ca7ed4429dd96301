// See efficiency.hpp.
#include "reports/findings/efficiency.hpp"

#include <algorithm>
#include <numeric>

namespace ardoise::reports {

namespace {
double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
}  // namespace

std::vector<double> useful_seconds(const Application& a) {
  const RankSummary& ranks = a.per_rank;
  if (ranks.wall_seconds.empty() || ranks.mpi_seconds.empty()) return {};
  std::vector<double> useful(ranks.wall_seconds.size());
  for (std::size_t i = 0; i < useful.size(); ++i) {
    // Several threads in MPI at a time may sum to more than the wall time.
    useful[i] = std::max(0.0, ranks.wall_seconds[i] - ranks.mpi_seconds[i]);
  }
  return useful;
}

Efficiency efficiency_of(const Application& a) {
  const std::vector<double> useful = useful_seconds(a);
  const double wall = sum(a.per_rank.wall_seconds);
  Efficiency e;
  if (useful.empty() || wall <= 0) return e;
  e.known = true;
  e.mpi_share = std::min(1.0, sum(a.per_rank.mpi_seconds) / wall);
  e.io_share = std::min(1.0, sum(a.per_rank.io_seconds) / wall);
  const auto slowest = std::max_element(useful.begin(), useful.end());
  e.slowest_rank = static_cast<std::uint32_t>(slowest - useful.begin());
  e.max_useful = *slowest;
  e.mean_useful = sum(useful) / static_cast<double>(useful.size());
  const double longest =
      std::max(a.wall_seconds, *std::max_element(a.per_rank.wall_seconds.begin(), a.per_rank.wall_seconds.end()));
  e.load_balance = e.max_useful > 0 ? e.mean_useful / e.max_useful : 1;
  e.imbalance = e.mean_useful > 0 ? e.max_useful / e.mean_useful : 1;
  e.communication = std::min(1.0, e.max_useful / longest);
  e.parallel = e.load_balance * e.communication;
  return e;
}

}  // namespace ardoise::reports

#include "knowledge_sources/plugins/waits/origins.hpp"

#include <numeric>
#include <utility>

namespace ardoise::knowledge_sources {

std::vector<double> origins_of(std::span<const double> caused, std::span<const double> held_up,
                               std::span<const reports::WaitEdge> edges) {
  constexpr int kMostSteps = 100;
  constexpr double kRest = 1e-4;  // of all: smaller amounts are not passed on
  std::vector<double> waited(caused.size());
  for (const reports::WaitEdge& edge : edges) waited[edge.waiter] += edge.seconds;
  const auto sum = [](const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); };
  std::vector<double> origins(caused.size()), at(caused.begin(), caused.end());
  const double all = sum(at);
  for (int step = 0; step < kMostSteps && sum(at) > kRest * all; ++step) {
    std::vector<double> handed_on(at.size());
    for (std::size_t rank = 0; rank < at.size(); ++rank) {
      const double goes = waited[rank] > 0 ? held_up[rank] * at[rank] : 0;
      origins[rank] += at[rank] - goes;
      at[rank] = waited[rank] > 0 ? goes / waited[rank] : 0;
    }
    for (const reports::WaitEdge& edge : edges) handed_on[edge.awaited] += at[edge.waiter] * edge.seconds;
    at = std::move(handed_on);
  }
  for (std::size_t rank = 0; rank < at.size(); ++rank) origins[rank] += at[rank];
  return origins;
}

}  // namespace ardoise::knowledge_sources

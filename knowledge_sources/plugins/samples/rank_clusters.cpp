#include "knowledge_sources/plugins/samples/rank_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ardoise::knowledge_sources {
namespace {

constexpr double kThreshold = 0.10;
constexpr std::size_t kMostClusters = 32;  // further ranks join the nearest one

// Shares of one rank: of each function, and last of all other functions.
std::vector<double> shares_of(const std::vector<double>& self, const std::vector<double>& all, std::size_t rank) {
  const std::size_t ranks = all.size(), functions = self.size() / ranks;
  std::vector<double> shares(functions + 1, 0.0);
  if (!(all[rank] > 0)) return shares;
  double rest = 1;
  for (std::size_t i = 0; i < functions; ++i) {
    shares[i] = self[i * ranks + rank] / all[rank];
    rest -= shares[i];
  }
  shares.back() = std::max(rest, 0.0);
  return shares;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / 2;
}

// Two ranks with the same behaviour differ by sqrt(2 p (1 - p) / n) x sqrt(2 / pi) in each share on average; twice that
// is significant.
double chance(const std::vector<double>& shares, double samples) {
  double sum = 0;
  for (const double p : shares) sum += std::sqrt(std::max(0.0, 2 * p * (1 - p) / samples) * 2 / M_PI);
  return sum;  // half the sum, twice
}

}  // namespace

RankClusters cluster_ranks(const std::vector<double>& self, const std::vector<double>& all,
                           const std::vector<std::uint64_t>& samples) {
  RankClusters result;
  const std::size_t ranks = all.size();
  if (ranks == 0 || self.empty()) return result;
  const std::size_t functions = self.size() / ranks;

  std::vector<double> mean(functions + 1, 0.0);
  std::size_t sampled = 0;
  std::uint64_t count = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!(all[rank] > 0)) continue;
    const auto shares = shares_of(self, all, rank);
    for (std::size_t i = 0; i < shares.size(); ++i) mean[i] += shares[i];
    count += samples[rank];
    ++sampled;
  }
  if (sampled == 0) return result;
  for (double& share : mean) share /= static_cast<double>(sampled);
  const double typical = std::max(1.0, static_cast<double>(count) / static_cast<double>(sampled));
  result.distance = std::min(0.5, std::max(kThreshold, chance(mean, typical)));

  std::vector<std::vector<double>> leaders;
  std::vector<std::uint32_t> leader_ranks;
  const auto nearest = [&](const std::vector<double>& shares) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < leaders.size(); ++i) {
      if (distance(shares, leaders[i]) < distance(shares, leaders[best])) best = i;
    }
    return best;
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    auto shares = shares_of(self, all, rank);
    if (!leaders.empty() &&
        (leaders.size() == kMostClusters || distance(shares, leaders[nearest(shares)]) <= result.distance)) {
      continue;
    }
    leaders.push_back(std::move(shares));
    leader_ranks.push_back(rank);
  }
  std::vector<reports::RankCluster> clusters(leaders.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    clusters[i].leader = leader_ranks[i];
    clusters[i].mean_share.assign(functions, 0.0);
  }
  std::vector<std::uint32_t> cluster_of_rank(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto shares = shares_of(self, all, rank);
    const std::size_t cluster = nearest(shares);
    cluster_of_rank[rank] = static_cast<std::uint32_t>(cluster);
    ++clusters[cluster].ranks;
    for (std::size_t i = 0; i < functions; ++i) clusters[cluster].mean_share[i] += shares[i];
  }
  for (auto& cluster : clusters) {
    for (double& share : cluster.mean_share) share /= std::max(1u, cluster.ranks);
  }

  std::vector<std::uint32_t> order(clusters.size()), place(clusters.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, std::greater{}, [&](std::uint32_t i) { return clusters[i].ranks; });
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    result.clusters.push_back(std::move(clusters[order[i]]));
  }
  for (const std::uint32_t cluster : cluster_of_rank) result.cluster_of_rank.push_back(place[cluster]);
  return result;
}

}  // namespace ardoise::knowledge_sources

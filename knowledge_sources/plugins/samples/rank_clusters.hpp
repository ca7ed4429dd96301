// Clusters of ranks with similar shares of time by function.
//
// Leader clustering (Hartigan, Clustering Algorithms, 1975, chapter 3), one pass in the order of ranks: a rank joins
// the cluster of the nearest leader within the threshold, else it leads a new cluster; a second pass assigns every rank
// to its nearest leader. The distance of two ranks is the part of their time that they spend differently, half the sum
// of |difference of shares|: 0 … 1. O(ranks x clusters x functions), deterministic, and the result can be checked by
// hand, which is why no finer method is used.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/sample_profile.hpp"

namespace ardoise::knowledge_sources {

struct RankClusters {
  std::vector<reports::RankCluster> clusters;  // largest first, then by leader
  std::vector<std::uint32_t> cluster_of_rank;
  double distance = 0;  // the threshold
};

// `self[i * ranks + rank]` of function i, `all[rank]` of all functions; `samples[rank]`: their number. The threshold is
// a tenth of the time, or the expected random difference for so few samples, whichever is greater.
[[nodiscard]] RankClusters cluster_ranks(const std::vector<double>& self, const std::vector<double>& all,
                                         const std::vector<std::uint64_t>& samples);

}  // namespace ardoise::knowledge_sources

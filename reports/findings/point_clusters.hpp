// Clusters of points in a plane, and their identity over time. For rank_moves.hpp.
//
// Points connected by steps of at most `reach` form a cluster: single linkage (Sneath, "The application of computers to
// taxonomy", Journal of General Microbiology 17, 1957; by the minimum spanning tree: Gower and Ross, Applied Statistics
// 18, 1969), equal to DBSCAN with clusters of one point. In contrast to k-means and leader clustering, the number of
// clusters need not be known and the order of the points does not matter. Tracking clusters by common members follows
// Llort and others, "On the usefulness of object tracking techniques in performance analysis" (SC 2013).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ardoise::reports {

struct PlanePoint {
  double x = 0, y = 0;
};
[[nodiscard]] double distance_of(const PlanePoint& a, const PlanePoint& b);

// For each point the number of its cluster, from 0 in the order of their first points. More than `most` (at least 1)
// clusters are reduced to `most` by joining the nearest ones. O(n² log n).
[[nodiscard]] std::vector<std::uint32_t> clusters_of(std::span<const PlanePoint> points, double reach,
                                                     std::size_t most);

// `at_times[t][point]` has the numbers of clusters_of(), which are independent for each time. The result has numbers
// that are valid at all times: a cluster gets the number of the earlier cluster, at any time, with which it shares most
// points (Jaccard's index), the best pair first. Other clusters get new numbers, from 0 in order of appearance.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> tracked_clusters(
    const std::vector<std::vector<std::uint32_t>>& at_times);

}  // namespace ardoise::reports

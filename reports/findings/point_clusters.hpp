// Which points of a plane lie together, and which of these clusters are the same at several times. For rank_moves.hpp.
//
// Points that are joined by steps of at most `reach` make a cluster: single linkage (Sneath, "The application of
// computers to taxonomy", Journal of General Microbiology 17, 1957; by the minimum spanning tree: Gower and Ross,
// Applied Statistics 18, 1969), which is DBSCAN where a point alone may be a cluster. Why not k-means or leader
// clustering: the number of clusters need not be known, the order of the points does not matter, and the result can be
// checked with a ruler. That clusters are followed by what they have in common is as in Llort and others, "On the
// usefulness of object tracking techniques in performance analysis" (SC 2013); here it is their points, which are the
// same ranks at all times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ardoise::reports {

struct PlanePoint {
  double x = 0, y = 0;
};
[[nodiscard]] double distance_of(const PlanePoint& a, const PlanePoint& b);

// For each point the number of its cluster; they count from 0 in the order of their first points. Where there would be
// more than `most` (one at least), the nearest ones are joined until there are so many. O(n² log n).
[[nodiscard]] std::vector<std::uint32_t> clusters_of(std::span<const PlanePoint> points, double reach,
                                                     std::size_t most);

// `at_times[t][point]` as clusters_of() numbers them, each time anew. Returned are numbers that say at all times the
// same: a cluster has the number of the earlier one, of any time, with which it shares most points (of those in either,
// Jaccard's index), the pair that shares most first; the others have new numbers. They count from 0 in the order in
// which they appear.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> same_at_all_times(
    const std::vector<std::vector<std::uint32_t>>& at_times);

}  // namespace ardoise::reports

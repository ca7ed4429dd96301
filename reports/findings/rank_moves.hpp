// How the ranks of a series lie in two metrics at some parts of it, which of them lie together, and how these clusters
// move. For the scatter of ranks (figures/rank_moves_figure.cpp), its text, and the finding on ranks that drift away.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/findings/point_clusters.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// The second metric. The first one is the time outside of MPI and I/O.
enum class MoveMetric { bytes, io, calls };

// A point is a group of consecutive ranks (SnapshotSeries::groups; up to 64 ranks each is one rank), as a mean of a
// round of a rank: x in seconds, the mean of the middle half of the snapshots of a part, so that single slow ones do
// not count; y in bytes, seconds or calls, the mean of all of them.
struct RankMoves {
  static constexpr double kReach = 0.1;  // of a scale: what is nearer lies together, and what goes less far stays
  struct Part {
    std::size_t begin = 0, end = 0;        // snapshots: a tenth of those that can be compared
    std::string name{};                    // "first", "fourth"
    std::vector<PlanePoint> points{};      // by point
    std::vector<std::uint32_t> cluster{};  // by point; a number is the same cluster in all parts
  };
  MoveMetric metric = MoveMetric::bytes;
  std::vector<std::uint32_t> groups{};  // of each point; those without ranks in step are none
  PlanePoint scale{1, 1};
  std::vector<Part> parts{};  // by time

  // Numbers of points that are in one cluster in each part: they go one way. By the first point.
  std::vector<std::vector<std::uint32_t>> paths{};

  // Mean of some points in a part.
  [[nodiscard]] PlanePoint centre(std::span<const std::uint32_t> some, std::size_t part) const;
  // How far they went from one part to another, in units of the scale.
  [[nodiscard]] double way(std::span<const std::uint32_t> some, std::size_t from, std::size_t to) const;
  [[nodiscard]] std::vector<std::uint32_t> points_of(std::size_t part, std::uint32_t cluster) const;
  // Clusters that there are in a part, in ascending order.
  [[nodiscard]] std::vector<std::uint32_t> clusters(std::size_t part) const;
};

// Parts are the first tenth, the one after the middle, the last one, and of the others the one in which a rank is
// farthest from the straight way between the parts around it, where that is more than twice kReach. The second metric
// is the first of bytes in MPI calls, time in I/O (where it is 5 % of a round) and number of MPI calls that differs by
// a tenth between ranks; where none does, bytes, or calls where no bytes were moved. The scale of a metric is its range
// over all tenths, but no less than twice its median and, of times, half a round: so ranks differ that are apart by a
// tenth of the range, a fifth of the usual and 5 % of a round.
//
// No parts: there is nothing to see (fewer than 3 groups of ranks or 10 snapshots, or one cluster that does not move),
// or the profile is of an older version.
[[nodiscard]] RankMoves rank_moves(const SnapshotSeries& series);

// The series whose ranks are shown: the main loop, else the first of the program's own marks; nullptr: there is none.
[[nodiscard]] const SnapshotSeries* main_series(const Snapshots& snapshots);

// "A" … "Z", then "A1" …
[[nodiscard]] std::string letter_of(std::uint32_t cluster);
// The ranks of some points, as those of the world: "ranks 0–3 and 7".
[[nodiscard]] std::string ranks_of_points(const Application& app, const SnapshotSeries& series, const RankMoves& moves,
                                          std::span<const std::uint32_t> some);
// "bytes in MPI calls" …
[[nodiscard]] const char* name_of_metric(MoveMetric metric);
// "1.50 MiB" …
[[nodiscard]] std::string in_metric(MoveMetric metric, double value);

// By how much the time outside of MPI and I/O grew from the first part on, of the points that are not among some and
// stay where they are in it.
struct GrowthOfOthers {
  double least = 0, most = 0;
  std::size_t staying = 0;
  bool all_stay = true;
};
[[nodiscard]] GrowthOfOthers growth_of_others(const RankMoves& moves, std::size_t part,
                                              std::span<const std::uint32_t> some);
// "1.8", "12": of times as long.
[[nodiscard]] std::string times_in_words(double ratio);
// ", all others 1.0 times", ", those that stay 0.9 to 1.1 times"; "" where there are none.
[[nodiscard]] std::string others_in_words(const GrowthOfOthers& others);
// "the last tenth of the iterations"
[[nodiscard]] std::string part_in_words(const SnapshotSeries& series, const RankMoves::Part& part);

// Sentences on how ranks moved from the first part on, those that went one way together; where none did, on how
// clusters differ.
[[nodiscard]] std::vector<std::string> moves_in_words(const Application& app, const SnapshotSeries& series,
                                                      const RankMoves& moves);

}  // namespace ardoise::reports

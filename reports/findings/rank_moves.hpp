// The ranks of a series as points of two metrics in some parts of it, their clusters, and how these move. For the
// scatter figure of ranks (figures/rank_moves_figure.cpp), its text, and the finding on drifting ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "reports/findings/point_clusters.hpp"
#include "reports/model.hpp"

namespace ardoise::reports {

// The second metric. The first one is time outside MPI and I/O.
enum class MoveMetric { bytes, io, calls };

// A point is a group of consecutive ranks (SnapshotSeries::groups; a single rank in programs of up to 64). Its values
// are means of a rank's round: x in seconds, over the middle half of a part's snapshots, so that single slow ones do
// not count; y in bytes, seconds or calls, over all snapshots of the part.
struct RankMoves {
  static constexpr double kReach = 0.1;  // of a scale: nearer points are one cluster, smaller moves do not count
  struct Part {
    std::size_t begin = 0, end = 0;        // snapshots: a tenth of the comparable ones
    std::string name{};                    // "first", "fourth"
    std::vector<PlanePoint> points{};      // by point
    std::vector<std::uint32_t> cluster{};  // by point; a number is the same cluster in all parts
  };
  MoveMetric metric = MoveMetric::bytes;
  std::vector<std::uint32_t> groups{};  // of each point; groups without ranks in step have none
  PlanePoint scale{1, 1};
  std::vector<Part> parts{};  // by time

  // Sets of points that share a cluster in every part, and so move together. Sorted by their first points.
  std::vector<std::vector<std::uint32_t>> paths{};

  // Mean of some points in a part.
  [[nodiscard]] PlanePoint centre(std::span<const std::uint32_t> some, std::size_t part) const;
  // Distance that they moved from one part to another, in units of the scale.
  [[nodiscard]] double way(std::span<const std::uint32_t> some, std::size_t from, std::size_t to) const;
  [[nodiscard]] std::vector<std::uint32_t> points_of(std::size_t part, std::uint32_t cluster) const;
  // The clusters of a part, in ascending order.
  [[nodiscard]] std::vector<std::uint32_t> clusters(std::size_t part) const;
};

// Parts are the first tenth, the tenth after the middle, the last tenth, and the one in which a rank is farthest from
// the straight line between the parts around it, if farther than twice kReach. The second metric is the first of bytes
// in MPI calls, time in I/O (if at least 5 % of a round) and number of MPI calls that differs by a tenth between ranks;
// if none does, bytes, or calls if no bytes were moved. The scale of a metric is its range over all tenths, but at
// least twice its median and, for times, half a round. So ranks differ if they are apart by a tenth of the range, a
// fifth of the median and 5 % of a round.
//
// No parts: fewer than 3 groups of ranks or 10 snapshots, a single cluster that does not move, or a profile of an older
// version.
[[nodiscard]] RankMoves rank_moves(const SnapshotSeries& series);

// The series for this analysis: the main loop, else the first of the program's own marks; nullptr: none.
[[nodiscard]] const SnapshotSeries* main_series(const Snapshots& snapshots);

// "A" … "Z", then "A1" …
[[nodiscard]] std::string letter_of(std::uint32_t cluster);
// The world ranks of some points: "ranks 0–3 and 7".
[[nodiscard]] std::string ranks_of_points(const Application& app, const SnapshotSeries& series, const RankMoves& moves,
                                          std::span<const std::uint32_t> some);
// "bytes in MPI calls" …
[[nodiscard]] const char* name_of_metric(MoveMetric metric);
// "1.50 MiB" …
[[nodiscard]] std::string in_metric(MoveMetric metric, double value);

// Growth of the time outside MPI and I/O from the first part to this one, of the points that are not in `some` and do
// not move in this metric.
struct GrowthOfOthers {
  double least = 0, most = 0;
  std::size_t staying = 0;
  bool all_stay = true;
};
[[nodiscard]] GrowthOfOthers growth_of_others(const RankMoves& moves, std::size_t part,
                                              std::span<const std::uint32_t> some);
// "1.8", "12": how many times as long.
[[nodiscard]] std::string times_in_words(double ratio);
// ", all others 1.0 times", ", ranks without drift 0.9 to 1.1 times"; "": none.
[[nodiscard]] std::string others_in_words(const GrowthOfOthers& others);
// "the last tenth of the iterations"
[[nodiscard]] std::string part_in_words(const SnapshotSeries& series, const RankMoves::Part& part);

// Sentences on the moves of ranks since the first part, one for ranks that move together; if none moved, on how the
// clusters differ.
[[nodiscard]] std::vector<std::string> moves_in_words(const Application& app, const SnapshotSeries& series,
                                                      const RankMoves& moves);

}  // namespace ardoise::reports

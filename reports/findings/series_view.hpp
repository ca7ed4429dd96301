// Queries on a series of snapshots, for findings and the section on the profile over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// Rounds in all snapshots, and the maximum of one snapshot.
[[nodiscard]] std::uint64_t rounds_in(const SnapshotSeries& series);
[[nodiscard]] std::uint64_t most_rounds(const SnapshotSeries& series);
// The comparable snapshots: without those before the first mark and after the last one.
struct SnapshotRange {
  std::size_t begin = 0, end = 0;
};
[[nodiscard]] SnapshotRange comparable(const SnapshotSeries& series);
// Sums by snapshot as means of one round.
[[nodiscard]] std::vector<double> round_means(const SnapshotSeries& series, const std::vector<double>& sums);
// Sums over ranks, by snapshot, as means of one round of a rank.
[[nodiscard]] std::vector<double> rank_means(const SnapshotSeries& series, const std::vector<double>& sums);
// Mean of a round in some snapshots.
[[nodiscard]] double round_mean(const SnapshotSeries& series, const std::vector<double>& sums,
                                const std::vector<std::size_t>& chosen);
// Time outside MPI and I/O.
[[nodiscard]] std::vector<double> own_seconds(const SnapshotSeries& series);

// Waiting in MPI ÷ all time of the series.
[[nodiscard]] double waiting_share(const SnapshotSeries& series);

// The word for a round: "iteration", "iterations", "phase solve", "snapshots step".
[[nodiscard]] std::string round_word(const SnapshotSeries& series, bool is_one);

[[nodiscard]] double median(std::vector<double> values);  // 0: no values

// "iteration 40", "iterations 37–40 and 73", "every 25th iteration", "iterations 3, 9–10 … 871 (17 ranges)".
// `chosen` is in ascending order; rounds have the program's numbers, or count from 1.
[[nodiscard]] std::string rounds_in_words(const SnapshotSeries& series, const std::vector<std::size_t>& chosen);
// The number of a snapshot's first round, and of its last.
[[nodiscard]] std::int64_t first_number(const SnapshotSeries& series, std::size_t snapshot);
[[nodiscard]] std::int64_t last_number(const SnapshotSeries& series, std::size_t snapshot);

// Snapshots that took more than 1.5 times the median of those around them, and are not small beside the slowest one.
// Empty also if these would be more than a quarter of all.
[[nodiscard]] std::vector<std::size_t> slow_snapshots(const SnapshotSeries& series);

// The main difference of `these` to `than`, as a part of a sentence: "MPI_Alltoall in transpose (t.c:88) takes 4.1 ms a
// call instead of 1.2 ms, of which 3.0 ms waiting"; "": no single one.
[[nodiscard]] std::string main_difference(const Application& app, const SnapshotSeries& series,
                                          const std::vector<std::size_t>& these, const std::vector<std::size_t>& than);

}  // namespace ardoise::reports

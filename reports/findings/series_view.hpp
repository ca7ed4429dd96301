// What a series of snapshots says, for findings and for the section on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// Of all snapshots, and the most of one.
[[nodiscard]] std::uint64_t rounds_in(const SnapshotSeries& series);
[[nodiscard]] std::uint64_t most_rounds(const SnapshotSeries& series);
// The snapshots that can be compared: without those before the first mark and after the last one.
struct SnapshotRange {
  std::size_t begin = 0, end = 0;
};
[[nodiscard]] SnapshotRange alike(const SnapshotSeries& series);
// A list of sums, or of what is in a snapshot, as means of one round.
[[nodiscard]] std::vector<double> of_a_round(const SnapshotSeries& series, const std::vector<double>& sums);
// A list of sums over the ranks as means of one round of a rank.
[[nodiscard]] std::vector<double> mean_of_ranks(const SnapshotSeries& series, const std::vector<double>& sums);
// Outside of MPI and I/O.
[[nodiscard]] std::vector<double> own_seconds(const SnapshotSeries& series);

// Waiting in MPI, of all time of the series.
[[nodiscard]] double waiting_share(const SnapshotSeries& series);

// What a round is called: "iteration", "iterations", "phase solve", "snapshots step".
[[nodiscard]] std::string round_word(const SnapshotSeries& series, bool is_one);

[[nodiscard]] double median(std::vector<double> values);  // 0: there are none

// "iteration 40", "iterations 37–40 and 73", "every 25th iteration", "iterations 3, 9–10 … 871 (17 ranges of them)".
// Snapshots in ascending order; rounds have the program's numbers, or count from 1.
[[nodiscard]] std::string rounds_in_words(const SnapshotSeries& series, const std::vector<std::size_t>& chosen);
// The number of a snapshot's first round, and of its last.
[[nodiscard]] std::int64_t first_number(const SnapshotSeries& series, std::size_t snapshot);
[[nodiscard]] std::int64_t last_number(const SnapshotSeries& series, std::size_t snapshot);

// In more ranges than are named one by one, at no constant distance: a matter of chance, often.
[[nodiscard]] bool are_scattered(const std::vector<std::size_t>& chosen);

// Snapshots that took more than half as long again as most of those around them, and are not small beside the slowest.
// Empty: they are much alike, or a quarter of all would be named.
[[nodiscard]] std::vector<std::size_t> slow_snapshots(const SnapshotSeries& series);

// What is longer in `these`, as a part of a sentence: "MPI_Alltoall in transpose (t.c:88) takes 4.1 ms a call instead
// of 1.2 ms, of which 3.0 ms waiting"; "" where it is not one thing.
[[nodiscard]] std::string what_is_longer(const Application& app, const SnapshotSeries& series,
                                         const std::vector<std::size_t>& these, const std::vector<std::size_t>& than);

}  // namespace ardoise::reports

// What the snapshots of a main loop say, for findings and for the section on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// Iterations of a snapshot.
[[nodiscard]] std::uint64_t iterations_of(const Snapshots& snapshots, std::size_t snapshot);
// A list of sums, or of what is in a snapshot, as means of one iteration.
[[nodiscard]] std::vector<double> of_an_iteration(const Snapshots& snapshots, const std::vector<double>& sums);
// Outside of MPI and I/O.
[[nodiscard]] std::vector<double> own_seconds(const Snapshots& snapshots);

[[nodiscard]] double median(std::vector<double> values);  // 0: there are none

// "iteration 40", "iterations 37–40 and 73", "every 25th iteration", "iterations 3, 9–10 … 871 (17 ranges of them)".
// Snapshots in ascending order; iterations count from 1.
[[nodiscard]] std::string iterations_in_words(const Snapshots& snapshots, const std::vector<std::size_t>& chosen);

// In more ranges than are named one by one, at no constant distance: a matter of chance, often.
[[nodiscard]] bool are_scattered(const std::vector<std::size_t>& chosen);

// Snapshots that took more than half as long again as most of those around them, and are not small beside the slowest.
// Empty: they are much alike, or a quarter of all would be named.
[[nodiscard]] std::vector<std::size_t> slow_snapshots(const Snapshots& snapshots);

// What is longer in `these`, as a part of a sentence: "MPI_Alltoall in transpose (t.c:88) takes 4.1 ms a call instead
// of 1.2 ms"; "" where it is not one thing.
[[nodiscard]] std::string what_is_longer(const Application& app, const std::vector<std::size_t>& these,
                                         const std::vector<std::size_t>& than);

}  // namespace ardoise::reports

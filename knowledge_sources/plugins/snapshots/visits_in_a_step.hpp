// A loop's first call may occur several times in a time step, as a halo exchange does in each direction, or as an inner
// loop does: then most rounds are short, and the others contain the work of the step. This joins the rounds of a step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

namespace ardoise::knowledge_sources {

// A round of a loop, in all ranks together.
struct RoundSums {
  double seconds = 0;           // without its calls
  double before = 0;            // its part before the first call
  double calls = 0, bytes = 0;  // of MPI
};

// The first round of each step, in ascending order; empty: each round is one. A step has one long round, its first one
// if the time is before the call, else its last one:
// - the longest one of six or more whose bytes recur, as the levels of a multigrid solver do;
// - or one in 2, 3, 4 or 6, always at the same position, that takes four times as long as any other;
// - or ten times as long as most, if these rounds together hold most of the time, or have most of the calls.
// Rounds before the first step belong to none. Steps may be rounds of longer ones.
[[nodiscard]] std::vector<std::size_t> steps_of(std::span<const RoundSums> rounds);

// Joins the rounds of each step.
[[nodiscard]] std::vector<Snapshot> joined_by(std::span<const std::size_t> steps, std::vector<Snapshot> rounds);

[[nodiscard]] double median_of(std::vector<double> values);  // of one value at least

}  // namespace ardoise::knowledge_sources

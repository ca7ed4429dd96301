// How uneven work changes over the rounds of the main loop: the same ranks in all of them, in every n-th, more and
// more, from some round on, or other ranks each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

enum class Shape { steady, periodic, growing, changed, moving, random };

struct RoundShape {
  Shape shape = Shape::steady;
  const SnapshotSeries* series = nullptr;
  double imbalance = 0;                // s: sum over rounds of (longest - mean) time outside MPI and I/O of a rank
  std::vector<std::uint32_t> in_step;  // ranks with these rounds; the others are not judged
  std::vector<std::uint32_t> ranks;    // that are late, in all shapes but moving and random; in program order
  std::vector<std::size_t> rounds;     // periodic: the snapshots with more work
  std::size_t from = 0;                // changed: the first snapshot after the change
  double spread = 0;                   // standard deviation of a rank's rounds ÷ their mean
  double before = 0, after = 0;        // growing: first and last tenth; changed: both sides: s a round, above the mean
};

// Work in a round is time outside MPI and I/O, or its CPU time, which other programs on the host hardly change: an
// estimate from samples. Rounds with few samples are then judged in blocks.
enum class RoundTime { wall, cpu };

// Nothing: the program has no main loop of at least six snapshots that covers half of the run, or one rank; for CPU
// time: it is not known, or of groups of ranks.
[[nodiscard]] std::optional<RoundShape> round_shape(const Application& application, RoundTime time = RoundTime::wall);

}  // namespace ardoise::reports

// Detects the main loop of a program: call sites that a rank visits repeatedly, equally often, and all in each round.
//
// Sites with similar visit counts form a class. A class is a loop if it covers a good part of the run and nearly each
// round, from one visit of its first site to the next, has nearly all of its sites. The main loop is the one with the
// most sites, or one with three times as many rounds and half as many sites. A loop with more rounds than that is
// reported as the inner one. Loops that alternate with others, such as the two sweeps of a solver, are not detected;
// calls in every tenth round form a loop of few sites. Calls alone do not tell which of two nested loops is called the
// time step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/plugins/snapshots/call_series.hpp"

namespace ardoise::knowledge_sources {

// A loop of one rank.
struct Loop {
  std::uint32_t head = 0;        // site that begins each round, in CallSeries::sites()
  std::uint64_t iterations = 0;  // visits of the head
  std::uint32_t shift = 0;       // a piece has 2^shift of them
  std::uint32_t sites = 0;       // sites of its class
  double regular = 0;            // share of the rounds with nearly all of these
};

inline constexpr std::uint64_t kFewestIterations = 5;

// All loops, by increasing number of iterations.
[[nodiscard]] std::vector<Loop> loops_of(const CallSeries& series);
// nullptr: there are none.
[[nodiscard]] const Loop* main_loop(std::span<const Loop> loops);
// The loop with the most sites among those with at least three times as many rounds as `main`, such as a solver in each
// time step; nullptr: there is none.
[[nodiscard]] const Loop* inner_loop(std::span<const Loop> loops, const Loop& main);

// One piece of a loop: 2^shift of its rounds.
struct Round {
  std::int64_t begin, end;
  std::uint32_t first_piece, end_piece;  // indices in CallSeries::pieces()
};
[[nodiscard]] inline std::uint64_t iterations_of(const Loop& loop, std::size_t round) {
  return std::min(std::uint64_t{1} << loop.shift, loop.iterations - (std::uint64_t{round} << loop.shift));
}
// In order. The last one ends with the last call of the loop, or at a call site that is visited less than half as
// often.
[[nodiscard]] std::vector<Round> rounds_of(const CallSeries& series, const Loop& loop);

}  // namespace ardoise::knowledge_sources

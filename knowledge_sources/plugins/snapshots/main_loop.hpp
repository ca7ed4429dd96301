// Detects the main loop of a program: call sites that a rank visits repeatedly, equally often, and all in each round.
//
// Sites with similar visit counts form a class. A class is a loop if it covers a good part of the run and nearly each
// round has nearly all of its sites. A round begins where the call before its first site ended. The main loop is the
// outermost one, with the fewest rounds, of those that hold the run together; but not calls that only come along in
// every n-th round of a loop of more sites, without work of their own: a monitor, a checkpoint; or that, with as many
// sites, take little time: an output. A loop with more rounds is reported as the inner one.
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
  double span = 0;               // of the rank's time, from the first visit to the last
};

inline constexpr std::uint64_t kFewestIterations = 5;

// All loops, by increasing number of iterations.
[[nodiscard]] std::vector<Loop> loops_of(const CallSeries& series);
// nullptr: there are none.
[[nodiscard]] const Loop* main_loop(const CallSeries& series, std::span<const Loop> loops);
// The loop with the most sites among those with at least three times as many rounds as `main`, such as a solver in each
// time step; nullptr: there is none.
[[nodiscard]] const Loop* inner_loop(std::span<const Loop> loops, const Loop& main);

// One piece of a loop: 2^shift of its rounds.
struct Round {
  std::int64_t begin, end;
  std::int64_t left_out;                 // ns of the first piece before `begin`: work before the loop
  std::uint32_t first_piece, end_piece;  // indices in CallSeries::pieces()
};
[[nodiscard]] inline std::uint64_t iterations_of(const Loop& loop, std::size_t round) {
  return std::min(std::uint64_t{1} << loop.shift, loop.iterations - (std::uint64_t{round} << loop.shift));
}
// In order. The first one begins as long before its first call as nearly all others do, at most at the call before. The
// last one ends with the last call of the loop, or at a call site that is visited less than half as often.
[[nodiscard]] std::vector<Round> rounds_of(const CallSeries& series, const Loop& loop);

}  // namespace ardoise::knowledge_sources

// The main loop of a program without its help: the call sites that a rank comes to again and again, as often as each
// other and in each round all of them.
//
// Sites that were visited about as often are one class. A class is a loop when it fills a good part of the run and
// nearly each round, from one visit of its first site to the next, has nearly all of its sites. Of these the one with
// the most sites is the main loop, or one that goes round three times as often and has half as many. A loop that goes
// round more often than that is told as the inner one. One that
// alternates with others, as the two sweeps of a solver, is none by that; what is done in every tenth round only makes
// one of few sites. Which of two that lie in each other is called the time step, nobody can tell from calls alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/plugins/snapshots/call_series.hpp"

namespace ardoise::knowledge_sources {

// Of one rank.
struct Loop {
  std::uint32_t head = 0;        // the site that begins each round, in CallSeries::sites()
  std::uint64_t iterations = 0;  // visits of it
  std::uint32_t shift = 0;       // a piece has 2^shift of them
  std::uint32_t sites = 0;       // of its class
  double regular = 0;            // share of the rounds that have nearly all of these
};

inline constexpr std::uint64_t kFewestIterations = 5;

// All, those with more iterations later.
[[nodiscard]] std::vector<Loop> loops_of(const CallSeries& series);
// nullptr: there are none.
[[nodiscard]] const Loop* main_loop(std::span<const Loop> loops);
// One that goes round three times as often as `main` or more, as a solver does in each time step, with the most sites;
// nullptr: there is none.
[[nodiscard]] const Loop* inner_loop(std::span<const Loop> loops, const Loop& main);

// One piece of a loop: 2^shift of its rounds.
struct Round {
  std::int64_t begin, end;
  std::uint32_t first_piece, end_piece;  // in CallSeries::pieces()
};
[[nodiscard]] inline std::uint64_t iterations_of(const Loop& loop, std::size_t round) {
  return std::min(std::uint64_t{1} << loop.shift, loop.iterations - (std::uint64_t{round} << loop.shift));
}
// In their order. The last one ends with the last call of the loop, or where a call site comes that is visited less
// than half as often.
[[nodiscard]] std::vector<Round> rounds_of(const CallSeries& series, const Loop& loop);

}  // namespace ardoise::knowledge_sources

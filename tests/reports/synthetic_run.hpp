// Models like those of real runs, made from a formula: for the tests of reports/, for its benchmark, and for reports of
// any size without a machine with that many ranks. Deterministic.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model.hpp"

namespace ardoise::reports::testing {

struct SyntheticOptions {
  std::uint32_t ranks = 64;
  double wall_seconds = 42.7;
  double imbalance = 0.35;       // extra computation of the slowest ranks, as a share
  std::uint32_t functions = 14;  // MPI functions used, at most 14
  std::uint32_t density_functions = 6;
  std::uint32_t neighbours = 6;  // edges a rank; >= ranks: all to all
  bool cartesian = true;
  bool io = true;
  bool samples = true;
  std::size_t snapshots = 200;  // of its loop
};

// A stencil solver (name, command and files may be anything).
Application synthetic_application(const std::string& name, const SyntheticOptions& options);

// The two-program run that the benchmark uses: a solver and a smaller post-processor, `ranks` in all.
Run synthetic_run(std::uint32_t ranks);

// Two programs that share one world, ocean (ranks 0 to 3) and atmosphere (4 to 11), and one that has its own.
Run coupled_run();

// One of 8 ranks of a world of 12, in whose profile no list is empty.
Run full_run();

// One program without any call.
Run empty_run();

// Every string that a program may carry: TeX specials, control characters, invalid UTF-8, CJK, emoji, 5,000 letters.
Run nasty_run();

}  // namespace ardoise::reports::testing

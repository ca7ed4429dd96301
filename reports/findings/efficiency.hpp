// Shares and POP efficiencies of one program, from its per-rank sums. Used by findings, summary, the report and the
// derived part of profile.json. Useful time is time outside MPI, as POP defines it: file I/O through POSIX counts as
// useful.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

struct Efficiency {
  bool known = false;                      // false: no per-rank times, everything else is 0
  double mpi_share = 0, io_share = 0;      // of the ranks' wall time; I/O: POSIX calls outside MPI
  double mean_useful = 0, max_useful = 0;  // seconds
  double load_balance = 0;                 // mean(useful) / max(useful)
  double communication = 0;                // max(useful) / wall time
  double parallel = 0;                     // product of the two
  std::uint32_t slowest_rank = 0;          // with the most useful time
  double imbalance = 1;                    // max(useful) / mean(useful)
};

[[nodiscard]] Efficiency efficiency_of(const Application& application);

// Per rank: wall time without MPI, never negative. Empty when not known.
[[nodiscard]] std::vector<double> useful_seconds(const Application& application);

}  // namespace ardoise::reports

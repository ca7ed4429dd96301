// Where the time of each rank goes, and POP efficiencies of one program, from its per-rank sums. Used by findings,
// summary, the report and the derived part of profile.json. Useful time is time outside MPI, as POP defines it, in
// which the rank did not wait for a processor: file I/O through POSIX counts as useful.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// The wall time of a rank (of the thread that called MPI_Init) by what it was spent on; the parts add up to `wall`.
// MPI and I/O are exact. What lies outside of them is parted by the CPU time and the wait for processors that the
// kernel counted for the thread as a whole, and by the share of its samples outside of calls: estimates. Where the
// kernel told nothing, all of it counts as computing.
struct RankTime {
  double wall = 0;
  double mpi = 0, io = 0;
  double computing = 0;              // CPU time of the program's own
  double waiting = 0;                // ready to run, and not running
  double blocked = 0;                // asleep, or blocked elsewhere
  bool kernel_told = false;          // false: computing is all time outside MPI and I/O, asleep or not
  double mpi_without_processor = 0;  // of mpi at most: ready to run, and not running; an estimate
  [[nodiscard]] double useful() const { return computing + io + blocked; }
};

// One for each rank; empty when per-rank times are not known.
[[nodiscard]] std::vector<RankTime> times_of_ranks(const Application& application);

struct Efficiency {
  bool known = false;        // false: no per-rank times, everything else is 0
  bool kernel_told = false;  // of all ranks; else computing_share may be time asleep
  // Of the ranks' wall time; I/O: POSIX calls outside MPI.
  double mpi_share = 0, io_share = 0, computing_share = 0, waiting_share = 0, blocked_share = 0;
  double mean_useful = 0, max_useful = 0;  // seconds
  double load_balance = 0;                 // mean(useful) / max(useful)
  double communication = 0;                // max(useful) / wall time
  double parallel = 0;                     // product of the two
  // Communication efficiency in two factors, where waiting was measured (an estimate): what it would be if nothing were
  // lost but by waiting for other ranks, and what the rest of MPI costs.
  bool parts_known = false;
  double serialisation = 0;        // max(useful) / max(useful + waiting in MPI)
  double transfer = 0;             // max(useful + waiting in MPI) / wall time
  std::uint32_t slowest_rank = 0;  // with the most useful time
  double imbalance = 1;            // max(useful) / mean(useful)
};

[[nodiscard]] Efficiency efficiency_of(const Application& application);

// Of the waiting of each rank at most; empty where waiting is not known, or the kernel told nothing.
[[nodiscard]] std::vector<double> waiting_without_processor(const Application& application,
                                                            const std::vector<RankTime>& times);

// What Communicator has of it, where waiting is known. times: of the application's ranks.
void fill_efficiency(const Application& application, const std::vector<RankTime>& times, Communicator& communicator);

}  // namespace ardoise::reports

// The split of each rank's time, and the POP efficiencies of a program, from its per-rank sums. Useful time is time
// outside MPI, as POP defines it, without waiting for a processor. File I/O through POSIX counts as useful.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// The wall time of a rank (of the thread that called MPI_Init) by activity; the parts add up to `wall`. MPI and I/O are
// exact. The rest is split by the kernel's CPU time and processor waiting time of the thread, by the share of its
// samples outside calls, and by the looks that found it asleep: estimates. Without kernel statistics all of it counts
// as computing.
struct RankTime {
  double wall = 0;
  double mpi = 0, io = 0;
  double computing = 0;              // CPU time outside MPI and I/O
  double waiting = 0;                // runnable without a processor
  double blocked = 0;                // asleep, or blocked elsewhere
  bool has_kernel_times = false;     // kernel statistics exist; false: computing is all time outside MPI and I/O
  double mpi_without_processor = 0;  // upper bound of the part of `mpi` runnable without a processor; an estimate
  [[nodiscard]] double useful() const { return computing + io + blocked; }
};

// One entry for each rank; empty: per-rank times are unknown.
[[nodiscard]] std::vector<RankTime> times_of_ranks(const Application& application);

struct Efficiency {
  bool known = false;        // false: no per-rank times, everything else is 0
  bool has_kernel_times = false;  // kernel statistics of all ranks exist; else computing_share includes time asleep
  // Shares of the ranks' wall time; I/O: POSIX calls outside MPI.
  double mpi_share = 0, io_share = 0, computing_share = 0, waiting_share = 0, blocked_share = 0;
  double mean_useful = 0, max_useful = 0;  // seconds
  double load_balance = 0;                 // mean(useful) / max(useful)
  double communication = 0;                // max(useful) / wall time
  double parallel = 0;                     // product of the two
  // Factors of communication efficiency, if waiting was measured (an estimate): loss by waiting for other ranks, and
  // loss by the rest of MPI.
  bool parts_known = false;
  double serialisation = 0;        // max(useful) / max(useful + waiting in MPI)
  double transfer = 0;             // max(useful + waiting in MPI) / wall time
  std::uint32_t slowest_rank = 0;  // with the most useful time
  double imbalance = 1;            // max(useful) / mean(useful)
};

[[nodiscard]] Efficiency efficiency_of(const Application& application);

// For each rank, an upper bound of waiting in MPI without a processor. Empty: waiting or kernel statistics are unknown.
[[nodiscard]] std::vector<double> waiting_without_processor(const Application& application,
                                                            const std::vector<RankTime>& times);

// Fills the efficiency fields of Communicator, if waiting is known. times: of the application's ranks.
void fill_efficiency(const Application& application, const std::vector<RankTime>& times, Communicator& communicator);

}  // namespace ardoise::reports

// Part of the model: the profile over time, as series of snapshots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::reports {

// A call site's part in each snapshot, over the ranks in step. The last entry, without a function, sums up all others.
struct SnapshotCalls {
  std::string function;
  std::string symbol, source_file;  // as in CallSite
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> calls, bytes;
  std::vector<double> seconds, waiting_seconds;  // waiting: the known part of seconds
};

// CPU time of the ranks' first threads in a function itself, outside MPI. Estimates from samples.
struct SnapshotFunction {
  std::string symbol, source_file;
  std::uint32_t line = 0;
  std::vector<double> seconds;  // sum over the ranks in step
};

// A value reported by the program (ardoise_value), over the ranks in step.
struct SnapshotValue {
  std::string name;
  std::vector<std::uint64_t> count;
  std::vector<double> sum, least, most;  // least, most: 0 where count is
};

// A hardware counter read with each sample (--counters), in all threads. Estimates.
struct SnapshotCounter {
  std::string name;
  std::vector<double> counts;  // sum over the ranks in step
};

// Sums up marks with names beyond the table of a process.
inline constexpr std::string_view kFurtherNames = "(further names)";

// A snapshot covers one round (an iteration, the time between two marks of the program, an interval of time), or
// several if memory was short. Lists have one element for each snapshot, sums over its rounds; times are means over the
// ranks in step. "snapshot", "pcontrol" and "condition": the first snapshot is the time before the first mark, the last
// one the time after the last mark.
struct SnapshotSeries {
  std::string trigger;  // "iteration", "snapshot", "phase", "pcontrol", "condition", "timer"
  std::string name;     // "snapshot", "phase": given by the program; "condition": its text; "iteration": "" or "inner"
  // The call that begins each iteration, or the mark (ardoise_snapshot …, MPI_Pcontrol), and its call site.
  std::string function, symbol, source_file;
  std::uint32_t line = 0;
  std::vector<std::uint64_t> rounds;
  double interval_seconds = 0;                   // "timer": of a round
  std::vector<std::int64_t> numbers;             // "snapshot", "pcontrol": program's number of the last round of each
  std::uint32_t ranks = 0;                       // ranks in step: with an equal number of rounds, or one more or less
  std::uint32_t call_sites = 0;                  // "iteration": call sites in the loop, called equally often
  double regular = 0;                            // "iteration": share of the snapshots with nearly all of these sites
  std::vector<double> begin_seconds;             // since the program's MPI_Init
  std::vector<double> seconds, longest_seconds;  // longest: maximum over ranks
  std::vector<double> mpi_seconds, io_seconds;
  std::vector<double> waiting_seconds;  // the known part of mpi_seconds
  // Time outside MPI and I/O, and waiting, by groups of consecutive ranks: [group * snapshots + snapshot], means over
  // the ranks of a group; "timer": none.
  std::uint32_t groups = 0, ranks_per_group = 1;
  std::vector<double> own_seconds, group_waiting_seconds;
  std::vector<double> group_longest_seconds;  // own time of the slowest rank of the group; empty: groups of one rank
  std::vector<double> group_bytes, group_calls, group_io_seconds;  // likewise, of MPI and in I/O; empty: zeros
  // CPU time of the first threads outside MPI and I/O; estimates from samples, without time in which a rank lacks a
  // processor. Empty: not sampled.
  std::vector<double> group_cpu_seconds;
  std::vector<SnapshotCalls> calls;         // the most expensive, by seconds, descending; then the entry for all others
  std::vector<SnapshotFunction> functions;  // likewise, without an entry for others
  std::vector<SnapshotValue> values;        // by name
  std::vector<SnapshotCounter> counters;    // likewise
};

struct Snapshots {
  std::vector<SnapshotSeries> series;        // the program's own marks first, then "iteration", then "timer"
  std::uint32_t ranks_with_gaps = 0;         // packs are missing: only "timer" includes these ranks
  std::uint32_t ranks_with_sums = 0;         // calls became sums: not in "iteration", elsewhere spread evenly
  std::uint64_t unfinished_phases = 0;       // begun and not ended, over all ranks
  std::uint64_t unbegun_phases = 0;          // ended and not begun
  std::uint64_t further_marks = 0;           // marks of series beyond an analyzer's limit for a rank
  std::uint64_t marks_of_other_threads = 0;  // marks ignored because a thread other than the first made them
};

// nullptr: no such series.
[[nodiscard]] inline const SnapshotSeries* find_series(const Snapshots& snapshots, const std::string& trigger) {
  for (const SnapshotSeries& each : snapshots.series) {
    if (each.trigger == trigger) return &each;
  }
  return nullptr;
}

}  // namespace ardoise::reports

// Part of the model: the profile over time, as series of snapshots.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::reports {

// A call site's part in each snapshot, over the ranks in step. The last one without a function has all others.
struct SnapshotCalls {
  std::string function;
  std::string symbol, source_file;  // as those of a CallSite
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> calls, bytes;
  std::vector<double> seconds, waiting_seconds;  // waiting: of seconds, as far as it is known
};

// Where the ranks' first threads were sampled outside of MPI: CPU time in the function itself. Estimates.
struct SnapshotFunction {
  std::string symbol, source_file;
  std::uint32_t line = 0;
  std::vector<double> seconds;  // sum over the ranks in step
};

// What the program told of itself (ardoise_value), over the ranks in step.
struct SnapshotValue {
  std::string name;
  std::vector<std::uint64_t> count;
  std::vector<double> sum, least, most;  // least, most: 0 where count is
};

// An event that was counted with each sample (--counters), in all threads. Estimates.
struct SnapshotCounter {
  std::string name;
  std::vector<double> counts;  // sum over the ranks in step
};

// The name of what names of marks stand for that a process had no room to tell apart.
inline constexpr std::string_view kFurtherNames = "(further names)";

// Snapshots are of one round each (an iteration, what lies between two marks of the program, an interval of time), or
// of several where memory was short. Lists have one element each, sums of its rounds; times are means over the ranks in
// step. "snapshot", "pcontrol" and "condition": the first is all up to the first mark, the last all after the last one.
struct SnapshotSeries {
  std::string trigger;  // "iteration", "snapshot", "phase", "pcontrol", "condition", "timer"
  std::string name;  // "snapshot", "phase": as the program calls it; "condition": its text; "iteration": "", or "inner"
  // The call that begins each iteration, or that cuts: ardoise_snapshot …, MPI_Pcontrol and where it is.
  std::string function, symbol, source_file;
  std::uint32_t line = 0;
  std::vector<std::uint64_t> rounds;
  double interval_seconds = 0;                   // "timer": of a round
  std::vector<std::int64_t> numbers;             // "snapshot", "pcontrol": that the program gave the last round of each
  std::uint32_t ranks = 0;                       // in step: that made as many, or one more or less
  std::uint32_t call_sites = 0;                  // "iteration": of the loop: called as often
  double regular = 0;                            // "iteration": share of the snapshots with nearly all of these
  std::vector<double> begin_seconds;             // since the program's MPI_Init
  std::vector<double> seconds, longest_seconds;  // longest: of a rank
  std::vector<double> mpi_seconds, io_seconds;
  std::vector<double> waiting_seconds;  // of mpi_seconds, as far as it is known
  // Outside of MPI and I/O, and waiting, by groups of consecutive ranks: [group * snapshots + snapshot]; "timer": none.
  std::uint32_t groups = 0, ranks_per_group = 1;
  std::vector<double> own_seconds, group_waiting_seconds;
  std::vector<double> group_bytes, group_calls, group_io_seconds;  // likewise, of MPI and in I/O; empty: nothing
  std::vector<SnapshotCalls> calls;         // by seconds, descending; the costly ones, and the others
  std::vector<SnapshotFunction> functions;  // likewise, without others
  std::vector<SnapshotValue> values;        // by name
  std::vector<SnapshotCounter> counters;    // likewise
};

struct Snapshots {
  std::vector<SnapshotSeries> series;        // those of the program's own marks first, then "iteration", then "timer"
  std::uint32_t ranks_with_gaps = 0;         // of which packs are missing: only in "timer"
  std::uint32_t ranks_with_sums = 0;         // of which calls became sums: not in "iteration", elsewhere spread evenly
  std::uint64_t unfinished_phases = 0;       // begun and not ended, over all ranks
  std::uint64_t unbegun_phases = 0;          // ended and not begun
  std::uint64_t further_marks = 0;           // of more series than an analyzer keeps of a rank
  std::uint64_t marks_of_other_threads = 0;  // snapshots and phases that cut nothing: only first threads' do
};

// nullptr: there is none.
[[nodiscard]] inline const SnapshotSeries* find_series(const Snapshots& snapshots, const std::string& trigger) {
  for (const SnapshotSeries& each : snapshots.series) {
    if (each.trigger == trigger) return &each;
  }
  return nullptr;
}

}  // namespace ardoise::reports

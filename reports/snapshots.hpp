// Part of the model: the profile over the iterations of a program's main loop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ardoise::reports {

// A call site's part in each snapshot, over the ranks in step.
struct SnapshotCalls {
  std::string function;
  std::string symbol, source_file;  // as those of a CallSite
  std::uint32_t line = 0;
  std::string module;
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> calls, bytes;
  std::vector<double> seconds;
};

// A snapshot is of `per_snapshot` iterations, the last one of what is left. Lists have one element each, sums of its
// iterations; times are means over the ranks in step.
struct Snapshots {
  std::string trigger;  // "iteration"; "": no loop was found
  // The call that begins each iteration.
  std::string function, symbol, source_file;
  std::uint32_t line = 0;
  std::uint64_t iterations = 0, per_snapshot = 1;
  std::uint32_t ranks = 0;                       // in step: that made as many, or one more or less
  std::uint32_t call_sites = 0;                  // of the loop: called as often
  double regular = 0;                            // share of the snapshots with nearly all of these
  std::vector<double> begin_seconds;             // since the program's MPI_Init
  std::vector<double> seconds, longest_seconds;  // longest: of a rank
  std::vector<double> mpi_seconds, io_seconds;
  // Outside of MPI and I/O, by groups of consecutive ranks: [group * snapshots + snapshot].
  std::uint32_t groups = 0, ranks_per_group = 1;
  std::vector<double> own_seconds;
  std::vector<SnapshotCalls> calls;  // by seconds, descending; the costly ones
};

}  // namespace ardoise::reports

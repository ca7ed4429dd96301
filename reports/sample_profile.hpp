// The part of the model that says where a program's own time went: samples of its call stacks, summed. Part of
// Application (model.hpp); filled by knowledge_sources/plugins/samples.
//
// `self` and `total` are in SampleProfile::unit: seconds, or events of the counter that was sampled. They are sums of
// the samples' weights: estimates, with `…_error` the half width of their 99 % confidence interval. Calls, seconds of
// calls and bytes are exact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ardoise::reports {

inline constexpr std::uint32_t kNoParent = 0xFFFFFFFF;

struct SampledFunction {
  std::string symbol;       // demangled; "": the code of `module` that has no symbols
  std::string kind;         // "code", "mpi", "posix", "tool" (this tool's own code)
  std::string source_file;  // where it is defined, "" unknown
  std::uint32_t line = 0;
  std::string module;         // path of the binary or library
  std::string optimization;   // that it was compiled with, "-O2"; "" unknown
  std::uint64_t samples = 0;  // that fell into it, not into what it called
  double self = 0, self_error = 0;
  double total = 0, total_error = 0;                 // with all that it called; recursion counts once
  double rank_min = 0, rank_mean = 0, rank_max = 0;  // self, over ranks
  std::uint32_t max_rank = 0;
  std::uint64_t calls = 0;       // mpi, posix: exact, where call contexts were recorded
  double call_seconds = 0;       // likewise
  std::vector<double> counters;  // in it, by SampleProfile::counters
};

struct SampledLine {
  std::uint32_t function = 0;  // index into functions
  std::string source_file;
  std::uint32_t line = 0;
  std::uint64_t samples = 0;
  double self = 0, self_error = 0;
};

// The calling contexts of all ranks and threads as one tree; one element a node in each list. A parent stands before
// its children. Frames that the compiler inlined are nodes, and so are MPI and POSIX calls (leaves).
struct CallTree {
  std::vector<std::uint32_t> parent;    // kNoParent: a root
  std::vector<std::uint32_t> function;  // index into functions
  std::vector<std::uint64_t> samples;   // in the node itself
  std::vector<double> self;
  std::vector<std::uint64_t> calls;  // of MPI and POSIX leaves, exact
  std::vector<double> call_seconds;
  std::vector<std::uint64_t> bytes_sent, bytes_received;
};

// What each rank spent in the functions that matter most.
struct RankSamples {
  std::vector<std::uint32_t> functions;  // indices
  std::vector<double> self;              // self[i * ranks + rank] of functions[i]
  std::vector<double> all;               // all[rank]: of all functions
  std::vector<std::uint32_t> uneven;     // indices of those whose totals differ most between ranks
  std::vector<double> total;  // total[i * ranks + rank] of uneven[i] with what it called, but for MPI and I/O calls
};

// Ranks that do the same: their shares of time by function differ little.
struct RankCluster {
  std::uint32_t ranks = 0;         // how many
  std::uint32_t leader = 0;        // the rank that stands for them
  std::vector<double> mean_share;  // of their time, in each of RankSamples::functions
};

// `self` of the functions that matter most over time since the program's MPI_Init.
struct SampleTimeline {
  double bin_seconds = 0;
  std::uint32_t bins = 0;
  std::uint32_t rank_step = 1;           // of every rank_step-th rank, beginning with 0
  std::vector<std::uint32_t> functions;  // indices
  std::vector<double> self;              // self[i * bins + bin]
  std::vector<double> all;               // all[bin]: of all functions
};

struct RateChange {
  std::uint32_t rank = 0, thread = 0;
  double seconds = 0;  // since the program's MPI_Init
  double hertz = 0;    // from then on
  std::string cause;   // "start", "memory", "stream", "cost", "rise", "user", "event"
  std::uint32_t lowest_level = 0, free_bins = 0;
};

// The threads that were sampled, one element each.
struct SampledThreads {
  std::vector<std::uint32_t> rank, thread;
  std::vector<std::uint64_t> taken, stored, discarded, partial, inside_tool;  // samples
  std::vector<double> cost_seconds, wall_seconds;
  std::vector<double> self;      // weights that arrived
  std::vector<double> in_calls;  // of self: inside MPI and I/O calls
};

// The program's OpenMP regions with what they call, but for MPI and I/O calls.
struct ParallelRegions {
  std::vector<std::uint32_t> functions;  // indices
  std::vector<double> total;             // total[i * threads + thread] of functions[i], threads as in SampledThreads
};

struct SampleProfile {
  std::string unit;   // "seconds" or "events"; "": nothing was sampled
  std::string clock;  // "cpu", or the name of the event
  std::vector<std::string> counters;
  std::uint64_t samples = 0;   // that arrived
  double self = 0;             // sum of all weights
  double kernel = 0;           // of self: time in the kernel
  double at_shared_ticks = 0;  // of self: sampled at ticks on shared processors, so that shares may be some percent off
  double confidence = 0.99;
  std::uint64_t unknown_contexts = 0;      // samples whose calling context did not arrive
  std::vector<SampledFunction> functions;  // by self, descending
  std::vector<SampledLine> lines;          // likewise
  CallTree tree;
  RankSamples per_rank;
  std::vector<RankCluster> clusters;           // the greatest first
  std::vector<std::uint32_t> cluster_of_rank;  // index into clusters
  double cluster_distance = 0;  // ranks of a cluster differ from its leader in at most this share of time
  SampleTimeline timeline;
  std::vector<RateChange>
      rate_changes;  // by (rank, thread, seconds); of ranks 0, step, 2 x step … (timeline.rank_step)
  std::uint64_t rate_changes_left_out = 0;
  SampledThreads threads;
  ParallelRegions regions;
};

}  // namespace ardoise::reports

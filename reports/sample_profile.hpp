// Part of the model (Application, model.hpp): sums of sampled call stacks. Filled by knowledge_sources/plugins/samples.
//
// `self` and `total` are in SampleProfile::unit: seconds, or events of the sampled counter. They are estimates, sums of
// the samples' weights; `…_error` is the half width of their 99 % confidence interval. Calls, their seconds and bytes
// are exact.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ardoise::reports {

inline constexpr std::uint32_t kNoParent = 0xFFFFFFFF;

struct SampledFunction {
  std::string symbol;       // demangled; "": code of `module` without symbols
  std::string kind;         // "code", "mpi", "posix", "tool" (this tool's own code)
  std::string source_file;  // of the definition; "": unknown
  std::uint32_t line = 0;
  std::string module;         // path of the binary or library
  std::string optimization;   // compiler option, "-O2"; "": unknown
  std::uint64_t samples = 0;  // in the function itself
  double self = 0, self_error = 0;
  double total = 0, total_error = 0;                 // with callees; recursion counts once
  double rank_min = 0, rank_mean = 0, rank_max = 0;  // self, over ranks
  std::uint32_t max_rank = 0;
  std::uint64_t calls = 0;       // mpi, posix: exact, if call contexts were recorded
  double call_seconds = 0;       // likewise
  std::vector<double> counters;  // in the function itself, by SampleProfile::counters
};

struct SampledLine {
  std::uint32_t function = 0;  // index into functions
  std::string source_file;
  std::uint32_t line = 0;
  std::uint64_t samples = 0;
  double self = 0, self_error = 0;
};

// The calling contexts of all ranks and threads as one tree. Each list has one element for each node; parents precede
// children. Inlined frames are nodes, MPI and POSIX calls are leaves.
struct CallTree {
  std::vector<std::uint32_t> parent;    // kNoParent: a root
  std::vector<std::uint32_t> function;  // index into functions
  std::vector<std::uint64_t> samples;   // in the node itself
  std::vector<double> self;
  std::vector<std::uint64_t> calls;  // of MPI and POSIX leaves, exact
  std::vector<double> call_seconds;
  std::vector<std::uint64_t> bytes_sent, bytes_received;
};

// Time of each rank in the functions with most time.
struct RankSamples {
  std::vector<std::uint32_t> functions;  // indices
  std::vector<double> self;              // self[i * ranks + rank] of functions[i]
  std::vector<double> all;               // all[rank]: sum over all functions
  std::vector<std::uint32_t> uneven;     // functions whose totals differ most between ranks
  std::vector<double> total;             // total[i * ranks + rank] of uneven[i] with callees, without MPI and I/O calls
};

// Ranks whose time shares by function differ little.
struct RankCluster {
  std::uint32_t ranks = 0;         // number of ranks
  std::uint32_t leader = 0;        // the representative rank
  std::vector<double> mean_share;  // share of their time, in each of RankSamples::functions
};

// `self` of the functions with most time, over time since the program's MPI_Init.
struct SampleTimeline {
  double bin_seconds = 0;
  std::uint32_t bins = 0;
  std::uint32_t rank_step = 1;           // covers every rank_step-th rank, beginning with 0
  std::vector<std::uint32_t> functions;  // indices
  std::vector<double> self;              // self[i * bins + bin]
  std::vector<double> all;               // all[bin]: sum over all functions
};

struct RateChange {
  std::uint32_t rank = 0, thread = 0;
  double seconds = 0;  // since the program's MPI_Init
  double hertz = 0;    // the new rate
  std::string cause;   // "start", "memory", "stream", "cost", "rise", "user", "event"
  std::uint32_t lowest_level = 0, free_bins = 0;
};

// The sampled threads, one element each.
struct SampledThreads {
  std::vector<std::uint32_t> rank, thread;
  std::vector<std::uint64_t> taken, stored, discarded, partial, inside_tool;  // samples
  std::vector<double> cost_seconds, wall_seconds;
  std::vector<double> self;      // received weights
  std::vector<double> in_calls;  // part of self inside MPI and I/O calls
};

// The program's OpenMP regions with their callees, without MPI and I/O calls.
struct ParallelRegions {
  std::vector<std::uint32_t> functions;  // indices
  std::vector<double> total;             // total[i * threads + thread] of functions[i], threads as in SampledThreads
};

struct SampleProfile {
  std::string unit;   // "seconds" or "events"; "": no sampling
  std::string clock;  // "cpu", or the name of the event
  std::vector<std::string> counters;
  std::uint64_t samples = 0;   // received
  double self = 0;             // sum of all weights
  double kernel = 0;           // part of self in the kernel
  double at_shared_ticks = 0;  // part of self sampled at ticks on shared processors: shares may be some percent off
  double confidence = 0.99;
  std::uint64_t unknown_contexts = 0;      // samples without a received calling context
  std::vector<SampledFunction> functions;  // by self, descending
  std::vector<SampledLine> lines;          // likewise
  CallTree tree;
  RankSamples per_rank;
  std::vector<RankCluster> clusters;           // the largest first
  std::vector<std::uint32_t> cluster_of_rank;  // index into clusters
  double cluster_distance = 0;  // ranks of a cluster differ from its leader by at most this share of time
  SampleTimeline timeline;
  std::vector<RateChange>
      rate_changes;  // by (rank, thread, seconds); of ranks 0, step, 2 x step … (timeline.rank_step)
  std::uint64_t rate_changes_left_out = 0;
  SampledThreads threads;
  ParallelRegions regions;
};

}  // namespace ardoise::reports

// Merges the runs of all analyzer ranks into that of rank 0, along a binomial tree: in each round half of the remaining
// ranks send their partial results to a neighbour and are done. log2(analyzers) rounds; a rank holds at most its own
// and one other's bytes. The event loop does the waiting, because the programs of some analyzers may run much longer
// than others.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"

namespace ardoise::analyzer {

// Collective over comm, the analyzers' own. The runs are drained. False: an MPI call failed, reported as a complaint.
bool merge_to_root(EventLoop& loop, MPI_Comm comm, AnalyzerRun& run);

// A message of any length: its size, then pieces that an int can count.
bool send_bytes(EventLoop& loop, MPI_Comm comm, int to, std::span<const std::byte> bytes);
bool receive_bytes(EventLoop& loop, MPI_Comm comm, int from, std::vector<std::byte>& bytes);

}  // namespace ardoise::analyzer

// The way in: opens the stream from all programs of the launch and brings its blocks, without copying them, to the
// run, until every program has closed its end. MPI is called from this thread only.
//
// The run's memory limit is the back-pressure: above it no block is taken, the stream fills, and programs wait or
// record less.
#pragma once

#include <chrono>
#include <cstddef>

#include "analyzer/analyzer_run.hpp"

namespace ardoise::analyzer {

struct IngestOptions {
  std::size_t block_bytes = 0;   // as the programs' recorders
  std::size_t memory_bytes = 0;  // that the stream may use for blocks
};

struct Ingested {
  int programs = 0;
  std::chrono::steady_clock::time_point ended;  // when the last stream came to its end
};

// Adds every other partition to the run, reads until the end and drains it. Collective over all programs and
// analyzers. What goes wrong is a complaint of the run.
Ingested ingest(AnalyzerRun& run, const IngestOptions& options);

}  // namespace ardoise::analyzer

// The input path of a running launch and of captured packs: submits the packs of a source to the blackboard, without
// copying them, until the source ends.
//
// The run's memory limit is the back-pressure: above it no pack is taken, the stream fills, and programs wait or record
// less.
#pragma once

#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"
#include "analyzer/sources/pack_source.hpp"

namespace ardoise::analyzer {

// Runs the loop until the source ends. Errors become complaints of the run, which must be drained before the source is
// destroyed.
void ingest(EventLoop& loop, PackSource& source, AnalyzerRun& run);

}  // namespace ardoise::analyzer

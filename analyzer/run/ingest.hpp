// The way in, of a running launch and of captured packs alike: brings the packs of a source, without copying them, to
// the blackboard, until the source ends.
//
// The run's memory limit is the back-pressure: above it no pack is taken, the stream fills, and programs wait or record
// less.
#pragma once

#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"
#include "analyzer/sources/pack_source.hpp"

namespace ardoise::analyzer {

// Runs the loop until the source ends. What went wrong becomes complaints of the run, which must be drained before
// the source goes.
void ingest(EventLoop& loop, PackSource& source, AnalyzerRun& run);

}  // namespace ardoise::analyzer

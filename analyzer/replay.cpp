// See replay.hpp.
#include "analyzer/replay.hpp"

#include <random>
#include <utility>

#include "analyzer/capture_source.hpp"
#include "analyzer/ingest.hpp"
#include "analyzer/plugins.hpp"
#include "analyzer/results.hpp"
#include "analyzer/snapshot_log.hpp"
#include "analyzer/workers.hpp"

namespace ardoise::analyzer {

int replay(const Options& options) {
  auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
  auto capture = read_capture(options.replay);
  const unsigned workers = options.workers != 0 ? options.workers : default_workers();
  SnapshotLog log(say);
  knowledge_sources::TraceArchive trace(options.output);
  AnalyzerRun run({.workers = workers,
                   .memory_bytes = options.memory_bytes,
                   .analyses = std::move(plugins.analyses),
                   .snapshots = log.settings(options),
                   .traces = trace.settings(options.trace)});
  trace.begin([&run](const std::string& sentence) { run.complain(sentence); });
  for (const auto& complaint : plugins.complaints) run.complain(complaint);
  if (capture.programs.empty()) {
    for (const auto& list : {plugins.complaints, capture.complaints}) {
      for (const auto& complaint : list) say(complaint);
    }
    say("there are no packs of any program in what --replay names; nothing is written.");
    return kIncomplete;
  }
  SnapshotLog::remove_old(options.output);
  knowledge_sources::TraceArchive::remove_old(options.output);
  log.begin(options.output, 0, std::random_device{}());
  RunFacts facts;
  for (const auto& program : capture.programs) {
    facts.universe_ranks += program.ranks;
    log.add_program(program);
    trace.add_program(program);
    run.add_program(program);
  }
  facts.analyzer_workers = workers;
  facts.programs_ended = std::chrono::steady_clock::now();
  EventLoop loop;
  CaptureSource source(capture);
  ingest(loop, source, run);
  run.finish();
  const int status = write_report(run, facts, options, &trace);
  log.finish();
  return status;
}

}  // namespace ardoise::analyzer

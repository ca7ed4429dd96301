#include "analyzer/commands/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "analyzer/results/results.hpp"
#include "analyzer/results/snapshot_log.hpp"
#include "analyzer/run/ingest.hpp"
#include "analyzer/run/plugins.hpp"
#include "analyzer/run/workers.hpp"
#include "analyzer/sources/capture_source.hpp"
#include "analyzer/sources/trace_source.hpp"
#include "knowledge_sources/otf2/reader/archive_anchor.hpp"
#include "reports/atomic_file.hpp"

namespace ardoise::analyzer {
namespace {

// Captured packs, or one trace.
struct Replayed {
  std::unique_ptr<Capture> capture = std::make_unique<Capture>();  // at a constant address
  std::unique_ptr<PackSource> source;
  TraceSource* trace = nullptr;  // `source`, if it is a trace
  std::vector<knowledge_sources::Program> programs;
  std::string fault;  // a sentence: nothing can be read
};

// Results, its trace included, replace those of an earlier run.
bool is_within(const std::filesystem::path& file, const std::filesystem::path& folder) {
  std::error_code ignored;
  const auto inner = std::filesystem::weakly_canonical(file, ignored);
  const auto outer = std::filesystem::weakly_canonical(folder, ignored);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

Replayed open(const std::vector<std::string>& paths, const std::string& output) {
  Replayed replayed;
  if (std::ranges::none_of(paths, knowledge_sources::has_archive)) {
    *replayed.capture = read_capture(paths);
    replayed.programs = replayed.capture->programs;
    if (replayed.programs.empty())
      replayed.fault = "the files of --replay contain no packs of a program; nothing is written.";
    replayed.source = std::make_unique<CaptureSource>(*replayed.capture);
    return replayed;
  }
  if (paths.size() != 1) {
    replayed.fault = "--replay takes either captured packs or one trace; nothing is written.";
    return replayed;
  }
  try {
    auto source = std::make_unique<TraceSource>(paths.front());
    if (is_within(source->anchor(), std::filesystem::path(output) / "trace")) {
      replayed.fault = fmt::format(
          "the trace '{}' is in the folder of the report, '{}', and would be removed; name another folder with "
          "--output.",
          source->anchor().string(), output);
      return replayed;
    }
    replayed.programs.push_back(source->program());
    replayed.trace = source.get();
    replayed.source = std::move(source);
  } catch (const knowledge_sources::UnreadableArchive& error) {
    replayed.fault = error.what();
  }
  return replayed;
}

}  // namespace

int replay(const Options& options) {
  auto plugins = load_plugins(installed_plugins_folder(), options.plugins);
  Replayed replayed = open(options.replay, options.output);
  if (!replayed.fault.empty()) {
    for (const auto& list : {plugins.complaints, replayed.capture->complaints}) {
      for (const auto& complaint : list) say(complaint);
    }
    say(replayed.fault);
    return kIncomplete;
  }
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
  if (!options.trace.empty()) (void)reports::make_own_folder(options.output);  // failures are reported for its files
  SnapshotLog::remove_old(options.output);
  knowledge_sources::TraceArchive::remove_old(options.output);
  log.begin(options.output, 0, std::random_device{}());
  RunFacts facts;
  for (const auto& program : replayed.programs) {
    facts.universe_ranks += program.ranks;
    log.add_program(program);
    trace.add_program(program);
    run.add_program(program);
  }
  facts.analyzer_workers = workers;
  facts.programs_ended = std::chrono::steady_clock::now();
  EventLoop loop;
  ingest(loop, *replayed.source, run);
  run.finish();
  if (replayed.trace != nullptr) facts.notices = replayed.trace->notices();
  const int status = write_report(run, facts, options, &trace);
  log.finish();
  return status;
}

}  // namespace ardoise::analyzer

// The end of every analysis, live or replayed: a drained, merged run becomes the model and the files of the report.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/options/options.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"

namespace ardoise::analyzer {

struct RunFacts {
  std::uint32_t universe_ranks = 0;
  std::uint32_t analyzer_ranks = 1;
  std::uint32_t analyzer_workers = 1;
  std::vector<std::string> notices;                      // of the launch, for the reader of the report
  std::chrono::steady_clock::time_point programs_ended;  // analysis_seconds counts from here
  bool analyzers_lost = false;                           // reports::Quality::analyzers_lost
  std::uint64_t memory_kills = 0;                        // reports::Ending::memory_kills
  bool running = false;                                  // the programs go on: nothing is written but with --keep
};

inline constexpr int kDone = 0, kIncomplete = 1, kUsage = 2;

// Writes, prints and renders as the options say, complaints on standard error. Returns kDone or kIncomplete. trace: is
// finished, too; nullptr: there is none.
[[nodiscard]] int write_report(const AnalyzerRun& analyzed, const RunFacts& facts, const Options& options,
                               knowledge_sources::TraceArchive* trace = nullptr);

// One word for the launcher, in the file of --status-file; nothing without it.
void leave_state(std::string_view state, const Options& options);

// Ends with `status`, or, with --status-file, writes it there and returns 0.
[[nodiscard]] int exit_status(int status, const Options& options);

// From now on say() begins with this name.
void speak_as(const std::string& name);
// "ardoise-analyzer: sentence" on standard error.
void say(const std::string& sentence);

}  // namespace ardoise::analyzer

// The end of every analysis, live or replayed: makes the model and the files of the report from a drained, merged run.
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
  std::vector<std::string> notices;                      // about the launch, for the reader of the report
  std::chrono::steady_clock::time_point programs_ended;  // start of analysis_seconds
  double analyzer_cpu_seconds = 0;                       // of this process until then
  bool analyzers_lost = false;                           // reports::Quality::analyzers_lost
  std::uint64_t memory_kills = 0;                        // reports::Ending::memory_kills
  bool running = false;                                  // the programs still run: files are written only with --keep
};

inline constexpr int kDone = 0, kIncomplete = 1, kUsage = 2;

// Writes, prints and renders as the options say; errors go to standard error. Returns kDone or kIncomplete. trace:
// finished as well; nullptr: none.
[[nodiscard]] int write_report(const AnalyzerRun& analyzed, const RunFacts& facts, const Options& options,
                               knowledge_sources::TraceArchive* trace = nullptr);

// One word for the launcher in the --status-file; does nothing without it.
void leave_state(std::string_view state, const Options& options);

// Returns `status`, or, with --status-file, writes it there and returns 0.
[[nodiscard]] int exit_status(int status, const Options& options);

// Sets the program name that say() prints.
void set_own_name(const std::string& name);
// "ardoise-analyzer: sentence" on standard error.
void say(const std::string& sentence);

}  // namespace ardoise::analyzer

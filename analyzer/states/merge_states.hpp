// Makes a profile from the states of analyzers (safe_state.hpp), without MPI: of a launch that ended before its
// programs had finished MPI, by `ardoise-analyzer --merge`; and of a running one (snapshot.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/options/options.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/sources/unsent_packs.hpp"
#include "analyzer/states/safe_state.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"

namespace ardoise::analyzer {

struct MergedStates {
  std::unique_ptr<AnalyzerRun> run;  // drained
  std::optional<SafeState> first;    // values common to all; none: no file is usable
  std::vector<std::string> first_gone;
  NextPacks arrived;
  std::map<std::string, std::uint64_t> memory_kills;  // during the launch, by host
  std::size_t complete = 0;                           // processes that have sent all of their data
  std::uint32_t analyzers = 0;                        // with more than their first state
  std::uint32_t kept = 0;                             // of the others: with an earlier state
  std::int64_t kept_time = 0;                         // time of the first of these
};

// Reports unusable files. trace: gets the programs; nullptr: none.
[[nodiscard]] MergedStates merge_states(std::span<const std::filesystem::path> files, const Options& options,
                                        knowledge_sources::TraceArchive* trace = nullptr);

// Number of processes of its programs.
[[nodiscard]] std::size_t processes_of(const SafeState& state);

// Makes the report from the states in options.output, and removes them afterwards. Returns kDone or kIncomplete.
[[nodiscard]] int merge_safe_states(const Options& options);

}  // namespace ardoise::analyzer

// A profile of the states that analyzers left (safe_state.hpp), without MPI: of a launch that was ended before its
// programs had finished MPI, by `ardoise-analyzer --merge`; and of one that runs (snapshot.hpp).
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
#include "analyzer/sources/remains.hpp"
#include "analyzer/states/safe_state.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"

namespace ardoise::analyzer {

struct MergedStates {
  std::unique_ptr<AnalyzerRun> run;  // drained
  std::optional<SafeState> first;    // for what all have in common; none: no file can be used
  std::vector<std::string> first_gone;
  NextPacks arrived;
  std::map<std::string, std::uint64_t> memory_kills;  // while the launch ran, by host
  std::size_t complete = 0;                           // processes that have sent all that they had
  std::uint32_t analyzers = 0;                        // of which there is more than their first state
  std::uint32_t kept = 0;                             // of the others: of which there is what they had a moment before
  std::int64_t kept_time = 0;                         // and when that was; the first of them
};

// Files that can't be used are said.
// trace: gets the programs; nullptr: none.
[[nodiscard]] MergedStates merge_states(std::span<const std::filesystem::path> files, const Options& options,
                                        knowledge_sources::TraceArchive* trace = nullptr);

// Processes of its programs.
[[nodiscard]] std::size_t processes_of(const SafeState& state);

// The report of the states in options.output, which are removed when it is written. Returns kDone or kIncomplete.
[[nodiscard]] int merge_safe_states(const Options& options);

}  // namespace ardoise::analyzer

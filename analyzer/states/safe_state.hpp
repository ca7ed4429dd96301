// An analyzer's state in a file of the output folder: written when the launch is ended before its programs have
// finished MPI, since only a second is left and other analyzers may be gone; and for snapshot requests. A process
// without MPI makes a profile from these files (merge_states.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/options/options.hpp"
#include "analyzer/output_folder/safe_state_files.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/sources/unsent_packs.hpp"
#include "knowledge_sources/reduction/reduction.hpp"

namespace ardoise::analyzer {

// Values besides the results of a run.
struct SafeFacts {
  std::vector<knowledge_sources::Program> programs;
  RunFacts run;
  std::vector<std::string> first_gone;    // "rank 3 of solver": processes that ended before others
  NextPacks arrived;                      // so that data left by processes is not counted twice
  std::uint32_t complete = 0;             // processes that have sent all of their data to this analyzer
  std::string prefix = kSafeStatePrefix;  // of the file name
  std::int64_t analyzer = 0;              // its process id
  std::int64_t time = 0;                  // of the state, in seconds since 1970
  std::uint64_t memory_kills_before = 0;  // of its host, at the start
};

// The run must be drained. `rank`: this analyzer's number among the analyzers. Reports why it failed.
void write_safe_state(const AnalyzerRun& run, const SafeFacts& facts, unsigned rank, const Options& options);

// Makes the file with this prefix the state that is used when the analyzer is killed. Not after the report has been
// made.
void use_as_first_state(const std::string& prefix, unsigned rank, const Options& options);

struct SafeState {
  SafeFacts facts;
  std::string host;  // of the analyzer
  std::string command;
  std::vector<reports::RunSetting> settings;
  std::vector<std::byte> partial;
};

// Throws if the file is damaged, or of another version of Ardoise.
[[nodiscard]] SafeState read_safe_state(const std::filesystem::path& path);

// After a successful end: removes this analyzer's state.
void remove_safe_state(unsigned rank, const Options& options);

}  // namespace ardoise::analyzer

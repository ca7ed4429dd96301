// What an analyzer knows, in a file of the output folder: when the launch is ended before its programs have finished
// MPI, since there is a second for it, and other analyzers may be gone; and when somebody asks while they run. A
// process without MPI makes a profile of these files (merge_states.hpp).
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
#include "analyzer/sources/remains.hpp"
#include "knowledge_sources/reduction/reduction.hpp"

namespace ardoise::analyzer {

// Beside the numbers of a run.
struct SafeFacts {
  std::vector<knowledge_sources::Program> programs;
  RunFacts run;
  std::vector<std::string> first_gone;    // "rank 3 of solver": processes that ended before others
  NextPacks arrived;                      // so that what is left of processes is not counted twice
  std::uint32_t complete = 0;             // processes that have sent this analyzer all that they had
  std::string prefix = kSafeStatePrefix;  // of the file's name
  std::int64_t analyzer = 0;              // its process
  std::int64_t time = 0;                  // s since 1970, of the moment that this is of
  std::uint64_t memory_kills_before = 0;  // of its host, when it began
};

// Of a drained run; rank: among the analyzers. Says why when it cannot.
void write_safe_state(const AnalyzerRun& run, const SafeFacts& facts, unsigned rank, const Options& options);

// What was written with this prefix is what there is when the analyzer is killed. Not where the report was made
// meanwhile.
void use_as_first_state(const std::string& prefix, unsigned rank, const Options& options);

struct SafeState {
  SafeFacts facts;
  std::string host;  // where it was written
  std::string command;
  std::vector<reports::RunSetting> settings;
  std::vector<std::byte> partial;
};

// Throws where the file is damaged, or of another version of Ardoise.
[[nodiscard]] SafeState read_safe_state(const std::filesystem::path& path);

// All went well: those of this analyzer.
void remove_safe_state(unsigned rank, const Options& options);

}  // namespace ardoise::analyzer

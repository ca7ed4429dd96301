// Analysis of captured packs, without MPI: the same path and the same end as in a running launch. For tests, for
// looking at a run again with another plug-in, and for measuring the analyzer alone.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzer/analyzer_run.hpp"
#include "analyzer/options.hpp"
#include "instrument/format/pack_file.hpp"

namespace ardoise::analyzer {

// The packs of some capture files in memory.
struct Capture {
  std::vector<instrument::PackFile> files;
  std::vector<knowledge_sources::Program> programs;  // as the process definitions say
  std::vector<std::string> complaints;               // files that could not be read to their end, and why
};

// Files, and all files of folders, in alphabetical order.
[[nodiscard]] Capture read_capture(const std::vector<std::string>& paths);

// Gives the packs whose rank modulo `parts` is `part` to the run, as one of `parts` analyzers would receive them.
// The capture must outlive the run's work on them.
void feed(Capture& capture, AnalyzerRun& run, std::uint32_t part = 0, std::uint32_t parts = 1);

// ardoise-analyzer --replay: returns the exit status.
[[nodiscard]] int replay(const Options& options);

}  // namespace ardoise::analyzer

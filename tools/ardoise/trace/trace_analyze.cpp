// See trace_analyze.hpp.
#include "tools/ardoise/trace/trace_analyze.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_anchor.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/process.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

void say_where(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".ards") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) say("the snapshots are '{}'.", file);
  if (files.empty()) say("there are no snapshots, since the trace has no calls.");
}

}  // namespace

int analyze_trace(const TraceAnalysis& analysis) {
  try {
    // What is none would be taken for captured packs.
    (void)knowledge_sources::find_archive(analysis.trace);
  } catch (const knowledge_sources::UnreadableArchive& fault) {
    say("{}", fault.what());
    return kFailedStatus;
  }
  std::vector<std::string> words{
      find_installation().analyzer, "--called-by", speaker(), "--replay", analysis.trace, "--output", analysis.output};
  if (analysis.result != TraceResult::kReport) words.emplace_back("--no-report");
  if (analysis.result == TraceResult::kSnapshots)
    words.insert(words.end(), {"--quiet", "--snapshot-every", analysis.every});
  const Outcome outcome = run_and_wait(words);
  if (outcome.signalled) {
    say("'{}' could not be analysed: the analyzer ended by signal {}. It may be damaged; see ardoise trace check.",
        analysis.trace, outcome.status - 128);
    return kFailedStatus;
  }
  std::error_code missing;
  if (analysis.result == TraceResult::kSnapshots && fs::exists(analysis.output, missing)) say_where(analysis.output);
  return outcome.status;
}

}  // namespace ardoise::launcher

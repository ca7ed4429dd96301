// See trace_analyze.hpp.
#include "tools/ardoise/trace_analyze.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "tools/ardoise/installation.hpp"
#include "tools/ardoise/measure.hpp"
#include "tools/ardoise/message.hpp"
#include "tools/ardoise/process.hpp"

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
  std::error_code missing;
  if (!fs::exists(analysis.trace, missing)) {
    say("'{}' cannot be opened: there is no such file.", analysis.trace);
    return kFailedStatus;
  }
  std::string trace = analysis.trace;
  // A folder that is no trace would be taken for captured packs.
  if (fs::is_directory(trace, missing)) {
    const fs::path inner = fs::path(trace) / "trace";
    const auto has_anchor = [&](const fs::path& folder) {
      return std::any_of(fs::directory_iterator(folder, missing), fs::directory_iterator(),
                         [](const auto& entry) { return entry.path().extension() == ".otf2"; });
    };
    if (!has_anchor(trace) && !has_anchor(inner)) {
      say("'{}' has no trace: name a file *.otf2, its folder, or the folder of a report that was made with --trace.",
          trace);
      return kFailedStatus;
    }
  } else if (fs::path(trace).extension() != ".otf2") {
    say("'{}' is no archive of OTF2: its first file is named *.otf2.", trace);
    return kFailedStatus;
  }
  std::vector<std::string> words{find_installation().analyzer, "--replay", trace, "--output", analysis.output};
  if (analysis.result != TraceResult::kReport) words.emplace_back("--no-report");
  if (analysis.result == TraceResult::kSnapshots)
    words.insert(words.end(), {"--quiet", "--snapshot-every", analysis.every});
  const Outcome outcome = run_and_wait(words);
  if (outcome.signalled) {
    say("'{}' could not be analysed: the analyzer ended by signal {}. It may be damaged; see ardoise trace check.",
        trace, outcome.status - 128);
    return kFailedStatus;
  }
  if (analysis.result == TraceResult::kSnapshots && fs::exists(analysis.output, missing)) say_where(analysis.output);
  return outcome.status;
}

}  // namespace ardoise::launcher

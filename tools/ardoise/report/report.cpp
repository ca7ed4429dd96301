#include "tools/ardoise/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/process.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/finish_report.hpp"
#include "tools/ardoise/report/input.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using instrument::Option;

void say_snapshots(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".ards") files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  for (const std::string& file : files) say("the snapshots are '{}'.", file);
  if (files.empty()) say("there are no snapshots, since there are no calls.");
}

int report_again(const std::string& path, const CommandLine& line) {
  for (const Option& row : line.command().options) {
    if (row.of_analyzer() && row.group != instrument::OptionGroup::kOutput && line.is_given(row.name))
      throw UsageError(fmt::format("--{} is for traces and captured packs, and '{}' is a profile.", row.name, path));
  }
  return render_again(path, line.text("output"), !line.is_on("no-report"), line.text("report") == "short",
                      line.is_on("quiet"));
}

}  // namespace

int analyze_again(const std::vector<std::string>& paths, const std::string& output,
                  const std::vector<std::string>& words) {
  std::vector<std::string> all{find_installation().analyzer, "--called-by", speaker(), "--output", output, "--replay"};
  all.insert(all.end(), paths.begin(), paths.end());
  all.insert(all.end(), words.begin(), words.end());
  const Outcome outcome = run_and_wait(all);
  if (!outcome.signalled) return outcome.status;
  say("'{}' could not be analysed: the analyzer ended by signal {}. It may be damaged; see ardoise trace check.",
      paths.front(), outcome.status - 128);
  return kFailedStatus;
}

int report(const CommandLine& line) {
  const InputKind kind = kind_of_input(line.words.front());
  if (kind != InputKind::kCapture && line.words.size() > 1)
    throw UsageError("only captured packs may have several paths; a report is of one profile or one trace.");
  if (kind == InputKind::kProfile) return report_again(line.words.front(), line);
  std::vector<std::string> words;
  for (const Option& row : line.command().options) {
    if (!row.of_analyzer() || !line.is_given(row.name)) continue;
    for (const std::string& text : line.values().texts(row)) {
      words.push_back("--" + std::string(row.name));
      if (row.has_value()) words.push_back(text);
    }
  }
  const std::string output = line.is_given("output")     ? line.text("output")
                             : kind == InputKind::kTrace ? "trace-report"
                                                         : "capture-report";
  const int status = analyze_again(line.words, output, words);
  std::error_code missing;
  if (line.is_given("snapshot-every") && !line.is_on("quiet") && fs::exists(output, missing)) say_snapshots(output);
  return status;
}

}  // namespace ardoise::launcher

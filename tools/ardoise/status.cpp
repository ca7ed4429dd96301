// See status.hpp.
#include "tools/ardoise/status.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "analyzer/safe_state_files.hpp"
#include "instrument/settings/option_table.hpp"
#include "tools/ardoise/finish_report.hpp"
#include "tools/ardoise/installation.hpp"
#include "tools/ardoise/launch_line.hpp"
#include "tools/ardoise/message.hpp"
#include "tools/ardoise/options.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

bool is_running(const fs::path& folder) {
  return !analyzer::safe_state_files(folder, analyzer::kFirstStatePrefix).empty();
}

}  // namespace

std::string find_running_folder() {
  const std::string_view usual = instrument::option("output")->initial;
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(".", error)) {
    const fs::path folder = entry.path().filename();
    if (!folder.string().starts_with(usual) || !is_running(folder)) continue;
    const auto first = analyzer::safe_state_files(folder, analyzer::kFirstStatePrefix).front();
    found.emplace_back(fs::last_write_time(first, error), folder);
  }
  if (found.empty())
    throw UsageError(fmt::format("no launch is running whose folder, {}…, is here: name its folder.", usual));
  std::ranges::sort(found, std::greater<>());
  if (found.size() > 1) say("this is '{}', the last of {}.", found.front().second.string(), found.size());
  return found.front().second.string();
}

int status(int argc, char** argv) {
  CLI::App app{"Prints where the ranks of a running launch are, and the summary of what was measured so far.",
               "ardoise status"};
  std::string folder;
  app.add_option("folder", folder, "folder of its report (--output) [the last ardoise-report… here]");
  if (const auto ended = parse_or_end(app, argc, argv)) return *ended;
  if (folder.empty()) folder = find_running_folder();
  if (is_running(folder)) {
    const std::string analyzer = find_installation().analyzer;
    ::execl(analyzer.c_str(), analyzer.c_str(), "--snapshot", "--output", folder.c_str(), nullptr);
    say("'{}' cannot be started: {}.", analyzer, std::strerror(errno));
    return kFailedStatus;
  }
  std::ifstream summary(fs::path(folder) / "summary.txt");
  if (!summary) {
    say("no launch that reports to '{}' is running, or has run.", folder);
    return kFailedStatus;
  }
  say("the launch that reported to '{}' has ended; this is its summary.", folder);
  std::cout << summary.rdbuf() << std::flush;
  return 0;
}

}  // namespace ardoise::launcher

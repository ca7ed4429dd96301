// See control.hpp. The analyzer's program knows the launch (analyzer/commands/control.hpp).
#include "tools/ardoise/live/control.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "instrument/settings/option.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/options.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/live/status.hpp"
#include "tools/ardoise/report/finish_report.hpp"

namespace ardoise::launcher {

int control(int argc, char** argv) {
  CLI::App app{
      "Changes settings of a running launch: rate, period, sample-share, record, flush-every (see ardoise --help); "
      "snapshot=NAME takes a snapshot. Without settings it prints the changes so far.",
      "ardoise control"};
  std::vector<std::string> settings;
  std::string ranks = "*", program = "*", wait = "10s";
  app.add_option(
      "settings", settings,
      "NAME=VALUE ...; before them the launch's folder [that of the last launch here, else of yours on this host]");
  app.add_option("--ranks", ranks, "only these ranks of MPI_COMM_WORLD: 0-3,8 [all]");
  app.add_option("--program", program, "only this program [all]");
  app.add_option("--wait", wait, "longest wait for the answers of the ranks: 500ms, 10s, 2m [10s]")
      ->type_name("DURATION");
  if (const auto ended = parse_or_end(app, argc, argv)) return *ended;
  const auto patience = instrument::parse_duration(wait);
  if (!patience) throw UsageError(fmt::format("--wait takes a time, 500ms, 10s or 2m, not '{}'.", wait));
  std::string folder;
  if (!settings.empty() && settings.front().find('=') == std::string::npos) {
    folder = settings.front();
    settings.erase(settings.begin());
  }
  if (folder.empty()) folder = find_running_folder();
  const std::string analyzer = find_installation().analyzer, set = fmt::format("{}", fmt::join(settings, " ")),
                    seconds = fmt::format("{}", *patience);
  ::execl(analyzer.c_str(), analyzer.c_str(), "--called-by", speaker().c_str(), "--control", "--set", set.c_str(),
          "--ranks", ranks.c_str(), "--program", program.c_str(), "--wait", seconds.c_str(), "--output", folder.c_str(),
          nullptr);
  say("'{}' cannot be started: {}.", analyzer, std::strerror(errno));
  return kFailedStatus;
}

}  // namespace ardoise::launcher

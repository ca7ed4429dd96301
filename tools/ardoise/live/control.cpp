// ardoise-analyzer does the work, since it knows the launch (analyzer/commands/control.hpp).
#include "tools/ardoise/live/control.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "instrument/settings/option.hpp"
#include "reports/text/joined.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/installation.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/live/status.hpp"
#include "tools/ardoise/report/finish_report.hpp"

namespace ardoise::launcher {

int control(const CommandLine& line) {
  std::vector<std::string> settings = line.words;
  std::string folder;
  if (!settings.empty() && settings.front().find('=') == std::string::npos) {
    folder = settings.front();
    settings.erase(settings.begin());
  }
  if (folder.empty()) folder = find_running_folder();
  if (folder.empty()) return kFailedStatus;
  const std::string analyzer = find_installation().analyzer, set = reports::joined(settings, " "),
                    ranks = line.is_given("ranks") ? line.text("ranks") : "*",
                    program = line.is_given("program") ? line.text("program") : "*",
                    seconds = fmt::format("{}", *instrument::parse_duration(line.text("wait")));
  ::execl(analyzer.c_str(), analyzer.c_str(), "--called-by", speaker().c_str(), "--control", "--set", set.c_str(),
          "--ranks", ranks.c_str(), "--program", program.c_str(), "--wait", seconds.c_str(), "--output", folder.c_str(),
          nullptr);
  say("'{}' cannot be started: {}.", analyzer, std::strerror(errno));
  return kFailedStatus;
}

}  // namespace ardoise::launcher

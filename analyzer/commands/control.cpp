#include "analyzer/commands/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/output_folder/command_file.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/output_folder/status_file.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/run/ingest.hpp"
#include "analyzer/states/safe_state.hpp"
#include "instrument/settings/changes.hpp"
#include "instrument/settings/control_file.hpp"
#include "instrument/settings/number_ranges.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kAnswerLooks = 5ms;
constexpr std::size_t kProcessesNamed = 8;

struct Process {
  std::uint32_t world, rank;  // in the world
  std::string program;
  std::uint32_t refused_before = 0;  // commands that failed before
};

// Processes of the launch that writes to the folder, as its analyzers report them; empty: no launch runs.
std::vector<Process> processes_of(const fs::path& folder) {
  for (const fs::path& file : safe_state_files(folder, kFirstStatePrefix)) {
    try {
      std::vector<Process> all;
      for (const auto& program : read_safe_state(file).facts.programs) {
        for (std::uint32_t rank = 0; rank < program.ranks; ++rank)
          all.push_back({program.world, program.place.first_rank + rank, program.name});
      }
      return all;
    } catch (const std::exception&) {
      // The file was just replaced: the next one has the same content.
    }
  }
  return {};
}

struct Answer {
  std::uint32_t number = 0, refused = 0;
};
Answer answer_of(const fs::path& folder, const Process& process) {
  Answer answer;
  std::istringstream in(
      read_own_file(folder / instrument::control_answer_name(process.world, process.rank)).value_or(""));
  in >> answer.number >> answer.refused;
  return answer;
}

std::string named(const std::vector<Process>& processes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(processes.size(), kProcessesNamed); ++i)
    text += fmt::format("{}rank {} of {}", i == 0 ? "" : ", ", processes[i].rank,
                        reports::in_sentence(processes[i].program));
  return processes.size() > kProcessesNamed ? text + fmt::format(" … ({})", processes.size()) : text;
}

int print_history(const fs::path& folder) {
  const std::string text = read_own_file(folder / instrument::kControlName).value_or("");
  bool is_any = false;
  (void)instrument::for_each_command(text, [&](const instrument::ControlCommand& command) {
    is_any = true;
    std::cout << fmt::format("{:>3}  {}  ranks {}  program {}{}\n", command.number,
                             reports::printable(command.settings),
                             command.ranks == "*" ? "all" : reports::printable(command.ranks),
                             command.program == "*" ? "all" : reports::in_sentence(std::string(command.program)),
                             command.rule != 0 ? fmt::format("  by rule {}", command.rule) : "");
  });
  if (!is_any) std::cout << "no setting has been changed.\n";
  return kDone;
}

}  // namespace

int control(const Options& options) {
  const fs::path folder = options.output;
  if (const std::string fault = instrument::fault_of_changes(options.control_settings); !fault.empty()) {
    say(fault);
    return kUsage;
  }
  if (options.control_program.find_first_of("/\n") != std::string::npos ||
      (options.control_ranks != "*" && !instrument::are_ranges(options.control_ranks))) {
    say("--ranks takes numbers and ranges, 0-3,8, and --program a name.");
    return kUsage;
  }
  if (const std::string fault = fault_of_folder(folder); !fault.empty()) {
    say(fmt::format("'{}' {}: only the user who started a launch can control it.", options.output, fault));
    return kIncomplete;
  }
  const auto all = processes_of(folder);
  if (all.empty()) {
    say(fmt::format("no running launch writes to '{}': there is nothing to control.", options.output));
    return kIncomplete;
  }
  if (options.control_settings.empty()) return print_history(folder);
  const instrument::ControlCommand command{0, options.control_ranks, options.control_program, options.control_settings};
  std::vector<Process> asked;
  std::ranges::copy_if(all, std::back_inserter(asked), [&](const Process& process) {
    return instrument::is_for(command, process.program, process.rank);
  });
  if (asked.empty()) {
    say(fmt::format("this launch has no rank '{}' of a program '{}'.", options.control_ranks, options.control_program));
    return kUsage;
  }
  for (Process& process : asked) process.refused_before = answer_of(folder, process).refused;
  const auto begin = Clock::now();
  const Appended appended = append_command(folder, command, WhenBusy::kWait);
  if (appended.number == 0) {
    say(fmt::format("cannot write '{}': {}.", (folder / instrument::kControlName).string(), appended.why));
    return kIncomplete;
  }
  std::vector<Process> missing = asked, refusing;
  const auto patience = std::chrono::duration<double>(options.control_wait_seconds);
  for (;; std::this_thread::sleep_for(kAnswerLooks)) {
    std::erase_if(missing, [&](const Process& process) {
      const Answer answer = answer_of(folder, process);
      if (answer.number >= appended.number && answer.refused > process.refused_before) refusing.push_back(process);
      return answer.number >= appended.number;
    });
    std::ranges::sort(refusing, {}, [](const Process& process) { return std::pair(process.world, process.rank); });
    if (missing.empty() || Clock::now() - begin > patience) break;
    if (safe_state_files(folder, kFirstStatePrefix).empty()) break;  // the launch has ended
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::string line = fmt::format("{}: done on {} of {} in {:.0f} ms", options.control_settings,
                                 asked.size() - missing.size() - refusing.size(),
                                 reports::counted(asked.size(), "rank"), seconds * 1e3);
  if (!refusing.empty()) line += fmt::format("; not possible on {}", named(refusing));
  if (!missing.empty()) line += fmt::format("; no answer from {}", named(missing));
  std::cout << reports::printable(line) << "." << std::endl;
  return missing.empty() && refusing.empty() ? kDone : kIncomplete;
}

}  // namespace ardoise::analyzer

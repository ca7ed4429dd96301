// See control.hpp.
#include "analyzer/control.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analyzer/ingest.hpp"
#include "analyzer/results.hpp"
#include "analyzer/safe_state.hpp"
#include "analyzer/status_file.hpp"
#include "instrument/settings/control_file.hpp"
#include "instrument/settings/option_table.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kAnswerLooks = 5ms;
constexpr std::size_t kProcessesNamed = 8;

// "" or what is wrong with NAME=VALUE ….
std::string fault_of(std::string_view settings) {
  while (!settings.empty()) {
    const std::string_view word = instrument::take_word(settings, ' ');
    if (word.empty()) continue;
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) return fmt::format("'{}' is not NAME=VALUE.", word);
    const std::string_view name = word.substr(0, sign), value = word.substr(sign + 1);
    const auto row = std::ranges::find(instrument::kOptions, name, &instrument::Option::name);
    std::vector<std::string_view> changing;
    for (const auto& each : instrument::kOptions) {
      if ((each.flags & instrument::kMayChange) != 0) changing.push_back(each.name);
    }
    if (row == instrument::kOptions.end())
      return fmt::format("there is no option '{}'; what can change while a launch runs: {}.", name,
                         fmt::join(changing, ", "));
    if ((row->flags & instrument::kMayChange) == 0)
      return fmt::format("'{}' cannot change while a launch runs; what can: {}.", name, fmt::join(changing, ", "));
    if (const auto wanted = instrument::what_is_wanted(*row, value))
      return fmt::format("'{}' is not allowed for {}: it has to be {}.", value, name, *wanted);
  }
  return "";
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Process {
  std::uint32_t world, rank;  // in it
  std::string program;
  std::uint32_t refused_before = 0;  // commands that it could not apply
};

// Of the launch that reports to the folder, as its analyzers say; empty: none runs.
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
      // Replaced in this moment: the next one says the same.
    }
  }
  return {};
}

// Appended as a whole; the number that the command got. 0: `why` it could not.
std::uint32_t append(const fs::path& folder, const Options& options, std::string& why) {
  const fs::path path = folder / instrument::kControlName;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::flock(file, LOCK_EX) != 0) {
    why = std::strerror(errno);
    if (file >= 0) ::close(file);
    return 0;
  }
  const std::string before = content_of(path);
  std::uint32_t number = 1;
  const bool is_good = before.empty() || instrument::for_each_command(before, [&](const auto& command) {
                         number = std::max(number, command.number + 1);
                       });
  std::string line = before.empty() ? std::string(instrument::kControlHead) : "";
  line +=
      fmt::format("{}/{}/{}/{}\n", number, options.control_ranks, options.control_program, options.control_settings);
  if (!is_good) {
    why = "it is damaged, and processes would not read on";
  } else if (before.size() + line.size() > instrument::kMaxControlBytes) {
    why = "this launch was told as much as it can be told";
  } else if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    why = std::strerror(errno);
  }
  ::close(file);
  return why.empty() ? number : 0;
}

struct Answer {
  std::uint32_t number = 0, refused = 0;
};
Answer answer_of(const fs::path& folder, const Process& process) {
  Answer answer;
  std::ifstream in(folder / instrument::control_answer_name(process.world, process.rank));
  in >> answer.number >> answer.refused;
  return answer;
}

std::string named(const std::vector<Process>& processes) {
  std::string text;
  for (std::size_t i = 0; i < std::min(processes.size(), kProcessesNamed); ++i)
    text += fmt::format("{}rank {} of {}", i == 0 ? "" : ", ", processes[i].rank, processes[i].program);
  return processes.size() > kProcessesNamed ? text + fmt::format(" … ({})", processes.size()) : text;
}

int print_history(const fs::path& folder) {
  const std::string text = content_of(folder / instrument::kControlName);
  bool is_any = false;
  (void)instrument::for_each_command(text, [&](const instrument::ControlCommand& command) {
    is_any = true;
    std::cout << fmt::format("{:>3}  {}  ranks {}  program {}\n", command.number, command.settings,
                             command.ranks == "*" ? "all" : command.ranks,
                             command.program == "*" ? "all" : command.program);
  });
  if (!is_any) std::cout << "nothing was changed so far.\n";
  return kDone;
}

}  // namespace

int control(const Options& options) {
  const fs::path folder = options.output;
  if (const std::string fault = fault_of(options.control_settings); !fault.empty()) {
    say(fault);
    return kUsage;
  }
  if (options.control_program.find_first_of("/\n") != std::string::npos ||
      options.control_ranks.find_first_not_of("0123456789,-*") != std::string::npos) {
    say("--ranks takes numbers and ranges, 0-3,8, and --program a name.");
    return kUsage;
  }
  const auto all = processes_of(folder);
  if (all.empty()) {
    say(fmt::format("no launch that reports to '{}' is running: there is nothing to control.", options.output));
    return kIncomplete;
  }
  if (options.control_settings.empty()) return print_history(folder);
  const instrument::ControlCommand command{0, options.control_ranks, options.control_program, ""};
  std::vector<Process> asked;
  std::ranges::copy_if(all, std::back_inserter(asked), [&](const Process& process) {
    return instrument::is_for(command, process.program, process.rank);
  });
  if (asked.empty()) {
    say(fmt::format("this launch has no rank '{}' of a program '{}'.", options.control_ranks, options.control_program));
    return kUsage;
  }
  for (Process& process : asked) process.refused_before = answer_of(folder, process).refused;
  std::string why;
  const auto begin = Clock::now();
  const std::uint32_t number = append(folder, options, why);
  if (number == 0) {
    say(fmt::format("cannot write '{}': {}.", (folder / instrument::kControlName).string(), why));
    return kIncomplete;
  }
  std::vector<Process> missing = asked, refusing;
  const auto patience = std::chrono::duration<double>(options.control_wait_seconds);
  for (;; std::this_thread::sleep_for(kAnswerLooks)) {
    std::erase_if(missing, [&](const Process& process) {
      const Answer answer = answer_of(folder, process);
      if (answer.number >= number && answer.refused > process.refused_before) refusing.push_back(process);
      return answer.number >= number;
    });
    std::ranges::sort(refusing, {}, [](const Process& process) { return std::pair(process.world, process.rank); });
    if (missing.empty() || Clock::now() - begin > patience) break;
    if (safe_state_files(folder, kFirstStatePrefix).empty()) break;  // it has ended
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::string line = fmt::format("{}: done on {} of {} ranks in {:.0f} ms", options.control_settings,
                                 asked.size() - missing.size() - refusing.size(), asked.size(), seconds * 1e3);
  if (!refusing.empty()) line += fmt::format("; not possible on {}", named(refusing));
  if (!missing.empty()) line += fmt::format("; no answer from {}", named(missing));
  std::cout << line << "." << std::endl;
  return missing.empty() && refusing.empty() ? kDone : kIncomplete;
}

}  // namespace ardoise::analyzer

#include "analyzer/states/snapshot.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "analyzer/hangs/stalled_processes.hpp"
#include "analyzer/output_folder/live_process.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/output_folder/status_file.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/run/event_loop.hpp"
#include "analyzer/run/ingest.hpp"
#include "analyzer/sources/capture_source.hpp"
#include "analyzer/states/merge_states.hpp"
#include "analyzer/states/safe_state.hpp"
#include "instrument/machine/own_folder.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLooks = 10ms;
constexpr auto kForAnalyzers = 15s;
constexpr auto kForProcesses = 2500ms;  // processes check twice a second
constexpr auto kForOthers = 10s;        // other requests at the same time

// ns, of the file system's clock; 0: no such file.
std::int64_t modified(const fs::path& file) {
  struct stat found {};
  if (instrument::OwnFolder(file.parent_path().c_str()).stat(file.filename().c_str(), found) != 0) return 0;
  return std::int64_t{1'000'000'000} * found.st_mtim.tv_sec + found.st_mtim.tv_nsec;
}

// Valid as made by Request. It becomes part of a file name.
bool is_request(std::string_view text) {
  constexpr std::size_t kMost = 64;
  return !text.empty() && text.size() <= kMost && text.find_first_not_of("0123456789-") == text.npos;
}

// The request exists during its lifetime.
class Request {
 public:
  explicit Request(const fs::path& folder)
      : file_(folder / instrument::kStateRequestName),
        text_(fmt::format("{}-{}", ::getpid(), Clock::now().time_since_epoch().count())) {}
  ~Request() {
    if (made_ != 0) remove_requests(file_.parent_path());
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Waits for other requests. False: the folder cannot be written.
  [[nodiscard]] bool make() {
    const auto begin = Clock::now();
    for (;; std::this_thread::sleep_for(kLooks)) {
      const instrument::OwnFolder folder(file_.parent_path().c_str());
      const auto file = static_cast<int>(folder.make(instrument::kStateRequestName, 0600));
      if (file < 0 && file != -EEXIST) return false;
      if (file >= 0) {
        const std::string line = text_ + "\n" + host_name() + "\n";
        const bool is_written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
        made_ = ::close(file) == 0 && is_written ? modified(file_) : 0;
        if (made_ == 0) remove_own_file(file_);
        return made_ != 0;
      }
      const bool is_late = Clock::now() - begin > kForOthers;
      if (is_late || was_left()) remove_requests(file_.parent_path());
      // Removes anything else of this name, too.
      if (const long left = is_late ? folder.remove(instrument::kStateRequestName) : 0; left != 0 && left != -ENOENT)
        return false;
    }
  }
  [[nodiscard]] std::string answers() const { return kSnapshotPrefix + text_ + "-"; }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  // By a killed process.
  [[nodiscard]] bool was_left() const {
    std::istringstream file(read_own_file(file_).value_or(""));
    std::int64_t process = 0;
    std::string rest, host;
    return (file >> process >> rest >> host) && !may_live(host, process, "ardoise-analyzer");
  }

  const fs::path file_;
  const std::string text_;
  std::int64_t made_ = 0;
};

std::vector<fs::path> fresh_position_files(const fs::path& folder, std::int64_t since) {
  auto files = position_files(folder);
  std::erase_if(files, [&](const fs::path& file) { return modified(file) < since; });
  return files;
}

bool has_living_analyzer(const fs::path& first_state) {
  try {
    const SafeState state = read_safe_state(first_state);
    return may_live(state.host, state.facts.analyzer, "ardoise-analyzer");
  } catch (const std::exception&) {
    return true;  // it ends now, or the failure is reported
  }
}

std::vector<fs::path> wait_for_states(const fs::path& folder, const Request& request, std::size_t analyzers) {
  for (const auto begin = Clock::now();; std::this_thread::sleep_for(kLooks)) {
    auto states = safe_state_files(folder, request.answers());
    if (states.size() >= analyzers || Clock::now() - begin > kForAnalyzers) return states;
  }
}

std::vector<fs::path> wait_for_position_files(const fs::path& folder, const Request& request, std::size_t processes) {
  for (const auto begin = Clock::now();; std::this_thread::sleep_for(kLooks)) {
    auto positions = fresh_position_files(folder, request.made());
    if (positions.size() >= processes || Clock::now() - begin > kForProcesses) return positions;
  }
}

}  // namespace

std::string SnapshotRequests::look() {
  const std::string content = read_own_file(file_).value_or("");
  const auto end = content.find('\n');
  if (end == content.npos) return "";  // incomplete: retried at the next check
  const std::string text = content.substr(0, end);
  if (text == seen_) return "";
  seen_ = text;
  return is_request(text) ? kSnapshotPrefix + text + "-" : "";
}

int take_snapshot(const Options& options) {
  const fs::path folder = options.output;
  if (const std::string fault = fault_of_folder(folder); !fault.empty()) {
    say(fmt::format("'{}' {}: only the user who started the launch can query it.", options.output, fault));
    return kIncomplete;
  }
  const auto first_states = safe_state_files(folder, kFirstStatePrefix);
  const auto living = static_cast<std::size_t>(std::ranges::count_if(first_states, has_living_analyzer));
  if (living == 0) {
    say(fmt::format("no running launch writes to '{0}'; if it was ended, run: ardoise report {0}", options.output));
    return kNotRunning;
  }
  Request request(folder);
  if (!request.make()) {
    say(fmt::format("'{}' cannot be written: only the user who started the launch can query it.", options.output));
    return kIncomplete;
  }
  const auto states = wait_for_states(folder, request, living);
  MergedStates merged = merge_states(states, options);
  if (!merged.first) {
    say(fmt::format("no analyzer of the launch that writes to '{}' answers: they were stopped, or have just ended.",
                    options.output));
    return kNotRunning;
  }
  Options of_run = options;
  of_run.command = merged.first->command;
  of_run.settings = merged.first->settings;
  RunFacts facts = merged.first->facts.run;
  facts.running = true;
  if (states.size() < first_states.size())
    facts.notices.push_back(fmt::format(
        "{} of {} did not answer: the data {} received is missing.", first_states.size() - states.size(),
        reports::counted(first_states.size(), "analyzer"), first_states.size() - states.size() == 1 ? "it" : "they"));
  facts.programs_ended = Clock::now();
  // Processes in MPI_Finalize have reported everything.
  const std::size_t processes = processes_of(*merged.first);
  Capture positions =
      read_own_capture(wait_for_position_files(folder, request, processes - std::min(processes, merged.complete)));
  CaptureSource source(positions);
  EventLoop loop;
  ingest(loop, source, *merged.run);
  merged.run->finish();
  return write_report(*merged.run, facts, of_run);
}

}  // namespace ardoise::analyzer

// See snapshot.hpp.
#include "analyzer/snapshot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <fstream>
#include <thread>
#include <vector>

#include "analyzer/capture_source.hpp"
#include "analyzer/event_loop.hpp"
#include "analyzer/ingest.hpp"
#include "analyzer/live_process.hpp"
#include "analyzer/merge_states.hpp"
#include "analyzer/results.hpp"
#include "analyzer/safe_state.hpp"
#include "analyzer/stands.hpp"
#include "analyzer/status_file.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLooks = 10ms;
constexpr auto kForAnalyzers = 15s;
constexpr auto kForProcesses = 2500ms;  // they look twice a second
constexpr auto kForOthers = 10s;        // that ask at the same time

// ns, of the file system's clock; 0: there is no such file.
std::int64_t modified(const fs::path& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return 0;
  return std::int64_t{1'000'000'000} * found.st_mtim.tv_sec + found.st_mtim.tv_nsec;
}

// While it lives, all are asked.
class Request {
 public:
  explicit Request(const fs::path& folder)
      : file_(folder / instrument::kAskName),
        text_(fmt::format("{}-{}", ::getpid(), Clock::now().time_since_epoch().count())) {}
  ~Request() {
    if (made_ != 0) remove_requests(file_.parent_path());
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  // Waits for others that ask. False: the folder cannot be written.
  [[nodiscard]] bool make() {
    const auto begin = Clock::now();
    for (;; std::this_thread::sleep_for(kLooks)) {
      const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      if (file < 0 && errno != EEXIST) return false;
      if (file >= 0) {
        const std::string line = text_ + "\n" + host_name() + "\n";
        const bool is_written = ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
        made_ = ::close(file) == 0 && is_written ? modified(file_) : 0;
        if (made_ == 0) ::unlink(file_.c_str());
        return made_ != 0;
      }
      if (Clock::now() - begin > kForOthers || was_left()) remove_requests(file_.parent_path());
    }
  }
  [[nodiscard]] std::string answers() const { return kSnapshotPrefix + text_ + "-"; }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  // By one that was killed.
  [[nodiscard]] bool was_left() const {
    std::ifstream file(file_);
    std::int64_t process = 0;
    std::string rest, host;
    return (file >> process >> rest >> host) && !may_live(host, process, "ardoise-analyzer");
  }

  const fs::path file_;
  const std::string text_;
  std::int64_t made_ = 0;
};

std::vector<std::string> fresh_stands(const fs::path& folder, std::int64_t since) {
  std::vector<std::string> files;
  for (const fs::path& file : stand_files(folder)) {
    if (modified(file) >= since) files.push_back(file.string());
  }
  return files;
}

bool has_living_analyzer(const fs::path& first_state) {
  try {
    const SafeState state = read_safe_state(first_state);
    return may_live(state.host, state.facts.analyzer, "ardoise-analyzer");
  } catch (const std::exception&) {
    return true;  // it ends now, or it will be said
  }
}

std::vector<fs::path> wait_for_states(const fs::path& folder, const Request& request, std::size_t analyzers) {
  for (const auto begin = Clock::now();; std::this_thread::sleep_for(kLooks)) {
    auto states = safe_state_files(folder, request.answers());
    if (states.size() >= analyzers || Clock::now() - begin > kForAnalyzers) return states;
  }
}

std::vector<std::string> wait_for_stands(const fs::path& folder, const Request& request, std::size_t processes) {
  for (const auto begin = Clock::now();; std::this_thread::sleep_for(kLooks)) {
    auto stands = fresh_stands(folder, request.made());
    if (stands.size() >= processes || Clock::now() - begin > kForProcesses) return stands;
  }
}

}  // namespace

std::string SnapshotRequests::look() {
  std::ifstream file(file_);
  std::string text;
  // Half written: the next time.
  if (!file || !std::getline(file, text) || file.eof() || text == seen_) return "";
  seen_ = text;
  return kSnapshotPrefix + text + "-";
}

int take_snapshot(const Options& options) {
  const fs::path folder = options.output;
  const auto first_states = safe_state_files(folder, kFirstStatePrefix);
  const auto living = static_cast<std::size_t>(std::ranges::count_if(first_states, has_living_analyzer));
  if (living == 0) {
    say(fmt::format("no launch that reports to '{0}' is running; where it was ended, run: ardoise report {0}",
                    options.output));
    return kNotRunning;
  }
  Request request(folder);
  if (!request.make()) {
    say(fmt::format("'{}' cannot be written, so nobody can be asked: only who started the launch can.",
                    options.output));
    return kIncomplete;
  }
  const auto states = wait_for_states(folder, request, living);
  MergedStates merged = merge_states(states, options);
  if (!merged.first) {
    say(fmt::format("no analyzer of the launch that reports to '{}' answers: they were stopped, or have just ended.",
                    options.output));
    return kNotRunning;
  }
  Options of_run = options;
  of_run.command = merged.first->command;
  of_run.settings = merged.first->settings;
  RunFacts facts = merged.first->facts.run;
  facts.running = true;
  if (states.size() < first_states.size())
    facts.notices.push_back(fmt::format("{} of {} analyzers did not answer; what they have received is missing.",
                                        first_states.size() - states.size(), first_states.size()));
  facts.programs_ended = Clock::now();
  // Processes that have come to MPI_Finalize have no more to say.
  const std::size_t processes = processes_of(*merged.first);
  Capture stands = read_capture(wait_for_stands(folder, request, processes - std::min(processes, merged.complete)));
  CaptureSource source(stands);
  EventLoop loop;
  ingest(loop, source, *merged.run);
  merged.run->finish();
  return write_report(*merged.run, facts, of_run);
}

}  // namespace ardoise::analyzer

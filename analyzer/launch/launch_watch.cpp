#include "analyzer/launch/launch_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include "analyzer/output_folder/status_file.hpp"
#include "analyzer/states/safe_state.hpp"
#include "vmpi/world/window_files.hpp"

namespace ardoise::analyzer {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLooksForDeaths(100);
// Renewal interval of the first state; longer if renewal would take more than this share of the time.
constexpr milliseconds kRenewal(500);
constexpr int kShareOfRenewals = 100;  // one part in this many

// From the first sign until Open MPI has ended all processes.
constexpr milliseconds kEndOfLaunch(1500);

// Takes packs that have already arrived, which their senders have dropped. Few, and none in flight: after MPI_Abort
// there are four milliseconds.
void take_arrived_packs(StreamSource& stream, AnalyzerRun& run) {
  constexpr int kMost = 8;
  SourcedPack pack;
  for (int left = kMost; left != 0 && stream.next(pack) == PackSource::Next::pack; --left) run.submit(pack);
}

constexpr milliseconds kNever = std::chrono::hours(24 * 365);

milliseconds in_milliseconds(double seconds) { return milliseconds(static_cast<std::int64_t>(seconds * 1000)); }

milliseconds hang_period(double hang_seconds) {
  if (hang_seconds <= 0) return kNever;
  return std::clamp(in_milliseconds(hang_seconds / 10), milliseconds(50), milliseconds(1000));
}

std::int64_t seconds_now() { return std::time(nullptr); }

milliseconds keep_period(double seconds) { return seconds > 0 ? in_milliseconds(seconds) : kNever; }

}  // namespace

LaunchWatch::LaunchWatch(EventLoop& loop, AnalyzerRun& run, const Options& options, RunFacts& facts, Setting setting)
    : loop_(loop),
      run_(run),
      options_(options),
      facts_(facts),
      setting_(std::move(setting)),
      requests_(options.output),
      keep_safe_(options),
      deaths_(loop.every(kLooksForDeaths, [this] { look_for_deaths(); })),
      answers_(loop.every(SnapshotRequests::kPeriod, [this] { answer(); })),
      renewals_(loop.every(kRenewal, [this] { renew_first_state(); })),
      hangs_(loop.every(hang_period(setting_.hang_seconds), [this] { look_for_a_hang(); })),
      keeps_(loop.every(keep_period(options.save_every_seconds), [this] { keep(); })) {
  if (setting_.hang_seconds > 0)
    hang_watch_.emplace(HangWatch::Setting{options.output, setting_.hang_seconds, setting_.rank, setting_.analyzers},
                        setting_.programs);
  loop_.on_signal(SIGCONT, [this] { save(); });
  loop_.on_signal(SIGTERM, [this] { end(); });
  write(kFirstStatePrefix, seconds_now());
  if (setting_.rank == 0) leave_state(kStateRunning, options);
}

LaunchWatch::~LaunchWatch() {
  loop_.on_signal(SIGTERM, [] {});
  loop_.on_signal(SIGCONT, [] {});
  keeper_.wait();
  snapshots_.wait();
  remove_own_file(trace_mark());
  remove_safe_state(setting_.rank, options_);
}

void LaunchWatch::stream_ends() {
  processes_ = stream_->processes();
  arrived_ = stream_->arrived();
  facts_.memory_kills = memory_kills_since(memory_kills_before_);
  stream_ = nullptr;
}

std::map<ProcessKey, bool> LaunchWatch::processes() const {
  return stream_ != nullptr ? stream_->processes() : processes_;
}

void LaunchWatch::write(const std::string& prefix, std::int64_t time) {
  const auto complete = std::ranges::count_if(processes(), [](const auto& each) { return each.second; });
  write_safe_state(run_,
                   {setting_.programs, facts_, first_gone_, stream_ != nullptr ? stream_->arrived() : arrived_,
                    static_cast<std::uint32_t>(complete), prefix, process_, time, memory_kills_before_},
                   setting_.rank, options_);
}

// Exists until this analyzer's part of the trace is complete, which is later than its state.
std::string LaunchWatch::trace_mark() const {
  return safe_state_file(options_.output, kSavesMarkPrefix, setting_.rank).string() + "-trace";
}

void LaunchWatch::save() {
  if (has_saved_ && stream_ != nullptr && stream_->is_paused()) return;  // no pack has arrived since
  // Removed when the report was made from the states.
  if (!has_own_file(safe_state_file(options_.output, kFirstStatePrefix, setting_.rank))) return;
  if (first_gone_.empty() && stream_ != nullptr) first_gone_ = stream_->gone_peers();
  // Later packs stay with the programs, which leave them behind when they are ended.
  if (stream_ != nullptr) take_arrived_packs(*stream_, run_);
  has_saved_ = true;
  // Pending work of the blackboard may take the copy a while.
  const auto mark = safe_state_file(options_.output, kSavesMarkPrefix, setting_.rank);
  (void)write_own_file(mark, "");
  if (setting_.trace != nullptr) (void)write_own_file(trace_mark(), "");
  const auto write_all = [&, time = seconds_now()] {
    write(kSafeStatePrefix, time);
    remove_own_file(mark);
  };
  if (!keeper_.keep(run_, write_all)) {
    run_.drain();
    write_all();
  }
  if (stream_ != nullptr) stream_->pause_for(kEndOfLaunch);
}

void LaunchWatch::end() {
  save();
  keeper_.wait();
  if (setting_.trace != nullptr) {
    run_.drain();
    setting_.trace->close_parts();
    remove_own_file(trace_mark());
  }
  vmpi::remove_window_folder();  // no destructor runs
  std::signal(SIGTERM, SIG_DFL);
  std::raise(SIGTERM);
}

void LaunchWatch::look_for_deaths() {
  if (stream_ == nullptr) return;
  const auto gone = stream_->gone_peers();
  if (std::exchange(known_gone_, gone.size()) >= gone.size()) return;
  save();
}

void LaunchWatch::look_for_a_hang() {
  if (!hang_watch_) return;
  const std::string sentence = hang_watch_->look(processes());
  if (sentence.empty()) return;
  say(fmt::format("{} Results so far are in '{}'; ardoise status prints them.", sentence, options_.output));
  facts_.notices.push_back("While it ran: " + sentence);
  keep_safe_.write();
}

void LaunchWatch::answer() {
  if (snapshots_.is_busy()) return;
  // If no copy can be made, there is no answer.
  if (const std::string prefix = requests_.look(); !prefix.empty())
    (void)snapshots_.keep(run_, [&, time = seconds_now()] {
      write(prefix, time);
      use_as_first_state(prefix, setting_.rank, options_);
    });
}

// The only data left if the programs, their survivors and the analyzers are all killed at once.
void LaunchWatch::renew_first_state() {
  if (snapshots_.is_busy() || stream_ == nullptr) return;
  if (EventLoop::Clock::now() - renewed_ < kShareOfRenewals * snapshots_.cost()) return;
  if (stream_->arrived() == renewed_with_) return;
  renewed_ = EventLoop::Clock::now();
  renewed_with_ = stream_->arrived();
  (void)snapshots_.keep(run_, [&, time = seconds_now()] {
    [[maybe_unused]] const int niceness = ::nice(10);
    run_.shorten();
    write(kNextStatePrefix, time);
    use_as_first_state(kNextStatePrefix, setting_.rank, options_);
  });
}

void LaunchWatch::keep() {
  // The loop calls it at its start, too.
  if (std::exchange(has_begun_to_keep_, true) && setting_.rank == 0) keep_safe_.write();
}

}  // namespace ardoise::analyzer

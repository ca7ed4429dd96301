#include "tools/ardoise/common/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "tools/ardoise/common/launch_signals.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/process_tree.hpp"

namespace ardoise::launcher {
namespace {

constexpr auto kGrace = std::chrono::seconds(10);  // from SIGTERM at the time limit to SIGKILL

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  }
  ~Pipe() {
    ::close(ends_[0]);
    close_input();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int input() const { return ends_[1]; }
  [[nodiscard]] int output() const { return ends_[0]; }
  void close_input() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  // Waits for a piece and calls take(piece). Returns false when all writers have closed their ends.
  template <class Take>
  bool read(Take take) {
    std::array<char, 65536> buffer;
    const auto got = ::read(ends_[0], buffer.data(), buffer.size());
    if (got > 0) take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    return got > 0 || (got < 0 && errno == EINTR);
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Which standard streams a child does not share with us: its output, or all three for a helper.
enum class Streams { kOurs, kOutputPiped, kHelper };
enum class Group { kOurs, kOfItsOwn };

// Starts a child with this signal mask and our dispositions, except those with a handler.
pid_t start(const std::vector<std::string>& words, Streams streams, const Pipe* pipe, const sigset_t& mask,
            Group group = Group::kOurs) {
  std::vector<char*> arguments;
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (streams != Streams::kOurs) posix_spawn_file_actions_adddup2(&actions, pipe->input(), STDOUT_FILENO);
  if (streams == Streams::kHelper) {
    posix_spawn_file_actions_adddup2(&actions, pipe->input(), STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(group == Group::kOurs ? POSIX_SPAWN_SETSIGMASK
                                                                    : POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP));
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start '" + words[0] + "'");
  return child;
}

// Sets the status. False: the child still runs (only with WNOHANG).
bool has_ended(pid_t child, int flags, Outcome& outcome) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(child, &status, flags)) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  if (ended == 0) return false;
  outcome.signalled = WIFSIGNALED(status);
  outcome.status = outcome.signalled ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

void write_all(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;  // no reader: the child continues, as with /dev/null
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Ends mpirun: notes signals that are passed on, and enforces the time limit, first with SIGTERM, then SIGKILL.
class Ending {
 public:
  using Clock = LaunchSignals::Clock;

  Ending(pid_t child, const std::optional<TimeLimit>& limit) : child_(child), limit_(limit) {
    if (limit_) next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit_->length);
  }
  // Next time for act(); max(): never.
  [[nodiscard]] Clock::time_point next() const { return next_; }

  void note(int signal, Clock::time_point now, Outcome& outcome) {
    if (signal == SIGUSR1 || signal == SIGUSR2) {
      outcome.user_signal = signal;
      return;
    }
    told_until_ = now + kGrace;
    if (outcome.ended_by.empty()) outcome.ended_by = signal_to(signal, "ardoise");
  }

  void act(Clock::time_point now, Outcome& outcome) {
    if (now < next_) return;
    if (is_past_) {
      for (const pid_t process : processes_below(child_)) ::kill(process, SIGKILL);
      ::kill(child_, SIGKILL);
      next_ = Clock::time_point::max();
      return;
    }
    is_past_ = true;
    next_ = now + kGrace;
    // A second signal would make mpirun give up before it has ended the programs.
    if (now < told_until_) return;
    outcome.time_limit_reached = true;
    outcome.ended_by = fmt::format("the time limit of {} (--time-limit)", limit_->words);
    say("time limit of {} reached: ending the programs", limit_->words);
    ::kill(child_, SIGTERM);
  }

 private:
  pid_t child_;
  const std::optional<TimeLimit>& limit_;
  Clock::time_point next_ = Clock::time_point::max();
  bool is_past_ = false;
  Clock::time_point told_until_ = Clock::time_point::min();
};

// Calls a Watch when it is due.
class Asking {
 public:
  using Clock = LaunchSignals::Clock;

  Asking(pid_t child, const Watch& watch) : child_(child), watch_(watch) {
    if (watch_) next_ = Clock::now() + kInterval;
  }
  [[nodiscard]] Clock::time_point next() const { return next_; }

  void act(Clock::time_point now, Outcome& outcome) {
    if (now < next_) return;
    const Watched watched = watch_();
    next_ = watched == Watched::kAskAgain ? now + kInterval : Clock::time_point::max();
    if (watched != Watched::kCallOff) return;
    outcome.called_off = true;
    ::kill(child_, SIGTERM);
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{200};
  pid_t child_;
  const Watch& watch_;
  Clock::time_point next_ = Clock::time_point::max();
};

int milliseconds_until(LaunchSignals::Clock::time_point then, LaunchSignals::Clock::time_point now) {
  if (then == LaunchSignals::Clock::time_point::max()) return -1;
  constexpr std::int64_t kMost = 3'600'000;  // poll() takes an int
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(then - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, kMost));
}

Captured read_all(const std::vector<std::string>& words, const sigset_t& mask, Group group) {
  Pipe pipe;
  const pid_t child = start(words, Streams::kHelper, &pipe, mask, group);
  pipe.close_input();
  Captured captured;
  while (pipe.read([&](std::string_view piece) { captured.output += piece; })) continue;
  Outcome outcome;
  (void)has_ended(child, 0, outcome);
  captured.status = outcome.status;
  return captured;
}

}  // namespace

std::string signal_to(int signal, std::string_view process) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {} to {}", signal, process) : fmt::format("SIG{} to {}", name, process);
}

Outcome run_and_wait(const std::vector<std::string>& words, const Edit& edit, const std::optional<TimeLimit>& limit,
                     const Watch& watch) {
  LaunchSignals signals;  // before the pipe, which the witness would keep open
  std::optional<Pipe> output;
  if (edit) output.emplace();
  const pid_t child =
      start(words, output ? Streams::kOutputPiped : Streams::kOurs, output ? &*output : nullptr, signals.mask_before());
  signals.take_over(child);
  if (output) output->close_input();
  Ending ending(child, limit);
  Asking asking(child, watch);
  Outcome outcome;
  const auto pass = [&](std::string_view piece) {
    const std::string passed = edit(piece);
    if (!outcome.called_off) write_all(passed);
  };
  while (output || !has_ended(child, WNOHANG, outcome)) {
    const auto now = LaunchSignals::Clock::now();
    for (const int signal : signals.take(now)) ending.note(signal, now, outcome);
    signals.hand_over(child, now);
    ending.act(now, outcome);
    asking.act(now, outcome);
    const auto [mail, witnessed] = signals.descriptors();
    std::array<pollfd, 3> wakers{pollfd{mail, POLLIN, 0}, pollfd{witnessed, POLLIN, 0},
                                 pollfd{output ? output->output() : -1, POLLIN, 0}};
    ::poll(wakers.data(), wakers.size(),
           milliseconds_until(std::min({signals.next(), ending.next(), asking.next()}), now));
    if (output && wakers[2].revents != 0 && !output->read(pass)) {
      pass({});
      output.reset();
    }
  }
  // Signals that arrived together with the end: a batch system signals all processes of a job, and mpirun may react
  // first.
  const auto now = LaunchSignals::Clock::now();
  for (const int signal : signals.take(now)) ending.note(signal, now, outcome);
  return outcome;
}

Captured run_and_read(const std::vector<std::string>& words) {
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  return read_all(words, mask, Group::kOurs);
}

Captured run_and_read_undisturbed(const std::vector<std::string>& words) {
  sigset_t mask;
  sigprocmask(SIG_SETMASK, nullptr, &mask);
  for (const int signal : kHandedOver) sigaddset(&mask, signal);
  return read_all(words, mask, Group::kOfItsOwn);
}

}  // namespace ardoise::launcher

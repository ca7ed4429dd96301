// Signals to the launcher while mpirun runs. They wait as mail, and those that mpirun has not got by itself are handed
// over: from a terminal, `timeout` or a batch system a signal comes to the whole process group, and the second one
// makes mpirun give up at once, before it has told the programs. Whether it came to the group is what a witness tells:
// a child in the group that does nothing but note signals, and
// that tells mpirun to end when the launcher has been killed.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <vector>

namespace ardoise::launcher {

// What mpirun may get: INT, TERM, HUP, QUIT, USR1 and USR2.
inline constexpr std::array kHandedOver{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Both ends close on exec and do not block.
class SignalPipe {
 public:
  SignalPipe();  // throws std::system_error
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  [[nodiscard]] int output() const { return ends_[0]; }
  [[nodiscard]] int input() const { return ends_[1]; }
  // The numbers of the signals that wait, in order.
  [[nodiscard]] std::vector<int> take();

 private:
  std::array<int, 2> ends_{-1, -1};
};

// One at a time, in the main thread.
class LaunchSignals {
 public:
  using Clock = std::chrono::steady_clock;

  // Until take_over() the signals are blocked, so that none is lost before mpirun is there. Throws std::system_error.
  LaunchSignals();
  // Dispositions are what they were, the witness is gone.
  ~LaunchSignals();
  LaunchSignals(const LaunchSignals&) = delete;
  LaunchSignals& operator=(const LaunchSignals&) = delete;

  // For a child: the mask that was there before.
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }
  // After the start of mpirun, which gets with it what was ignored then (nohup, a background job of a script). It may
  // handle such a signal all the same, so from here on those are mail, too.
  void take_over(pid_t mpirun);
  // What can be polled for input: mail, that of the witness. A child that ends wakes the first one up.
  [[nodiscard]] std::array<int, 2> descriptors() const { return {mail_.output(), witnessed_.output()}; }
  // Takes the mail; returns the signals in it.
  [[nodiscard]] std::vector<int> take(Clock::time_point now);
  // Sends `child` what is due and not witnessed.
  void hand_over(pid_t child, Clock::time_point now);
  // When something will be due; max(): nothing.
  [[nodiscard]] Clock::time_point next() const;

 private:
  void start_witness();

  SignalPipe mail_, witnessed_;
  sigset_t before_{};
  std::array<struct sigaction, kHandedOver.size()> old_{};
  struct sigaction old_child_ {};
  bool has_taken_over_ = false;
  pid_t witness_ = 0;
  std::atomic<pid_t>* mpirun_ = nullptr;  // shared with the witness
  std::map<int, Clock::time_point> due_, covered_until_;
};

}  // namespace ardoise::launcher

// Handles signals to the launcher while mpirun runs. They are queued, and those that mpirun did not receive itself are
// passed on. A terminal, `timeout` or a batch system signals the whole process group; a second copy would make mpirun
// give up before it has signalled the programs. To know whether the group received a signal, the launcher forks a
// witness into it, a child that only notes signals. The witness also ends mpirun if the launcher was killed.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <vector>

namespace ardoise::launcher {

// Signals that are passed on to mpirun.
inline constexpr std::array kHandedOver{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// Both ends are close-on-exec and non-blocking.
class SignalPipe {
 public:
  SignalPipe();  // throws std::system_error
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  [[nodiscard]] int output() const { return ends_[0]; }
  [[nodiscard]] int input() const { return ends_[1]; }
  // Takes the queued signal numbers, in order.
  [[nodiscard]] std::vector<int> take();

 private:
  std::array<int, 2> ends_{-1, -1};
};

// At most one object at a time, in the main thread.
class LaunchSignals {
 public:
  using Clock = std::chrono::steady_clock;

  // Blocks the signals until take_over(), so that none is lost before mpirun runs. Throws std::system_error.
  LaunchSignals();
  // Restores the dispositions and ends the witness.
  ~LaunchSignals();
  LaunchSignals(const LaunchSignals&) = delete;
  LaunchSignals& operator=(const LaunchSignals&) = delete;

  // Signal mask from before, for a child.
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }
  // Called after the start of mpirun. mpirun inherits signals that were ignored before (nohup, a background job of a
  // script) and may handle them all the same, so from here on they are queued, too.
  void take_over(pid_t mpirun);
  // Descriptors to poll for input: the launcher's queue and the witness's. The end of a child wakes the first one.
  [[nodiscard]] std::array<int, 2> descriptors() const { return {mail_.output(), witnessed_.output()}; }
  // Takes the queued signals and returns them.
  [[nodiscard]] std::vector<int> take(Clock::time_point now);
  // Sends `child` the signals that are due and were not witnessed.
  void hand_over(pid_t child, Clock::time_point now);
  // When the next signal is due; max(): none is.
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

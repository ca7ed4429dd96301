// Chooses the timer of a thread on machines with expensive interrupts of perf events. Plain arithmetic, fed by the
// handler.
//
// The kernel stops a perf event when its thread leaves the processor and starts it when the thread returns. That is
// expensive as well, and threads that wait in MPI by yielding switch up to a million times a second. While that would
// exceed the cost limit of sampling, a POSIX timer samples the thread: the kernel checks it at timer interrupts, which
// happen anyway. Such samples are biased, since the scheduler switches threads at the same moments
// (docs/internals/sampling.md has the measurement), so a thread that switches less often gets an event. Each thread
// starts with a timer, because an event may need a second to sample a thread that only yields and is rarely in user
// mode. A thread whose number had another owner starts with a timer on every machine: it may be too short to be worth
// an event, and a timer continues the period of its predecessor.
#pragma once

#include <cstdint>
#include <utility>

namespace ardoise::instrument {

// A thread's times so far, with an arbitrary origin.
struct ThreadTimes {
  std::uint64_t cpu = 0;       // ns
  std::uint64_t switches = 0;  // times that it left a processor
};

class TimerChoice {
 public:
  [[nodiscard]] bool by_posix_timer() const { return by_posix_timer_; }

  void restart(const ThreadTimes& now) { from_ = now; }
  // Called at a sample. switch_cost: ns that an event adds to a context switch. True: by_posix_timer() changed.
  [[nodiscard]] bool update(const ThreadTimes& now, double switch_cost) {
    const std::uint64_t cpu = now.cpu - from_.cpu;
    if (cpu < kWindow) return false;
    const double switching = static_cast<double>(now.switches - from_.switches) * switch_cost;
    const double most = (by_posix_timer_ ? kBack : kExpensive) * static_cast<double>(cpu);
    restart(now);
    const bool was = std::exchange(by_posix_timer_, switching > most);
    return was != by_posix_timer_;
  }

 private:
  static constexpr std::uint64_t kWindow = 20'000'000;  // ns of CPU time
  // Shares of the CPU time that context switches add, or would add.
  static constexpr double kExpensive = 0.03, kBack = 0.01;

  bool by_posix_timer_ = true;
  ThreadTimes from_;
};

}  // namespace ardoise::instrument

// Where the interrupts of perf events are expensive: which timer samples a thread? Plain arithmetic, fed by the
// handler.
//
// The kernel stops a perf event when its thread leaves the processor and starts it when that comes back: expensive,
// too, and threads that wait in MPI by yielding change places up to a million times a second. While that would cost
// more than sampling may, a POSIX timer samples the thread: the kernel looks at it at timer interrupts, which come
// anyway. Such samples are biased, since the scheduler changes threads at the same moments (docs/internals/sampling.md
// has the measurement): a thread that changes places less often has an event. It begins with a timer, because an event
// may take a second to sample a thread that only yields, so seldom is that in user mode.
#pragma once

#include <cstdint>
#include <utility>

namespace ardoise::instrument {

// What a thread has had so far, of any origin.
struct ThreadTimes {
  std::uint64_t cpu = 0;       // ns
  std::uint64_t switches = 0;  // times that it left a processor
};

class TimerChoice {
 public:
  [[nodiscard]] bool by_posix_timer() const { return by_posix_timer_; }

  void restart(const ThreadTimes& now) { from_ = now; }
  // At a sample. switch_cost: ns that an event adds to a change of threads. True: by_posix_timer() has changed.
  [[nodiscard]] bool look(const ThreadTimes& now, double switch_cost) {
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
  // Of the CPU time, what changes of threads add, or would.
  static constexpr double kExpensive = 0.03, kBack = 0.01;

  bool by_posix_timer_ = true;
  ThreadTimes from_;
};

}  // namespace ardoise::instrument

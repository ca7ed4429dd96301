// Where the interrupts of perf events are dear: which timer samples a thread? Plain arithmetic, fed by the handler.
//
// The ticks of the kernel's own clock come anyway; a signal at each costs a tenth of an interrupt in a virtual machine.
// But a scheduler that shares a processor changes threads at its ticks, so that what runs at a tick is not what runs on
// average: beside three others on two processors, a function was given two thirds of its time. So ticks serve a thread
// as long as it has a processor nearly for itself.
#pragma once

#include <cstdint>

namespace ardoise::instrument {

class TimerChoice {
 public:
  [[nodiscard]] bool by_ticks() const { return by_ticks_; }

  // At a sample: CPU time of the thread, and time, both in ns of any origin. True: by_ticks() has changed.
  [[nodiscard]] bool look(std::uint64_t cpu, std::uint64_t time) {
    if (samples_++ == 0) {
      cpu_ = cpu;
      time_ = time;
      return false;
    }
    if (samples_ <= (by_ticks_ ? kTicksWindow : kEventsWindow)) return false;
    const double share = static_cast<double>(cpu - cpu_) / static_cast<double>(time - time_);
    samples_ = 1;
    cpu_ = cpu;
    time_ = time;
    const bool before = by_ticks_;
    by_ticks_ = share >= (before ? kShared : kAlone);
    return by_ticks_ != before;
  }

  // So much CPU time, in ns, has passed since the last sample, where ticks were due every `due` ns. True: by_ticks()
  // has changed. A thread that leaves its processor again and again just before a tick (because it yields, or asks for
  // its CPU time) is never there when one comes.
  [[nodiscard]] bool miss(std::uint64_t passed, std::uint64_t due) {
    if (!by_ticks_ || passed < kMissed * due) return false;
    by_ticks_ = false;
    samples_ = 0;
    return true;
  }

 private:
  // Samples. To ticks before the rate is lowered for what the events cost; back for more than a moment's reason.
  static constexpr std::uint32_t kEventsWindow = 16, kTicksWindow = 64;
  static constexpr double kAlone = 0.95, kShared = 0.9;  // of the time: from here on by ticks; below, no more
  static constexpr std::uint64_t kMissed = 16;           // ticks

  bool by_ticks_ = false;
  std::uint32_t samples_ = 0;  // of the window, with the one that it begins at
  std::uint64_t cpu_ = 0, time_ = 0;
};

}  // namespace ardoise::instrument

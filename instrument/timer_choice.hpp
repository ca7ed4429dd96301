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
  // Perf events until told otherwise.
  TimerChoice() = default;
  explicit TimerChoice(bool by_ticks) : by_ticks_(by_ticks) {}

  [[nodiscard]] bool by_ticks() const { return by_ticks_; }

  // At a sample: CPU time of the thread, and time, both in ns of any origin. True: by_ticks() has changed.
  [[nodiscard]] bool look(std::uint64_t cpu, std::uint64_t time) {
    if (samples_++ == 0) {
      cpu_ = cpu;
      time_ = time;
      return false;
    }
    if (samples_ <= window_) return false;
    const double share = static_cast<double>(cpu - cpu_) / static_cast<double>(time - time_);
    samples_ = 1;
    cpu_ = cpu;
    time_ = time;
    const bool before = by_ticks_;
    by_ticks_ = share >= (before && window_ == kLongWindow ? kShared : kAlone);
    window_ = by_ticks_ ? kLongWindow : kShortWindow;
    return by_ticks_ != before;
  }

 private:
  // Samples. To ticks before the rate is lowered for what the events cost, or away from them before they have told
  // much; later back for more than a moment's reason.
  static constexpr std::uint32_t kShortWindow = 16, kLongWindow = 64;
  static constexpr double kAlone = 0.95, kShared = 0.9;  // of the time: from here on by ticks; below, no more

  bool by_ticks_ = false;
  std::uint32_t window_ = kShortWindow;
  std::uint32_t samples_ = 0;  // of the window, with the one that it begins at
  std::uint64_t cpu_ = 0, time_ = 0;
};

}  // namespace ardoise::instrument

// Where the interrupts of perf events are expensive: which timer samples a thread? Plain arithmetic, fed by the
// handler.
//
// The kernel's timer interrupts (100 to 1000 a second, "ticks" in the names below) come anyway; a signal at each costs
// a tenth of an event's interrupt in a virtual machine. But a scheduler that shares a processor changes threads at its
// timer interrupts, so that what runs then is not what runs on average: beside three others on two processors, a
// function was given three quarters of its time. So timer interrupts serve a thread as long as it has a processor
// nearly for itself, and one that changes places so often (because it waits in MPI by yielding) that the kernel's work
// on the event at each change costs too much: their error is least there, some percent. A thread begins with timer
// interrupts, and is soon looked at: of one that mostly yields, an event would find only every tenth moment outside the
// kernel, and meanwhile make its changes of threads more expensive still.
#pragma once

#include <cstdint>

namespace ardoise::instrument {

// What a thread has had so far, of any origin.
struct ThreadTimes {
  std::uint64_t cpu = 0, time = 0;  // ns
  std::uint64_t switches = 0;       // times that it left a processor
};

class TimerChoice {
 public:
  enum class Timer : std::uint8_t {
    kEvents,
    kTicks,         // watched by a seldom event
    kTicksCrowded,  // and no event at all
  };
  [[nodiscard]] Timer timer() const { return timer_; }
  [[nodiscard]] bool by_ticks() const { return timer_ != Timer::kEvents; }

  // At a sample. switch_cost: ns that an event adds to a change of threads. True: timer() has changed.
  [[nodiscard]] bool look(const ThreadTimes& now, double switch_cost) {
    if (samples_++ == 0) {
      from_ = now;
      return false;
    }
    const auto cpu = static_cast<double>(now.cpu - from_.cpu), time = static_cast<double>(now.time - from_.time);
    const std::uint64_t switches = now.switches - from_.switches;
    const double switching = static_cast<double>(switches) * switch_cost;
    const double expensive = samples_ > kFirstWindow ? kExpensive : kVeryExpensive;
    if (timer_ != Timer::kTicksCrowded && switches >= kManySwitches && switching > expensive * cpu)
      return change(Timer::kTicksCrowded, now);
    if (samples_ <= window()) return false;
    if (timer_ == Timer::kTicksCrowded && switching > kCheap * cpu) return change(Timer::kTicksCrowded, now);
    const double enough = timer_ == Timer::kTicks && !is_first_ ? kShared : kAlone;
    return change(cpu >= enough * time ? Timer::kTicks : Timer::kEvents, now);
  }

  // Another thread takes the place of this one, and is thought to be like it.
  void restart(const ThreadTimes& now) { (void)change(timer_, now); }

  // So much CPU time, in ns, has passed since the last sample, where samples were due every `due` ns. True: timer() has
  // changed. A thread that leaves its processor again and again just before a timer interrupt (because it yields, or
  // asks for its CPU time) is never there when one comes.
  [[nodiscard]] bool miss(std::uint64_t passed, std::uint64_t due) {
    if (timer_ != Timer::kTicks || passed < kMissed * due) return false;
    timer_ = Timer::kEvents;
    samples_ = 0;
    is_first_ = false;
    return true;
  }

 private:
  // Samples. To timer interrupts before the rate is lowered for what the events cost; back for more than a moment's
  // reason.
  static constexpr std::uint32_t kFirstWindow = 4, kShortWindow = 16, kTicksWindow = 64;
  static constexpr double kAlone = 0.95,
                          kShared = 0.9;  // of the time: from here on by timer interrupts; below, no more
  // Of the CPU time, what changes of threads add, or would. More than sampling may cost otherwise: timer interrupts err
  // most where there are fewer changes.
  static constexpr double kVeryExpensive = 0.25, kExpensive = 0.03, kCheap = 0.01;
  static constexpr std::uint64_t kManySwitches = 100;
  static constexpr std::uint64_t kMissed = 16;  // samples that were due

  [[nodiscard]] std::uint32_t window() const {
    if (is_first_) return kFirstWindow;
    return timer_ == Timer::kTicks ? kTicksWindow : kShortWindow;
  }
  // A new window begins. True: with another timer.
  bool change(Timer timer, const ThreadTimes& now) {
    samples_ = 1;
    is_first_ = false;
    from_ = now;
    const bool changes = timer != timer_;
    timer_ = timer;
    return changes;
  }

  Timer timer_ = Timer::kTicks;
  bool is_first_ = true;
  std::uint32_t samples_ = 0;  // of the window, with the one that it begins at
  ThreadTimes from_;
};

}  // namespace ardoise::instrument

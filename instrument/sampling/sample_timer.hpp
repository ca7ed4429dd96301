// What interrupts one thread to be sampled: a signal to that thread after so much time or so many events.
//
// CPU time comes from a perf event (task-clock) where the kernel lets us. It fires in user mode only, hence its signal
// is delivered at once and never interrupts a system call: the program sees no EINTR that it would not see without us.
// The event is held by a mapping alone: no descriptor shows in the program, and neither fork nor exec inherits it.
// Where perf is forbidden, or an event costs a thread too much (timer_choice.hpp), a POSIX timer on the thread's CPU
// clock does; the kernel looks at those at its timer interrupts (100 to 1000 a second), which come anyway, and since
// Linux 5.11 on the way back to user mode, with the same property. Wall time is not offered: its timer also fires while
// the thread waits in a system call, and some of those return EINTR then, whatever SA_RESTART says (signal(7)). Nor are
// events that happen in the kernel, for the same reason.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

#include "instrument/machine/perf_events.hpp"
#include "instrument/settings/sampler_settings.hpp"

namespace ardoise::instrument {

// How all threads of a process are sampled.
struct SampleTrigger {
  SampleMode mode = SampleMode::kOff;
  int signal = 0;
  const PerfEvent* event = nullptr;  // kEvent; kCpu by perf: task-clock; else nullptr
  std::uint64_t period = 0;          // ns, or occurrences of the event, at full rate
};

// Of one thread. All functions are async-signal-safe. One caller at a time: the thread's handler, or whoever has made
// sure that it does not run.
class SampleTimer {
 public:
  // Starts to interrupt thread `tid` of this process every `period`; another timer ends. 0, or the reason (positive
  // errno) why not: then the other one, if there is one, goes on.
  [[nodiscard]] int start(const SampleTrigger& trigger, std::uint32_t tid, std::uint64_t period) noexcept;
  // In the handler, when its work is done: goes on with this period from now on, slightly jittered, so that the samples
  // do not fall into step with the program. True: a perf event was made anew and counts from now on.
  bool next(std::uint64_t period) noexcept;
  void stop() noexcept;
  [[nodiscard]] bool running() const noexcept { return page_ != nullptr || has_timer_; }
  [[nodiscard]] bool is_event() const noexcept { return page_ != nullptr; }  // of perf

  // What the running timer was last set to: ns or occurrences.
  [[nodiscard]] std::uint64_t armed() const noexcept { return armed_; }
  // It expires every armed() ns of the thread's CPU time, and the kernel discards the signals that find it in the
  // kernel.
  [[nodiscard]] bool skips_kernel() const noexcept { return is_event() && trigger_.mode == SampleMode::kCpu; }

  // The rate that a trigger can reach, per second, where something less than 1/period limits it; else 0.
  [[nodiscard]] static double limit_of(const SampleTrigger& trigger) noexcept;
  // Do POSIX timers on CPU time fire on the way back to user mode only, in this kernel?
  [[nodiscard]] static bool timers_spare_system_calls() noexcept;

 private:
  int start_event(std::uint64_t period) noexcept;
  int map_event(const PerfEvent& event, std::uint64_t period) noexcept;
  int start_timer(std::uint64_t period) noexcept;
  void stop_event() noexcept;
  void stop_timer() noexcept;
  [[nodiscard]] std::uint64_t jittered(std::uint64_t period) noexcept;

  SampleTrigger trigger_;
  std::uint32_t tid_ = 0;
  void* page_ = nullptr;  // the mapping that holds the perf event
  timer_t timer_{};
  bool has_timer_ = false;
  // The kernel finds a CPU timer expired at its next timer interrupt, half a period late on average: it is set so much
  // earlier, ns.
  std::uint64_t early_ = 0;
  std::uint64_t period_ = 0;  // of the running perf event, before shaking
  std::uint64_t armed_ = 0;   // jittered
  std::uint32_t until_jitter_ = 0;
  std::uint64_t random_ = 0;
};

}  // namespace ardoise::instrument

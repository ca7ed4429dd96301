// Interrupts one thread for samples: sends it a signal after a given time or number of events.
//
// CPU time comes from a perf event (task-clock) if the kernel permits. It fires in user mode only, so its signal is
// delivered at once and never interrupts a system call: the program sees no additional EINTR. The event is held by a
// mapping alone: the program sees no descriptor, and neither fork nor exec inherits it. If perf is forbidden, or an
// event costs a thread too much (timer_choice.hpp), a POSIX timer on the thread's CPU clock is used. The kernel checks
// such timers at its timer interrupts (100 to 1000 a second) and, since Linux 5.11, fires them on the way back to user
// mode, with the same property. Wall time is not offered: its timer also fires while the thread waits in a system call,
// and some calls then return EINTR in spite of SA_RESTART (signal(7)). Events that happen in the kernel are excluded
// for the same reason.
#pragma once

#include <csignal>
#include <cstdint>
#include <ctime>

#include "instrument/machine/perf_events.hpp"
#include "instrument/settings/sampler_settings.hpp"

namespace ardoise::instrument {

// The trigger for the samples of all threads of a process.
struct SampleTrigger {
  SampleMode mode = SampleMode::kOff;
  int signal = 0;
  const PerfEvent* event = nullptr;  // kEvent; kCpu by perf: task-clock; else nullptr
  std::uint64_t period = 0;          // ns, or occurrences of the event, at full rate
};

// The timer of one thread. All functions are async-signal-safe. One caller at a time: the thread's handler, or code
// that excludes it.
class SampleTimer {
 public:
  // Starts to interrupt thread `tid` of this process every `period` and stops the previous timer. first: the first
  // period of a POSIX timer; 0: like the others. Returns 0 or a positive errno; after an error a previous timer
  // continues.
  [[nodiscard]] int start(const SampleTrigger& trigger, std::uint32_t tid, std::uint64_t period,
                          std::uint64_t first = 0) noexcept;
  // Called at the end of the handler: continues with this period, slightly jittered, so that samples do not synchronise
  // with the program. True: a new perf event was created and counts from now on.
  bool next(std::uint64_t period) noexcept;
  void stop() noexcept;
  [[nodiscard]] bool running() const noexcept { return page_ != nullptr || has_timer_; }
  [[nodiscard]] bool is_event() const noexcept { return page_ != nullptr; }  // of perf

  // The setting of the running timer: ns or occurrences.
  [[nodiscard]] std::uint64_t armed() const noexcept { return armed_; }
  // The timer expires every armed() ns of the thread's CPU time, and the kernel discards signals for expiries in kernel
  // mode.
  [[nodiscard]] bool skips_kernel() const noexcept { return is_event() && trigger_.mode == SampleMode::kCpu; }

  // The highest rate of a trigger, per second, if something other than its period limits it; otherwise 0.
  [[nodiscard]] static double limit_of(const SampleTrigger& trigger) noexcept;
  // True if this kernel fires POSIX timers on CPU time only on the way back to user mode.
  [[nodiscard]] static bool timers_spare_system_calls() noexcept;

 private:
  int start_event(std::uint64_t period) noexcept;
  int map_event(const PerfEvent& event, std::uint64_t period) noexcept;
  int start_timer(std::uint64_t first) noexcept;
  void set_timer(std::uint64_t time) noexcept;
  void stop_event() noexcept;
  void stop_timer() noexcept;
  [[nodiscard]] std::uint64_t jittered(std::uint64_t period) noexcept;

  SampleTrigger trigger_;
  std::uint32_t tid_ = 0;
  void* page_ = nullptr;  // the mapping that holds the perf event
  timer_t timer_{};
  bool has_timer_ = false;
  // The kernel notices an expired CPU timer at its next timer interrupt, half a period late on average: the timer is
  // set earlier by this many ns.
  std::uint64_t early_ = 0;
  std::uint64_t period_ = 0;  // of the running perf event, before jitter
  std::uint64_t armed_ = 0;   // jittered
  std::uint32_t until_jitter_ = 0;
  std::uint64_t random_ = 0;
};

}  // namespace ardoise::instrument

// Measures at the start what interrupts cost on this machine; the rates and the choice of timers depend on it. See
// sampler.hpp.
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/thread_tasks.hpp"
#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {

// Measures the shortest of several signals to this thread, minus the sending, and the cost of a perf event's interrupt.
// The handler has nothing to do.
void Sampler::measure_costs() {
  const long pid = ::getpid(), tid = ::syscall(SYS_gettid);
  std::uint64_t shortest = ~std::uint64_t{0}, sending = ~std::uint64_t{0};
  for (int i = 0; i < 16; ++i) {
    const std::uint64_t begin = now();
    ::syscall(SYS_tgkill, pid, tid, trigger_.signal);
    const std::uint64_t middle = now();
    ::syscall(SYS_tgkill, pid, tid, 0);
    const std::uint64_t end = now();
    shortest = std::min(shortest, middle - begin);
    sending = std::min(sending, end - middle);
  }
  std::uint64_t clock = ~std::uint64_t{0};
  for (int i = 0; i < 16 && trigger_.mode != SampleMode::kEvent; ++i) {
    const std::uint64_t begin = now();
    (void)read_clock();
    clock = std::min(clock, now() - begin);
  }
  clock_ticks_ = trigger_.mode != SampleMode::kEvent ? clock : 0;
  longest_handler_ = static_cast<std::uint64_t>(ticks_per_second_ / 5000);
  // The handler reads the CPU time first.
  const auto without_clock = [&](std::uint64_t ticks) { return ticks - std::min(ticks, clock_ticks_); };
  const std::uint64_t handled = shortest - std::min(shortest, sending);
  signal_ticks_ = interrupt_ticks_ = without_clock(handled);
  if (trigger_.event == nullptr) return;
  interrupt_ticks_ = without_clock(std::max(handled, measure_interrupts()));
  allow_posix_timers();
}

// Measures the cost of an interrupt by the timer, which depends on the machine: about 2 us on bare metal, 30 us in some
// virtual machines. It is the time that an empty loop loses while the timer runs, for each signal. 0: too few signals
// came.
std::uint64_t Sampler::measure_interrupts() noexcept {
  constexpr std::uint32_t kEnough = 12, kLeast = 6;
  const auto shortest_gap = static_cast<std::uint64_t>(ticks_per_second_ / 2e6),
             most = static_cast<std::uint64_t>(ticks_per_second_ / 250);
  SampleTimer timer;
  constexpr std::uint64_t kOften = 100'000;  // ns
  const std::uint64_t period =
      trigger_.mode == SampleMode::kEvent ? trigger_.period : std::min(trigger_.period, kOften);
  if (timer.start(trigger_, own_tid(), period) != 0) return 0;
  const std::uint32_t before = idle_signals_.load(std::memory_order_relaxed);
  std::uint32_t signals = 0;
  std::uint64_t ran = 0, missed = 0;
  for (std::uint64_t last = now(); signals < kEnough && ran < most;) {
    const std::uint64_t tick = now(), gap = tick - last;
    last = tick;
    if (gap > longest_handler_) continue;  // another process had the processor
    ran += gap;
    if (gap > shortest_gap) missed += gap;
    signals = idle_signals_.load(std::memory_order_relaxed) - before;
  }
  timer.stop();
  return signals >= kLeast ? missed / signals : 0;
}

// If interrupts take so long that sampling could afford fewer than two per timer interrupt of the kernel, POSIX timers
// may be used: the number of samples is the same.
void Sampler::allow_posix_timers() {
  posix_timers_fit_ = trigger_.mode == SampleMode::kCpu && SampleTimer::timers_spare_system_calls();
  if (!posix_timers_fit_ || plan_.share <= 0) return;
  SampleTrigger by_timer = trigger_;
  by_timer.event = nullptr;
  const double rate = plan_.base_hertz / std::exp2(halvings_for(interrupt_ticks_));
  events_are_expensive_ = rate < std::min(2 * SampleTimer::limit_of(by_timer), settings_.hertz);
  if (!events_are_expensive_) return;
  set_base_rate(by_timer);
  switch_ticks_ = measure_switch();
}

// The kernel stops an event when its thread leaves the processor, and starts it when the thread returns; this function
// requests both while the thread stays. It takes the median of several: sometimes the event is the next expiry of the
// processor's timer, whose setting takes ten times as long in a virtual machine. So the result is a low estimate.
std::uint64_t Sampler::measure_switch() const noexcept {
  const int descriptor = open_perf_event(*trigger_.event, own_tid(), trigger_.period, -1);
  if (descriptor < 0) return 0;
  std::array<std::uint64_t, 31> times{};
  for (std::uint64_t& time : times) {
    const std::uint64_t begin = now();
    ::syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_ENABLE, 0);
    ::syscall(SYS_ioctl, descriptor, PERF_EVENT_IOC_DISABLE, 0);
    time = now() - begin;
  }
  ::syscall(SYS_close, descriptor);
  const auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

// Halvings of the base rate until its interrupts alone stay within the cost limit of sampling.
std::uint32_t Sampler::halvings_for(std::uint64_t interrupt_ticks) const {
  const double share = static_cast<double>(interrupt_ticks + clock_ticks_) / ticks_per_second_ * plan_.base_hertz;
  return RateControl::halvings(share, plan_.share, kMaxSampleLevel);
}

}  // namespace ardoise::instrument

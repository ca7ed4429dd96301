// The start of sampling: chooses the signal, the trigger and the counters, and installs the handler. See sampler.hpp.
#include <fmt/core.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "instrument/machine/thread_tasks.hpp"
#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {
namespace {

void on_signal(int, siginfo_t*, void* ucontext) {
  const int saved = errno;
  if (Sampler* const current = sampler.load(std::memory_order_acquire)) current->handle(ucontext);
  errno = saved;
}

}  // namespace

bool Sampler::start() {
  if (settings_.mode == SampleMode::kOff) return false;
  if (is_traced()) {
    say_("a debugger is attached and would stop at each sample: the program is not sampled.");
    return false;
  }
  if (!choose_signal()) {
    say_("no signal is free: the program is not sampled.");
    return false;
  }
  choose_trigger();
  choose_counters();
  keep_off_alternate_stacks();
  // No SA_ONSTACK: an alternate stack belongs to the program and is as small as its own handler permits. This handler
  // takes some 2 KiB. SA_RESTART: for calls that support it.
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  // Only faults of the handler itself may interrupt it.
  ::sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) ::sigdelset(&action.sa_mask, fault);
  if (::sigaction(trigger_.signal, &action, &before_) != 0) return false;
  sampler.store(this, std::memory_order_release);
  measure_costs();
  live_.hertz = plan_.base_hertz;
  live_.period = trigger_.period;
  live_.share = plan_.share;
  running_.store(true, std::memory_order_release);
  return true;
}

// Prefers a standard signal: a queue of real-time signals can be full, and the kernel then sends SIGIO instead, which
// ends an unprepared program. No kernel ever sends SIGSTKFLT.
bool Sampler::choose_signal() {
  const auto is_free = [](int candidate) {
    struct sigaction action {};
    return ::sigaction(candidate, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
           action.sa_handler == SIG_DFL;
  };
#if defined(SIGSTKFLT)
  if (is_free(SIGSTKFLT)) {
    trigger_.signal = SIGSTKFLT;
    return true;
  }
#endif
  for (int candidate = SIGRTMAX - 1; candidate > SIGRTMIN; --candidate) {
    if (!is_free(candidate)) continue;
    trigger_.signal = candidate;
    return true;
  }
  return false;
}

// Handlers on alternate stacks block the sampling signal, since such a stack may lack room for a second handler.
// sampler_hooks.cpp does the same for handlers that are set later.
void Sampler::keep_off_alternate_stacks() const {
  for (int number = 1; number < SIGRTMAX; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) != 0 || (action.sa_flags & SA_ONSTACK) == 0) continue;
    ::sigaddset(&action.sa_mask, trigger_.signal);
    ::sigaction(number, &action, nullptr);
  }
}

void Sampler::choose_trigger() {
  trigger_.mode = settings_.mode;
  const auto forbidden = [&](const PerfEvent& event) {
    const int descriptor = open_perf_event(event, own_tid(), event.first_period, -1);
    if (descriptor < 0) return -descriptor;
    ::syscall(SYS_close, descriptor);
    return 0;
  };
  if (trigger_.mode == SampleMode::kEvent) {
    if (const int error = forbidden(*settings_.event); error != 0) {
      say_(fmt::format("{} cannot be sampled: {}; CPU time is sampled instead.", settings_.event->name,
                       perf_reason(error)));
      trigger_.mode = SampleMode::kCpu;
    } else {
      trigger_.event = settings_.event;
      trigger_.period = settings_.period != 0 ? settings_.period : settings_.event->first_period;
    }
  }
  if (trigger_.mode == SampleMode::kCpu) {
    const PerfEvent* const clock = find_perf_event("task-clock");
    if (settings_.use_perf && forbidden(*clock) == 0) trigger_.event = clock;
  }
  if (trigger_.mode != SampleMode::kEvent) set_base_rate(trigger_);
  plan_.base_period = trigger_.mode == SampleMode::kEvent ? trigger_.period : 0;
  plan_.share = settings_.share;
  plan_.hold_ticks = static_cast<std::uint64_t>(ticks_per_second_);
}

// The requested rate, or the machine's own limit. The limit needs no message, since the report shows the rate.
void Sampler::set_base_rate(const SampleTrigger& reached_by) {
  plan_.base_hertz = settings_.hertz;
  if (const double limit = SampleTimer::limit_of(reached_by); limit != 0)
    plan_.base_hertz = std::min(plan_.base_hertz, limit);
  trigger_.period = static_cast<std::uint64_t>(1e9 / plan_.base_hertz);
}

void Sampler::choose_counters() {
  for (const PerfEvent* event : settings_.counters) {
    counters_.push_back(event);
    CounterGroup trial;
    const int error = trial.open(counters_, own_tid());
    trial.close();
    if (error == 0) continue;
    counters_.pop_back();
    say_(fmt::format("{} is not counted: {}.", event->name, perf_reason(error)));
  }
  plan_.counter_count = static_cast<std::uint32_t>(counters_.size());
  std::vector<std::string_view> names;
  for (const PerfEvent* event : counters_) names.push_back(event->name);
  const bool by_event = trigger_.mode == SampleMode::kEvent;
  const SampleUnit unit = by_event ? SampleUnit::kEvents : SampleUnit::kCpuNanoseconds;
  const std::string_view sampled = by_event ? trigger_.event->name : std::string_view("cpu-clock");
  (void)recorder_.definitions.add(CountersDefinition{plan_.counter_count, unit}, sampled,
                                  std::span<const std::string_view>(names));
}

}  // namespace ardoise::instrument

// The slow paths of sampling: see sampler.hpp. The code that runs for every sample is in sampler_handler.cpp.
#include "instrument/sampling/sampler.hpp"

#include <dirent.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "blackboard/threads/thread_barrier.hpp"
#include "instrument/machine/clock.hpp"
#include "instrument/machine/mapped_memory.hpp"
#include "instrument/machine/shortest_batch.hpp"
#include "instrument/machine/thread_tasks.hpp"

namespace ardoise::instrument {
namespace {

// Contexts of all threads together take at most about 1 MiB: 16 bytes a node, 8 to 16 of index.
constexpr std::uint32_t kContextBudget = 32768;
// A thread is sampled only if its stack has room for twice the kernel's signal frame and the handler.
constexpr std::uint64_t kHandlerStack = 4096;

void on_signal(int, siginfo_t*, void* ucontext) {
  const int saved = errno;
  if (Sampler* const current = sampler.load(std::memory_order_acquire)) current->handle(ucontext);
  errno = saved;
}

std::uint32_t own_tid() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

// The stack of the calling thread; both 0: unknown to the library.
StackBounds own_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  const bool known = ::pthread_attr_getstack(&attributes, &low, &bytes) == 0;
  ::pthread_attr_destroy(&attributes);
  if (!known) return {};
  const auto begin = reinterpret_cast<std::uint64_t>(low);
  return {begin, begin + bytes};
}

bool uses_contexts(const SampledThread& thread) {
  const Activity activity = thread.recorder->activity.load(std::memory_order_acquire);
  return activity == Activity::kContexts || activity == Activity::kSampling;
}

std::uint64_t signal_frame_bytes() {
  constexpr unsigned long kMinSigStack = 51;  // AT_MINSIGSTKSZ
  const unsigned long known = ::getauxval(kMinSigStack);
  return known != 0 ? known : 4096;
}

}  // namespace

Sampler::Sampler(Recorder& recorder, const SamplerSettings& settings, double ticks_per_second,
                 void (*say)(std::string_view))
    : recorder_(recorder),
      settings_(settings),
      ticks_per_second_(ticks_per_second),
      say_(say),
      context_budget_(kContextBudget) {}

Sampler::~Sampler() {
  stop();
  if (std::find(threads_.begin(), threads_.end(), current_sampled) != threads_.end()) current_sampled = nullptr;
  while (!threads_.empty()) release(threads_.back());
  Sampler* self = this;
  if (sampler.compare_exchange_strong(self, nullptr)) ::sigaction(trigger_.signal, &before_, nullptr);
}

// ---- start

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

bool Sampler::set_live_rate(double hertz) noexcept {
  if (!running_.load(std::memory_order_relaxed) || trigger_.mode == SampleMode::kEvent) return false;
  if (const double limit = SampleTimer::limit_of(trigger_); limit != 0) hertz = std::min(hertz, limit);
  live_.hertz.store(hertz, std::memory_order_relaxed);
  live_.period.store(static_cast<std::uint64_t>(1e9 / hertz), std::memory_order_relaxed);
  live_.version.fetch_add(1, std::memory_order_release);
  return true;
}

bool Sampler::set_live_period(std::uint64_t period) noexcept {
  if (!running_.load(std::memory_order_relaxed) || trigger_.mode != SampleMode::kEvent) return false;
  live_.period.store(period, std::memory_order_relaxed);
  live_.version.fetch_add(1, std::memory_order_release);
  return true;
}

bool Sampler::set_live_share(double share) noexcept {
  if (!running_.load(std::memory_order_relaxed)) return false;
  live_.share.store(share, std::memory_order_relaxed);
  live_.version.fetch_add(1, std::memory_order_release);
  return true;
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

// If interrupts take so long that sampling could afford fewer than two per timer interrupt of the kernel, POSIX timers
// may be used: the number of samples is the same.
void Sampler::allow_posix_timers() {
  if (trigger_.mode != SampleMode::kCpu || plan_.share <= 0 || !SampleTimer::timers_spare_system_calls()) return;
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

// ---- threads

void Sampler::say_once(std::atomic_flag& said, std::string_view sentence) {
  if (!said.test_and_set(std::memory_order_relaxed)) say_(sentence);
}

SampledThread* Sampler::make(ThreadRecorder& recorder, std::uint32_t tid) {
  void* const memory = map_memory(sizeof(SampledThread));
  if (memory == nullptr) return nullptr;
  auto* const thread = new (memory) SampledThread(context_budget_);
  if (!thread->contexts.ready()) {
    thread->~SampledThread();
    unmap_memory(memory, sizeof(SampledThread));
    return nullptr;
  }
  thread->recorder = &recorder;
  recorder.last_sample.tick.store(0, std::memory_order_relaxed);
  recorder.contexts.store(&thread->contexts, std::memory_order_release);
  thread->number = recorder.number();
  thread->tid = tid;
  thread->is_main = static_cast<long>(tid) == ::getpid();
  thread->start_tick = now();
  return thread;
}

// If interrupts alone exceed the cost limit, the thread starts at a sustainable rate.
void Sampler::lower_to_cost(SampledThread& thread) {
  if (plan_.base_hertz <= 0 || plan_.share <= 0) return;
  const std::uint32_t shift = halvings_for(events_are_expensive_ ? signal_ticks_ : interrupt_ticks_);
  thread.recorder->samples.set_rate_shift(shift, SamplingCause::kCost, thread.start_tick);
}

SampleTrigger Sampler::trigger_for(const SampledThread& thread) const noexcept {
  SampleTrigger trigger = trigger_;
  if (events_are_expensive_ && thread.choice.by_posix_timer()) trigger.event = nullptr;
  return trigger;
}

// Requires that the thread's handler does not run.
void Sampler::arm(SampledThread& thread) {
  SamplingPlan plan = plan_;
  {
    const MutexLock guard(lock_);
    plan.threads = static_cast<std::uint32_t>(threads_.size());
  }
  if (!thread.recorder->samples.start(thread.number, plan, thread.start_tick)) return;
  thread.live_version = 0;
  lower_to_cost(thread);
  start_timer(thread);
}

void Sampler::start_timer(SampledThread& thread) {
  if (!counters_.empty()) {
    if (const int error = thread.counters.open(counters_, thread.tid); error != 0 && error != ESRCH) {
      say_once(said_no_counters_, fmt::format("some threads have no counters: {}.", perf_reason(error)));
    }
  }
  const std::uint64_t period = base_period() << thread.recorder->samples.rate_shift();
  int error = thread.timer.start(trigger_for(thread), thread.tid, period);
  if (error != 0 && error != ESRCH && trigger_.mode == SampleMode::kCpu && trigger_.event != nullptr) {
    // Pages for perf events, or descriptors, are used up: the coarser clock needs neither.
    SampleTrigger coarse = trigger_;
    coarse.event = nullptr;
    error = thread.timer.start(coarse, thread.tid, period);
  }
  if (error == EAGAIN) {
    say_once(said_no_timer_, "no timers are left (ulimit -i): some threads are not sampled.");
  } else if (error != 0 && error != ESRCH) {
    say_once(said_no_timer_, fmt::format("some threads are not sampled: {}.", std::strerror(error)));
  }
}

bool Sampler::adopt_current(ThreadRecorder& recorder) {
  if (!running_.load(std::memory_order_acquire)) return false;
  if (current_sampled != nullptr) {
    // The thread was adopted while running; its end will be seen from now on.
    const MutexLock guard(lock_);
    current_sampled->is_foreign = false;
    return true;
  }
  SampledThread* const thread = make(recorder, own_tid());
  if (thread == nullptr) return false;
  look_at_caller(*thread);
  {
    const MutexLock guard(lock_);
    if (finished_) {
      thread->~SampledThread();
      unmap_memory(thread, sizeof(SampledThread));
      return false;
    }
    threads_.push_back(thread);
  }
  current_sampled = thread;
  if (lets_in_handler(*thread)) arm(*thread);
  return true;
}

// Fills in the calling thread's own facts.
void Sampler::look_at_caller(SampledThread& thread) noexcept {
  thread.tid = own_tid();
  thread.stack = own_stack();
  thread.last_clock = read_clock();
  thread.last_time = nanoseconds(now());
  thread.switches = events_are_expensive_ ? own_switches() : 0;
  thread.choice.restart({thread.last_clock, thread.switches});
}

bool Sampler::lets_in_handler(const SampledThread& thread) {
  const std::uint64_t bytes = thread.stack.high - thread.stack.low;
  if (bytes != 0 && bytes < 2 * (signal_frame_bytes() + kHandlerStack)) {
    say_once(said_small_stack_, "threads whose stacks have no room for a signal handler are not sampled.");
    return false;
  }
  // No other sender uses this signal, so nothing is lost when a mask that blocks everything lets it through.
  sigset_t ours;
  ::sigemptyset(&ours);
  ::sigaddset(&ours, trigger_.signal);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
  return true;
}

void Sampler::resume(SampledThread& thread) {
  if (!running_.load(std::memory_order_acquire)) return;
  {
    const MutexLock guard(lock_);
    if (finished_) return;
    thread.start_tick += now() - thread.rest_tick;
    thread.rest_tick = 0;
  }
  look_at_caller(thread);
  thread.is_main = false;
  thread.armed_from = 0;
  thread.due = {};
  thread.calls.forget();  // the words that it reads lie on a stack that may be gone
  current_sampled = &thread;
  if (!lets_in_handler(thread)) return;
  if (thread.recorder->samples.started()) {
    start_timer(thread);
  } else {
    arm(thread);
  }
}

void Sampler::adopt_running(std::uint32_t tid) {
  if (!running_.load(std::memory_order_acquire)) return;
  const auto place = std::find_if(waiting_.begin(), waiting_.end(), [](const Waiting& waiting) {
    return waiting.tid.load(std::memory_order_acquire) == 0 && waiting.thread == nullptr;
  });
  // A thread that blocks the signal would keep one pending for ever.
  if (place == waiting_.end() || blocks_signal(tid, trigger_.signal)) return;
  ThreadRecorder* const recorder = recorder_.threads.adopt(now(), tid);
  if (recorder == nullptr) return;
  SampledThread* const thread = make(*recorder, tid);
  if (thread == nullptr) return recorder_.threads.retire(recorder);
  thread->is_foreign = true;
  thread->last_clock = cpu_time_of(tid);
  thread->last_time = nanoseconds(now());
  {
    const MutexLock guard(lock_);
    threads_.push_back(thread);
  }
  place->thread = thread;
  place->tid.store(tid, std::memory_order_release);
  arm(*thread);
}

void Sampler::adopt_all_running(std::span<const std::uint32_t> tids) {
  for (const std::uint32_t tid : running_tasks()) {
    if (tid != own_tid() && std::ranges::find(tids, tid) != tids.end()) adopt_running(tid);
  }
}

// Requires that no handler uses it and that no thread has it as current.
void Sampler::release(SampledThread* thread) {
  thread->timer.stop();
  thread->counters.close();
  {
    const MutexLock guard(lock_);
    std::erase(threads_, thread);
    for (Waiting& waiting : waiting_) {
      if (waiting.thread != thread) continue;
      waiting.tid.store(0, std::memory_order_release);
      waiting.thread = nullptr;
    }
  }
  thread->~SampledThread();
  unmap_memory(thread, sizeof(SampledThread));
}

SampledThread* Sampler::leave_current() noexcept {
  SampledThread* thread = current_sampled;
  if (thread == nullptr) thread = attach();
  if (thread == nullptr) return nullptr;
  // From here on the handler does not find the thread's data.
  current_sampled = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  {
    const MutexLock guard(lock_);  // stop() ends timers, too
    thread->timer.stop();
    thread->counters.close();
    thread->is_foreign = false;
    thread->rest_tick = now();
  }
  return thread;
}

void Sampler::retire(SampledThread& thread) {
  {
    const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
    if (!scope.entered()) return;
    send_call_sums(thread, true);
  }
  send_contexts(thread, true);
  define_totals(thread, now());
  release(&thread);
}

// Releases threads that have ended without notice.
void Sampler::reap() {
  std::vector<SampledThread*> gone;
  {
    const MutexLock guard(lock_);
    for (SampledThread* thread : threads_) {
      if (!thread->is_foreign) continue;
      if (::syscall(SYS_tgkill, ::getpid(), thread->tid, 0) == -1 && errno == ESRCH) gone.push_back(thread);
    }
    for (SampledThread* thread : gone) thread->is_foreign = false;
  }
  for (SampledThread* thread : gone) {
    ThreadRecorder* const recorder = thread->recorder;
    send_call_sums(*thread, true);
    send_contexts(*thread, true);
    define_totals(*thread, now());
    release(thread);
    recorder->flush();
    recorder_.threads.retire(recorder);
  }
}

// ---- what was counted

double Sampler::measure_call_cost(const ObservedFrame& frame) {
  if (settings_.mode == SampleMode::kOff) return 0;
  ContextBudget budget(CallingContexts::kMaxDepth);
  CallingContexts contexts(budget);
  const auto calls = std::make_unique<CallContexts>();
  if (!contexts.ready()) return 0;
  calls->add_new(frame, {}, {}, unwinder_, contexts);
  bool known = true;
  const double ticks = shortest_batch([&, begin = now()] {
    known = calls->add_known(frame, {1, begin, 0, 0}) && known;
  });
  return known ? ticks : 0;
}

void Sampler::count_call(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept {
  const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
  if (!scope.entered()) return;
  if (const auto* const interpreter = python::interpreter.load(std::memory_order_relaxed)) [[unlikely]] {
    ObservedFrame with_python = frame;
    with_python.python = interpreter->fingerprint(frame.function <= kPosixCalls);
    count_in_context(thread, with_python, sums);
  } else {
    count_in_context(thread, frame, sums);
  }
}

// 0: unknown.
std::uint32_t Sampler::context_of(SampledThread& thread, const ObservedFrame& frame) noexcept {
  const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
  if (!scope.entered() || unloading_.load(std::memory_order_acquire) != 0) return 0;
  ObservedFrame whole = frame;
  if (const auto* const interpreter = python::interpreter.load(std::memory_order_relaxed))
    whole.python = interpreter->fingerprint(frame.function <= kPosixCalls);
  if (const auto known = thread.calls.find_known(whole)) return *known;
  const std::uint32_t context = thread.calls.add_new(whole, {}, bounds_at(thread, frame.registers.sp), unwinder_,
                                                     thread.contexts, &thread.python);
  if (thread.calls.must_drain()) [[unlikely]]
    send_call_sums(thread, true);
  return context;
}

void Sampler::record_context(SampledThread& thread, const ObservedFrame& frame, std::uint64_t begin,
                             std::uint64_t end) noexcept {
  const std::uint32_t context = context_of(thread, frame);
  if (context == 0) return;
  const bool is_posix = frame.function > kPosixCalls;
  const auto pack_class = static_cast<std::uint16_t>(is_posix ? PackClass::kPosix : PackClass::kMpi);
  const auto function = static_cast<std::uint16_t>(frame.function - (is_posix ? kPosixCalls : 0) - 1);
  thread.recorder->add_context({begin, context, pack_class, function, 0, 0, kContextWord}, end);
}

void Sampler::count_in_context(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept {
  if (unloading_.load(std::memory_order_acquire) != 0) [[unlikely]] {
    thread.calls.add_unknown(frame, sums);
  } else {
    if (thread.calls.add_known(frame, sums)) [[likely]]
      return;
    thread.calls.add_new(frame, sums, bounds_at(thread, frame.registers.sp), unwinder_, thread.contexts,
                         &thread.python);
  }
  if (thread.calls.must_drain()) [[unlikely]]
    send_call_sums(thread, true);
}

// In kContexts, or when no other thread or handler uses the data.
void Sampler::send_call_sums(SampledThread& thread, bool beyond_budget) noexcept {
  for (;;) {
    Bin* const bin = beyond_budget ? recorder_.pool.take_beyond_budget(PackClass::kContextTotals)
                                   : recorder_.pool.take(PackClass::kContextTotals);
    if (bin == nullptr) return;
    const std::span room(reinterpret_cast<ContextTotalsRecord*>(bin->payload()),
                         recorder_.pool.payload_bytes() / sizeof(ContextTotalsRecord));
    const std::size_t count = thread.calls.drain(room);
    if (count == 0) return recorder_.pool.give(bin);
    bin->header.pack_class = static_cast<std::uint16_t>(PackClass::kContextTotals);
    bin->header.record_count = static_cast<std::uint32_t>(count);
    bin->header.payload_bytes = static_cast<std::uint32_t>(count * sizeof(ContextTotalsRecord));
    bin->header.thread = thread.number;
    recorder_.sender.submit(bin);
    if (count < room.size()) return;
  }
}

void Sampler::send_contexts(SampledThread& thread, bool beyond_budget) {
  const MutexLock guard(thread.send_lock);
  while (thread.contexts_sent < thread.contexts.size()) {
    Bin* const bin = beyond_budget ? recorder_.pool.take_beyond_budget(PackClass::kContexts)
                                   : recorder_.pool.take(PackClass::kContexts);
    if (bin == nullptr) return;
    auto* const records = reinterpret_cast<ContextRecord*>(bin->payload());
    const std::size_t room = recorder_.pool.payload_bytes() / sizeof(ContextRecord);
    std::size_t count = 0;
    for (const std::uint32_t end = thread.contexts.size(); thread.contexts_sent < end && count < room; ++count) {
      const std::uint32_t context = thread.contexts_sent++;
      const CallingContexts::Node& node = thread.contexts.node(context);
      const CallSites::Place place = recorder_.call_sites.place_of(node.pc);
      records[count] = {context, node.parent, place.module, node.flags & CallingContexts::kLeaf, place.offset};
    }
    bin->header.pack_class = static_cast<std::uint16_t>(PackClass::kContexts);
    bin->header.record_count = static_cast<std::uint32_t>(count);
    bin->header.payload_bytes = static_cast<std::uint32_t>(count * sizeof(ContextRecord));
    bin->header.thread = thread.number;
    recorder_.sender.submit(bin);
  }
}

void Sampler::define_totals(SampledThread& thread, std::uint64_t tick) {
  const auto value = [](const SamplerCounts::Counter& counter) { return counter.load(std::memory_order_relaxed); };
  const SamplerCounts& counts = thread.counts;
  // Read in this order: a sample in between is taken but not yet stored or lost, never the other way round.
  const std::uint64_t lost = value(counts.lost), stored_now = thread.recorder->samples.stored();
  const std::uint64_t taken = std::max(value(counts.taken), lost);
  const std::uint64_t stored = std::min(taken - lost, stored_now);
  const std::uint64_t cost = value(counts.handler_ticks) + value(counts.delivery_ticks);
  if (thread.rest_tick != 0) tick = thread.rest_tick;
  (void)recorder_.definitions.add(SamplerTotalsDefinition{thread.number, 0, counts.taken, stored,
                                                          counts.taken - counts.lost - stored, counts.partial,
                                                          counts.lost, cost, tick - thread.start_tick});
}

void Sampler::flush(SampledThread& thread) {
  {
    const ActivityScope scope(thread.recorder->activity, Activity::kContexts, running_);
    if (!scope.entered()) return;
    send_call_sums(thread, false);
  }
  reap();
  watch_modules();
  // Also for threads that only compute. No thread ends meanwhile: release() takes the lock. Only tried, since its
  // holder does the same work and may wait for the loader.
  if (!lock_.try_lock()) return;
  const MutexLock guard(lock_, std::adopt_lock);
  const std::uint64_t tick = now();
  for (SampledThread* each : threads_) {
    send_contexts(*each, false);
    define_totals(*each, tick);
  }
}

// ---- the end

void Sampler::wait_until_unused() noexcept {
  blackboard::barrier_in_all_threads();
  const MutexLock guard(lock_);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  for (const SampledThread* thread : threads_) {
    // Acquire pairs with the release of ~ActivityScope. A thread that ended meanwhile is outside.
    while (uses_contexts(*thread) && std::chrono::steady_clock::now() < deadline) {
      ::sched_yield();
    }
  }
}

void Sampler::stop() noexcept {
  if (!running_.exchange(false, std::memory_order_acq_rel)) return;
  wait_until_unused();
  const MutexLock guard(lock_);
  finished_ = true;
  for (SampledThread* thread : threads_) {
    if (thread == current_sampled) store_remaining_kernel_time(*thread);
    thread->timer.stop();
    thread->counters.close();
  }
  // The handler stays: a signal may still be pending, and its default action ends the process.
}

void Sampler::finish(std::uint64_t tick) {
  const MutexLock guard(lock_);
  for (SampledThread* thread : threads_) {
    if (uses_contexts(*thread)) continue;  // it did not leave in time
    send_call_sums(*thread, true);
    send_contexts(*thread, true);
    define_totals(*thread, tick);
  }
}

void Sampler::force_unlock() noexcept {
  running_.store(false, std::memory_order_relaxed);
  lock_.force_unlock();
  const MutexLock guard(lock_);
  for (SampledThread* thread : threads_) thread->send_lock.force_unlock();
}

void Sampler::signal_was_taken() noexcept {
  if (!running_.load(std::memory_order_acquire)) return;
  stop();
  std::array<char, 96> text;  // the caller may be a handler that interrupted the allocator
  const auto said = fmt::format_to_n(text.data(), text.size(), "the program uses signal {} itself; sampling ends here.",
                                     trigger_.signal);
  say_({text.data(), std::min(said.size, text.size())});
}

void Sampler::abandon() noexcept {
  running_.store(false, std::memory_order_release);
  current_sampled = nullptr;
  observed_frame.function = 0;
  sampler.store(nullptr, std::memory_order_release);
  ::sigaction(trigger_.signal, &before_, nullptr);
}

}  // namespace ardoise::instrument

// Adopts threads, arms their timers and releases them: see sampler.hpp.
#include <fmt/core.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/mapped_memory.hpp"
#include "instrument/machine/thread_tasks.hpp"
#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {
namespace {

// A thread is sampled only if its stack has room for twice the kernel's signal frame and the handler.
constexpr std::uint64_t kHandlerStack = 4096;

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

std::uint64_t signal_frame_bytes() {
  constexpr unsigned long kMinSigStack = 51;  // AT_MINSIGSTKSZ
  const unsigned long known = ::getauxval(kMinSigStack);
  return known != 0 ? known : 4096;
}

}  // namespace

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

void Sampler::resume(SampledThread& thread) {
  if (!running_.load(std::memory_order_acquire)) return;
  {
    const MutexLock guard(lock_);
    if (finished_) return;
    thread.start_tick += now() - thread.rest_tick;
    thread.rest_tick = 0;
  }
  thread.choice = {};
  thread.had_another_owner = true;
  look_at_caller(thread);
  thread.is_main = false;
  thread.armed_from = 0;
  thread.calls.forget();  // the words that it reads lie on a stack that may be gone
  current_sampled = &thread;
  if (!lets_in_handler(thread)) return;
  if (thread.recorder->samples.started()) {
    start_timer(thread);
  } else {
    arm(thread);
  }
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
    // Samples of the threads of one program are at equal distances in their CPU time, however short they live.
    if (trigger_.mode == SampleMode::kCpu && thread->timer.running() && !thread->timer.is_event()) {
      const std::uint64_t armed = thread->timer.armed();
      const Passed passed = elapsed(*thread, read_clock());
      thread->due += passed;
      const std::uint64_t used = passed.weight + passed.kernel;
      thread->first_period = armed > used ? armed - used : 1;
    }
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
    context_sender_.send_call_sums(thread, true);
  }
  context_sender_.send_contexts(thread, true);
  context_sender_.define_totals(thread, now());
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
    context_sender_.send_call_sums(*thread, true);
    context_sender_.send_contexts(*thread, true);
    context_sender_.define_totals(*thread, now());
    release(thread);
    recorder->flush();
    recorder_.threads.retire(recorder);
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

// If interrupts alone exceed the cost limit, the thread starts at a sustainable rate.
void Sampler::lower_to_cost(SampledThread& thread) {
  if (plan_.base_hertz <= 0 || plan_.share <= 0) return;
  const std::uint32_t shift = halvings_for(events_are_expensive_ ? signal_ticks_ : interrupt_ticks_);
  thread.recorder->samples.set_rate_shift(shift, SamplingCause::kCost, thread.start_tick);
}

SampleTrigger Sampler::trigger_for(const SampledThread& thread) const noexcept {
  SampleTrigger trigger = trigger_;
  if (may_change_timer(thread) && thread.choice.by_posix_timer()) trigger.event = nullptr;
  return trigger;
}

void Sampler::start_timer(SampledThread& thread) {
  if (!counters_.empty()) {
    if (const int error = thread.counters.open(counters_, thread.tid); error != 0 && error != ESRCH) {
      say_once(said_no_counters_, fmt::format("some threads have no counters: {}.", perf_reason(error)));
    }
  }
  const std::uint64_t period = base_period() << thread.recorder->samples.rate_shift();
  const std::uint64_t first = std::exchange(thread.first_period, 0);
  int error = thread.timer.start(trigger_for(thread), thread.tid, period, first);
  if (error != 0 && error != ESRCH && trigger_.mode == SampleMode::kCpu && trigger_.event != nullptr) {
    // Pages for perf events, or descriptors, are used up: the coarser clock needs neither.
    SampleTrigger coarse = trigger_;
    coarse.event = nullptr;
    error = thread.timer.start(coarse, thread.tid, period, first);
  }
  if (error == EAGAIN) {
    say_once(said_no_timer_, "no timers are left (ulimit -i): some threads are not sampled.");
  } else if (error != 0 && error != ESRCH) {
    say_once(said_no_timer_, fmt::format("some threads are not sampled: {}.", std::strerror(error)));
  }
}

}  // namespace ardoise::instrument

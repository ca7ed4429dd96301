// The signal handler of sampling and the functions that it calls: see sampler.hpp. No function here allocates, locks or
// waits.
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/kernel_call.hpp"
#include "instrument/machine/thread_tasks.hpp"
#include "instrument/sampling/sampler.hpp"

namespace ardoise::instrument {

[[gnu::tls_model("initial-exec")]] constinit thread_local SampledThread* current_sampled = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local ObservedFrame observed_frame{};
[[gnu::tls_model("initial-exec")]] constinit thread_local ObservedPosix observed_posix{};
constinit std::atomic<Sampler*> sampler = nullptr;

namespace {

// A thread that ran for this share of the time between two samples had the processor to itself.
constexpr double kUnshared = 0.9;

}  // namespace

std::uint64_t Sampler::read_clock() const noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

// The weight since the thread's last interrupt, for every reason for which the timer did not fire in between. A perf
// event expires at equal distances of CPU time; expiries in kernel mode send no signal.
Passed Sampler::elapsed(SampledThread& thread, std::uint64_t clock) const noexcept {
  const std::uint64_t armed = thread.timer.armed();
  if (trigger_.mode == SampleMode::kEvent) return {armed, 0};
  Passed passed{clock - thread.last_clock, 0};
  if (thread.armed_from != 0) {
    const std::uint64_t expiries = (clock - thread.armed_from + armed / 2) / armed;
    if (expiries > 1) passed.kernel = std::min((expiries - 1) * armed, passed.weight);
    passed.weight -= passed.kernel;
  }
  thread.last_clock = clock;
  thread.armed_from = thread.timer.skips_kernel() ? clock : 0;
  return passed;
}

StackBounds Sampler::bounds_at(const SampledThread& thread, std::uint64_t sp) const noexcept {
  if (sp < thread.stack.low || sp >= thread.stack.high) {
    // On another stack. The part of the main thread's own stack below the point where it was left may not exist.
    return thread.is_main ? StackBounds{} : thread.stack;
  }
  return thread.is_main ? StackBounds{sp, thread.stack.high} : thread.stack;
}

void Sampler::take_sample(SampledThread& thread, const void* ucontext, std::uint64_t tick,
                          std::uint8_t flags) noexcept {
  SampleRecord sample{};
  sample.tick = tick;
  sample.flags = flags;
  const FrameRegisters here = interrupted_registers(ucontext, thread.general);
  std::span<const std::uint64_t> path;
  std::uint64_t leaf = 0;
  // Deeper in the stack than the wrapper; a call that longjmp left is not.
  if (observed_frame.function != 0 && here.sp < observed_frame.registers.sp) {
    const WalkResult walk =
        unwinder_.walk(observed_frame.registers, bounds_at(thread, observed_frame.registers.sp), thread.frames);
    const std::span all(thread.frames.data(), walk.frames);
    const auto call = std::find(all.begin(), all.end(), observed_frame.return_address);
    if (call != all.end()) {
      path = all.subspan(static_cast<std::size_t>(call - all.begin()));
      sample.function = static_cast<std::uint16_t>(observed_frame.function);
      sample.flags |= kInsideMpi;
      if (!walk.complete) sample.flags |= kPartialUnwind;
    }
  }
  if (path.empty()) {
    const WalkResult walk = unwinder_.walk(here, bounds_at(thread, here.sp), thread.frames);
    path = {thread.frames.data(), walk.frames};
    const CalledFunction posix = observed_posix.function;
    const auto call = posix != 0 ? std::find(path.begin(), path.end(), observed_posix.return_address) : path.end();
    if (call != path.end()) {
      path = path.subspan(static_cast<std::size_t>(call - path.begin()));
      sample.function = static_cast<std::uint16_t>(posix);
      sample.flags |= kPosixCall;
    } else {
      leaf = here.pc - walk.function_distance;
      sample.pc_offset = walk.function_distance;
    }
    if (!walk.complete) sample.flags |= kPartialUnwind;
  }
  if (python::Interpreter* const interpreter = python::interpreter.load(std::memory_order_acquire)) {
    const auto merged = interpreter->merge(path, thread.python, false);
    path = merged.frames;
    if (!merged.keeps_innermost) leaf = sample.pc_offset = 0;
  }
  const CallingContexts::Found found = thread.contexts.find_or_add(path, leaf);
  sample.context = found.context;
  if (found.truncated) {
    sample.flags |= kTruncatedContext;
    sample.pc_offset = 0;
  }
  if ((sample.flags & kPartialUnwind) != 0) SamplerCounts::add(thread.counts.partial, 1);

  std::array<std::uint64_t, kMaxCounters> values{};
  const std::span counters(values.data(), counters_.size());
  if (!counters.empty()) thread.counters.read_deltas(counters);
  SamplerCounts::add(thread.counts.taken, 1);
  const Passed passed = std::exchange(thread.due, {});
  // Otherwise the thread was in this call, or in no call, all the time since the last sample; or its calls were too
  // short to have half of the time in the kernel, which is known to a period.
  const std::uint64_t in_calls = nanoseconds(thread.calls.take_added());
  if ((in_calls != 0 && 2 * (in_calls + thread.timer.armed()) >= passed.kernel) ||
      sample.function != thread.last_function)
    sample.flags |= kKernelOfCalls;
  thread.last_function = sample.function;
  if (sample.function == 0) {
    LastSample& last = thread.recorder->last_sample;
    last.context.store(sample.context, std::memory_order_relaxed);
    last.pc_offset.store(sample.pc_offset, std::memory_order_relaxed);
    last.tick.store(tick, std::memory_order_relaxed);
  }
  (void)thread.recorder->samples.store(sample, passed.weight, passed.kernel, counters);
  if (trigger_.mode == SampleMode::kCpu && (sample.flags & (kInsideMpi | kInsideTool)) == 0)
    thread.recorder->note_sample(sample, passed.weight);
}

// Emits the kernel time since the last sample, which the next one would carry. The thread's own time is less than a
// period.
void Sampler::store_remaining_kernel_time(SampledThread& thread) noexcept {
  if (trigger_.mode == SampleMode::kEvent) return;
  const std::uint64_t kernel = thread.due.kernel + elapsed(thread, read_clock()).kernel;
  if (kernel == 0) return;
  SampleRecord sample{};
  sample.tick = now();
  sample.flags = kKernelOfCalls;
  std::array<std::uint64_t, kMaxCounters> none{};
  // A record holds at most 4.3 s.
  for (std::uint64_t left = kernel / UINT32_MAX + 1, untold = kernel; left-- != 0;) {
    SamplerCounts::add(thread.counts.taken, 1);
    (void)thread.recorder->samples.store(sample, 0, std::exchange(untold, 0), std::span(none).first(counters_.size()));
  }
}

// For threads with a choice. True: another timer runs from now on.
bool Sampler::choose_timer(SampledThread& thread, std::uint64_t clock, std::uint64_t tick) noexcept {
  const std::uint64_t before = std::exchange(thread.switches, own_switches());
  // The kernel's work for the event at context switches does not decrease with a lower rate, so it does not influence
  // the rate.
  if (thread.timer.is_event() && before != 0)
    SamplerCounts::add(thread.counts.delivery_ticks, (thread.switches - before) * switch_ticks_);
  if (!thread.choice.update({clock, thread.switches}, static_cast<double>(nanoseconds(switch_ticks_)))) return false;
  SampleStore& samples = thread.recorder->samples;
  const std::uint32_t shift = halvings_for(thread.choice.by_posix_timer() ? signal_ticks_ : interrupt_ticks_);
  if (samples.rate_shift() < shift) samples.set_rate_shift(shift, SamplingCause::kCost, tick);
  return thread.timer.start(trigger_for(thread), thread.tid, base_period() << samples.rate_shift()) == 0;
}

void Sampler::handle(const void* ucontext) noexcept {
  // Read before the handler's own time is measured: reading the CPU time makes the kernel check the thread's time
  // slice, so on a crowded machine the thread may lose the processor here. The cost of the read itself is known.
  const std::uint64_t clock = trigger_.mode == SampleMode::kEvent ? 0 : read_clock();
  const std::uint64_t begin = now();
  SampledThread* thread = current_sampled;
  if (thread == nullptr) thread = attach();
  if (thread == nullptr) {  // the thread is ending, or was never adopted
    idle_signals_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const ActivityScope scope(thread->recorder->activity, Activity::kSampling, running_);
  if (!running_.load(std::memory_order_relaxed)) return;
  recorder_.memory.update(begin);
  const Passed passed = elapsed(*thread, clock);
  thread->due += passed;
  const std::uint64_t time = nanoseconds(begin);
  const bool alone =
      static_cast<double>(passed.weight + passed.kernel) > kUnshared * static_cast<double>(time - thread->last_time);
  thread->last_time = time;
  const std::uint64_t interrupts = 1 + (passed.kernel != 0 ? passed.kernel / thread->timer.armed() : 0);
  const std::uint64_t delivery = interrupts * (thread->timer.is_event() ? interrupt_ticks_ : signal_ticks_);
  bool anew = false;
  // The interrupted code uses the contexts, or a module is being unloaded: the sample is lost, and its time goes to the
  // next one.
  if (scope.refused() || unloading_.load(std::memory_order_acquire) != 0) {
    SamplerCounts::add(thread->counts.taken, 1);
    SamplerCounts::add(thread->counts.lost, 1);
  } else {
    const bool by_posix_timer = trigger_.mode == SampleMode::kCpu && !thread->timer.is_event();
    take_sample(*thread, ucontext, begin,
                (by_posix_timer && !alone ? kTimerInterrupt : 0) | (scope.is_inner() ? kInsideTool : 0));
    if (may_change_timer(*thread)) anew = choose_timer(*thread, clock, begin);
  }
  if (thread->live_version != live_.version.load(std::memory_order_relaxed)) [[unlikely]]
    follow_live(*thread, begin);
  if (!anew) anew = thread->timer.next(base_period() << thread->recorder->samples.rate_shift());
  // The creation of a new perf event took kernel time that does not belong to the program.
  if (anew) thread->armed_from = thread->timer.skips_kernel() ? read_clock() : 0;
  const std::uint64_t end = now();
  // A longer time includes waiting for the processor.
  const std::uint64_t spent = std::min(end - begin, longest_handler_) + clock_ticks_;
  SamplerCounts::add(thread->counts.handler_ticks, spent);
  SamplerCounts::add(thread->counts.delivery_ticks, delivery);
  thread->recorder->samples.account(spent + delivery, end);
}

void Sampler::before_exec() noexcept {
  SampledThread* const thread = current_sampled != nullptr ? current_sampled : attach();
  if (thread == nullptr || !running_.load(std::memory_order_relaxed)) return;
  const std::uint64_t ours = std::uint64_t{1} << (trigger_.signal - 1);
  std::uint64_t before = 0;
  call_kernel(SYS_rt_sigprocmask, SIG_BLOCK, argument(&ours), argument(&before), sizeof ours);
  thread->timer.stop();
  // A handler of the program may block the sampling signal: a pending one would reach the new program.
  const timespec at_once{};
  while (call_kernel(SYS_rt_sigtimedwait, argument(&ours), 0, argument(&at_once), sizeof ours) > 0) continue;
  call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, argument(&before), 0, sizeof before);
}

void Sampler::after_failed_exec() noexcept {
  SampledThread* const thread = current_sampled;
  if (thread == nullptr || thread->timer.running() || !running_.load(std::memory_order_relaxed)) return;
  const std::uint64_t period = base_period() << thread->recorder->samples.rate_shift();
  if (thread->timer.start(trigger_for(*thread), thread->tid, period) != 0) return;
  thread->armed_from = thread->timer.skips_kernel() ? read_clock() : 0;
}

SampledThread* Sampler::attach() noexcept {
  const std::uint32_t tid = own_tid();
  for (Waiting& waiting : waiting_) {
    if (waiting.tid.load(std::memory_order_acquire) != tid) continue;
    SampledThread* const thread = waiting.thread;
    current_sampled = thread;
    waiting.tid.store(0, std::memory_order_release);
    return thread;
  }
  return nullptr;
}

}  // namespace ardoise::instrument

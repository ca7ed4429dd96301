// Samples all threads of the process: starts and stops their timers, answers their signals, keeps their calling
// contexts and sends those. Built by session.cpp when MPI is up, by tests without MPI; never destroyed while a handler
// may run.
//
//   timer ──signal──▶ handler (sampler_handler.cpp): unwind ──▶ context ──▶ SampleStore
//   wrapper's or hook's exit ──count_call()──▶ the call's context, exact sums
//   flush(), finish() ──▶ kContexts, kContextTotals packs, kCounters and kSamplerTotals definitions ──▶ Sender
//
// Signal safety is explained in sampled_thread.hpp and machine/activity.hpp.
#pragma once

#include <atomic>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/machine/modules.hpp"
#include "instrument/record/recorder.hpp"
#include "instrument/sampling/sampled_thread.hpp"
#include "instrument/settings/sampler_settings.hpp"

namespace ardoise::instrument {

class Sampler {
 public:
  // say: one sentence for the user, on the slow paths only.
  Sampler(Recorder& recorder, const SamplerSettings& settings, double ticks_per_second, void (*say)(std::string_view));
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Takes a signal, tries what the machine allows, says what it does not. From here on adopt() arms threads. False:
  // nothing is sampled (off, or no signal is free).
  [[nodiscard]] bool start();
  // The calling thread, whose recorder this is. False: no memory.
  bool adopt_current(ThreadRecorder& recorder);
  // Another thread of this process that runs already: its recorder is made here and taken over by it when it comes.
  void adopt_running(std::uint32_t tid);
  // Those of these threads that still run, but for the caller.
  void adopt_all_running(std::span<const std::uint32_t> tids);
  // A thread that was adopted by another one takes over its recorder; nullptr: it was not. Async-signal-safe.
  [[nodiscard]] SampledThread* attach() noexcept;
  // The calling thread ends. What is left of it can be another thread's (resume()) or be retired; nullptr: nothing.
  [[nodiscard]] SampledThread* leave_current() noexcept;
  // The calling thread goes on with what another one has left, contexts, sums and rate.
  void resume(SampledThread& thread);
  // The last contexts and sums of a thread that has ended, or that nobody will go on with, are submitted.
  void retire(SampledThread& thread);

  // Ticks that count_call() takes for a call from a known place, measured for the place of `frame`: an estimate. Before
  // start(); 0: nothing is sampled, so nothing is counted by place, or there is no memory.
  [[nodiscard]] double measure_call_cost(const ObservedFrame& frame);
  // The end of a call of the thread, whose wrapper or hook stands at `frame`; it stays in kRecording or kHook.
  // Async-signal-safe.
  void count_call(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept;
  // Of such a call, before its record: its calling context becomes a record (--call-stacks), unless it is not known.
  // The same threads and activities. Async-signal-safe.
  void tell_context(SampledThread& thread, const ObservedFrame& frame, std::uint64_t begin, std::uint64_t end) noexcept;
  // From time to time, on a slow path of the thread: what was counted goes out.
  void flush(SampledThread& thread);
  // Ends sampling for good: no timer runs, no handler works. May be called twice, from any thread, not from a handler.
  void stop() noexcept;
  // After stop(): everything that is left is submitted.
  void finish(std::uint64_t tick);

  // All threads have died, maybe in here: what is left is submitted by finish().
  void force_unlock() noexcept;

  // From the next sample of each thread on (samples/s, occurrences for each, part of a thread's time). False: nothing
  // is sampled, or not so. Async-signal-safe; one caller at a time.
  bool set_live_rate(double hertz) noexcept;
  bool set_live_period(std::uint64_t period) noexcept;
  bool set_live_share(double share) noexcept;
  // What they are before the first of these.
  [[nodiscard]] double launch_rate() const noexcept { return plan_.base_hertz; }
  [[nodiscard]] std::uint64_t launch_period() const noexcept { return trigger_.period; }
  [[nodiscard]] double launch_share() const noexcept { return plan_.share; }

  // The program takes our signal for itself: its handler must not be disturbed.
  void signal_was_taken() noexcept;
  // The calling thread is about to become another program (exec), which the timer would go on to interrupt, and our
  // signal would end: the survivor keeps what a perf event is mapped into. Then it has not become one.
  // Async-signal-safe.
  void before_exec() noexcept;
  void after_failed_exec() noexcept;
  // In a fork child: forgets everything without touching the parent's timers.
  void abandon() noexcept;
  [[nodiscard]] int signal() const noexcept { return trigger_.signal; }
  // What this machine takes for one, measured by start().
  [[nodiscard]] double interrupt_seconds() const noexcept {
    return static_cast<double>(interrupt_ticks_) / ticks_per_second_;
  }

  // Around the unloading of modules (sampler_hooks.cpp): no thread walks stacks meanwhile, since what describes the
  // stack lies in the modules. `loaded` before and after.
  void before_unload(std::span<const LoadedModule> loaded);
  void after_unload(std::span<const LoadedModule> before, std::span<const LoadedModule> after);

  // In the thread's signal handler.
  void handle(const void* ucontext) noexcept;

 private:
  [[nodiscard]] std::uint32_t context_of(SampledThread& thread, const ObservedFrame& frame) noexcept;
  void count_in_context(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept;
  bool choose_signal();
  void choose_trigger();
  void set_base_rate(const SampleTrigger& reached_by);
  void keep_off_alternate_stacks() const;
  void choose_counters();
  void measure_costs();
  [[nodiscard]] std::uint64_t measure_interrupts() noexcept;
  void allow_posix_timers();
  [[nodiscard]] std::uint64_t measure_switch() const noexcept;
  [[nodiscard]] std::uint32_t halvings_for(std::uint64_t interrupt_ticks) const;
  SampledThread* make(ThreadRecorder& recorder, std::uint32_t tid);
  [[nodiscard]] SampleTrigger trigger_for(const SampledThread& thread) const noexcept;
  void look_at_caller(SampledThread& thread) noexcept;
  void arm(SampledThread& thread);
  [[nodiscard]] bool lets_in_handler(const SampledThread& thread);
  void start_timer(SampledThread& thread);
  void lower_to_cost(SampledThread& thread);
  void release(SampledThread* thread);
  void wait_until_unused() noexcept;
  void reap();
  void watch_modules();
  void forget_replaced(std::span<const LoadedModule> loaded) REQUIRES(lock_);
  void take_sample(SampledThread& thread, const void* ucontext, std::uint64_t tick, std::uint8_t flags) noexcept;
  void take_rest(SampledThread& thread) noexcept;  // of the calling thread, at the end
  bool choose_timer(SampledThread& thread, std::uint64_t clock, std::uint64_t tick) noexcept;
  void follow_live(SampledThread& thread, std::uint64_t tick) noexcept;
  [[nodiscard]] std::uint64_t base_period() const noexcept { return live_.period.load(std::memory_order_relaxed); }
  [[nodiscard]] Passed elapsed(SampledThread& thread, std::uint64_t clock) const noexcept;
  [[nodiscard]] std::uint64_t read_clock() const noexcept;
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) / ticks_per_second_ * 1e9);
  }
  [[nodiscard]] StackBounds bounds_at(const SampledThread& thread, std::uint64_t sp) const noexcept;
  void send_contexts(SampledThread& thread, bool beyond_budget);
  void send_call_sums(SampledThread& thread, bool beyond_budget) noexcept;
  void define_totals(SampledThread& thread, std::uint64_t tick);
  void say_once(std::atomic_flag& said, std::string_view sentence);

  Recorder& recorder_;
  const SamplerSettings settings_;
  const double ticks_per_second_;
  void (*const say_)(std::string_view);

  // What is wanted now. Relaxed: a thread that sees one of them late does so at its next sample.
  struct Live {
    std::atomic<std::uint32_t> version = 0;
    std::atomic<std::uint64_t> period = 0;  // ns, or occurrences
    std::atomic<double> hertz = 0, share = 0;
  } live_;
  SampleTrigger trigger_;
  SamplingPlan plan_;
  std::vector<const PerfEvent*> counters_;
  bool events_are_expensive_ = false;            // see timer_choice.hpp
  std::uint64_t signal_ticks_ = 0;               // of a signal and the way back: not seen by the handler
  std::uint64_t interrupt_ticks_ = 0;            // the same, of a perf event with its signal
  std::uint64_t switch_ticks_ = 0;               // that a perf event adds to a change of threads: at least
  std::uint64_t clock_ticks_ = 0;                // of asking for the CPU time
  std::uint64_t longest_handler_ = 0;            // ticks
  std::atomic<std::uint32_t> idle_signals_ = 0;  // that interrupted a thread which is not sampled
  struct sigaction before_ {};                   // what the program had for our signal

  Unwinder unwinder_;
  ContextBudget context_budget_;

  // The thread looks at these when it has set its activity.
  std::atomic<bool> running_ = false;
  std::atomic<int> unloading_ = 0;

  Mutex lock_;
  std::vector<SampledThread*> threads_ GUARDED_BY(lock_);
  // Modules that were unloaded. Most come back where they were; their contexts are then as good as before. When another
  // one is found in their place, what was known there is forgotten.
  std::vector<LoadedModule> gone_ GUARDED_BY(lock_);
  bool finished_ GUARDED_BY(lock_) = false;

  // Threads that were adopted while they ran and did not come by yet. Read in handlers: fixed places, no lock.
  static constexpr std::size_t kWaiting = 256;
  struct Waiting {
    std::atomic<std::uint32_t> tid = 0;  // 0: free. Release and acquire: `thread` belongs to it
    SampledThread* thread = nullptr;
  };
  std::array<Waiting, kWaiting> waiting_{};

  std::atomic_flag said_no_timer_ = ATOMIC_FLAG_INIT, said_no_counters_ = ATOMIC_FLAG_INIT,
                   said_small_stack_ = ATOMIC_FLAG_INIT;
};

// The sampler of this process, for its handler and hooks; nullptr: none runs. Acquire: it is built.
extern std::atomic<Sampler*> sampler;

}  // namespace ardoise::instrument

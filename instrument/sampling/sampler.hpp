// Samples all threads of the process: starts and stops their timers, handles their signals, keeps their calling
// contexts and sends them. Built by session.cpp when MPI is up, by tests without MPI. Never destroyed while a handler
// may run.
//
//   timer ──signal──▶ handler (sampler_handler.cpp): unwind ──▶ context ──▶ SampleStore
//   wrapper's or hook's exit ──count_call()──▶ the call's context, exact sums
//   flush(), finish() ──▶ ContextSender: kContexts, kContextTotals packs, kSamplerTotals definitions ──▶ Sender
//
// The implementation is in sampler.cpp (construction, flush, end) and in a file for each further part: sampler_start,
// sampler_costs, sampler_threads, sampler_calls, sampler_live, sampler_modules, sampler_handler.
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
#include "instrument/sampling/context_sender.hpp"
#include "instrument/sampling/sampled_thread.hpp"
#include "instrument/settings/sampler_settings.hpp"

namespace ardoise::instrument {

class Sampler {
 public:
  // say: prints one sentence for the user, on slow paths only.
  Sampler(Recorder& recorder, const SamplerSettings& settings, double ticks_per_second, void (*say)(std::string_view));
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Chooses a signal and the timers that work on this machine, and reports missing abilities. From here on adopt() arms
  // threads. False: nothing is sampled (off, or no free signal).
  [[nodiscard]] bool start();
  // Adopts the calling thread, the owner of this recorder. False: no memory.
  bool adopt_current(ThreadRecorder& recorder);
  // Adopts another running thread of this process: creates its recorder, which the thread takes over at its first
  // event.
  void adopt_running(std::uint32_t tid);
  // Adopts those of these threads that still run, except the caller.
  void adopt_all_running(std::span<const std::uint32_t> tids);
  // A thread that was adopted by another one takes over its recorder; nullptr: it was not adopted. Async-signal-safe.
  [[nodiscard]] SampledThread* attach() noexcept;
  // The calling thread ends. Its data can be given to another thread (resume()) or be retired; nullptr: none.
  [[nodiscard]] SampledThread* leave_current() noexcept;
  // The calling thread takes over the contexts, sums and rate of an ended one.
  void resume(SampledThread& thread);
  // Submits the last contexts and sums of an ended thread that has no successor.
  void retire(SampledThread& thread);

  // Ticks of count_call() for a call from a known place, measured for the place of `frame`: an estimate. Call it before
  // start(). 0: nothing is sampled, so calls are not counted by place, or out of memory.
  [[nodiscard]] double measure_call_cost(const ObservedFrame& frame);
  // Counts an ended call of the thread, with its wrapper or hook at `frame`. The thread stays in kRecording or kHook.
  // Async-signal-safe.
  void count_call(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept;
  // Records the calling context of such a call before its record (--call-stacks), if it is known. For the same threads
  // and activities. Async-signal-safe.
  void record_context(SampledThread& thread, const ObservedFrame& frame, std::uint64_t begin,
                      std::uint64_t end) noexcept;
  // Called periodically on a slow path of the thread: sends the counts.
  void flush(SampledThread& thread);
  // Ends sampling for good: no timer runs, and the handler does nothing. May be called twice, from any thread, not from
  // a handler.
  void stop() noexcept;
  // Called after stop(): submits all that is left.
  void finish(std::uint64_t tick);

  // For use when all threads have died, maybe inside this class: finish() submits all that is left.
  void force_unlock() noexcept;

  // New rate, period or share, from the next sample of each thread on (samples/s, occurrences for each, part of a
  // thread's time). False: not sampled in this way. Async-signal-safe; one caller at a time.
  bool set_live_rate(double hertz) noexcept;
  bool set_live_period(std::uint64_t period) noexcept;
  bool set_live_share(double share) noexcept;
  // The values at launch.
  [[nodiscard]] double launch_rate() const noexcept { return plan_.base_hertz; }
  [[nodiscard]] std::uint64_t launch_period() const noexcept { return trigger_.period; }
  [[nodiscard]] double launch_share() const noexcept { return plan_.share; }

  // The program uses the sampling signal for itself: its handler must not be disturbed.
  void signal_was_taken() noexcept;
  // Called before exec(): the timer would continue to interrupt the new program, which the signal would end, since the
  // survivor keeps the mapping of a perf event. after_failed_exec(): exec() failed. Async-signal-safe.
  void before_exec() noexcept;
  void after_failed_exec() noexcept;
  // For a fork child: discards everything without touching the parent's timers.
  void abandon() noexcept;
  [[nodiscard]] int signal() const noexcept { return trigger_.signal; }
  // The cost of an interrupt on this machine, measured by start().
  [[nodiscard]] double interrupt_seconds() const noexcept {
    return static_cast<double>(interrupt_ticks_) / ticks_per_second_;
  }

  // Called around the unloading of modules (sampler_hooks.cpp). No thread walks stacks meanwhile, since the unwind
  // information lies in the modules. `loaded`, `before`, `after`: the loaded modules at those moments.
  void before_unload(std::span<const LoadedModule> loaded);
  void after_unload(std::span<const LoadedModule> before, std::span<const LoadedModule> after);

  // Runs in the thread's signal handler.
  void handle(const void* ucontext) noexcept;

 private:
  // sampler.cpp
  void say_once(std::atomic_flag& said, std::string_view sentence);
  void wait_until_unused() noexcept;

  // sampler_start.cpp
  bool choose_signal();
  void keep_off_alternate_stacks() const;
  void choose_trigger();
  void set_base_rate(const SampleTrigger& reached_by);
  void choose_counters();

  // sampler_costs.cpp
  void measure_costs();
  [[nodiscard]] std::uint64_t measure_interrupts() noexcept;
  void allow_posix_timers();
  [[nodiscard]] std::uint64_t measure_switch() const noexcept;
  [[nodiscard]] std::uint32_t halvings_for(std::uint64_t interrupt_ticks) const;

  // sampler_threads.cpp
  void reap();
  void release(SampledThread* thread);
  SampledThread* make(ThreadRecorder& recorder, std::uint32_t tid);
  void look_at_caller(SampledThread& thread) noexcept;
  [[nodiscard]] bool lets_in_handler(const SampledThread& thread);
  void arm(SampledThread& thread);
  void lower_to_cost(SampledThread& thread);
  [[nodiscard]] SampleTrigger trigger_for(const SampledThread& thread) const noexcept;
  void start_timer(SampledThread& thread);
  // See timer_choice.hpp. A short thread would spend its time on the creation of a perf event.
  [[nodiscard]] bool may_change_timer(const SampledThread& thread) const noexcept {
    return events_are_expensive_ || (posix_timers_fit_ && thread.had_another_owner);
  }

  // sampler_calls.cpp
  void count_in_context(SampledThread& thread, const ObservedFrame& frame, const CallSums& sums) noexcept;
  [[nodiscard]] std::uint32_t context_of(SampledThread& thread, const ObservedFrame& frame) noexcept;

  // sampler_live.cpp
  void follow_live(SampledThread& thread, std::uint64_t tick) noexcept;

  // sampler_modules.cpp
  void forget_replaced(std::span<const LoadedModule> loaded) REQUIRES(lock_);
  void watch_modules();

  // sampler_handler.cpp
  [[nodiscard]] std::uint64_t read_clock() const noexcept;
  [[nodiscard]] Passed elapsed(SampledThread& thread, std::uint64_t clock) const noexcept;
  [[nodiscard]] StackBounds bounds_at(const SampledThread& thread, std::uint64_t sp) const noexcept;
  void take_sample(SampledThread& thread, const void* ucontext, std::uint64_t tick, std::uint8_t flags) noexcept;
  void store_remaining_kernel_time(SampledThread& thread) noexcept;  // of the calling thread, at the end
  bool choose_timer(SampledThread& thread, std::uint64_t clock, std::uint64_t tick) noexcept;

  [[nodiscard]] std::uint64_t base_period() const noexcept { return live_.period.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) / ticks_per_second_ * 1e9);
  }

  Recorder& recorder_;
  ContextSender context_sender_;
  const SamplerSettings settings_;
  const double ticks_per_second_;
  void (*const say_)(std::string_view);

  // The current live settings. Relaxed: a thread that sees one late applies it at its next sample.
  struct Live {
    std::atomic<std::uint32_t> version = 0;
    std::atomic<std::uint64_t> period = 0;  // ns, or occurrences
    std::atomic<double> hertz = 0, share = 0;
  } live_;
  SampleTrigger trigger_;
  SamplingPlan plan_;
  std::vector<const PerfEvent*> counters_;
  bool events_are_expensive_ = false;            // see timer_choice.hpp
  bool posix_timers_fit_ = false;                // they count CPU time, and spare system calls
  std::uint64_t signal_ticks_ = 0;               // of a signal and the return from it, which the handler does not see
  std::uint64_t interrupt_ticks_ = 0;            // the same, of a perf event with its signal
  std::uint64_t switch_ticks_ = 0;               // lower bound of the cost that a perf event adds to a context switch
  std::uint64_t clock_ticks_ = 0;                // of reading the CPU time
  std::uint64_t longest_handler_ = 0;            // ticks
  std::atomic<std::uint32_t> idle_signals_ = 0;  // that interrupted a thread which is not sampled
  struct sigaction before_ {};                   // the program's action for the signal

  Unwinder unwinder_;
  ContextBudget context_budget_;

  // The thread checks these after it has set its activity.
  std::atomic<bool> running_ = false;
  std::atomic<int> unloading_ = 0;

  Mutex lock_;
  std::vector<SampledThread*> threads_ GUARDED_BY(lock_);
  // Unloaded modules. Most return to the same place, and their contexts are then valid again. If another module appears
  // there, the contexts are discarded.
  std::vector<LoadedModule> gone_ GUARDED_BY(lock_);
  bool finished_ GUARDED_BY(lock_) = false;

  // Threads that were adopted while running and have not taken over yet. Read in handlers: fixed places, no lock.
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

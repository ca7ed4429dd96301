// What sampling keeps for one thread, and who may touch it when.
//
// The thread itself works on it in two places: in its signal handler (kSampling), and at the ends of its calls
// (kContexts); machine/activity.hpp says how they are kept apart. Others that want the thread out (the end of sampling,
// dlclose) first set a flag of the Sampler, then make all threads pass a barrier, then wait until no thread is in
// either.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "blackboard/threads/mutex.hpp"
#include "instrument/format/posix_functions.hpp"
#include "instrument/machine/perf_events.hpp"
#include "instrument/python/interpreter.hpp"
#include "instrument/sampling/call_contexts.hpp"
#include "instrument/sampling/calling_contexts.hpp"
#include "instrument/sampling/sample_timer.hpp"
#include "instrument/sampling/timer_choice.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace ardoise::instrument {

class ThreadRecorder;

// Added to by the thread's handler only, hence load + store instead of an atomic addition; read by any thread. Relaxed:
// each number stands alone.
struct SamplerCounts {
  using Counter = std::atomic<std::uint64_t>;
  Counter taken = 0, partial = 0, lost = 0, handler_ticks = 0;
  // Of all interrupts by the timer, also those that found the thread in the kernel, and of what its events add to
  // changes of threads.
  Counter delivery_ticks = 0;

  static void add(Counter& counter, std::uint64_t value) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
};

// What a sample stands for: ns of the sampled clock, or occurrences of the sampled event.
struct Passed {
  std::uint64_t weight = 0;
  std::uint64_t kernel = 0;  // not in weight: ns known to have been spent in the kernel

  Passed& operator+=(const Passed& more) {
    weight += more.weight;
    kernel += more.kernel;
    return *this;
  }
};

struct SampledThread {
  explicit SampledThread(ContextBudget& budget) : contexts(budget) {}

  ThreadRecorder* recorder = nullptr;
  std::uint32_t number = 0;
  std::uint32_t tid = 0;
  std::uint64_t start_tick = 0;
  std::uint64_t rest_tick = 0;  // when its last owner ended; 0: it has one
  StackBounds stack;            // both 0: not known
  bool is_main = false;         // its stack grows: only what lies above the stack pointer is there
  bool is_foreign = false;      // nothing will tell when it ends; guarded by the Sampler's lock

  SampleTimer timer;
  TimerChoice choice;
  CounterGroup counters;
  std::uint64_t last_clock = 0;     // ns of the sampled clock at the last interrupt
  std::uint64_t last_time = 0;      // ns at the same moment, of any origin
  std::uint64_t switches = 0;       // its changes of threads so far; 0: not known. Read where interrupts are expensive
  std::uint64_t armed_from = 0;     // last_clock at the event's last expiry, or when it was made; 0: not known
  Passed due;                       // what has passed and no sample stands for yet
  std::uint16_t last_function = 0;  // of the last sample
  std::uint32_t live_version = 0;   // of what was set while the program runs, that it follows
  SamplerCounts counts;
  CallingContexts contexts;
  CallContexts calls;
  std::array<std::uint64_t, CallingContexts::kMaxDepth> frames{};
  python::Interpreter::Scratch python;
  std::array<std::uint64_t, 16> general{};

  Mutex send_lock;
  std::uint32_t contexts_sent GUARDED_BY(send_lock) = 1;  // nodes below were sent
};

// Of the calling thread. initial-exec: may be touched in a signal handler without the loader allocating.
[[gnu::tls_model("initial-exec")]] extern thread_local SampledThread* current_sampled;
[[gnu::tls_model("initial-exec")]] extern thread_local ObservedFrame observed_frame;

// A POSIX call that has not ended, in its hook's frame.
struct OpenPosixCall {
  const void* return_address = nullptr;
  const void* frame = nullptr;  // where the hook's frame holds the caller's frame pointer, and above it return_address
  std::uint64_t begin = 0;      // tick
  std::uint32_t file = 0;
  PosixFunction function{};
};

// The innermost POSIX call of the program that the thread is in. It may have been left by longjmp: only a return
// address that is found on the stack is believed.
struct ObservedPosix {
  std::uint64_t return_address = 0;
  CalledFunction function = 0;
  const OpenPosixCall* call = nullptr;

  // For a change of the thread's own: its signal handler sees one of both, or no function.
  void become(const ObservedPosix& other) noexcept {
    function = 0;
    std::atomic_signal_fence(std::memory_order_release);
    return_address = other.return_address;
    call = other.call;
    std::atomic_signal_fence(std::memory_order_release);
    function = other.function;
  }
};
[[gnu::tls_model("initial-exec")]] extern thread_local ObservedPosix observed_posix;

}  // namespace ardoise::instrument

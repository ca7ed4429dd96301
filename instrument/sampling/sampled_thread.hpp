// The sampling data of one thread, and the rules of access to it.
//
// The thread itself uses it in two places: in its signal handler (kSampling), and at the ends of its calls (kContexts);
// machine/activity.hpp explains how they exclude each other. Other code that must exclude the thread (the end of
// sampling, dlclose) first sets a flag of the Sampler, then makes all threads pass a barrier, then waits until no
// thread is in either place.
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

// Written by the thread's handler only, hence load + store instead of an atomic addition; read by any thread. Relaxed:
// no other data depends on it.
struct SamplerCounts {
  using Counter = std::atomic<std::uint64_t>;
  Counter taken = 0, partial = 0, lost = 0, handler_ticks = 0;
  // Cost of all interrupts by the timer, including those in kernel mode, and of the context switches that its events
  // make more expensive.
  Counter delivery_ticks = 0;

  static void add(Counter& counter, std::uint64_t value) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
};

// The weight of a sample: ns of the sampled clock, or occurrences of the sampled event.
struct Passed {
  std::uint64_t weight = 0;
  std::uint64_t kernel = 0;  // not in weight: ns known to be in the kernel

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
  std::uint64_t rest_tick = 0;  // end of its last owner; 0: it has an owner
  StackBounds stack;            // both 0: not known
  bool is_main = false;         // its stack grows: only the part above the stack pointer exists
  bool is_foreign = false;      // its end will not be seen; guarded by the Sampler's lock

  SampleTimer timer;
  TimerChoice choice;
  CounterGroup counters;
  std::uint64_t last_clock = 0;     // ns of the sampled clock at the last interrupt
  std::uint64_t last_time = 0;      // ns at the same moment, with an arbitrary origin
  std::uint64_t switches = 0;       // context switches so far; 0: unknown. Read only if interrupts are expensive
  std::uint64_t armed_from = 0;     // last_clock at the event's last expiry or creation; 0: unknown
  Passed due;                       // time or events not yet covered by a sample
  bool had_another_owner = false;   // threads of this program may be short
  std::uint64_t first_period = 0;   // ns, of the POSIX timer of its next owner: what the last one left; 0: a whole one
  std::uint16_t last_function = 0;  // of the last sample
  std::uint32_t live_version = 0;   // version of the live settings that it follows
  SamplerCounts counts;
  CallingContexts contexts;
  CallContexts calls;
  std::array<std::uint64_t, CallingContexts::kMaxDepth> frames{};
  python::Interpreter::Scratch python;
  std::array<std::uint64_t, 16> general{};

  Mutex send_lock;
  std::uint32_t contexts_sent GUARDED_BY(send_lock) = 1;  // nodes below it are sent
};

// The data of the calling thread. initial-exec: a signal handler may touch it without an allocation by the loader.
// constinit: no test for a dynamic initialisation at each use.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local SampledThread* current_sampled;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ObservedFrame observed_frame;

// An open POSIX call, in its hook's frame.
struct OpenPosixCall {
  const void* return_address = nullptr;
  const void* frame = nullptr;  // address in the hook's frame of the caller's frame pointer; return_address lies above
  std::uint64_t begin = 0;      // tick
  std::uint32_t file = 0;
  PosixFunction function{};
};

// The innermost open POSIX call of the program in the thread. A longjmp may have left it: it counts only if its return
// address is found on the stack.
struct ObservedPosix {
  std::uint64_t return_address = 0;
  CalledFunction function = 0;
  const OpenPosixCall* call = nullptr;

  // Changed by the thread itself: its signal handler sees either one, or no function.
  void become(const ObservedPosix& other) noexcept {
    function = 0;
    std::atomic_signal_fence(std::memory_order_release);
    return_address = other.return_address;
    call = other.call;
    std::atomic_signal_fence(std::memory_order_release);
    function = other.function;
  }
};
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ObservedPosix observed_posix;

}  // namespace ardoise::instrument

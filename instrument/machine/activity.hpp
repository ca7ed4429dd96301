// What a thread of the program does inside this library at the moment: the one state that every entry point looks at
// before it touches anything. Its idea and its sheet of rules follow HPCToolkit (src/tool/hpcrun/safe-sampling.h).
//
// clang-format off
//   activity     set by                                          while it is set, the thread owns        and may
//   ------------------------------------------------------------------------------------------------------------------
//   kProgram     nobody: program, MPI or C library run           -                                       -
//   kRecording   exit of an MPI wrapper, begin and end of a      its ThreadRecorder: bins, caches, sums  allocate, lock,
//                thread: places where the program calls MPI or                                           wait, call MPI
//                the thread library, never a signal handler                                              and the loader
//   kHook        exit of a POSIX hook: the program may be in a   the same                                nothing that
//                signal handler that interrupted malloc, the                                             waits: see below
//                loader, MPI or a lock of ours
//   kContexts    both of these, around the calling contexts      the same and its calling contexts       as kHook
//   kSampling    our signal handler                              calling contexts, sample numbers        as kHook
// clang-format on
//
// From kProgram a thread goes to kRecording, kHook or kSampling; from kRecording and kHook to kContexts or kSampling;
// and back the same way. Everything else is refused, and whoever is refused counts:
//
// - A signal handler of the program that interrupts kRecording, kHook, kContexts or kSampling and does I/O: the hook
//   adds the call to sums shared by all threads (Recorder::count_only), by atomic additions. The call stays in the
//   exact totals and counts as a dropped record.
// - Our signal handler that interrupts kContexts: the sample is lost and counted, its weight goes to the next one. In
//   kRecording and kHook it works as always and marks the sample "inside the tool". While it runs, other signals are
//   blocked, but for those of faults, so it is not interrupted in turn.
// - I/O of threads that have no ThreadRecorder (not seen to begin, or at their very end): as the first.
//
// "Nothing that waits" means async-signal-safe (signal-safety(7)): no malloc, no mutex, no dlsym or dl_iterate_phdr, no
// MPI, no stdio. Lock-free tables (call_sites.hpp, files.hpp, bin_pool.hpp), direct system calls, spinning for a
// bounded time and trying a lock are allowed. What is found out there and must be told (definitions of files and call
// sites) is left in lock-free lists, which the next thread in kRecording empties. Functions that wait say so with
// assert_may_wait(), which debug builds check.
//
// Inside MPI: a thread that is deeper in the stack than vmpi::outermost_call is in a call of MPI; its I/O is MPI's own
// and its MPI calls are MPI's or ours: neither is recorded. That is an address and no state here, since vmpi works
// without this library, and since programs leave MPI calls by longjmp.
//
// Children: after fork() the child has no session (pthread_atfork). A vfork() child shares this memory with its parent,
// this state included: hooks ask is_vfork_child() and let its calls pass.
//
// The end: recording stops by clearing a flag, then a barrier in all threads, then waiting until no thread is inside
// (stop recording, wait, drain). A thread either sees the flag cleared when it has set its activity, or is seen inside:
// the barrier on the waiting side saves the hot path a fence (asymmetric Dekker).
//
// A program's handler that leaves by siglongjmp while its thread is inside leaves the state behind: from then on the
// thread's I/O is only counted, and its calls of MPI are in no sum (docs/internals/instrument.md, limits).
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>

namespace ardoise::instrument {

enum class Activity : std::uint8_t { kProgram, kRecording, kHook, kContexts, kSampling };

[[nodiscard]] constexpr bool may_go(Activity from, Activity to) noexcept {
  switch (to) {
    case Activity::kRecording:
    case Activity::kHook:
      return from == Activity::kProgram;
    case Activity::kContexts:
      return from == Activity::kRecording || from == Activity::kHook;
    case Activity::kSampling:
      return from == Activity::kProgram || from == Activity::kRecording || from == Activity::kHook;
    case Activity::kProgram:
      break;
  }
  return false;
}

// Written by its thread only. Others read it, acquiring what the thread wrote before it left.
using ThreadActivity = std::atomic<Activity>;

// Of the calling thread, for assert_may_wait(); nullptr: it has no recorder.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const ThreadActivity* own_activity = nullptr;

// A function that allocates, locks, waits, calls MPI or the loader begins with this.
inline void assert_may_wait() {
  assert(own_activity == nullptr || own_activity->load(std::memory_order_relaxed) == Activity::kProgram ||
         own_activity->load(std::memory_order_relaxed) == Activity::kRecording);
}

// The thread is inside for the lifetime of this object, unless that is refused or `running` is cleared.
class Stay {
 public:
  Stay(ThreadActivity& of, Activity activity, const std::atomic<bool>& running)
      : of_(of), before_(of.load(std::memory_order_relaxed)), refused_(!may_go(before_, activity)) {
    if (refused_) [[unlikely]]
      return;
    of_.store(activity, std::memory_order_relaxed);
    // Only the compiler must keep the order here: see "The end" above. Acquire: what was built before it was set.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    running_ = running.load(std::memory_order_acquire);
  }
  // Release: what the thread wrote is visible to whoever sees that it has left.
  ~Stay() {
    if (!refused_) of_.store(before_, std::memory_order_release);
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  // False: touch nothing of the thread's.
  [[nodiscard]] bool entered() const { return running_; }
  // The thread is inside already, in an activity that this one must not interrupt.
  [[nodiscard]] bool refused() const { return refused_; }
  // The thread was inside already, in an activity that this one may interrupt.
  [[nodiscard]] bool is_inner() const { return before_ != Activity::kProgram; }

 private:
  ThreadActivity& of_;
  const Activity before_;
  const bool refused_;
  bool running_ = false;
};

}  // namespace ardoise::instrument

// The activity of a program's thread inside this library: the one state that every entry point checks before it touches
// anything. The idea and the sheet of rules follow HPCToolkit (src/tool/hpcrun/safe-sampling.h).
//
// clang-format off
//   activity     set by                                          while it is set, the thread owns        and may
//   ------------------------------------------------------------------------------------------------------------------
//   kProgram     - (program, MPI or C library run)               -                                       -
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
// and back the same way. Every other entry is refused, and the refused code only counts:
//
// - A signal handler of the program interrupts kRecording, kHook, kContexts or kSampling and does I/O: the hook
//   adds the call to sums shared by all threads (Recorder::count_only), by atomic additions. The call stays in the
//   exact totals and counts as a dropped record.
// - The sampler's handler interrupts kContexts: the sample is lost and counted, and its weight goes to the next one. In
//   kRecording and kHook it works as always and marks the sample "inside the tool". Other signals except faults are
//   blocked while it runs, so it is not interrupted in turn.
// - I/O of a thread without a ThreadRecorder (its begin was not seen, or it is at its very end): the same as the first.
//
// "Nothing that waits" means async-signal-safe (signal-safety(7)): no malloc, no mutex, no dlsym or dl_iterate_phdr, no
// MPI, no stdio. Lock-free tables (call_sites.hpp, files.hpp, bin_pool.hpp), direct system calls, spinning for a
// bounded time and trying a lock are allowed. New definitions (of files and call sites) go into lock-free lists, which
// the next thread in kRecording empties. Functions that wait call assert_may_wait(), which debug builds check.
//
// Inside MPI: a thread that is deeper in the stack than vmpi::outermost_call is in an MPI call. Its I/O is MPI's own,
// and its MPI calls are MPI's or this library's: neither is recorded. An address is used instead of a state, since vmpi
// works without this library, and since programs leave MPI calls by longjmp.
//
// Children: after fork() the child has no session (pthread_atfork). A vfork() child shares this memory and this state
// with its parent: hooks call is_vfork_child() and pass its calls on.
//
// The end: recording stops by clearing a flag, then a barrier in all threads, then waiting until no thread is inside
// (stop recording, wait, drain). A thread either sees the cleared flag after it has set its activity, or is seen
// inside: the barrier on the waiting side saves the hot path a fence (asymmetric Dekker).
//
// If a handler of the program leaves by siglongjmp while its thread is inside, the state remains set until
// MPI_Finalize: the thread's calls are only counted, as dropped records, and its samples may be lost.
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

// Written by its thread only. Other threads read it with acquire and then see all that the thread wrote before it left.
using ThreadActivity = std::atomic<Activity>;

// The activity of the calling thread, for assert_may_wait(); nullptr: the thread has no recorder.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const ThreadActivity* own_activity = nullptr;

// The first statement of each function that allocates, locks, waits, or calls MPI or the loader.
inline void assert_may_wait() {
  assert(own_activity == nullptr || own_activity->load(std::memory_order_relaxed) == Activity::kProgram ||
         own_activity->load(std::memory_order_relaxed) == Activity::kRecording);
}

// Keeps the thread inside for the lifetime of this object, unless it is refused or `running` is cleared.
class ActivityScope {
 public:
  ActivityScope(ThreadActivity& of, Activity activity, const std::atomic<bool>& running)
      : of_(of), before_(of.load(std::memory_order_relaxed)), refused_(!may_go(before_, activity)) {
    if (refused_) [[unlikely]]
      return;
    of_.store(activity, std::memory_order_relaxed);
    // A compiler barrier suffices for the order: see "The end" above. Acquire: all that was built before the flag was
    // set.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    running_ = running.load(std::memory_order_acquire);
  }
  // Release: a thread that sees that this one left sees all that it wrote.
  ~ActivityScope() {
    if (!refused_) of_.store(before_, std::memory_order_release);
  }
  ActivityScope(const ActivityScope&) = delete;
  ActivityScope& operator=(const ActivityScope&) = delete;

  // False: do not touch the thread's data.
  [[nodiscard]] bool entered() const { return running_; }
  // The thread was already inside, in an activity that this one must not interrupt.
  [[nodiscard]] bool refused() const { return refused_; }
  // The thread was already inside, in an activity that this one may interrupt.
  [[nodiscard]] bool is_inner() const { return before_ != Activity::kProgram; }

 private:
  ThreadActivity& of_;
  const Activity before_;
  const bool refused_;
  bool running_ = false;
};

}  // namespace ardoise::instrument

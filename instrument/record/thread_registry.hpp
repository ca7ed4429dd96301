// All threads that record, their numbers and their ends. Used on slow paths only: a thread's first event, its end, and
// the sums at the end of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "blackboard/threads/mutex.hpp"
#include "instrument/buffer/definition_queue.hpp"
#include "instrument/record/thread_recorder.hpp"

namespace ardoise::instrument {

class ThreadRegistry final : public SampleSource {
 public:
  // flush_ticks: age at which samples are sent though no bin is full; it may change, and outlives this.
  ThreadRegistry(BinPool& pool, Sender& sender, Ledger& ledger, EventReduction& reduction, DefinitionQueue& definitions,
                 const std::atomic<std::uint64_t>& flush_ticks)
      : pool_(pool),
        sender_(sender),
        ledger_(ledger),
        reduction_(reduction),
        definitions_(definitions),
        flush_ticks_(flush_ticks) {}
  ~ThreadRegistry() override;
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // A recorder for a thread (0: the calling one), with a number of its own and its definition queued. nullptr: out of
  // memory.
  [[nodiscard]] ThreadRecorder* adopt(std::uint64_t tick, std::uint32_t tid = 0);
  // The owner ends, has flushed, and is in no Section: the object may be adopted by another thread.
  void retire(ThreadRecorder* thread);

  // After recording was switched off (active == false): waits until no thread is inside. False: one did not leave
  // within a second.
  [[nodiscard]] bool wait_until_outside();
  // Submits the bins of all threads that are not inside, and calls `before` with each first. After
  // wait_until_outside().
  void flush_all(const std::function<void(ThreadRecorder&)>& before);

  // The samples of all threads, in turn. Take no lock, so that a thread may ask for room while another one adopts.
  [[nodiscard]] Bin* next_bin(bool all) override;
  // Drops the lowest level of the thread that holds the most bins.
  [[nodiscard]] bool make_room() override;
  // Queues the definitions of all changes of rate.
  void define_changes();

  // All threads have died, maybe inside: their recorders are left as if each had left before the call it was in.
  void force_unlock();

  // The recorders of threads that have not ended and have recorded. Takes no lock.
  template <class Visit>
  void for_each_owned(Visit visit) const {
    for (const ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr;
         thread = thread->next) {
      if (thread->in_mpi.load(std::memory_order_relaxed) != nullptr) visit(*thread);
    }
  }

  // The first thread looks at what is wanted of it when its next call ends. Takes no lock.
  void hurry_first() const noexcept {
    for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next) {
      if (thread->number() == 0) thread->next_flush.store(ThreadRecorder::kAtOnce, std::memory_order_relaxed);
    }
  }

  // Threads that recorded so far and did not end.
  [[nodiscard]] std::uint32_t active() const { return active_.load(std::memory_order_relaxed); }

  // Sums of all threads, of those that ended too, and of these POSIX calls of no thread, for functions that were
  // called.
  [[nodiscard]] std::vector<TotalsRecord> totals(
      std::span<const FunctionTotals, kPosixFunctionCount> of_no_thread) const;
  // The first of these that there is room for. How many. Takes no lock, allocates nothing.
  std::size_t totals(std::span<const FunctionTotals, kPosixFunctionCount> of_no_thread,
                     std::span<TotalsRecord> room) const noexcept;

 private:
  void define_changes(SampleStore& samples);

  BinPool& pool_;
  Sender& sender_;
  Ledger& ledger_;
  EventReduction& reduction_;
  DefinitionQueue& definitions_;
  const std::atomic<std::uint64_t>& flush_ticks_;
  // All objects made, the newest first, linked by ThreadRecorder::next; none leaves before the end. Release and
  // acquire: who sees an object sees it made.
  std::atomic<ThreadRecorder*> newest_ = nullptr;
  ThreadRecorder* turn_ = nullptr;  // whose samples are next; of who sends
  std::atomic<std::uint32_t> active_ = 0;
  Mutex lock_;
  std::uint32_t next_number_ GUARDED_BY(lock_) = 0;
  std::vector<ThreadRecorder*> idle_ GUARDED_BY(lock_);  // objects without an owner
};

}  // namespace ardoise::instrument

// All recording threads, their numbers and their ends. Used on slow paths only: a thread's first event, its end, and
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
  // flush_ticks: age at which samples are sent from partly filled bins; it may change, and outlives this object.
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

  // Creates a recorder for a thread (0: the calling one), with its own number and a queued definition. nullptr: out of
  // memory.
  [[nodiscard]] ThreadRecorder* adopt(std::uint64_t tick, std::uint32_t tid = 0);
  // The owner ends, has flushed, and is outside: another thread may adopt the object.
  void retire(ThreadRecorder* thread);

  // Called after recording was switched off (active == false): waits until no thread is inside. False: one did not
  // leave within a second.
  [[nodiscard]] bool wait_until_outside();
  // Submits the bins of all threads that are outside, and calls `before` for each first. Called after
  // wait_until_outside().
  void flush_all(const std::function<void(ThreadRecorder&)>& before);

  // The samples of all threads, in turn. Takes no lock, so that a thread may ask for room while another one adopts.
  [[nodiscard]] Bin* next_bin(bool all) override;
  // Drops the lowest level of the thread that holds the most bins.
  [[nodiscard]] bool make_room() override;
  // Queues the definitions of all changes of rate.
  void define_changes();

  // For use when all threads have died, maybe inside: resets their recorders to the state before their open calls.
  void force_unlock();

  // Visits the recorders of living threads that have recorded. Takes no lock.
  template <class Visit>
  void for_each_owned(Visit visit) const {
    for (const ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr;
         thread = thread->next) {
      if (thread->in_mpi.load(std::memory_order_relaxed) != nullptr) visit(*thread);
    }
  }

  // Makes the first thread do its pending work at the end of its next call. Takes no lock.
  void flush_first_soon() const noexcept {
    for (ThreadRecorder* thread = newest_.load(std::memory_order_acquire); thread != nullptr; thread = thread->next) {
      if (thread->number() == 0) thread->next_flush.store(ThreadRecorder::kAtOnce, std::memory_order_relaxed);
    }
  }

  // Number of threads that recorded and did not end.
  [[nodiscard]] std::uint32_t active() const { return active_.load(std::memory_order_relaxed); }

  // Sums of all threads, including ended ones, and of POSIX calls without a thread, for functions that were called.
  [[nodiscard]] std::vector<TotalsRecord> totals(
      std::span<const FunctionTotals, kPosixFunctionCount> of_no_thread) const;
  // The first of them that fit; returns how many. Takes no lock, allocates nothing.
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
  // All objects ever created, newest first, linked by ThreadRecorder::next; none is removed before the end. Release and
  // acquire: a reader of the pointer sees a complete object.
  std::atomic<ThreadRecorder*> newest_ = nullptr;
  ThreadRecorder* turn_ = nullptr;  // the next one to send samples; used by the sending thread
  std::atomic<std::uint32_t> active_ = 0;
  Mutex lock_;
  std::uint32_t next_number_ GUARDED_BY(lock_) = 0;
  std::vector<ThreadRecorder*> idle_ GUARDED_BY(lock_);  // objects without an owner
};

}  // namespace ardoise::instrument

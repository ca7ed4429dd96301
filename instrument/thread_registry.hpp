// All threads that record, their numbers and their ends. Used on slow paths only: a thread's first event, its end, and
// the sums at the end of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "instrument/definition_queue.hpp"
#include "instrument/thread_recorder.hpp"

namespace ardoise::instrument {

class ThreadRegistry {
 public:
  ThreadRegistry(Sender& sender, Ledger& ledger, DefinitionQueue& definitions)
      : sender_(sender), ledger_(ledger), definitions_(definitions) {}
  ~ThreadRegistry();
  ThreadRegistry(const ThreadRegistry&) = delete;
  ThreadRegistry& operator=(const ThreadRegistry&) = delete;

  // A recorder for the calling thread, with a number of its own and its definition queued. nullptr: out of memory.
  [[nodiscard]] ThreadRecorder* adopt(std::uint64_t tick);
  // The owner ends, has flushed, and is in no Section: the object may be adopted by another thread.
  void retire(ThreadRecorder* thread);

  // Submits the bins of all threads. Requires that recording was switched off (active == false) before; waits until
  // every thread has left its section. False: one did not within a second, and its bins are lost uncounted.
  [[nodiscard]] bool flush_all();

  // Sums of all threads, of those that ended too, for functions that were called.
  [[nodiscard]] std::vector<TotalsRecord> totals();

 private:
  Sender& sender_;
  Ledger& ledger_;
  DefinitionQueue& definitions_;
  std::mutex lock_;
  std::uint32_t next_number_ = 0;         // all guarded by lock_
  std::vector<ThreadRecorder*> threads_;  // every object made
  std::vector<ThreadRecorder*> idle_;     // of those, without an owner
};

}  // namespace ardoise::instrument

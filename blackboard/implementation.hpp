// Implementation of a Blackboard (pimpl of blackboard.hpp): registry.cpp has add and remove, workers.cpp the execution
// of jobs and drain, blackboard.cpp submit and the public functions.
//
//   submit ─▶ charge bytes ─▶ [read section: table ─▶ Source::offer ─▶ JobQueue::push ─▶ wake] ─▶ worker: pop ─▶ run
//
// Lock order, outermost first: registry_mutex_, then the read domain. No lock is held while an operation, a release
// function or the destructor of an operation runs, so all of these may call the board.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "blackboard/byte_account.hpp"
#include "blackboard/job_queue.hpp"
#include "blackboard/parking.hpp"
#include "blackboard/read_domain.hpp"
#include "blackboard/sensitivity_table.hpp"
#include "blackboard/source.hpp"
#include "blackboard/threads/mutex.hpp"
#include "blackboard/worker.hpp"

namespace ardoise::blackboard {

// Event counts of one thread slot. They only grow.
struct Tally {
  std::atomic<std::uint64_t> submitted{0}, unmatched{0};
  std::atomic<std::uint64_t> created{0};             // jobs, counted before any thread can take them
  std::atomic<std::uint64_t> ended{0};               // jobs, counted after all of their effects
  std::atomic<std::uint64_t> dropped{0}, failed{0};  // of those ended
};

struct Blackboard::Implementation {
  Implementation(Blackboard& board, Options options);
  ~Implementation();
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  void start_workers(bool in_background);
  void hurry();
  [[nodiscard]] SourceId add(KnowledgeSource description);
  [[nodiscard]] bool remove(SourceId id);
  void submit(EntryRef entry);
  void submit_keyed(EntryRef entry, std::uint64_t key);
  void drain();
  void while_paused(const std::function<void()>& action);
  void continue_without_workers() noexcept { has_no_worker_threads_ = true; }
  [[nodiscard]] Counters counters() const noexcept;
  [[nodiscard]] bool quiet() const noexcept;

  Blackboard& board_;
  const Options options_;
  ByteAccount* const account_;
  std::vector<std::unique_ptr<Worker>> workers_;  // at least one
  Transport* transport_ = nullptr;            // set before it is used

 private:
  // registry.cpp
  void publish_table() REQUIRES(registry_mutex_);
  void wait_while_running(const Source& source) const;
  void destroy_idle_sources();
  // workers.cpp
  void work(Worker& worker);
  void run(Worker& worker, Job job);
  void call(Worker& worker, Job job);
  void report_failure(const Source& source, std::string_view message) noexcept;
  void drain_here();
  void wait_while_paused();
  void refuse_inside(const char* function) const;
  void look_for_quiet();
  void count(std::atomic<std::uint64_t> Tally::*event, std::uint64_t times = 1) noexcept {
    const ThreadSlot slot = this_thread_slot();
    add_in_slot(slot, tallies_[slot].*event, times);
  }

  // Sources by age, and removed ones that jobs still refer to.
  Mutex registry_mutex_;
  std::uint64_t last_id_ GUARDED_BY(registry_mutex_) = 0;
  std::vector<std::unique_ptr<Source>> sources_ GUARDED_BY(registry_mutex_);
  std::vector<std::unique_ptr<Source>> removed_ GUARDED_BY(registry_mutex_);
  std::atomic<std::size_t> removed_count_{0};  // removed_.size(), a hint

  ReadDomain readers_;
  alignas(kCacheLine) std::atomic<const SensitivityTable*> table_;  // owned; replaced under registry_mutex_

  JobQueue queue_;
  Parking parking_;
  std::vector<std::thread> threads_;
  std::atomic<bool> stopping_{false};
  bool has_no_worker_threads_ = false;

  Mutex pause_mutex_;  // serialises while_paused() and hurry()
  enum class Pause { kNone, kAction, kLeave };
  std::atomic<Pause> pause_{Pause::kNone};  // kAction: an action runs or waits to run; kLeave: threads are replaced
  Mutex paused_mutex_;
  Condition worker_paused_;
  std::size_t paused_workers_ GUARDED_BY(paused_mutex_) = 0;

  PerSlot<Tally> tallies_;

  alignas(kCacheLine) std::atomic<unsigned> drainers_{0};
  Mutex quiet_mutex_;  // only for became_quiet_
  Condition became_quiet_;
  Mutex workers_mutex_;  // without worker threads: held by the draining thread
};

}  // namespace ardoise::blackboard

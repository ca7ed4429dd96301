// State of one worker of one board: its number, its current source, its end of the queue. A worker thread has one for
// life; in drain() of a board without worker threads, the calling thread acts as each worker in turn.
#pragma once

#include <atomic>
#include <utility>

#include "blackboard/job_queue.hpp"
#include "blackboard/parking.hpp"
#include "blackboard/source.hpp"
#include "blackboard/thread_slot.hpp"

namespace ardoise::blackboard {

struct Worker {
  Worker(const void* board_, unsigned index_) : board(board_), index(index_), hand(index_) {}

  const void* const board;  // for comparison only
  const unsigned index;
  JobQueue::Hand hand;
  // The source whose operation runs or is about to run. Written by the worker, read by remove().
  alignas(kCacheLine) std::atomic<const Source*> running{nullptr};
  Parking::Sleeper sleeper;
  Worker* outer = nullptr;  // the thread's previous worker, when boards are nested
};

// The calling thread's worker on the innermost board; null: none.
inline constinit thread_local Worker* innermost_worker = nullptr;

[[nodiscard]] inline Worker* worker_of(const void* board) noexcept {
  Worker* worker = innermost_worker;
  while (worker != nullptr && worker->board != board) worker = worker->outer;
  return worker;
}

// Makes `worker` the calling thread's worker during its lifetime.
class CurrentWorker {
 public:
  explicit CurrentWorker(Worker& worker) noexcept : worker_(worker) {
    worker.outer = std::exchange(innermost_worker, &worker);
  }
  ~CurrentWorker() { innermost_worker = worker_.outer; }
  CurrentWorker(const CurrentWorker&) = delete;
  CurrentWorker& operator=(const CurrentWorker&) = delete;

 private:
  Worker& worker_;
};

}  // namespace ardoise::blackboard

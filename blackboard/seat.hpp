// State of one worker of one board: its number, its current source, its end of the queue. A worker thread has one seat
// for life; a thread in drain() of a board without workers has one during the call.
#pragma once

#include <atomic>
#include <utility>

#include "blackboard/job_queue.hpp"
#include "blackboard/parking.hpp"
#include "blackboard/source.hpp"
#include "blackboard/thread_slot.hpp"

namespace ardoise::blackboard {

struct Seat {
  Seat(const void* board_, unsigned index_) : board(board_), index(index_), hand(index_) {}

  const void* const board;  // for comparison only
  const unsigned index;
  JobQueue::Hand hand;
  // The source whose operation runs or is about to run. Written by the worker, read by remove().
  alignas(kCacheLine) std::atomic<const Source*> running{nullptr};
  Parking::Sleeper sleeper;
  Seat* outer = nullptr;  // the thread's previous seat, when boards are nested
};

// The calling thread's seat, innermost board first; null: none.
inline constinit thread_local Seat* innermost_seat = nullptr;

[[nodiscard]] inline Seat* seat_at(const void* board) noexcept {
  Seat* seat = innermost_seat;
  while (seat != nullptr && seat->board != board) seat = seat->outer;
  return seat;
}

class Sitting {
 public:
  explicit Sitting(Seat& seat) noexcept : seat_(seat) { seat.outer = std::exchange(innermost_seat, &seat); }
  ~Sitting() { innermost_seat = seat_.outer; }
  Sitting(const Sitting&) = delete;
  Sitting& operator=(const Sitting&) = delete;

 private:
  Seat& seat_;
};

}  // namespace ardoise::blackboard

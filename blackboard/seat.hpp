// What belongs to one worker of one board: its number, what it runs, its end of the queue. A thread sits on a seat
// while it works for a board: a worker thread always, a thread in drain() of a board without workers meanwhile.
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

  const void* const board;  // only compared
  const unsigned index;
  JobQueue::Hand hand;
  // The source whose operation is about to run or runs. Written by the worker, read by remove().
  alignas(kCacheLine) std::atomic<const Source*> running{nullptr};
  Parking::Sleeper sleeper;
  Seat* outer = nullptr;  // the seat this thread had before, when boards are nested
};

// The seat on which the calling thread sits, innermost first; null: none.
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

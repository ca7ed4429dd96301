// What belongs to one worker of one board: its number, its counters, what it runs. A thread sits on a seat while it
// works for a board: a worker thread always, a thread in drain() of a board without workers meanwhile.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "blackboard/job_queue.hpp"
#include "blackboard/parking.hpp"
#include "blackboard/sharded.hpp"
#include "blackboard/source.hpp"

namespace ardoise::blackboard {

// Event counts of one seat, or of the threads that share one of the slots for threads without a seat. They only grow.
struct alignas(kCacheLine) Tally {
  std::atomic<std::uint64_t> submitted{0}, unmatched{0};
  std::atomic<std::uint64_t> created{0};             // jobs, counted before anybody can take them
  std::atomic<std::uint64_t> ended{0};               // jobs, counted after everything they did
  std::atomic<std::uint64_t> dropped{0}, failed{0};  // of those ended
};

struct Seat {
  Seat(const void* board_, unsigned index_) : board(board_), index(index_), random(index_ + 1u) {}

  const void* const board;  // only compared
  const unsigned index;
  Random random;
  Tally tally;
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

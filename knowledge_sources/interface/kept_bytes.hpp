// Bytes of packs that a knowledge source keeps because it cannot use them yet, counted on the blackboard: ingest takes
// no further pack while that is full, so that the missing pack, which came earlier, is processed first.
#pragma once

#include <cstddef>
#include <utility>

#include "blackboard/blackboard.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe. Counts nothing without a board.
class KeptBytes {
 public:
  KeptBytes() = default;
  KeptBytes(KeptBytes&& other) noexcept
      : board_(std::exchange(other.board_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  KeptBytes& operator=(KeptBytes&& other) noexcept {
    std::swap(board_, other.board_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~KeptBytes() { clear(); }

  // Before the first byte. The board outlives the object's use.
  void count_on(blackboard::Blackboard& board) { board_ = &board; }
  void add(std::size_t bytes) {
    if (board_ == nullptr) return;
    bytes_ += bytes;
    board_->charge(bytes);
  }
  void remove(std::size_t bytes) {
    if (board_ == nullptr) return;
    bytes_ -= bytes;
    board_->discharge(bytes);
  }
  void clear() { remove(bytes_); }

 private:
  blackboard::Blackboard* board_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace ardoise::knowledge_sources

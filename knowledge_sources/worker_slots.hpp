// One T for each worker of a blackboard, each allocated apart: what an operation may use without a lock, as two
// operations with the same Context::worker never run at the same time. Filled in Analysis::attach().
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "blackboard/blackboard.hpp"

namespace ardoise::knowledge_sources {

template <class T>
class WorkerSlots {
 public:
  // make() returns a unique_ptr<T>.
  template <class Make>
  void create(const blackboard::Blackboard& board, Make&& make) {
    while (slots_.size() < board.workers()) slots_.push_back(make());
  }
  [[nodiscard]] T& of(const blackboard::Context& context) { return *slots_[context.worker]; }
  [[nodiscard]] auto begin() const { return slots_.begin(); }
  [[nodiscard]] auto end() const { return slots_.end(); }

 private:
  std::vector<std::unique_ptr<T>> slots_;
};

}  // namespace ardoise::knowledge_sources

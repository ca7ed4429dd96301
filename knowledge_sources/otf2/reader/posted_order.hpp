// Restores the order of posting of operations that complete in any order, for one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace ardoise::knowledge_sources {

// Not thread safe. An incomplete operation holds back up to kMost later ones.
template <class T>
class PostedOrder {
 public:
  static constexpr std::size_t kMost = 4096;

  std::uint64_t post() {  // an operation that completes later
    outstanding_.insert(next_);
    return next_++;
  }
  std::uint64_t pass() { return next_++; }  // an operation that is already complete
  // The operation is complete; `item` is released in order.
  void complete(std::uint64_t order, T item) {
    outstanding_.erase(order);
    held_.emplace(order, std::move(item));
  }
  // The operation was cancelled.
  void drop(std::uint64_t order) { outstanding_.erase(order); }
  // Calls take(item) for all items in order; with `all` for the others, too. Returns the number of items out of order.
  template <class Take>
  std::uint64_t release(Take&& take, bool all = false) {
    std::uint64_t early = 0;
    while (!held_.empty()) {
      const auto first = held_.begin();
      const bool is_due = outstanding_.empty() || *outstanding_.begin() > first->first;
      if (!is_due && !all && held_.size() <= kMost) break;
      early += !is_due;
      take(first->second);
      held_.erase(first);
    }
    return early;
  }

 private:
  std::uint64_t next_ = 0;
  std::set<std::uint64_t> outstanding_;
  std::map<std::uint64_t, T> held_;
};

}  // namespace ardoise::knowledge_sources

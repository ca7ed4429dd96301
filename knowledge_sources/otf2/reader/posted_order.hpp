// Puts what completes in any order into the order in which it was posted: of one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace ardoise::knowledge_sources {

// Not thread safe. What was posted earlier and is not complete holds back what was posted later, up to kMost of it.
template <class T>
class PostedOrder {
 public:
  static constexpr std::size_t kMost = 4096;

  std::uint64_t post() {  // something that completes later
    outstanding_.insert(next_);
    return next_++;
  }
  std::uint64_t pass() { return next_++; }  // something that is complete already
  // It is complete, and `item` is to be released in its turn.
  void complete(std::uint64_t order, T item) {
    outstanding_.erase(order);
    held_.emplace(order, std::move(item));
  }
  // It is no more: cancelled.
  void drop(std::uint64_t order) { outstanding_.erase(order); }
  // take(item) for all whose turn it is; with `all` for the others, too. Returns how many came before their turn.
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

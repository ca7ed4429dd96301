// Puts the packs of one thread back into the order in which they were recorded: workers take packs in any order, and an
// analysis that follows what a thread did needs them one after the other. The number is PackHeader::order.
//
// A pack that came too early is kept, and counts on the blackboard (count_on): a blackboard that is full takes no more
// packs, and the one that is missing is among those that it has. It is given up, and named, only where it is not: by
// give_up_missing(), at LevelSources::at_no_room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "blackboard/blackboard.hpp"
#include "knowledge_sources/interface/kept_bytes.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
template <class Value>
class InOrder {
 public:
  // Before the first value. The board outlives the use of this.
  void count_on(blackboard::Blackboard& board) { bytes_.count_on(board); }

  // Calls deliver(value, after_gap) for what is in order now; after_gap: values before this one are missing for good.
  // One that comes a second time, or after it was given up, is dropped. bytes: that the value keeps in memory.
  template <class Deliver>
  void add(std::uint64_t order, Value value, std::size_t bytes, Deliver&& deliver) {
    if (order < next_) return;
    if (waiting_.try_emplace(order, Waiting{std::move(value), bytes}).second) bytes_.add(bytes);
    deliver_ready(deliver);
  }
  // True: it is the one that is expected, and the caller delivers it; then deliver_ready().
  [[nodiscard]] bool take(std::uint64_t order) {
    if (order != next_) return false;
    ++next_;
    return true;
  }
  template <class Deliver>
  void deliver_ready(Deliver&& deliver) {
    while (!waiting_.empty() && waiting_.begin()->first <= next_) {
      if (waiting_.begin()->first == next_) {
        deliver_first(deliver, false);
      } else {
        (void)extract_first();
      }
    }
  }
  // Goes on without those that are missing before the first one that waits, if there is one.
  template <class Deliver>
  void give_up_missing(Deliver&& deliver) {
    if (waiting_.empty()) return;
    deliver_first(deliver, true);
    deliver_ready(deliver);
  }
  // The one that is expected; for what goes on elsewhere, where nothing has come yet.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  void begin_with(std::uint64_t order) { next_ = order; }
  // Calls look(order, value) for what still waits for one that has not come.
  template <class Look>
  void for_each_waiting(Look&& look) const {
    for (const auto& [order, waiting] : waiting_) look(order, waiting.value);
  }

 private:
  struct Waiting {
    Value value;
    std::size_t bytes;
  };
  auto extract_first() {
    auto first = waiting_.extract(waiting_.begin());
    bytes_.remove(first.mapped().bytes);
    return first;
  }
  template <class Deliver>
  void deliver_first(Deliver&& deliver, bool after_gap) {
    auto first = extract_first();
    next_ = first.key() + 1;
    deliver(first.mapped().value, after_gap);
  }

  std::uint64_t next_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
  KeptBytes bytes_;
};

}  // namespace ardoise::knowledge_sources

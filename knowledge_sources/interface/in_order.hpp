// Restores the recorded order of a thread's packs (PackHeader::order): workers take packs in any order, but an analysis
// that follows a thread needs them in sequence.
//
// A pack that is too early is kept, and counts on the blackboard (count_on): a full blackboard takes no more packs, and
// the missing one is usually among those that it has. If it is not, give_up_missing(), at LevelSources::at_no_room,
// gives it up and names it.
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
  // Before the first value. The board outlives the object's use.
  void count_on(blackboard::Blackboard& board) { bytes_.count_on(board); }

  // Calls deliver(value, after_gap) for all values that are in order now; after_gap: values before this one are lost.
  // Duplicates, and values already given up, are dropped. bytes: memory of the value.
  template <class Deliver>
  void add(std::uint64_t order, Value value, std::size_t bytes, Deliver&& deliver) {
    if (order < next_) return;
    if (waiting_.try_emplace(order, Waiting{std::move(value), bytes}).second) bytes_.add(bytes);
    deliver_ready(deliver);
  }
  // True: it is the expected one, and the caller delivers it; then deliver_ready().
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
  // Skips the missing values before the first waiting one, if there is one.
  template <class Deliver>
  void give_up_missing(Deliver&& deliver) {
    if (waiting_.empty()) return;
    deliver_first(deliver, true);
    deliver_ready(deliver);
  }
  // The expected number; for a thread whose order continues elsewhere, before the first value.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  void begin_with(std::uint64_t order) { next_ = order; }
  // Calls look(order, value) for the waiting values.
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

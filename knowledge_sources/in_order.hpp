// Puts the packs of one thread back into the order in which they were recorded: workers take packs in any order, and an
// analysis that follows what a thread did needs them one after the other. The number is PackHeader::order.
//
// Memory: what came too early, as long as its weight is at most kMost; then the missing one is given up and named. In a
// run without losses as many wait as there are packs on the blackboard: a worker that had no processor for half a
// second still has the one that the others wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace ardoise::knowledge_sources {

// Not thread safe.
template <class Value>
class InOrder {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  // Calls deliver(value, after_gap) for what is in order now; after_gap: values before this one are missing for good.
  // One that comes a second time, or after it was given up, is dropped. weight: at least 1, of what it keeps in memory.
  template <class Deliver>
  void add(std::uint64_t order, Value value, std::size_t weight, Deliver&& deliver) {
    if (order < next_) return;
    if (waiting_.try_emplace(order, Waiting{std::move(value), weight}).second) weight_ += weight;
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
    while (!waiting_.empty() && (waiting_.begin()->first <= next_ || weight_ > kMost)) {
      auto first = waiting_.extract(waiting_.begin());
      weight_ -= first.mapped().weight;
      if (first.key() < next_) continue;
      const bool after_gap = first.key() != next_;
      next_ = first.key() + 1;
      deliver(first.mapped().value, after_gap);
    }
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
    std::size_t weight;
  };

  std::uint64_t next_ = 0;
  std::size_t weight_ = 0;
  std::map<std::uint64_t, Waiting> waiting_;
};

}  // namespace ardoise::knowledge_sources

// The started operations of a rank that have not ended, by the tick of their start. They start in tick order and end
// nearly in it, so a sorted list and the last position replace a hash table.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ardoise::knowledge_sources {

// Not thread safe. Memory: at most one and a half times the started operations, and 16.
template <class Operation>
class StartedList {
 public:
  void add(std::uint64_t tick, const Operation& operation) {
    auto place = items_.end();
    while (place != items_.begin() && (place - 1)->tick > tick) --place;
    items_.insert(place, Item{tick, operation, false});
    ++live_;
  }
  // Removes and returns the operation started at this tick, if any.
  std::optional<Operation> take(std::uint64_t tick) {
    if (next_ >= items_.size() || items_[next_].tick != tick) {
      const auto found = std::ranges::lower_bound(items_, tick, {}, &Item::tick);
      next_ = static_cast<std::size_t>(found - items_.begin());
    }
    if (next_ >= items_.size() || items_[next_].tick != tick || items_[next_].ended) return std::nullopt;
    Item& item = items_[next_++];
    item.ended = true;
    --live_;
    const Operation operation = item.operation;
    if (items_.size() > live_ + live_ / 2 + 16) forget_ended();
    return operation;
  }
  // The operation started at this tick; nullptr: none.
  [[nodiscard]] const Operation* find(std::uint64_t tick) const {
    const auto found = std::ranges::lower_bound(items_, tick, {}, &Item::tick);
    return found == items_.end() || found->tick != tick || found->ended ? nullptr : &found->operation;
  }
  [[nodiscard]] std::size_t size() const { return live_; }
  void clear() {
    items_.clear();
    live_ = next_ = 0;
  }

 private:
  struct Item {
    std::uint64_t tick;
    Operation operation;
    bool ended;
  };
  void forget_ended() {
    std::erase_if(items_, [](const Item& each) { return each.ended; });
    next_ = 0;
  }

  std::vector<Item> items_;  // by tick
  std::size_t live_ = 0, next_ = 0;
};

}  // namespace ardoise::knowledge_sources

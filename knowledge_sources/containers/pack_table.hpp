// A small hash table for the sums of one pack: open addressing in a fixed array that stays in the first cache levels,
// no allocation, cleared in O(entries). Knowledge sources that group events by a key (call site, peer, file) process
// each pack with one and then add its few entries to their results, so the cost per event is one multiplication, one
// compare and the additions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ardoise::knowledge_sources {

// Value is default constructible; keys are not 0. 2^Bits slots, of which at most three quarters are used.
template <class Value, unsigned Bits>
class PackTable {
 public:
  static constexpr std::size_t kSlots = std::size_t{1} << Bits;
  static constexpr std::size_t kLimit = kSlots / 4 * 3;

  // The value of `key`, created if needed. A full table is first passed to full(*this), which must clear() it.
  template <class Full>
  Value& at(std::uint64_t key, Full&& full) {
    for (;;) {
      for (std::size_t i = place(key);; i = (i + 1) & (kSlots - 1)) {
        Slot& slot = slots_[i];
        if (slot.key == key) [[likely]]
          return slot.value;
        if (slot.key == 0) {
          if (used_ == kLimit) break;
          slot.key = key;
          order_[used_++] = static_cast<std::uint16_t>(i);
          return slot.value;
        }
      }
      full(*this);
    }
  }

  // Calls visit(key, value) in the order of first use.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < used_; ++i) visit(slots_[order_[i]].key, slots_[order_[i]].value);
  }
  void clear() {
    for (std::size_t i = 0; i < used_; ++i) slots_[order_[i]] = {};
    used_ = 0;
  }
  [[nodiscard]] bool empty() const { return used_ == 0; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    Value value{};
  };
  static_assert(Bits <= 16);

  // Fibonacci hashing: the high bits of the product depend on all bits of the key.
  static std::size_t place(std::uint64_t key) {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> (64 - Bits));
  }

  std::array<Slot, kSlots> slots_{};
  std::array<std::uint16_t, kLimit> order_;
  std::size_t used_ = 0;
};

}  // namespace ardoise::knowledge_sources

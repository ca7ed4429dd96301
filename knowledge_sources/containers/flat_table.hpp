// A hash table for a high rate of insertions and removals: open addressing in one array, linear probing, allocation for
// growth only; erasing moves later entries back (Knuth, The Art of Computer Programming 3, 6.4, algorithm R), so no
// tombstones accumulate. std::unordered_map allocates for each entry.
//
// Memory: 4/3 to 8/3 slots for each entry at the peak.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace ardoise::knowledge_sources {

// hash_of(key), found by argument-dependent lookup or below, returns 64 bits, of which the high ones are used.
inline std::uint64_t hash_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u; }

template <class Key, class Value>
requires std::is_trivially_copyable_v<Key> && std::is_trivially_copyable_v<Value>
class FlatTable {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  // nullptr: none. Pointers are valid until the next insert() or erase().
  [[nodiscard]] Value* find(const Key& key) {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home(key); slots_[at].is_used; at = next(at)) {
      if (slots_[at].key == key) return &slots_[at].value;
    }
    return nullptr;
  }
  // The value of the key, and whether it is new.
  std::pair<Value*, bool> insert(const Key& key, const Value& value) {
    if ((size_ + 1) * 4 > slots_.size() * 3) grow();
    std::size_t at = home(key);
    for (; slots_[at].is_used; at = next(at)) {
      if (slots_[at].key == key) return {&slots_[at].value, false};
    }
    slots_[at] = {key, value, true};
    ++size_;
    return {&slots_[at].value, true};
  }
  // value: from find() or insert().
  void erase(const Value* value) {
    const auto offset = reinterpret_cast<const std::byte*>(value) - reinterpret_cast<const std::byte*>(slots_.data());
    std::size_t hole = static_cast<std::size_t>(offset) / sizeof(Slot);
    for (std::size_t at = next(hole); slots_[at].is_used; at = next(at)) {
      // True: the probe sequence of the entry passes the hole.
      const std::size_t from_home = (at - home(slots_[at].key)) & mask(), from_hole = (at - hole) & mask();
      if (from_home < from_hole) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole].is_used = false;
    --size_;
  }
  // visit(key, value)
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.is_used) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    Key key{};
    Value value{};
    bool is_used = false;
  };
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  [[nodiscard]] std::size_t home(const Key& key) const {
    return static_cast<std::size_t>(hash_of(key) >> (64 - std::countr_zero(slots_.size())));
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    size_ = 0;
    for (const Slot& slot : old) {
      if (slot.is_used) insert(slot.key, slot.value);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t size_ = 0;
};

}  // namespace ardoise::knowledge_sources

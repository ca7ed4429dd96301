// Small direct-mapped cache of 64-bit keys to 32-bit ids, one for each thread: the fast path of the look-up of call
// sites and handles. A table with a lock answers misses (call_sites.hpp, handle_ids.hpp).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ardoise::instrument {

template <std::size_t kEntries>
class IdCache {
  static_assert(std::has_single_bit(kEntries));

 public:
  // The id of a key, or 0: not cached. Requires key != 0.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    const Entry& entry = entries_[index(key)];
    return entry.key == key ? entry.id : 0;
  }
  void put(std::uint64_t key, std::uint32_t id) { entries_[index(key)] = {key, id}; }
  void clear() { entries_ = {}; }

 private:
  struct Entry {
    std::uint64_t key;
    std::uint32_t id;
  };
  // Fibonacci hashing: the high bits of the product depend on all bits of the key.
  static std::size_t index(std::uint64_t key) {
    return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> (64 - std::countr_zero(kEntries)));
  }
  std::array<Entry, kEntries> entries_{};
};

}  // namespace ardoise::instrument

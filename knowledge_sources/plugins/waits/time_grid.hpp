// Points in the run time at which every rank's activity is noted. One point lies in each of at most `slots` equal parts
// of the time axis, at a random position (stratified sampling), so that the points are not in phase with a program's
// loop. When the run exceeds the parts, pairs are joined, and one of their two points stays:
//
//   |  x |x   | x  |   x|  becomes  |  x     |     x  |     |     |
//
// The random positions are hashes of the part, so all ranks and analyzers use the same points, whenever they widened.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ardoise::knowledge_sources {

inline constexpr unsigned kFirstGridShift = 15;  // a part of the axis is 2^shift ns
inline constexpr unsigned kLastGridShift = 56;

// Number of parts for a program of this many ranks: some 2^20 in all, at most 16,384 and at least 256 for each.
[[nodiscard]] inline std::uint32_t grid_slots(std::uint32_t ranks) {
  return std::bit_floor(std::clamp<std::uint32_t>((1u << 20) / std::max(ranks, 1u), 256, 16384));
}

namespace detail {
[[nodiscard]] inline std::uint64_t grid_lot(std::uint64_t slot, unsigned shift) {
  std::uint64_t lot = (slot << 6 | shift) * 0x9E3779B97F4A7C15u;
  lot = (lot ^ lot >> 32) * 0xBF58476D1CE4E5B9u;
  return lot ^ lot >> 29;
}
}  // namespace detail

// Selects the half that has the point of a part of 2^shift ns.
[[nodiscard]] inline std::uint64_t grid_half(std::uint64_t slot, unsigned shift) {
  return 2 * slot + (detail::grid_lot(slot, shift) & 1);
}
// The point of a part, ns.
[[nodiscard]] inline std::int64_t grid_point(std::uint64_t slot, unsigned shift) {
  for (; shift > kFirstGridShift; --shift) slot = grid_half(slot, shift);
  const std::uint64_t within = detail::grid_lot(slot, kFirstGridShift) & ((1u << kFirstGridShift) - 1);
  return static_cast<std::int64_t>(slot << kFirstGridShift | within);
}

// A value for each point. Not thread safe.
template <class Value>
class GridValues {
 public:
  explicit GridValues(std::uint32_t slots) : slots_(slots) {}

  [[nodiscard]] unsigned shift() const { return shift_; }
  [[nodiscard]] std::uint64_t slot_of(std::int64_t time) const { return static_cast<std::uint64_t>(time) >> shift_; }
  // Value(): none was set.
  [[nodiscard]] Value at(std::uint64_t slot) const { return slot < values_.size() ? values_[slot] : Value(); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  void set(std::uint64_t slot, const Value& value) {
    if (slot == values_.size()) return values_.push_back(value);
    if (slot > values_.size()) values_.resize(slot + 1);
    values_[slot] = value;
  }
  // Until the time fits.
  void widen_for(std::int64_t time) {
    while (shift_ < kLastGridShift && slot_of(time) >= slots_) widen();
  }
  void widen_to(unsigned shift) {
    while (shift_ < shift) widen();
  }

 private:
  void widen() {
    ++shift_;
    const std::size_t kept = (values_.size() + 1) / 2;
    for (std::size_t slot = 0; slot < kept; ++slot) values_[slot] = at(grid_half(slot, shift_));
    values_.resize(kept);
  }

  std::uint32_t slots_;
  unsigned shift_ = kFirstGridShift;
  std::vector<Value> values_;
};

}  // namespace ardoise::knowledge_sources

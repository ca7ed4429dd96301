// A small number for each thread, which indexes per-thread cells of shared objects. The first kOwnSlots threads have a
// number of their own, reused after they end; further threads share the last one. A cell of an own slot has one writer
// at a time, so it needs no read-modify-writes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace ardoise::blackboard {

inline constexpr std::size_t kCacheLine = 64;
inline constexpr unsigned kOwnSlots = 31;
inline constexpr unsigned kSlots = kOwnSlots + 1;

struct ThreadSlot {
  unsigned index;
  [[nodiscard]] bool own() const noexcept { return index < kOwnSlots; }
};

namespace detail {
inline constexpr unsigned kNoSlotYet = ~0u;
inline constinit thread_local unsigned slot_of_thread = kNoSlotYet;
unsigned assign_slot() noexcept;
}  // namespace detail

[[nodiscard]] inline ThreadSlot this_thread_slot() noexcept {
  const unsigned index = detail::slot_of_thread;
  return {index != detail::kNoSlotYet ? index : detail::assign_slot()};
}

// Adds to the cell of `slot`, the calling thread's. release: earlier effects of the thread are visible to readers that
// acquire the new value.
template <class Number>
void add_in_slot(ThreadSlot slot, std::atomic<Number>& value, Number amount) noexcept {
  if (slot.own()) [[likely]] {
    value.store(value.load(std::memory_order_relaxed) + amount, std::memory_order_release);
  } else {
    value.fetch_add(amount, std::memory_order_acq_rel);
  }
}

// One cell per slot, each in its own cache line.
template <class Cell>
class PerSlot {
 public:
  [[nodiscard]] Cell& operator[](ThreadSlot slot) noexcept { return cells_[slot.index].cell; }
  [[nodiscard]] auto begin() const noexcept { return cells_.begin(); }
  [[nodiscard]] auto end() const noexcept { return cells_.end(); }

 private:
  struct alignas(kCacheLine) Line {
    Cell cell{};
  };
  std::array<Line, kSlots> cells_;
};

// A counter with many writers and few readers. Thread safety: any function, any thread.
class SlotCounter {
 public:
  void add(std::int64_t amount) noexcept {
    const ThreadSlot slot = this_thread_slot();
    add_in_slot(slot, cells_[slot], amount);
  }
  // Exact when nothing changes meanwhile and the changes happened before (a lock, a join …). When all additions
  // happened before and only subtractions may be concurrent, it never reads too low, so a 0 is final; acquire then
  // makes effects before the subtractions visible.
  [[nodiscard]] std::int64_t sum() const noexcept {
    std::int64_t total = 0;
    for (const auto& line : cells_) total += line.cell.load(std::memory_order_acquire);
    return total;
  }

 private:
  PerSlot<std::atomic<std::int64_t>> cells_;
};

}  // namespace ardoise::blackboard

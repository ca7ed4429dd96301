// A lock-free list that is only pushed to, and taken as a whole: what threads find out where they must not wait, for
// whoever may. Entries are places in a table, which holds the links; a table's entry is in one list at most.
#pragma once

#include <atomic>
#include <cstdint>

namespace ardoise::instrument {

class PushList {
 public:
  static constexpr std::uint32_t kEnd = 0;  // places are counted from 1
  using Link = std::atomic<std::uint32_t>;

  // link: of the entry. Async-signal-safe. Release: whoever takes the entry sees what was written into it.
  void push(std::uint32_t place, Link& link) noexcept {
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    do {
      link.store(first, std::memory_order_relaxed);
    } while (!first_.compare_exchange_weak(first, place, std::memory_order_release, std::memory_order_relaxed));
  }
  // The first of all entries, newest first; the rest follows by their links. kEnd: none.
  [[nodiscard]] std::uint32_t take_all() noexcept { return first_.exchange(kEnd, std::memory_order_acquire); }

 private:
  // Never popped one by one, so an entry that comes back can't be taken for unchanged.
  std::atomic<std::uint32_t> first_ = kEnd;
};

}  // namespace ardoise::instrument

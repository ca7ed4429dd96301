// A lock-free list with two operations: push one entry, take all. Threads push from places that must not wait; a thread
// that may wait takes. Entries are places in a table, which holds the links; an entry is in one list at most.
#pragma once

#include <atomic>
#include <cstdint>

namespace ardoise::instrument {

class PushList {
 public:
  static constexpr std::uint32_t kEnd = 0;  // places are counted from 1
  using Link = std::atomic<std::uint32_t>;

  // link: the link of the entry. Async-signal-safe. Release: the taker sees all that was written into the entry.
  void push(std::uint32_t place, Link& link) noexcept {
    std::uint32_t first = first_.load(std::memory_order_relaxed);
    do {
      link.store(first, std::memory_order_relaxed);
    } while (!first_.compare_exchange_weak(first, place, std::memory_order_release, std::memory_order_relaxed));
  }
  // The newest entry; the older ones follow by their links. kEnd: the list was empty.
  [[nodiscard]] std::uint32_t take_all() noexcept { return first_.exchange(kEnd, std::memory_order_acquire); }

 private:
  // Entries are never popped one by one, so there is no ABA problem.
  std::atomic<std::uint32_t> first_ = kEnd;
};

}  // namespace ardoise::instrument

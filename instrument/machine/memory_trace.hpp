// The greatest resident set of the process over time: a fixed number of points. Their distance doubles when they are
// used up. The values come from getrusage(), which needs no descriptor and is safe in signal handlers.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "instrument/format/definitions.hpp"

namespace ardoise::instrument {

class MemoryTrace {
 public:
  static constexpr std::uint32_t kPoints = 128;

  // `begin`: tick of time 0. interval_ticks: the first distance between points.
  void start(std::uint64_t begin, double ticks_per_second, std::uint64_t interval_ticks) noexcept;
  // Adds a point when one is due. Async-signal-safe; a single load when none is due.
  void update(std::uint64_t tick) noexcept {
    if (tick >= next_.load(std::memory_order_relaxed)) [[unlikely]]
      take(tick);
  }
  // Checks again and adds the point: another thread, or a handler that interrupted this one, may have added it first.
  void take(std::uint64_t tick) noexcept;
  // Requires that no thread calls update() any more. Adds the last point.
  [[nodiscard]] std::span<const MemoryPoint> finish(std::uint64_t tick) noexcept;

 private:
  void add(std::uint64_t tick) noexcept;

  std::atomic<std::uint64_t> next_ = ~std::uint64_t{0};
  std::atomic_flag busy_;  // held by the thread or handler that adds a point
  std::uint64_t begin_ = 0, interval_ = 0;
  double milliseconds_per_tick_ = 0;
  std::uint32_t count_ = 0;
  std::array<MemoryPoint, kPoints> points_{};
};

// The memory of the host, in bytes; 0: not known or no limit.
struct HostMemory {
  std::uint64_t total = 0, available = 0;
  std::uint64_t limit = 0;  // of the control group, if it is lower
};
[[nodiscard]] HostMemory read_host_memory();

}  // namespace ardoise::instrument

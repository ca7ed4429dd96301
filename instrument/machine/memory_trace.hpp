// The greatest resident set of the process so far, over time: a fixed number of points whose distance doubles when they
// are used up. From getrusage(), which needs no descriptor and may be called in signal handlers.
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

  // `begin`: the tick that the points count from. interval_ticks: the first distance.
  void start(std::uint64_t begin, double ticks_per_second, std::uint64_t interval_ticks) noexcept;
  // Adds a point when it is time. Async-signal-safe; one load when it is not.
  void look(std::uint64_t tick) noexcept {
    if (tick >= next_.load(std::memory_order_relaxed)) [[unlikely]]
      take(tick);
  }
  // The same, asked again: another thread, or a handler that interrupted this one, may have come first.
  void take(std::uint64_t tick) noexcept;
  // Nobody looks any more. Adds the last point.
  [[nodiscard]] std::span<const MemoryPoint> finish(std::uint64_t tick) noexcept;

 private:
  void add(std::uint64_t tick) noexcept;

  std::atomic<std::uint64_t> next_ = ~std::uint64_t{0};
  std::atomic_flag busy_;  // who takes a point, of several threads and handlers
  std::uint64_t begin_ = 0, interval_ = 0;
  double milliseconds_per_tick_ = 0;
  std::uint32_t count_ = 0;
  std::array<MemoryPoint, kPoints> points_{};
};

// What there is, in bytes; 0: not known or no limit.
struct HostMemory {
  std::uint64_t total = 0, available = 0;
  std::uint64_t limit = 0;  // of the control group, if it has less
};
[[nodiscard]] HostMemory read_host_memory();

}  // namespace ardoise::instrument

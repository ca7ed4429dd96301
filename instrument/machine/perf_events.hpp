// Events that the kernel counts for one thread (perf_event_open): their names, and counters of them. sample_timer.cpp
// uses them for interrupts, sampler_handler.cpp reads counters with every sample.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/event_format.hpp"

struct perf_event_attr;

namespace ardoise::instrument {

struct PerfEvent {
  std::string_view name;
  std::uint32_t type = 0;          // perf_event_attr::type
  std::uint64_t config = 0;        // perf_event_attr::config
  std::uint64_t first_period = 0;  // occurrences for each sample: about 10,000 samples a second on a busy machine
  bool counts_in_kernel = false;   // the event happens in the kernel only: a user-mode counter would stay at 0
};

// nullptr: unknown name. Names are those of perf(1): cycles, instructions, cache-misses, page-faults …
[[nodiscard]] const PerfEvent* find_perf_event(std::string_view name);
// "cycles, instructions, …"
[[nodiscard]] std::string perf_event_names();

// Opens a disabled event of one thread of this process, close-on-exec. period 0: counts only. group: descriptor of the
// leader, or -1. Kernel mode is excluded unless the event happens only there. Negative: -errno. Async-signal-safe.
[[nodiscard]] int open_perf_event(const PerfEvent& event, std::uint32_t tid, std::uint64_t period, int group) noexcept;

// The kernel's limit of interrupts of one event per second (perf_event_max_sample_rate); 0: not known.
[[nodiscard]] double perf_rate_limit() noexcept;

// The reason why an event is not available, in words: "this machine does not count it", "the kernel forbids it (…)" …
[[nodiscard]] std::string_view perf_reason(int error);

// Up to eight counters of one thread, read together. Their descriptors have high numbers, above those of programs.
class CounterGroup {
 public:
  CounterGroup() = default;
  CounterGroup(const CounterGroup&) = delete;
  CounterGroup& operator=(const CounterGroup&) = delete;

  // Opens all or none. Returns 0 or the error (positive errno).
  [[nodiscard]] int open(std::span<const PerfEvent* const> events, std::uint32_t tid) noexcept;
  void close() noexcept;
  // Increments since the last call; zeros on failure. Async-signal-safe.
  void read_deltas(std::span<std::uint64_t> deltas) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return count_ != 0; }

 private:
  struct Counter {
    int descriptor = -1;
    std::uint64_t id = 0;  // of the event; tells whether the descriptor is still this one
    std::uint64_t last = 0;
  };
  std::array<Counter, kMaxCounters> counters_{};
  std::size_t count_ = 0;
};

}  // namespace ardoise::instrument

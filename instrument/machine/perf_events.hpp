// Events that the kernel can count for one thread (perf_event_open): their names, and counters of them. Used by
// sample_timer.cpp to be interrupted, and by sampler.cpp to read counters with every sample.
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
  std::uint64_t first_period = 0;  // occurrences for each sample, some 10 000 samples a second on a busy machine
  bool counts_in_kernel = false;   // it happens in the kernel only: a user-mode counter would stay at 0
};

// nullptr: no such name. Names are those of perf(1): cycles, instructions, cache-misses, page-faults …
[[nodiscard]] const PerfEvent* find_perf_event(std::string_view name);
// "cycles, instructions, …"
[[nodiscard]] std::string perf_event_names();

// Opens a disabled event of one thread of this process, close-on-exec. period 0: it only counts. group: descriptor of
// the leader, or -1. Kernel mode is left out unless the event lives there. Negative: -errno. Async-signal-safe.
[[nodiscard]] int open_perf_event(const PerfEvent& event, std::uint32_t tid, std::uint64_t period, int group) noexcept;

// Interrupts of one event per second that the kernel allows at most (perf_event_max_sample_rate); 0: not known.
[[nodiscard]] double perf_rate_limit() noexcept;

// Why an event can't be had, in words: "this machine does not count it", "the kernel forbids it (…)" …
[[nodiscard]] std::string_view perf_reason(int error);

// Up to eight counters of one thread, read together. Their descriptors are kept above those that programs see.
class CounterGroup {
 public:
  CounterGroup() = default;
  CounterGroup(const CounterGroup&) = delete;
  CounterGroup& operator=(const CounterGroup&) = delete;

  // All or none. Returns 0 or the error (positive errno).
  [[nodiscard]] int open(std::span<const PerfEvent* const> events, std::uint32_t tid) noexcept;
  void close() noexcept;
  // What was counted since the last call. Zeros when it fails. Async-signal-safe.
  void read_deltas(std::span<std::uint64_t> deltas) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return count_ != 0; }

 private:
  struct Counter {
    int descriptor = -1;
    std::uint64_t id = 0;  // of the event: is the descriptor still ours?
    std::uint64_t last = 0;
  };
  std::array<Counter, kMaxCounters> counters_{};
  std::size_t count_ = 0;
};

}  // namespace ardoise::instrument

// The clock of all records: the time stamp counter where it is invariant and synchronous, CLOCK_MONOTONIC elsewhere.
// The analyzer converts ticks to seconds by the ClockDefinition that clock_calibration.hpp measures.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace ardoise::instrument {

namespace detail {
extern bool clock_uses_tsc;  // set when the library is loaded, constant from then on
}

// Not serialising: a processor may move a few instructions across it, which is below the clock's resolution.
[[nodiscard]] inline std::uint64_t now() {
#if defined(__x86_64__)
  if (detail::clock_uses_tsc) [[likely]]
    return __rdtsc();
#endif
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

// The same, ordered after all earlier and before all later instructions: for intervals of some ten nanoseconds.
[[nodiscard]] inline std::uint64_t now_in_order() {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t ticks = now();
  _mm_lfence();
  return ticks;
#else
  return now();
#endif
}

// "tsc" or "CLOCK_MONOTONIC".
[[nodiscard]] const char* clock_name();

}  // namespace ardoise::instrument

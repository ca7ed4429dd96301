// Converts ticks of a pack to nanoseconds, for results that combine ranks. Whole nanoseconds: integer sums do not
// depend on the order of addition, floating point sums would.
#pragma once

#include <cstdint>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

// True: a plausible clock rate; others in a pack or definition are ignored.
[[nodiscard]] inline bool is_clock_rate(double ticks_per_second) {
  return ticks_per_second >= 1.0 && ticks_per_second <= 1e12;  // false for NaN
}

// Nanoseconds per tick of the pack's clock; by the nominal rate if the pack does not say.
[[nodiscard]] inline double ns_per_tick(const instrument::PackHeader& header, double nominal_ticks_per_second) {
  const double rate = header.ticks_per_second;
  return 1e9 / (is_clock_rate(rate) ? rate : nominal_ticks_per_second);
}

// Saturates: a malformed record may have any number of ticks.
[[nodiscard]] inline std::uint64_t scale_ticks(std::uint64_t ticks, double factor) {
  const double scaled = static_cast<double>(ticks) * factor;
  return scaled < 9e18 ? static_cast<std::uint64_t>(scaled + 0.5) : std::uint64_t{9'000'000'000'000'000'000};
}

}  // namespace ardoise::knowledge_sources

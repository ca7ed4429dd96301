// Ticks of a pack to nanoseconds, for results that mix ranks. Whole nanoseconds: sums of integers do not depend on the
// order of addition, sums of floating point numbers would.
#pragma once

#include <cmath>
#include <cstdint>

#include "instrument/event_format.hpp"

namespace ardoise::knowledge_sources {

// Nanoseconds per tick of the clock that wrote the pack; by the nominal rate where the pack doesn't say.
[[nodiscard]] inline double ns_per_tick(const instrument::PackHeader& header, double nominal_ticks_per_second) {
  const double rate = header.ticks_per_second;
  return 1e9 / (std::isfinite(rate) && rate > 0 ? rate : nominal_ticks_per_second);
}

// Saturates: a malformed record may name any number of ticks.
[[nodiscard]] inline std::uint64_t scale_ticks(std::uint64_t ticks, double factor) {
  const double scaled = static_cast<double>(ticks) * factor;
  return scaled < 9e18 ? static_cast<std::uint64_t>(scaled + 0.5) : std::uint64_t{9'000'000'000'000'000'000};
}

}  // namespace ardoise::knowledge_sources

// Measures the undisturbed time of a short piece of work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "instrument/machine/clock.hpp"

namespace ardoise::instrument {

// Ticks of one call of work() in the fastest of several batches of calls: other processes may have used the processor
// during the slower ones.
template <typename Work>
[[nodiscard]] double shortest_batch(Work work) {
  constexpr int kBatches = 16, kCalls = 100;
  std::uint64_t shortest = ~std::uint64_t{0};
  for (int batch = 0; batch < kBatches; ++batch) {
    const std::uint64_t begin = now();
    for (int i = 0; i < kCalls; ++i) work();
    shortest = std::min(shortest, now() - begin);
  }
  return static_cast<double>(shortest) / kCalls;
}

}  // namespace ardoise::instrument

#include "reports/findings/memory_growth.hpp"

#include <algorithm>

namespace ardoise::reports {

std::vector<MemoryGrowth> memory_growth(const Application& a) {
  const MemoryProfile& memory = a.memory;
  std::vector<MemoryGrowth> all;
  const std::size_t bins = memory.bins, first = bins / 3, middle = 2 * bins / 3;
  if (bins < 6 || memory.peak_bytes.size() != bins * a.ranks) return all;
  for (std::size_t rank = 0; rank < a.ranks; ++rank) {
    const std::uint64_t* const peak = &memory.peak_bytes[rank * bins];
    MemoryGrowth& growth = all.emplace_back();
    const auto at = [&](std::size_t bin) { return static_cast<double>(peak[bin]); };
    growth.at_end = at(bins - 1);
    growth.grown = growth.at_end - at(first);
    growth.seconds = memory.bin_seconds * static_cast<double>(bins - 1 - first);
    growth.rate = growth.grown / growth.seconds;
    std::size_t steps = 0;
    for (std::size_t bin = first + 1; bin < bins; ++bin) steps += peak[bin] > peak[bin - 1] ? 1 : 0;
    const double before = at(middle) - at(first), after = growth.at_end - at(middle);
    // The last sixth of the run must contribute.
    const std::size_t late = bins - 1 - std::max<std::size_t>(1, (bins - first) / 4);
    const double lately = (growth.at_end - at(late)) / static_cast<double>(bins - 1 - late);
    const double mean = growth.grown / static_cast<double>(bins - 1 - first);
    growth.steady = lately > 0.5 * mean && before > 0 && after > 0 &&
                    std::min(before, after) > 0.4 * std::max(before, after) &&
                    steps >= std::min<std::size_t>(5, (bins - first) / 2);
  }
  return all;
}

}  // namespace ardoise::reports

#include "knowledge_sources/plugins/waits/latest_samples.hpp"

#include <algorithm>
#include <bit>

namespace ardoise::knowledge_sources {

std::uint32_t LatestSamples::draw(double from, double to) const {
  const auto lies_within = [&](const Sample& each) { return each.weight > 0 && each.time > from && each.time <= to; };
  double all = 0;
  for (std::size_t i = 0; i < std::min(next_, kKept); ++i) all += lies_within(samples_[i]) ? samples_[i].weight : 0;
  if (!(all > 0)) return 0;
  // 53 bits of a hash of the query.
  const std::uint64_t hash = std::bit_cast<std::uint64_t>(to) * 0x9E3779B97F4A7C15u * 0xBF58476D1CE4E5B9u;
  double lot = static_cast<double>((hash ^ hash >> 32) >> 11) * 0x1p-53 * all;
  std::uint32_t drawn = 0;
  for (std::size_t i = 0; i < std::min(next_, kKept) && lot >= 0; ++i) {
    if (!lies_within(samples_[i])) continue;
    drawn = samples_[i].place;
    lot -= samples_[i].weight;
  }
  return drawn;
}

}  // namespace ardoise::knowledge_sources

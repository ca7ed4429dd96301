#include "instrument/format/rank_ranges.hpp"

#include <algorithm>

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

std::vector<RankRange> encode_ranges(std::span<const std::int32_t> ranks) {
  std::vector<RankRange> ranges;
  for (std::size_t i = 0; i < ranks.size();) {
    const std::int32_t start = ranks[i] < 0 ? kNoPeer : ranks[i];
    std::uint32_t count = 1;
    std::int32_t stride = 0;
    if (start == kNoPeer) {
      while (i + count < ranks.size() && ranks[i + count] < 0) ++count;
    } else if (i + 1 < ranks.size() && ranks[i + 1] >= 0) {
      // Both are ranks, so the difference fits.
      stride = ranks[i + 1] - start;
      while (stride != 0 && i + count < ranks.size() && ranks[i + count] >= 0 &&
             ranks[i + count] - ranks[i + count - 1] == stride)
        ++count;
    }
    ranges.push_back({start, count, count == 1 ? 0 : stride});
    i += count;
  }
  return ranges;
}

std::vector<std::int32_t> decode_ranges(std::span<const RankRange> ranges, std::size_t limit) {
  std::vector<std::int32_t> ranks;
  for (const RankRange& range : ranges) {
    for (std::uint32_t i = 0; i < range.count && ranks.size() < limit; ++i) {
      ranks.push_back(static_cast<std::int32_t>(range.start + std::int64_t{i} * range.stride));
    }
  }
  return ranks;
}

std::uint64_t group_hash(std::span<const std::int32_t> ranks) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const std::int32_t rank : ranks) {
    const auto value = static_cast<std::uint32_t>(std::max(rank, kNoPeer));
    for (unsigned shift = 0; shift < 32; shift += 8) hash = (hash ^ (value >> shift & 0xFFu)) * 0x100000001B3u;
  }
  return hash;
}

std::uint64_t group_hash(std::span<const std::int32_t> local, std::span<const std::int32_t> remote) {
  const std::uint64_t own = group_hash(local), other = group_hash(remote);
  return (std::min(own, other) * 0x9E3779B97F4A7C15u) ^ std::max(own, other);
}

}  // namespace ardoise::instrument

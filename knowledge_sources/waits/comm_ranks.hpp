// From ranks of a communicator to ranks of the program.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "instrument/format/definitions.hpp"

namespace ardoise::knowledge_sources {

class CommRanks {
 public:
  CommRanks() = default;
  // ranges: in ranks of the world, in which the program's first rank is `first`.
  CommRanks(std::span<const instrument::RankRange> ranges, std::int32_t first) {
    std::uint32_t begin = 0;
    for (const auto& range : ranges) {
      parts_.push_back({begin, static_cast<std::int64_t>(range.start) - first, range.stride});
      begin += range.count;
    }
  }
  // One that is not there: any number.
  [[nodiscard]] std::uint32_t program_rank(std::uint32_t rank) const {
    const Part* part = parts_.data();
    if (parts_.size() != 1) {
      const auto after = std::ranges::upper_bound(parts_, rank, {}, &Part::begin);
      if (after == parts_.begin()) return rank;
      part = &*(after - 1);
    }
    return static_cast<std::uint32_t>(part->start + part->stride * (rank - std::int64_t{part->begin}));
  }

 private:
  struct Part {
    std::uint32_t begin;  // rank of the communicator
    std::int64_t start, stride;
  };
  std::vector<Part> parts_;
};

}  // namespace ardoise::knowledge_sources

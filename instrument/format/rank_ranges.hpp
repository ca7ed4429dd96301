// Groups of ranks as short lists of ranges, and their hash, for communicator definitions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instrument/format/definitions.hpp"

namespace ardoise::instrument {

// Greedy from the front: each range is the longest run of equal steps. Negative ranks (outside the program's world)
// become {kNoPeer, count, 0}. A repeated rank, which MPI groups never have, is a separate range each time.
[[nodiscard]] std::vector<RankRange> encode_ranges(std::span<const std::int32_t> ranks);
// The inverse, cut at `limit` ranks.
[[nodiscard]] std::vector<std::int32_t> decode_ranges(std::span<const RankRange> ranges, std::size_t limit);

// Equal for equal lists in every process (64-bit FNV-1a over the ranks).
[[nodiscard]] std::uint64_t group_hash(std::span<const std::int32_t> ranks);
// For an intercommunicator: equal on both sides.
[[nodiscard]] std::uint64_t group_hash(std::span<const std::int32_t> local, std::span<const std::int32_t> remote);

}  // namespace ardoise::instrument

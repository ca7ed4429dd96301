// Groups of ranks as short lists of ranges, and their hash: what a communicator definition says of its members.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "instrument/format/definitions.hpp"

namespace ardoise::instrument {

// Greedy from the front: each range is the longest run of equal steps. Negative ranks (none in the program's world)
// become {kNoPeer, count, 0}; a rank that is there twice, as groups of MPI have none, is a range of its own each time.
[[nodiscard]] std::vector<RankRange> encode_ranges(std::span<const std::int32_t> ranks);
// The inverse; at most `limit` ranks.
[[nodiscard]] std::vector<std::int32_t> decode_ranges(std::span<const RankRange> ranges, std::size_t limit);

// Equal for equal lists in every process (64-bit FNV-1a over the ranks).
[[nodiscard]] std::uint64_t group_hash(std::span<const std::int32_t> ranks);
// Of an intercommunicator: equal on both sides.
[[nodiscard]] std::uint64_t group_hash(std::span<const std::int32_t> local, std::span<const std::int32_t> remote);

}  // namespace ardoise::instrument

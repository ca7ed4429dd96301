// The communication of a program as a sparse list: for each rank the destinations, as (communicator, peer) in the
// rank's own numbers, with messages, bytes and ticks. World ranks are resolved at the end, when all communicators are
// known. Memory: 32 bytes for each edge.
#pragma once

#include <cstdint>

#include "knowledge_sources/interface/rank_sums.hpp"

namespace ardoise::knowledge_sources {

// Source of the data that a call moves: this rank, or (Get) the peer.
enum class Direction : std::uint32_t { kToPeer = 0, kFromPeer = 1 };

// direction:1 | comm:18 | peer:32 and a bit that makes it non-zero.
[[nodiscard]] constexpr std::uint64_t edge_key(Direction direction, std::uint32_t comm, std::int32_t peer) {
  return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(direction) << 62 | std::uint64_t{comm} << 32 |
         static_cast<std::uint32_t>(peer);
}
[[nodiscard]] constexpr Direction direction_of(std::uint64_t key) { return static_cast<Direction>(key >> 62 & 1); }
[[nodiscard]] constexpr std::uint32_t comm_of(std::uint64_t key) { return key >> 32 & 0x3FFFFFFF; }
[[nodiscard]] constexpr std::int32_t peer_of(std::uint64_t key) { return static_cast<std::int32_t>(key & 0xFFFFFFFF); }

struct EdgeSums {
  std::uint64_t messages = 0, bytes = 0, ticks = 0;
  void add(const EdgeSums& more, std::uint64_t times = 1) {
    messages += more.messages * times;
    bytes += more.bytes * times;
    ticks += more.ticks * times;
  }
};
using Edges = RankSums<EdgeSums, 9>;  // by edge_key
using EdgeScratch = Edges::Scratch;

}  // namespace ardoise::knowledge_sources

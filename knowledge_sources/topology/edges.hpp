// The communication of a program as a sparse list: for each rank the peers it sent to, as (communicator, peer) in the
// rank's own numbers, with messages, bytes and ticks. World ranks come at the end, when all communicators are known.
// Memory: 32 bytes for each edge.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/pack_table.hpp"
#include "knowledge_sources/rank_locks.hpp"

namespace ardoise::knowledge_sources {

// Who is the source of the data that one call moves: this rank, or (Get) the peer.
enum class Direction : std::uint32_t { kToPeer = 0, kFromPeer = 1 };

// direction:1 | comm:18 | peer:32 and a bit that keeps it from being 0.
[[nodiscard]] constexpr std::uint64_t edge_key(Direction direction, std::uint32_t comm, std::int32_t peer) {
  return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(direction) << 62 | std::uint64_t{comm} << 32 |
         static_cast<std::uint32_t>(peer);
}
[[nodiscard]] constexpr Direction direction_of(std::uint64_t key) { return static_cast<Direction>(key >> 62 & 1); }
[[nodiscard]] constexpr std::uint32_t comm_of(std::uint64_t key) { return key >> 32 & 0x3FFFFFFF; }
[[nodiscard]] constexpr std::int32_t peer_of(std::uint64_t key) { return static_cast<std::int32_t>(key & 0xFFFFFFFF); }

struct EdgeSums {
  std::uint64_t messages = 0, bytes = 0, ticks = 0;
};
struct Edge {
  std::uint64_t key;
  EdgeSums sums;
};
using EdgeScratch = PackTable<EdgeSums, 9>;

class Edges {
 public:
  explicit Edges(std::uint32_t ranks) : ranks_(ranks) {}

  // Adds a pack's sums, times `weight`, and clears them. Any thread.
  void add(std::uint32_t rank, std::uint64_t weight, EdgeScratch& scratch);

  // Nothing runs concurrently with these.
  [[nodiscard]] std::span<const Edge> of(std::uint32_t rank) const { return ranks_[rank]; }  // sorted by key
  void merge(const Edges& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  // Merges sorted `more` into sorted `into`.
  static void add_sorted(std::vector<Edge>& into, std::span<const Edge> more);

  std::vector<std::vector<Edge>> ranks_;
  RankLocks locks_;
};

}  // namespace ardoise::knowledge_sources

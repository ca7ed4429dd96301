// Matches the calls of a collective across the ranks of a communicator: the n-th calls on it in all ranks are one
// operation, since MPI requires the same order in all ranks. Memory: incomplete collectives, at most kMostCalls;
// further ones are counted as unresolved.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/plugins/waits/comm_identity.hpp"
#include "knowledge_sources/plugins/waits/wait_sums.hpp"

namespace ardoise::knowledge_sources {

struct CollectiveKey {
  CommIdentity comm;
  std::uint64_t number;  // of the collective on it
  friend constexpr auto operator<=>(const CollectiveKey&, const CollectiveKey&) = default;
};

// In a neighbourhood collective, one rank of the communicator sends to another one.
struct NeighbourPair {
  CollectiveKey key;
  Neighbours ranks;
};

// Not thread safe.
class OpenCollectives {
 public:
  static constexpr std::size_t kMostPairs = std::size_t{1} << 23;  // 8 bytes each: some 70 MB
  static constexpr std::size_t kMostCalls = std::size_t{1} << 21;  // 56 bytes each: some 120 MB

  // A complete collective goes to `sums` and is removed.
  void add(const CollectiveKey& key, std::uint32_t function, const Arrival& arrival, WaitSums& sums);
  // Before the source arrives.
  void add(const NeighbourPair& pair);
  // Incomplete collectives: the missing calls may be on other analyzers.
  void merge(const OpenCollectives& other, WaitSums& sums);
  // Counts incomplete collectives as unknown.
  void add_open(WaitSums& sums) const;

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ranks);  // into an empty one

 private:
  struct OpenCollective {
    std::uint32_t function = 0;
    bool differs = false;  // ranks called different functions
    bool lacks_pairs = false;
    std::vector<Arrival> arrivals;
    std::vector<Neighbours> neighbours;
  };
  void close(const CollectiveKey& key, OpenCollective& collective, WaitSums& sums);
  static void add_unresolved(const OpenCollective& collective, const Unresolved& each, WaitSums& sums);

  std::map<CollectiveKey, OpenCollective> open_;
  std::uint64_t calls_ = 0, pairs_ = 0;  // in open_
  std::vector<Wait> waits_;              // reused memory
};

}  // namespace ardoise::knowledge_sources

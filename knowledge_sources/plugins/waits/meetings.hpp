// Where the calls of one collective by all ranks of a communicator meet: the n-th on it in one rank and the n-th in the
// others are one operation, since MPI has all ranks call them in the same order. Memory: what has not met yet, at most
// kMostCalls; what comes beyond is counted as unresolved.
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

struct MeetingKey {
  CommIdentity comm;
  std::uint64_t number;  // of the collective on it
  friend constexpr auto operator<=>(const MeetingKey&, const MeetingKey&) = default;
};

// In a neighbourhood collective, one rank of the communicator sends to another one.
struct NeighbourPair {
  MeetingKey key;
  Neighbours ranks;
};

// Not thread safe.
class Meetings {
 public:
  static constexpr std::size_t kMostPairs = std::size_t{1} << 23;  // 8 bytes each: some 70 MB
  static constexpr std::size_t kMostCalls = std::size_t{1} << 21;  // 56 bytes each: some 120 MB

  // One that is complete goes to `sums`, and is forgotten.
  void add(const MeetingKey& key, std::uint32_t function, const Arrival& arrival, WaitSums& sums);
  // Before the source arrives.
  void add(const NeighbourPair& pair);
  // What has not met: the other halves may be with other analyzers.
  void merge(const Meetings& other, WaitSums& sums);
  // Adds those that are still open to what is not known.
  void add_open(WaitSums& sums) const;

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ranks);  // into an empty one

 private:
  struct Meeting {
    std::uint32_t function = 0;
    bool differs = false;  // ranks called different functions
    bool lacks_pairs = false;
    std::vector<Arrival> arrivals;
    std::vector<Neighbours> neighbours;
  };
  void close(const MeetingKey& key, Meeting& meeting, WaitSums& sums);
  static void add_unresolved(const Meeting& meeting, const Unresolved& each, WaitSums& sums);

  std::map<MeetingKey, Meeting> open_;
  std::uint64_t calls_ = 0, pairs_ = 0;  // in open_
  std::vector<Wait> waits_;              // of one, to use its memory again
};

}  // namespace ardoise::knowledge_sources

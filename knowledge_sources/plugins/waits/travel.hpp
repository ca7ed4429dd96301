// Compact encoding of records sent to the analyzer that matches them: rounded nanoseconds, as differences to the
// previous record. A send or receive takes some 30 bytes, compared with 96 in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/plugins/waits/rank_calls.hpp"
#include "knowledge_sources/plugins/waits/window_parts.hpp"

namespace ardoise::knowledge_sources {

// For the critical path.
struct PathJump {
  std::uint32_t waiter, awaited;
  std::int64_t time;
};

// A wait in a call with several operations. With 0 ns only the rank and the call are valid.
struct SharedWait {
  Wait wait;
  std::uint32_t home;  // analyzer that has the waiter's packs
};
using Travelling = std::variant<InCollective, EndOfMessage, SharedWait, PathJump, WindowPart, NeighbourPair>;

// Key of the analyzer that matches the operation, or the call with several.
[[nodiscard]] inline std::uint64_t key_of(const CollectiveKey& key) {
  return hash_of(key.comm) + key.number * 0xBF58476D1CE4E5B9u;
}
[[nodiscard]] inline std::uint64_t key_of(const InCollective& call) { return key_of(call.key); }
[[nodiscard]] inline std::uint64_t key_of(const NeighbourPair& pair) { return key_of(pair.key); }
// All messages to a rank, and its waits in calls that complete several operations, go to one analyzer.
[[nodiscard]] inline std::uint64_t key_of(const EndOfMessage& end) { return end.channel.destination; }
[[nodiscard]] inline std::uint64_t key_of(const Wait& wait) { return wait.waiter; }

// For one batch (keyed.hpp). Times must be whole nanoseconds.
class TravelCodec {
 public:
  void put(const Travelling& record, std::vector<std::byte>& out);
  // Throws BadPartial. Ranks are not checked.
  [[nodiscard]] Travelling get(ByteReader& in);

 private:
  struct Writer;
  struct Reader;
  struct FieldWriter;
  struct FieldReader;
  [[nodiscard]] static WindowPart window_part(const Reader& reader, unsigned kind);

  std::vector<CommIdentity> comms_;
  std::int64_t posted_ = 0, rank_ = 0, number_ = 0;  // of the previous record
  float clock_error_ = 0;
};

}  // namespace ardoise::knowledge_sources

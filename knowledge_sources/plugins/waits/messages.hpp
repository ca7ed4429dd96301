// Matches the two ends of messages. On one channel, (communicator, source, destination, tag), MPI receives messages in
// the order of sending: sends and receives arrive here in the order of posting (post_order.hpp), so the first remaining
// send matches the first receive. Memory: unmatched ends, at most kMostEnds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/containers/joint.hpp"
#include "knowledge_sources/plugins/waits/comm_identity.hpp"
#include "knowledge_sources/plugins/waits/wait_sums.hpp"
#include "knowledge_sources/plugins/waits/wrong_order.hpp"

namespace ardoise::knowledge_sources {

struct Channel {
  CommIdentity comm;
  std::uint32_t source, destination;  // ranks in the communicator
  std::int32_t tag;
};

// Not thread safe.
class Messages {
 public:
  static constexpr std::size_t kMostEnds = std::size_t{1} << 21;  // 72 bytes each: some 150 MB

  // The ends of one side of a channel in order. A pair goes to `sums` and is removed. hint: as the last add() for this
  // side left it, or 0.
  void add(const Channel& channel, bool sends, const Part& end, std::uint32_t& hint, WaitSums& sums);
  // Ends without a match here. They have none on other analyzers either, unless the analyzers were not connected.
  void merge(const Messages& other, WaitSums& sums);
  // Waits held back until later receives are known (wrong_order.hpp), after the last receive.
  void settle(WaitSums& sums) const;
  [[nodiscard]] std::uint64_t ends() const { return ends_.size(); }
  // Counts unmatched ends as unknown.
  void add_alone(WaitSums& sums) const {
    ends_.for_each([&](const Key&, bool, const Part& end) { sums.add_ends(end.rank, {.incomplete = 1}); });
  }
  // use(channel, part) for each remaining send.
  template <class Use>
  void for_each_send(Use&& use) const {
    ends_.for_each([&](const Key& key, bool sends, const Part& end) {
      if (sends) use(channel_of(key), end);
    });
  }

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ranks);  // into an empty one

 private:
  struct Key {
    std::uint32_t comm;  // index into comms_
    std::uint32_t source, destination;
    std::int32_t tag;
    friend bool operator==(const Key&, const Key&) = default;
    friend std::uint64_t hash_of(const Key& key) {
      const std::uint64_t ends = (std::uint64_t{key.source} << 32 | key.destination) * 0x9E3779B97F4A7C15u;
      const std::uint64_t rest = std::uint64_t{key.comm} << 32 | static_cast<std::uint32_t>(key.tag);
      return (ends ^ ends >> 32 ^ rest) * 0xBF58476D1CE4E5B9u;
    }
  };
  [[nodiscard]] Key key_in_table(const Channel& channel);
  void evaluate(const Receiver& receiver, const Part& send, const Part& receive, WaitSums& sums);
  [[nodiscard]] Channel channel_of(const Key& key) const {
    return {comms_[key.comm], key.source, key.destination, key.tag};
  }

  Joint<Key, Part> ends_{kMostEnds};
  WrongOrder wrong_order_;
  std::vector<CommIdentity> comms_;
  FlatTable<CommIdentity, std::uint32_t> comm_numbers_;  // index in comms_
  std::uint32_t last_comm_ = 0;                          // most messages use the same communicator as the previous one
  std::vector<Wait> waits_;                              // reused memory
};

}  // namespace ardoise::knowledge_sources

// Where the two ends of a message meet. On one channel, (communicator, source, destination, tag), MPI has messages
// received in the order in which they were sent: what comes here are sends and receives in the order of their posting
// (post_order.hpp), so the first send that is left belongs to the first receive. Memory: the ends that are alone, at
// most kMostEnds; beyond it nothing more is matched, since an order with a gap would make wrong pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/flat_table.hpp"
#include "knowledge_sources/waits/comm_identity.hpp"
#include "knowledge_sources/waits/wait_sums.hpp"

namespace ardoise::knowledge_sources {

struct Channel {
  CommIdentity comm;
  std::uint32_t source, destination;  // ranks in the communicator
  std::int32_t tag;
};

// Not thread safe.
class Messages {
 public:
  static constexpr std::size_t kMostEnds = std::size_t{1} << 21;  // 56 bytes each: some 120 MB

  // The ends of one side of a channel in their order. A pair goes to `sums`, and is forgotten. hint: what add() has
  // left there at the last end of this side, or 0.
  void add(const Channel& channel, bool sends, const Part& end, std::uint32_t& hint, WaitSums& sums);
  // What has no other end here: it may be with another analyzer.
  void merge(const Messages& other, WaitSums& sums);
  [[nodiscard]] std::uint64_t ends() const { return ends_; }
  // use(channel, part) for each send that is left.
  template <class Use>
  void for_each_send(Use&& use) const {
    for (const Queue& queue : queues_) {
      for (std::uint32_t at = queue.sends ? queue.first : kNone; at != kNone; at = nodes_[at].next)
        use(channel_of(queue), nodes_[at].end);
    }
  }

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ranks);  // into an empty one

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::size_t kMostIdle = 4096;  // queues that are empty, or as many as twice the ends
  struct Node {
    Part end;
    std::uint32_t next;
  };
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
  struct Queue {  // the ends that are left of one side
    Key key;
    std::uint32_t first = kNone, last = kNone;
    bool sends = false;
  };
  [[nodiscard]] Key key_of(const Channel& channel);
  [[nodiscard]] Channel channel_of(const Queue& queue) const {
    return {comms_[queue.key.comm], queue.key.source, queue.key.destination, queue.key.tag};
  }
  [[nodiscard]] Queue& queue_of(const Key& key, std::uint32_t& hint);
  void forget_empty_queues();
  void place(const Channel& channel, bool sends, const Part& end, std::uint32_t& hint, WaitSums& sums);
  void append(Queue& queue, const Part& end);

  // Queues stay when they are empty, for the next time; see forget_empty_queues().
  std::vector<Queue> queues_;
  FlatTable<Key, std::uint32_t> queue_numbers_;
  std::vector<CommIdentity> comms_;
  FlatTable<CommIdentity, std::uint32_t> comm_numbers_;  // in comms_
  std::uint32_t last_comm_ = 0;                          // most messages are on the communicator of the one before
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::uint64_t ends_ = 0;
  bool full_ = false;        // was, so ends are missing
  std::vector<Wait> waits_;  // of one pair, to use its memory again
};

}  // namespace ardoise::knowledge_sources

// Where the two ends of a message meet. On one channel, (communicator, source, destination, tag), MPI has messages
// received in the order in which they were sent: what comes here are sends and receives in the order of their posting
// (post_order.hpp), so the first send that is left belongs to the first receive. Memory: the ends that are alone, at
// most kMostEnds; beyond it nothing more is matched, since an order with a gap would make wrong pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/byte_stream.hpp"
#include "knowledge_sources/waits/comm_identity.hpp"
#include "knowledge_sources/waits/wait_sums.hpp"

namespace ardoise::knowledge_sources {

struct Channel {
  CommIdentity comm;
  std::uint32_t source, destination;  // ranks in the communicator
  std::int32_t tag;
  std::uint32_t reserved = 0;
  friend bool operator==(const Channel&, const Channel&) = default;
};

// Not thread safe.
class Messages {
 public:
  static constexpr std::size_t kMostEnds = std::size_t{1} << 21;  // 80 bytes each: some 170 MB

  // The ends of one side of a channel in their order. A pair goes to `sums`, and is forgotten.
  void add(const Channel& channel, bool sends, const Part& end, WaitSums& sums);
  // What has no other end here: it may be with another analyzer.
  void merge(const Messages& other, WaitSums& sums);
  [[nodiscard]] std::uint64_t ends() const { return ends_; }

  void write(ByteWriter& out) const;
  void read(ByteReader& in, std::uint32_t ranks);  // into an empty one

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Node {
    Part end;
    std::uint32_t next;
  };
  struct Queue {  // the ends that are left of one side
    std::uint32_t first = kNone, last = kNone;
    bool sends = false;
  };
  struct Hash {
    std::size_t operator()(const Channel& channel) const;
  };
  using Channels = std::pmr::unordered_map<Channel, Queue, Hash>;
  void place(const Channel& channel, bool sends, const Part& end, WaitSums& sums);
  void append(Queue& queue, const Part& end);

  std::unique_ptr<std::pmr::memory_resource> memory_ = std::make_unique<std::pmr::unsynchronized_pool_resource>();
  Channels channels_{memory_.get()};
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::uint64_t ends_ = 0;
  bool full_ = false;        // was, so ends are missing
  std::vector<Wait> waits_;  // of one pair, to use its memory again
};

}  // namespace ardoise::knowledge_sources

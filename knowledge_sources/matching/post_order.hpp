// Puts the sends, or the receives, of one rank into MPI's matching order: operations with the same communicator, peer
// and tag in the order of posting. They end in any order. The peer of a receive from any source or with any tag is
// known only at its end; until then it may precede any later one that it could match.
//
// Also computes the rank's activity since the end of the previous operation with the same three (stretch.hpp), or, for
// the first one, since the thread could last wait.
//
// Memory: the operations posted and not passed on, at most kMostOperations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/matching/patterns.hpp"

namespace ardoise::knowledge_sources {

// Peer and tag may be instrument::kAnySource and kAnyTag until the operation has ended.
struct MessageKey {
  std::uint32_t comm;
  std::int32_t peer, tag;
  friend bool operator==(const MessageKey&, const MessageKey&) = default;
  friend std::uint64_t hash_of(const MessageKey& key) {
    const std::uint64_t ends =
        std::uint64_t{static_cast<std::uint32_t>(key.peer)} << 32 | static_cast<std::uint32_t>(key.tag);
    return (ends * 0x9E3779B97F4A7C15u ^ key.comm) * 0xBF58476D1CE4E5B9u;
  }
};
struct EndInOrder {
  MessageKey key;
  std::uint32_t queue;  // for label(); kNone: none
  Part* part;           // until the next non-const call
};

// Not thread safe.
class PostOrder {
 public:
  static constexpr std::size_t kMostOperations = std::size_t{1} << 16;
  static constexpr std::size_t kMostIdle = 1024;  // empty queues; or twice the number of operations if that is more
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  enum class Of : std::uint8_t { kSends, kReceives };
  explicit PostOrder(Of of) : of_(of) {}

  // A number for ending it; kNone: no memory. call: the one that starts it.
  [[nodiscard]] std::uint32_t post(const MessageKey& key, const CallMoments& call);
  // These append to `out` all operations that are in order now. peer, tag: the actual ones, if unknown before. part:
  // without posting time and stretch. call: the one that ends it.
  void end(std::uint32_t operation, std::int32_t peer, std::int32_t tag, const Part& part, const CallMoments& call,
           std::vector<EndInOrder>& out);
  // It was cancelled: nothing was sent or received.
  void cancel(std::uint32_t operation, std::vector<EndInOrder>& out);
  // An operation posted and ended at once. False: no memory.
  [[nodiscard]] bool add(const MessageKey& key, const Part& part, const CallMoments& call,
                         std::vector<EndInOrder>& out);

  [[nodiscard]] std::size_t size() const { return used_; }
  // A number that the user keeps with a queue; may be reset to 0. Valid until the next call.
  [[nodiscard]] std::uint32_t& label(std::uint32_t queue) {
    return queue < queues_.size() ? queues_[queue].label : no_label_;
  }

 private:
  enum class State : std::uint8_t { kPosted, kEnded, kCancelled };
  struct Operation {
    MessageKey key;
    std::uint32_t queue;   // kNone while it is unknown
    std::uint64_t number;  // in the order of posting
    Part part;
    std::uint32_t next;
    State state;
  };
  struct Queue {  // of one key, in the order of posting
    MessageKey key;
    std::uint32_t first = kNone, last = kNone;
    std::uint32_t label = 0;
    bool held = false;       // in held_
    bool has_ended = false;  // an operation posted and ended at once, in:
    ThreadProgress last_end{};
    [[nodiscard]] Stretch stretch(const CallMoments& call) const {
      return stretch_between(has_ended ? last_end : call.before, call.begin);
    }
    void end_at(const ThreadProgress& moment) {
      last_end = moment;
      has_ended = true;
    }
  };
  void insert(std::uint32_t operation);
  std::uint32_t queue_of(const MessageKey& key);
  void forget_empty_queues();
  void end_unknown(std::uint32_t operation);
  void release(std::uint32_t queue, std::vector<EndInOrder>& out);
  void release_held(std::vector<EndInOrder>& out);
  [[nodiscard]] bool may_be_later(const MessageKey& key, std::uint64_t number) const;

  Of of_;
  Part at_once_{};  // of what was posted and ended at once
  std::vector<Operation> operations_;
  std::uint32_t free_ = kNone;
  std::size_t used_ = 0;
  std::uint64_t posted_ = 0;
  // Empty queues are kept for reuse; see forget_empty_queues().
  std::vector<Queue> queues_;
  FlatTable<MessageKey, std::uint32_t> queue_numbers_;
  std::uint32_t no_label_ = 0;
  std::vector<std::uint32_t> unknown_;  // posted from any source or with any tag, in the order of posting
  std::vector<std::uint32_t> held_;     // queues whose first operation has ended but may follow an unknown one
};

}  // namespace ardoise::knowledge_sources

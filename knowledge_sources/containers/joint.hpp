// Matches pairs of halves by key: each half waits for one of the other side, oldest first. With Keyed (keyed.hpp) it
// matches halves that arrive at different analyzers: both go to the owner of their key.
//
//   Joint<Channel, End> ends(most);
//   if (!ends.add(channel, kSend, end, [&](const End& waiting) { pair(end, waiting); })) ++beyond_room;
//   ends.for_each(…)                        // unmatched halves, when no more are coming
//
// Memory: sizeof(Half) + 8 bytes for each waiting half, at most `most` of them. Beyond that, matching stops, because an
// order with a gap would match wrong halves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "knowledge_sources/containers/flat_table.hpp"

namespace ardoise::knowledge_sources {

// Key: compared with ==, hash_of(key) as for FlatTable. Not thread safe.
template <class Key, class Half>
class Joint {
 public:
  explicit Joint(std::size_t most) : most_(most) {}

  // side: 0 or 1. Calls meet(other half) for a match. False: there is no room, for this half and all later ones. hint:
  // location of the key's queue as the last add() for the key left it, or 0.
  template <class Meet>
  bool add(const Key& key, bool side, const Half& half, std::uint32_t& hint, Meet&& meet) {
    if (full_) return false;
    Queue& queue = queue_of(key, hint);
    if (queue.first == kNone || queue.side == side) {
      full_ = size_ >= most_;
      if (full_) return false;
      queue.side = side;
      append(queue, half);
      return true;
    }
    const std::uint32_t first = queue.first;
    Node& other = nodes_[first];
    queue.first = other.next;
    if (queue.first == kNone) queue.last = kNone;
    other.next = free_;
    free_ = first;
    --size_;
    meet(const_cast<const Half&>(other.half));
    return true;
  }
  template <class Meet>
  bool add(const Key& key, bool side, const Half& half, Meet&& meet) {
    std::uint32_t hint = 0;
    return add(key, side, half, hint, meet);
  }

  // Number of waiting halves.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // visit(key, side, half), in the order of each key.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const Queue& queue : queues_) {
      for (std::uint32_t at = queue.first; at != kNone; at = nodes_[at].next)
        visit(queue.key, queue.side, nodes_[at].half);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::size_t kMostIdle = 4096;  // empty queues; or twice the number of halves if that is more
  struct Node {
    Half half;
    std::uint32_t next;
  };
  struct Queue {  // waiting halves of one side
    Key key;
    std::uint32_t first = kNone, last = kNone;
    bool side = false;
  };

  void append(Queue& queue, const Half& half) {
    std::uint32_t place = free_;
    if (place == kNone) {
      place = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({half, kNone});
    } else {
      free_ = nodes_[place].next;
      nodes_[place] = {half, kNone};
    }
    (queue.last == kNone ? queue.first : nodes_[queue.last].next) = place;
    queue.last = place;
    ++size_;
  }
  [[nodiscard]] Queue& queue_of(const Key& key, std::uint32_t& hint) {
    if (hint < queues_.size() && queues_[hint].key == key) return queues_[hint];
    if (const std::uint32_t* const known = queue_numbers_.find(key); known != nullptr) {
      hint = *known;
    } else {
      if (queues_.size() >= kMostIdle + 2 * size_) forget_empty_queues();
      hint = static_cast<std::uint32_t>(queues_.size());
      queues_.push_back({.key = key});
      (void)queue_numbers_.insert(key, hint);
    }
    return queues_[hint];
  }
  // Keys may be used only once.
  void forget_empty_queues() {
    std::erase_if(queues_, [](const Queue& queue) { return queue.first == kNone; });
    queue_numbers_ = {};
    for (std::uint32_t number = 0; number < queues_.size(); ++number)
      (void)queue_numbers_.insert(queues_[number].key, number);
  }

  std::size_t most_;
  // Empty queues are kept for reuse; see forget_empty_queues().
  std::vector<Queue> queues_;
  FlatTable<Key, std::uint32_t> queue_numbers_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::uint64_t size_ = 0;
  bool full_ = false;
};

}  // namespace ardoise::knowledge_sources

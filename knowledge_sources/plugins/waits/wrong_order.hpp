// Late senders whose message was received in the wrong order: while the rank waited for it, another message had already
// been sent, and was received later. Receiving that one first might have avoided the wait. Evaluated for calls that
// receive one message, with the kAfter next receives of the rank on the same communicator.
//
//   receiver   ~~~~~~~~ wait ~~~~~~~~|T  …  |receives the other one
//   a sender                    late |T
//   another    |sent before T
//
// The receives of a rank on a communicator are numbered and become known in any order, those from one sender perhaps
// long before those from another; each is decided when the kAfter next ones are known. Memory: 24 bytes for each of 32
// receives of a receiver, more if one is unknown, at most kMost for all receivers, and their waits; beyond that,
// unknown receives are skipped. Beyond kMostReceivers nothing is classified.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "knowledge_sources/containers/flat_table.hpp"
#include "knowledge_sources/matching/patterns.hpp"

namespace ardoise::knowledge_sources {

// A rank in a communicator.
struct Receiver {
  std::uint32_t comm, rank;
  friend bool operator==(const Receiver&, const Receiver&) = default;
  friend std::uint64_t hash_of(const Receiver& receiver) {
    return (std::uint64_t{receiver.comm} << 32 | receiver.rank) * 0x9E3779B97F4A7C15u;
  }
};

// Not thread safe.
class WrongOrder {
 public:
  static constexpr std::uint32_t kAfter = 16, kMost = 1u << 20, kMostReceivers = 1u << 17;

  // For each message: its send time, and the begin of the receiving call; its wait, if it is to be evaluated. Calls
  // use(wait) for each decided one, with its pattern.
  template <class Use>
  void add(const Receiver& receiver, const Part& send, const Part& receive, const Wait* wait, Use&& use) {
    Receives* const receives = receives_of(receiver);
    if (receives == nullptr || !make_room(*receives, receive.order, use)) {
      if (wait != nullptr) use(*wait);
      return;
    }
    receives->at(receive.order) = {send.posted, receive.begin, wait != nullptr ? keep(*wait) : kNoWait};
    while (receives->known < receives->size() && receives->at(receives->first + receives->known).is_known())
      ++receives->known;
    if (receives->known > kAfter) decide(*receives, receives->known - kAfter, use);
  }
  // After the last receive: decides the remaining ones.
  template <class Use>
  void settle(Use&& use) const {
    for (const Receives& receives : receivers_) {
      for (std::uint32_t number = receives.first; number != receives.end; ++number) {
        if (const Message& message = receives.at(number); message.wait != kNoWait)
          use(judged(receives, number, waits_[message.wait]));
      }
    }
  }

 private:
  static constexpr std::uint32_t kNoWait = 0xFFFFFFFF;
  struct Message {
    double sent = std::numeric_limits<double>::infinity();  // until it is known
    double received = 0;                                    // begin of the call
    std::uint32_t wait = kNoWait;                           // in waits_, until it is decided
    [[nodiscard]] bool is_known() const { return sent < std::numeric_limits<double>::infinity(); }
  };
  // From the first undecided one.
  struct Receives {
    std::vector<Message> ring = std::vector<Message>(2 * kAfter);
    std::uint32_t first = 0, end = 0;  // numbers
    std::uint32_t known = 0;           // length of the known sequence from the first on
    [[nodiscard]] std::uint32_t size() const { return end - first; }
    [[nodiscard]] Message& at(std::uint32_t number) { return ring[number % ring.size()]; }
    [[nodiscard]] const Message& at(std::uint32_t number) const { return ring[number % ring.size()]; }
  };

  // nullptr: there are too many.
  Receives* receives_of(const Receiver& receiver) {
    if (last_ >= receivers_.size() || receiver != last_receiver_) {
      if (const std::uint32_t* const known = numbers_.find(receiver); known != nullptr) {
        last_ = *known;
      } else {
        if (receivers_.size() >= kMostReceivers) return nullptr;
        last_ = static_cast<std::uint32_t>(receivers_.size());
        receivers_.emplace_back();
        (void)numbers_.insert(receiver, last_);
      }
      last_receiver_ = receiver;
    }
    return &receivers_[last_];
  }
  // False: the receive has been decided, or its number is invalid.
  template <class Use>
  bool make_room(Receives& receives, std::uint32_t number, Use&& use) {
    if (number < receives.first || number - receives.first >= kMost) return false;
    if (const std::size_t needed = number - receives.first + 1; needed > receives.ring.size()) {
      const std::size_t wanted = std::bit_ceil(needed), more = wanted - receives.ring.size();
      if (more <= kMost - more_) {
        std::vector<Message> ring(wanted);
        for (std::uint32_t each = receives.first; each != receives.end; ++each)
          ring[each % ring.size()] = receives.at(each);
        receives.ring = std::move(ring);
        more_ += more;
      } else {
        decide(receives, static_cast<std::uint32_t>(needed - receives.ring.size()), use);
      }
    }
    for (; receives.end <= number; ++receives.end) receives.at(receives.end) = Message{};
    return true;
  }
  // The first `count` ones.
  template <class Use>
  void decide(Receives& receives, std::uint32_t count, Use&& use) {
    for (; count != 0 && receives.first != receives.end; --count, ++receives.first) {
      if (const std::uint32_t wait = receives.at(receives.first).wait; wait != kNoWait) {
        use(judged(receives, receives.first, waits_[wait]));
        free_.push_back(wait);
      }
      if (receives.known != 0) --receives.known;
    }
    receives.first += count;
    receives.end = std::max(receives.end, receives.first);
  }
  // Its index in waits_.
  std::uint32_t keep(const Wait& wait) {
    if (free_.empty()) {
      waits_.push_back(wait);
      return static_cast<std::uint32_t>(waits_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    waits_[place] = wait;
    return place;
  }
  static Wait judged(const Receives& receives, std::uint32_t number, Wait wait) {
    const double end = wait.begin + static_cast<double>(wait.ns);
    const std::uint32_t after = std::min(receives.end - number, kAfter + 1);
    for (std::uint32_t i = 1; i < after; ++i) {
      const Message& message = receives.at(number + i);
      if (message.sent < end && end <= message.received) wait.pattern = WaitPattern::kWrongOrder;
    }
    return wait;
  }

  std::vector<Receives> receivers_;
  std::vector<Wait> waits_;          // of all receivers
  std::vector<std::uint32_t> free_;  // free indices of waits_
  std::size_t more_ = 0;             // capacity of the rings beyond their initial one
  FlatTable<Receiver, std::uint32_t> numbers_;
  Receiver last_receiver_{};  // of the previous message
  std::uint32_t last_ = 0xFFFFFFFF;
};

}  // namespace ardoise::knowledge_sources

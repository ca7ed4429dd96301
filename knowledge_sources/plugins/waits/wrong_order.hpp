// Late senders whose message was received in the wrong order: while the rank waited for it, another one had been sent
// already, and was received later. Received first, it might have spared the wait. Judged for calls that receive one
// message, by the kAfter receives of the rank on the same communicator that follow it.
//
//   receiver   ~~~~~~~~ wait ~~~~~~~~|T  …  |receives the other one
//   a sender                    late |T
//   another    |sent before T
//
// The receives of a rank on a communicator have numbers and become known in any order, those from one sender perhaps
// long before those from another; each is decided when the kAfter after it are known. Memory: 24 bytes for each of 32
// receives of a receiver, more where one is not known, at most kMost of all receivers, and the waits of these; beyond
// that the one that is not known is not waited for. Of more than kMostReceivers nothing is told apart.
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

  // Of each message: when it was sent, and when the call began that received it; its wait, where it has one that is to
  // be judged. use(wait) is called for each that is decided, with its pattern.
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
  // No more receives come: what is not decided yet.
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
  // From the first that is not decided on.
  struct Receives {
    std::vector<Message> ring = std::vector<Message>(2 * kAfter);
    std::uint32_t first = 0, end = 0;  // numbers
    std::uint32_t known = 0;           // so many from the first on are known
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
  // False: the receive has been decided, or its number is none.
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
  // The first so many.
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
  // Where it is in waits_.
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
  std::vector<std::uint32_t> free_;  // places in waits_
  std::size_t more_ = 0;             // receives that the rings have room for beyond those that they begin with
  FlatTable<Receiver, std::uint32_t> numbers_;
  Receiver last_receiver_{};  // of the message before
  std::uint32_t last_ = 0xFFFFFFFF;
};

}  // namespace ardoise::knowledge_sources

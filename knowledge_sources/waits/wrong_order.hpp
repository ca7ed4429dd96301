// Late senders whose message was received in the wrong order: while the rank waited for it, another one had been sent
// already, and was received later. Received first, it might have spared the wait. Judged for calls that receive one
// message, by the kAfter receives of the rank on the same communicator that follow it.
//
//   receiver   ~~~~~~~~ wait ~~~~~~~~|T  …  |receives the other one
//   a sender                    late |T
//   another    |sent before T
//
// The receives of a rank on a communicator have numbers and become known in any order; each is decided when the kAfter
// after it are known. Memory: 16 bytes for each of 32 receives of a receiver, more where one is not known, at most
// kMost of them, beyond which that one is not waited for. Of more than kMostReceivers nothing is told apart.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "knowledge_sources/flat_table.hpp"
#include "knowledge_sources/waits/patterns.hpp"

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
  static constexpr std::uint32_t kAfter = 16, kMost = 1024, kMostReceivers = 1u << 17;

  // Of each message: when it was sent, and when the call began that received it; its wait, where it has one that is to
  // be judged. use(wait) is called for each that is decided, with its pattern.
  template <class Use>
  void add(const Receiver& receiver, const Part& send, const Part& receive, const Wait* wait, Use&& use) {
    Receives* const receives = receives_of(receiver);
    if (receives == nullptr || !make_room(*receives, receive.order, use)) {
      if (wait != nullptr) use(*wait);
      return;
    }
    if (wait != nullptr) {
      const auto place = std::ranges::upper_bound(receives->waits, wait->order, {}, &Wait::order);
      receives->waits.insert(place, *wait);
    }
    receives->at(receive.order) = {send.posted, receive.begin};
    while (receives->known < receives->size() && receives->at(receives->first + receives->known).is_known())
      ++receives->known;
    while (receives->known > kAfter) decide_first(*receives, use);
  }
  // No more receives come: what is not decided yet.
  template <class Use>
  void settle(Use&& use) const {
    for (const Receives& receives : receivers_) {
      for (const Wait& wait : receives.waits) use(judged(receives, wait));
    }
  }

 private:
  struct Message {
    double sent = std::numeric_limits<double>::infinity();  // until it is known
    double received = 0;                                    // begin of the call
    [[nodiscard]] bool is_known() const { return sent < std::numeric_limits<double>::infinity(); }
  };
  // From the first that is not decided on.
  struct Receives {
    std::vector<Message> ring = std::vector<Message>(2 * kAfter);
    std::uint32_t first = 0, end = 0;  // numbers
    std::uint32_t known = 0;           // so many from the first on are known
    std::vector<Wait> waits;           // by number
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
    if (number < receives.first || number - receives.first > 64 * kMost) return false;
    while (number - receives.first >= kMost) decide_first(receives, use);
    if (const std::size_t needed = number - receives.first + 1; needed > receives.ring.size()) {
      std::vector<Message> ring(std::max<std::size_t>(2 * receives.ring.size(), std::bit_ceil(needed)));
      for (std::uint32_t each = receives.first; each != receives.end; ++each)
        ring[each % ring.size()] = receives.at(each);
      receives.ring = std::move(ring);
    }
    for (; receives.end <= number; ++receives.end) receives.at(receives.end) = Message{};
    return true;
  }
  template <class Use>
  void decide_first(Receives& receives, Use&& use) {
    if (!receives.waits.empty() && receives.waits.front().order == receives.first) {
      use(judged(receives, receives.waits.front()));
      receives.waits.erase(receives.waits.begin());
    }
    ++receives.first;
    receives.end = std::max(receives.end, receives.first);
    if (receives.known != 0) --receives.known;
  }
  static Wait judged(const Receives& receives, Wait wait) {
    const double end = wait.begin + static_cast<double>(wait.ns);
    const std::uint32_t after = std::min(receives.end - wait.order, kAfter + 1);
    for (std::uint32_t i = 1; i < after; ++i) {
      const Message& message = receives.at(wait.order + i);
      if (message.sent < end && end <= message.received) wait.pattern = WaitPattern::kWrongOrder;
    }
    return wait;
  }

  std::vector<Receives> receivers_;
  FlatTable<Receiver, std::uint32_t> numbers_;
  Receiver last_receiver_{};  // of the message before
  std::uint32_t last_ = 0xFFFFFFFF;
};

}  // namespace ardoise::knowledge_sources

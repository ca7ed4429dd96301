// Late senders whose message was received in the wrong order: while the rank waited for it, another one had been sent
// already, and was received later. Received first, it might have spared the wait. Judged for calls that receive one
// message, by the kAfter receives that follow it.
//
//   receiver   ~~~~~~~~ wait ~~~~~~~~|T  …  |receives the other one
//   a sender                    late |T
//   another    |sent before T
//
// Receives have numbers and become known in any order; each is decided when the kAfter after it are known. Memory: 17
// receives of each rank and what is known behind one that is not, at most kMost, beyond which that is not waited for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "knowledge_sources/waits/patterns.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe.
class WrongOrder {
 public:
  static constexpr std::size_t kAfter = 16, kMost = 1024;

  explicit WrongOrder(std::uint32_t ranks) : receivers_(ranks) {}

  // A late sender, before its note().
  template <class Use>
  void add(const Wait& wait, Use&& use) {
    if (Received* const received = find(wait.waiter, wait.order, use)) {
      received->wait = wait;
    } else {
      use(wait);
    }
  }
  // Of each message: when it was sent, and when the call began that received it. use(wait) is called for each wait that
  // is decided, with its pattern.
  template <class Use>
  void note(const Part& send, const Part& receive, Use&& use) {
    Received* const received = find(receive.rank, receive.order, use);
    if (received == nullptr) return;
    received->is_known = true;
    received->sent = send.posted;
    received->begin = receive.begin;
    Receiver& receiver = receivers_[receive.rank];
    while (receiver.known < receiver.after.size() && receiver.after[receiver.known].is_known) ++receiver.known;
    while (receiver.known > kAfter) decide_first(receiver, use);
  }
  // No more receives come.
  template <class Use>
  void settle(Use&& use) {
    for (Receiver& receiver : receivers_) {
      while (!receiver.after.empty()) decide_first(receiver, use);
    }
  }

 private:
  struct Received {
    bool is_known = false;
    double sent = 0, begin = 0;
    Wait wait{};  // of 0 ns: none
  };
  struct Receiver {
    std::uint32_t first = 0;     // number of the first that is not decided
    std::deque<Received> after;  // it, and those after it
    std::size_t known = 0;       // so many from the first on are known
  };

  // nullptr: it has been decided, or is no number of a receive.
  template <class Use>
  Received* find(std::uint32_t rank, std::uint32_t number, Use&& use) {
    Receiver& receiver = receivers_[rank];
    if (number < receiver.first || number - receiver.first > 64 * kMost) return nullptr;
    while (number - receiver.first >= kMost) {
      if (receiver.after.empty()) receiver.after.emplace_back();
      decide_first(receiver, use);
    }
    const std::size_t place = number - receiver.first;
    if (place >= receiver.after.size()) receiver.after.resize(place + 1);
    return &receiver.after[place];
  }
  template <class Use>
  void decide_first(Receiver& receiver, Use&& use) {
    Wait wait = receiver.after.front().wait;
    receiver.after.pop_front();
    ++receiver.first;
    if (receiver.known != 0) --receiver.known;
    if (wait.ns == 0) return;
    const double end = wait.begin + static_cast<double>(wait.ns);
    const auto last = receiver.after.begin() + static_cast<std::ptrdiff_t>(std::min(kAfter, receiver.after.size()));
    if (std::any_of(receiver.after.begin(), last,
                    [&](const Received& each) { return each.is_known && each.sent < end && end <= each.begin; }))
      wait.pattern = WaitPattern::kWrongOrder;
    use(wait);
  }

  std::vector<Receiver> receivers_;
};

}  // namespace ardoise::knowledge_sources

// Finds races among received messages: a receive with wildcards races when it could have had another message. For
// `ardoise trace races`.
//
// Receive R got message S. Message S' went to the same process on the same communicator, from another sender, with a
// tag that R would have taken, and a receive that was posted after R got it, or none. Unless R had happened before S'
// was sent, MPI might have given S' to R (R. H. B. Netzer, B. P. Miller: Optimal tracing and replay for debugging
// message-passing parallel programs, Supercomputing '92). The vector clock of S' has the number of events of the
// receiver that it has seen: R happened before it when that is R's own number or more.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tools/ardoise/given_receives.hpp"

namespace ardoise::launcher {

// A message and its receive.
struct ReceivedMessage {
  std::uint64_t post;    // of the process's receives, in the order of posting; not used where nobody received it
  std::uint64_t number;  // event of the receiver at which the receive was complete, or its probe
  std::uint64_t seen;    // events of the receiver before the send; UINT64_MAX: the send is not in the trace
  std::uint32_t receiver, sender, comm, tag;
  std::uint32_t send_region;
  std::uint64_t bytes, send_time, receive_time;
  GivenReceive given;
};

// Of one call site.
struct RacingSite {
  std::uint64_t receives = 0, racing = 0;
  std::set<std::uint32_t> receivers;  // processes
  std::set<std::uint32_t> others;     // senders whose messages it could have had instead
  struct Example {
    ReceivedMessage got, other;
    bool is_received;  // the other one
  };
  std::optional<Example> example;
};

// Not thread safe. Keeps for each process and communicator the last receives with wildcards, kMost or less.
class RaceWindows {
 public:
  static constexpr std::size_t kMost = 65'536;
  // floor(process): the least number of the process's events that a message to it can have seen that is still to come.
  explicit RaceWindows(std::function<std::uint64_t(std::uint32_t)> floor, std::size_t most = kMost)
      : floor_(std::move(floor)), most_(most) {}

  // In any order; of each process all `post` from 0 on, but see skip().
  void received(const ReceivedMessage& message);
  // Messages that nobody received, in the order of sending, when all receives were taken.
  void never_received(const ReceivedMessage& message) { judge(message, false); }
  // Judges what still waits for receives that were posted earlier.
  void finish();

  [[nodiscard]] const std::map<std::uint32_t, RacingSite>& sites() const { return sites_; }  // by region
  // Receives that had no room any more while further messages could have raced with them.
  [[nodiscard]] std::uint64_t without_room() const { return without_room_; }

 private:
  struct Receive {
    ReceivedMessage message;
    std::uint64_t most_number;  // of this one and all before it
    bool is_racing = false;
  };
  struct Window {
    std::uint64_t first = 0;  // place of the first one in `receives`
    std::deque<Receive> receives;
    // Places of those from any source by the sender whose message they got, whose own messages do not matter to them.
    struct Places {
      std::vector<std::uint64_t> open, racing;
    };
    std::map<std::uint32_t, Places> by_sender;
    std::set<std::uint32_t> regions;
    // Place up to which messages of a sender with a tag have been looked at: later ones have seen as much or more.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> judged;
  };
  struct Process {
    std::uint64_t next = 0;
    std::map<std::uint64_t, ReceivedMessage> held;  // by `post`
  };
  void judge(const ReceivedMessage& message, bool is_received);
  void look_back(Window& window, const ReceivedMessage& message, bool is_received);
  [[nodiscard]] bool is_race(const Receive& receive, const ReceivedMessage& message) const;
  void make_room(Window& window, std::uint32_t process);

  std::function<std::uint64_t(std::uint32_t)> floor_;
  std::size_t most_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Window> windows_;  // by process and communicator
  std::map<std::uint32_t, Process> processes_;
  std::map<std::uint32_t, RacingSite> sites_;
  std::uint64_t without_room_ = 0;
};

}  // namespace ardoise::launcher

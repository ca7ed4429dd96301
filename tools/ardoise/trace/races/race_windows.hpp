// Finds races among received messages. A receive with MPI_ANY_SOURCE races if it could have received another message.
// For `ardoise trace races`.
//
// Receive R got message S. Message S' went to the same process on the same communicator, from another sender, with a
// tag that R accepts. MPI might have given S' to R unless R happened before the send of S', or the receive of S' was
// posted before R (R. H. B. Netzer, B. P. Miller: Optimal tracing and replay for debugging message-passing parallel
// programs, Supercomputing '92). "Before" is defined by vector clocks of threads (causal_order.hpp): if two threads
// have had no contact, neither posted before the other.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tools/ardoise/trace/races/given_receives.hpp"

namespace ardoise::launcher {

struct SentMessage {
  std::uint32_t receiver = 0, sender = 0, comm = 0, tag = 0;  // processes
  std::uint32_t send_region = knowledge_sources::kUndefined32;
  std::uint64_t bytes = 0, send_time = 0, receive_time = 0;
};

// A message with its receive, or the send alone.
struct ReceivedMessage : SentMessage {
  bool is_sent = false;              // the send is in the trace
  std::uint64_t sending_thread = 0;  // location
  VectorClock sent;
  GivenReceive given;
  std::uint64_t post = 0;  // number among the process's posts, in order
  CausalPoint posted;      // has a component if the process has several threads
  // With MPI_ANY_SOURCE, the point at which the message was chosen: component and number of a CausalPoint.
  std::uint32_t chooser = kNoComponent, choice = 0;
};

// Races of one call site.
struct RacingSite {
  std::uint64_t receives = 0, racing = 0;
  std::set<std::uint32_t> receivers;  // processes
  std::set<std::uint32_t> others;     // senders of other messages that it could have received
  struct Example {
    SentMessage got, other;
    bool is_received;  // `other` was received
  };
  std::optional<Example> example;
};

// Not thread safe. Keeps the last receives with MPI_ANY_SOURCE of each thread and communicator, and the last messages
// of processes with threads: up to `most` of each, and `most` x 8 in total.
class RaceWindows {
 public:
  static constexpr std::size_t kMost = 65'536;
  explicit RaceWindows(std::size_t most = kMost) : most_(most) {}

  // In any order. Each process's `post` numbers are complete from 0 on.
  void received(const ReceivedMessage& message);
  // A message without a receive. Called after all receives, in the order of sending for each sender.
  void never_received(const ReceivedMessage& message) { judge(message, false); }
  // Judges messages that still wait for receives that were posted earlier.
  void finish();

  [[nodiscard]] const std::map<std::uint32_t, RacingSite>& sites() const { return sites_; }  // by region
  // Number of messages for which possibly racing receives were dropped for lack of room.
  [[nodiscard]] std::uint64_t without_room() const { return without_room_; }

 private:
  struct Receive {
    SentMessage message;
    std::uint32_t region, choice, most_choice;  // most_choice: maximum of this one and all before it
    bool any_tag, is_racing;
  };
  // Receives of one thread on a communicator.
  struct Window {
    std::uint64_t first = 0;         // place of the front of `receives`
    std::uint32_t last_dropped = 0;  // latest choice of a dropped receive that did not race
    std::deque<Receive> receives;
    // Places by the sender of the received message. A sender's own messages cannot race with them.
    struct Places {
      std::vector<std::uint64_t> open, racing;
    };
    std::map<std::uint32_t, Places> by_sender;
    std::set<std::uint32_t> regions;
    // For a sending thread and a tag: the receives before this place are judged. Later messages know at least as much.
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint64_t> judged;
  };
  struct Taken {
    std::uint32_t posted;  // number
    VectorClock sent;
    SentMessage message;
  };
  // Messages that the threads of a process received on a communicator.
  struct Threads {
    // By tag, component of the posting thread, and sender; in the order of posting.
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<Taken>> taken;
    std::size_t count = 0;
    std::map<std::uint32_t, std::uint32_t> last_dropped;  // number, by component
  };
  struct Process {
    std::uint64_t next = 0;
    std::map<std::uint64_t, ReceivedMessage> held;  // by `post`
  };
  void judge(const ReceivedMessage& message, bool is_received);
  void look_back(Window& window, std::uint32_t chooser, const ReceivedMessage& message, bool is_received);
  [[nodiscard]] bool look_across(const Threads& threads, const ReceivedMessage& receive);
  void add(Window& window, const ReceivedMessage& message, bool is_racing);
  void add(Threads& threads, const ReceivedMessage& message);
  [[nodiscard]] std::size_t share(std::size_t of) const;  // room for each of so many
  void make_room(Window& window, std::size_t left);
  void note(std::uint32_t region, const SentMessage& got, const SentMessage& other, bool is_received);

  std::size_t most_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Window> windows_;  // by process, comm, component
  std::map<std::pair<std::uint32_t, std::uint32_t>, Threads> threads_;                 // by process and communicator
  std::map<std::uint32_t, Process> processes_;
  std::map<std::uint32_t, RacingSite> sites_;
  std::uint64_t without_room_ = 0;
};

}  // namespace ardoise::launcher

// Finds the messages in the events of an archive, and their numbers on their channels.
//
// MPI matches by channel (communicator, sender, receiver, tag): the n-th posted receive gets the n-th send. An archive
// records the source of a receive at its completion, and completions may have another order than the posts. So a
// receive is held until all that its process posted earlier are complete.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "knowledge_sources/otf2/reader/archived_event.hpp"
#include "knowledge_sources/otf2/reader/comm_ranks.hpp"
#include "knowledge_sources/otf2/reader/posted_order.hpp"

namespace ardoise::knowledge_sources {

struct MessageChannel {
  std::uint32_t comm, sender, receiver, tag;  // sender, receiver: processes, numbers of location groups
  friend auto operator<=>(const MessageChannel&, const MessageChannel&) = default;
};

// One end of a message.
struct MessageHalf {
  MessageChannel channel;
  bool is_send;
  std::uint64_t number;  // on its channel, from 0
  const ArchivedLocation* location;
  std::uint64_t position;     // of its event
  std::uint64_t begin, time;  // begin: of the call that started it; time: a send's start, a receive's end
  std::uint32_t region;       // of the starting call; kUndefined32: none is open
  std::uint64_t bytes, request;
};

// The innermost region of each thread and its entry time, for the events seen so far.
class OpenCalls {
 public:
  struct Call {
    std::uint32_t region = kUndefined32;
    std::uint64_t begin = 0;
  };
  void event(const ArchivedEvent& event);
  // The innermost open call at the event's location.
  [[nodiscard]] Call innermost(const ArchivedEvent& event) const;

 private:
  std::unordered_map<std::uint64_t, std::vector<Call>> calls_;  // by location
};

// Not thread safe. The events of each location in order; locations side by side, since receives are held until earlier
// ones are complete.
class MessageTracker {
 public:
  // take(half): a message end; sends at once, receives when their number is certain. cancel(half): a reported send that
  // was cancelled. Both must outlive it.
  using Take = std::function<void(const MessageHalf&)>;
  MessageTracker(const ArchiveDefinitions& definitions, const CommRanks& ranks, Take take, Take cancel);

  // calls: has processed this event.
  void event(const ArchivedEvent& event, const OpenCalls& calls);
  void finish();

  // Ends of messages with an undefined communicator or peer.
  [[nodiscard]] std::uint64_t unknown_ends() const { return unknown_ends_; }
  // Receives numbered out of order because an earlier one never completes.
  [[nodiscard]] std::uint64_t numbered_as_completed() const { return numbered_as_completed_; }

 private:
  struct Post {
    std::uint64_t order, begin;
    std::uint32_t region;
  };
  struct Process {
    PostedOrder<MessageHalf> receives;
    std::unordered_map<std::uint64_t, Post> posts;  // incomplete receives, by request
    // Receives whose completion by another thread was seen before their post.
    std::unordered_set<std::uint64_t> early;
    std::unordered_map<std::uint64_t, MessageHalf> sends;  // incomplete non-blocking ones, by request
  };
  static constexpr std::size_t kMostEarly = 4096;  // of a process; some archives have no posts at all
  [[nodiscard]] Process& process_of(const ArchivedEvent& event, std::uint32_t& number);
  void send(const ArchivedEvent& event, const OpenCalls& calls, bool is_blocking);
  void receive(const ArchivedEvent& event, const OpenCalls& calls, bool is_blocking);
  void release(Process& process, bool all);
  void number_and_take(MessageHalf half);

  const ArchiveDefinitions& definitions_;
  const CommRanks& ranks_;
  Take take_, cancel_;
  std::unordered_map<std::uint64_t, std::uint32_t> process_of_location_;
  std::unordered_map<std::uint32_t, Process> processes_;
  std::map<MessageChannel, std::uint64_t> sent_, received_;  // next numbers
  std::uint64_t unknown_ends_ = 0, numbered_as_completed_ = 0;
};

}  // namespace ardoise::knowledge_sources

// Compiles the script of a process from the events of its threads (call_script.hpp). Data that the trace has later is
// added when it arrives: the message of a receive, the communicator of a non-blocking collective. Uses no MPI.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/otf2/reader/archived_event.hpp"
#include "tools/replay/archive_world.hpp"
#include "tools/replay/call_script.hpp"

namespace ardoise::replay {

// Messages from a sender to a receiver, ranks in the world.
struct Channel {
  std::uint32_t comm;
  std::int32_t sender, receiver, tag;
  friend auto operator<=>(const Channel&, const Channel&) = default;
};

// Data that the processes compare before they begin.
struct ScriptSummary {
  std::map<Channel, std::uint64_t> sends, receives;    // by this process
  std::map<std::uint32_t, std::uint64_t> collectives;  // by communicator
  std::set<std::uint32_t> made;                        // communicators that a call creates
  std::map<std::string, std::uint64_t> guessed;        // calls, by kind of guess
  std::map<std::string, std::uint64_t> left_out;       // calls that cannot be replayed, by function
  std::uint64_t calls = 0;
  bool has_arguments = false;  // of any call
  bool has_files = false;      // of MPI-IO
};

// Not thread safe. The events of each thread in order, of all threads by time.
class ScriptCompiler : public knowledge_sources::EventConsumer {
 public:
  // Its script has a thread for each of world.threads(rank). All arguments must outlive it.
  ScriptCompiler(const ArchiveWorld& world, std::int32_t rank, CallScript& script);

  // Throws ReplayError.
  [[nodiscard]] bool event(const knowledge_sources::ArchivedEvent& event) override;
  void finish();
  [[nodiscard]] const ScriptSummary& summary() const { return summary_; }

 private:
  using Event = knowledge_sources::ArchivedEvent;
  enum class Started : std::uint8_t { kSend, kReceive, kCollective, kFile, kOneSided };
  struct Start {
    Started kind;
    std::uint64_t request;
    std::int32_t peer, tag;
    std::uint32_t comm;
    std::uint64_t bytes;
  };
  struct Request {
    std::uint32_t slot;
    std::size_t thread;
    std::optional<std::uint64_t> step;  // step whose shape changes when it ends
    Started kind;
    bool is_absent;                    // the rank of its other end is absent
    std::optional<std::size_t> place;  // index among several operations of the step
  };
  struct Call {
    std::uint16_t function = 0;
    std::uint64_t begin = 0;
    CallShape shape;
    std::vector<CallScript::List> lists;
    std::vector<Start> starts;
    std::vector<std::uint64_t> completed;             // requests
    std::vector<std::uint32_t> freed;                 // slots, at the end of the call
    std::uint64_t sent = 0, received = 0, moved = 0;  // moved: by MPI-IO
    bool has_absent = false;                          // completes an operation whose other end is absent
    bool has_sent = false, has_received = false, has_collective = false, has_arguments = false;
  };
  struct Thread {
    std::size_t index;
    std::uint64_t last_end = 0, calls = 0;
    int depth = 0;                   // nesting of calls: inner ones are not replayed
    std::uint64_t last_request = 0;  // the highest number that it has started
    Call call;
  };

  Thread& thread_of(const Event& event);
  [[nodiscard]] std::uint16_t function_of(std::uint32_t region);
  [[nodiscard]] std::uint16_t posix_call(std::uint8_t mode, std::uint32_t region) const;
  void enter(Thread& thread, const Event& event, std::uint16_t function);
  void leave(Thread& thread, const Event& event);
  void take_attribute(Thread& thread, std::uint32_t key, const knowledge_sources::ArchivedValue& value);
  void take(Thread& thread, const Event& event);
  void complete(Thread& thread, const Event& event, std::uint64_t request);

  // Completes a call that has ended; false: it is not replayed.
  [[nodiscard]] bool finish_call(Call& call);
  void finish_message_call(Call& call);
  void finish_collective(Call& call);
  // The place functions are for replays of only some ranks.
  void place_message(Call& call);
  [[nodiscard]] bool place_collective(Call& call);
  void place_one_sided(Call& call);
  [[nodiscard]] std::int32_t placed(std::uint32_t comm, std::int32_t rank) const;
  void count_messages(const Call& call);
  [[nodiscard]] std::uint32_t begin_request(Thread& thread, const Start& start, std::optional<std::uint64_t> step);
  void change(const Request& request, const auto& how);  // of a request that its call alone has started
  void change_call(const Request& request, const auto& how);
  void as_bytes(Call& call, std::uint64_t sent, std::uint64_t received);
  [[nodiscard]] std::uint32_t text(std::string_view text) { return script_.add_text(text); }

  const ArchiveWorld& world_;
  const std::int32_t rank_;
  CallScript& script_;
  ScriptSummary summary_;
  std::unordered_map<std::uint64_t, Thread> threads_;           // by location
  std::unordered_map<std::uint32_t, std::uint16_t> functions_;  // by region
  std::unordered_map<std::string_view, std::uint16_t> names_;
  std::unordered_map<std::uint32_t, std::uint32_t> attributes_;  // keys (trace_attribute.hpp), by number in the archive
  std::unordered_map<std::uint64_t, Request> requests_;
  std::vector<std::vector<std::uint32_t>> free_slots_;  // by thread
  std::optional<std::uint64_t> begin_;                  // end of MPI_Init
};

}  // namespace ardoise::replay

// `ardoise trace check`: finds the errors of a trace.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"
#include "knowledge_sources/otf2/reader/message_matcher.hpp"

namespace ardoise::launcher {

// Takes all events of an archive (read_in_order). Keeps open regions, requests and messages until they end.
class TraceCheck : public knowledge_sources::EventConsumer {
 public:
  // most_ends: limit of messages that wait for the other end.
  explicit TraceCheck(const knowledge_sources::ArchiveDefinitions& definitions,
                      std::size_t most_ends = knowledge_sources::MessageMatcher::kMost);

  [[nodiscard]] bool event(const knowledge_sources::ArchivedEvent& event) override;
  void finish();

  [[nodiscard]] const knowledge_sources::ArchiveFaults& faults() const { return faults_; }
  // Notes on parts that cannot be checked.
  [[nodiscard]] std::vector<std::string> remarks() const;
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  [[nodiscard]] std::uint64_t collectives() const { return collectives_; }

 private:
  using Event = knowledge_sources::ArchivedEvent;
  using Half = knowledge_sources::MessageHalf;
  struct Location {
    std::uint32_t process;
    std::uint64_t last_time = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> open;  // region, time
  };
  enum class RequestKind : std::uint8_t { kSend, kReceive, kCollective, kRma, kIo };
  struct Request {
    int open = 0;  // starts minus completions: two threads may have events at the same time
    const knowledge_sources::ArchivedLocation* location = nullptr;
    std::uint64_t time = 0;
  };
  struct Member {  // a collective that a process has completed
    std::uint32_t comm;
    std::uint8_t operation;
    const knowledge_sources::ArchivedLocation* location;
    std::uint64_t time;
  };
  struct Process {
    // By kind, owner of the numbers (a window, a file handle), and number.
    std::map<std::tuple<RequestKind, std::uint32_t, std::uint64_t>, Request> requests;
    knowledge_sources::PostedOrder<Member> collectives;
    std::unordered_map<std::uint64_t, std::uint64_t> posted_collectives;  // order, by request
  };
  struct Collectives {  // of a communicator
    struct Instance {
      std::uint8_t operation;
      std::size_t arrived = 0;
      const knowledge_sources::ArchivedLocation* location;
      std::uint64_t time;
    };
    std::size_t members = 0;  // with events
    std::uint64_t first = 0;  // number of the front of `open`
    std::deque<Instance> open;
    std::unordered_map<std::uint32_t, std::uint64_t> next;  // number, by process
  };

  void add(const char* kind, const Event& event, const std::string& detail = "");
  [[nodiscard]] std::string at(const knowledge_sources::ArchivedLocation& location, std::uint64_t time) const;
  [[nodiscard]] std::string name_of_process(std::uint32_t process) const;
  [[nodiscard]] std::string name_of_region(std::uint32_t region) const;
  [[nodiscard]] std::string name_of_comm(std::uint32_t comm) const;
  Location& location_of(const Event& event);
  void check_regions(Location& location, const Event& event);
  void check_references(const Event& event);
  void check_attributes(const Event& event);
  void check_requests(Process& process, const Event& event);
  void start(Process& process, const Event& event, RequestKind kind, std::uint32_t of);
  void complete(Process& process, const Event& event, RequestKind kind, std::uint32_t of);
  void check_collectives(Process& process, std::uint32_t number, const Event& event);
  void take_part(std::uint32_t process, const Member& member);
  void pair(const Half& send, const Half& receive);
  void finish_messages();
  void finish_collectives();
  void finish_locations();

  const knowledge_sources::ArchiveDefinitions& definitions_;
  knowledge_sources::CommRanks ranks_;
  knowledge_sources::OpenCalls calls_;
  knowledge_sources::MessageMatcher matcher_;
  knowledge_sources::MessageTracker tracker_;
  knowledge_sources::ArchiveFaults faults_;
  std::unordered_map<std::uint64_t, Location> locations_;
  std::unordered_map<std::uint32_t, Process> processes_;
  std::unordered_map<std::uint32_t, std::uint64_t> events_of_process_;  // as announced
  std::map<std::uint32_t, Collectives> comms_;
  std::uint64_t events_ = 0, messages_ = 0, collectives_ = 0, unseen_messages_ = 0;
  std::uint64_t too_early_ = 0, most_too_early_ = 0;
  std::string most_too_early_where_;
};

}  // namespace ardoise::launcher

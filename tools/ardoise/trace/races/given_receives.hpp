// Finds out which wildcards the receives and probes of a trace had, from the attributes `ardoise::source`, `tag` and
// `recvtag` of the calls that posted them. For `ardoise trace races`.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "knowledge_sources/otf2/reader/archived_event.hpp"
#include "tools/ardoise/trace/races/vector_clock.hpp"

namespace ardoise::launcher {

// How a receive could choose its message.
struct GivenReceive {
  std::uint32_t region = knowledge_sources::kUndefined32;  // the choosing call: a receive, a start or a probe
  bool is_known = false;                                   // false: the trace lacks its arguments
  bool any_source = false, any_tag = false;
  // The probe that chose the message, otherwise the post; nullptr: the receive blocks.
  std::shared_ptr<CausalPoint> point;
  [[nodiscard]] bool is_probed() const { return point != nullptr && point->is_probe; }
  [[nodiscard]] bool has_wildcard() const { return any_source || any_tag; }
};

// Not thread safe. Takes the events of each location in order. If a probe with wildcards found a message, the receive
// of this message by the same thread counts as that probe, because the probe chose the message.
class GivenReceives {
 public:
  explicit GivenReceives(const knowledge_sources::ArchiveDefinitions& definitions);

  // False: the archive contains no arguments.
  [[nodiscard]] bool has_arguments() const { return !keys_.empty(); }

  // process: of the event's location. Returns the point if the event posts a receive, or ends a probe with wildcards
  // that found a message; otherwise nullptr.
  [[nodiscard]] std::shared_ptr<CausalPoint> event(const knowledge_sources::ArchivedEvent& event,
                                                   std::uint32_t process);
  // For a MpiRecv or MpiIrecv. Call it once for each.
  [[nodiscard]] GivenReceive completed(const knowledge_sources::ArchivedEvent& event, std::uint32_t process);
  // Communicator of the innermost open call, from its attributes; kUndefined32: unknown.
  [[nodiscard]] std::uint32_t comm_of_call(const knowledge_sources::ArchivedEvent& event) const;

  // Calls whose result depended on timing: tests, MPI_Waitany and MPI_Waitsome, MPI_Iprobe.
  struct Timed {
    std::uint64_t calls = 0, found = 0;
    std::set<std::uint32_t> processes;
  };
  [[nodiscard]] const std::map<std::uint32_t, Timed>& timed() const { return timed_; }  // by region

 private:
  enum class Key : std::uint8_t {
    kOther,
    kSource,
    kTag,
    kReceiveTag,
    kComm,
    kPeer,
    kPeerTag,
    kPrepared,
    kPersistent,
    kFlag,
    kIndex,
    kCompleted
  };
  struct Call {
    std::uint32_t region;
    std::optional<std::int64_t> source, tag, peer, peer_tag;
    std::uint32_t comm = knowledge_sources::kUndefined32;
    std::vector<std::uint64_t> starts;  // persistent requests
    std::size_t started = 0;            // number of their receives seen so far
    bool has_found = true;
  };
  struct Probed {
    std::uint32_t comm;
    std::int64_t peer, tag;
    GivenReceive given;
    bool is_matched;  // only MPI_Mrecv and MPI_Imrecv take it
  };
  struct Location {
    std::vector<Call> calls;
    std::deque<Probed> probed;  // not received yet
  };
  struct Process {
    std::unordered_map<std::uint64_t, GivenReceive> posted;    // by request
    std::unordered_map<std::uint64_t, GivenReceive> prepared;  // receives, by number
  };
  static constexpr std::size_t kMostProbed = 256;  // for each thread

  void enter(const knowledge_sources::ArchivedEvent& event, Location& location, Process& process, std::uint32_t number);
  [[nodiscard]] std::shared_ptr<CausalPoint> leave(Location& location);
  [[nodiscard]] std::shared_ptr<CausalPoint> post(const knowledge_sources::ArchivedEvent& event, Location& location,
                                                  Process& process);
  [[nodiscard]] GivenReceive given_of(const Call& call) const;
  [[nodiscard]] bool takes_probed(std::uint32_t region) const;  // MPI_Mrecv, MPI_Imrecv

  const knowledge_sources::ArchiveDefinitions& definitions_;
  std::unordered_map<std::uint32_t, Key> keys_;
  std::unordered_map<std::uint64_t, Location> locations_;
  std::unordered_map<std::uint32_t, Process> processes_;
  std::map<std::uint32_t, Timed> timed_;
};

}  // namespace ardoise::launcher

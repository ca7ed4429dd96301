// One thread of a traced process: converts its events to records of calls, samples and marks in the packs of its rank.
//
//   Enter MPI_Irecv, MpiIrecvRequest 7, Leave     a record that posts a receive; its content is known when it ends
//   Enter MPI_Wait, MpiIrecv 7 …, Leave           a record that completes, the completion; the first one is settled
//   Enter solve, Leave                            exact time of a function, by calling context (region_time.hpp)
//
// MPI events outside an MPI call are shown as a call without duration.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "instrument/format/event_format.hpp"
#include "knowledge_sources/otf2/packs/region_time.hpp"
#include "knowledge_sources/otf2/packs/traced_rank.hpp"
#include "knowledge_sources/otf2/reader/archived_event.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

// Not thread safe. The events of a location in order.
class TracedThread {
 public:
  TracedThread(TracedRank& rank, std::uint32_t number);

  void event(const ArchivedEvent& event);
  void sample(const ArchivedEvent& event);  // of a location that has the samples of the thread
  void flush();                             // sends region times
  void end();

 private:
  using Operation = TracedRank::Operation;
  struct Message {
    std::uint32_t comm;
    std::int32_t peer, tag;
    std::uint64_t bytes;
  };
  struct Collective {
    std::uint32_t comm;
    std::int32_t root;
    std::uint64_t sent, received;
  };
  struct WindowUse {
    std::uint32_t comm = instrument::kNoComm, number = 0;
    std::int32_t peer = instrument::kNoPeer;
    std::uint64_t bytes = 0, sent = 0;  // sent: in addition to the data of a kGet
    instrument::WindowAct act = instrument::WindowAct::kNone;
  };
  struct FileUse {
    std::uint32_t file = 0;
    std::uint64_t bytes = 0, matching = 0;
  };
  enum class From : std::uint8_t { kRequest, kAccess, kOneSided };  // kind of key of an operation
  struct Started {
    From from;
    std::pair<std::uint64_t, std::uint64_t> key;
    Operation operation;
  };
  struct MpiCall {
    bool is_open = false;
    std::uint16_t function = 0;
    bool is_mpi_io = false;
    std::uint32_t call_site = 0;
    std::uint32_t stack = 0;  // its calling context, if the event has one; 0: none
    std::uint64_t begin = 0;
    std::optional<Message> send, receive;
    std::optional<Collective> collective;
    std::optional<WindowUse> window;
    FileUse file;
    std::vector<Message> further_sends;
    std::vector<Started> started;
    std::vector<instrument::CompletionRecord> completions;
    std::uint64_t completed_bytes = 0;
    std::vector<std::int32_t> group;
    std::vector<instrument::MarkExtension> marks;  // received during the call
  };
  struct IoCall {
    bool is_open = false, ends_with_operation = false;
    std::uint16_t function = 0;
    std::uint32_t call_site = 0, stack = 0;
    std::uint64_t begin = 0;
    FileUse file;
  };
  enum class Opens : std::uint8_t { kNothing, kRegion, kMpi, kIo, kInit, kFinalize, kPhase };
  struct Open {
    std::uint32_t region;
    Opens what;
    CodePlace caller;  // of nested code
  };

  [[nodiscard]] bool is_in_begin_or_end() const;
  void enter(std::uint32_t region, std::uint32_t stack, std::uint64_t tick);
  void leave(std::uint32_t region, std::uint64_t tick);
  void close(const Open& open, std::uint64_t tick);
  void mpi_event(const ArchivedEvent& event, std::uint64_t tick);
  void add_mpi_event(const ArchivedEvent& event);
  void add_window_event(const ArchivedEvent& event);
  void io_event(const ArchivedEvent& event, std::uint64_t tick);
  void metric(const ArchivedEvent& event, std::uint64_t tick);
  void mark(instrument::MarkKind kind, std::uint32_t name, std::uint64_t value, std::uint64_t tick);

  void begin_mpi(std::uint16_t function, CodePlace place, bool is_mpi_io, std::uint64_t tick);
  void end_mpi(std::uint64_t tick);
  void begin_io(std::uint16_t function, CodePlace place, std::uint64_t tick);
  void end_io(std::uint64_t tick);
  // Operations of the open MPI call.
  void start(From from, std::pair<std::uint64_t, std::uint64_t> key, Operation operation);
  [[nodiscard]] bool complete(From from, std::pair<std::uint64_t, std::uint64_t> key, const Operation& end);
  void settle(const Operation& operation);
  // The previous probe has taken this message.
  void settle_probe(std::uint64_t record, const Message& message);
  void write_record(std::uint64_t duration);
  void write_behind();
  [[nodiscard]] CodePlace caller() const { return open_.empty() ? CodePlace{} : open_.back().caller; }
  [[nodiscard]] std::uint32_t context_of(std::uint32_t archived);
  [[nodiscard]] std::uint32_t stack_of(const ArchivedEvent& event);
  [[nodiscard]] std::uint32_t comm_of(std::uint32_t reference);

  TracedRank& rank_;
  const TracedProgram& program_;
  const std::uint32_t number_;
  const bool has_times_;  // of regions
  TracedContexts contexts_;
  RegionTime times_;
  ContextCalls calls_;
  std::vector<Open> open_;
  MpiCall call_;
  IoCall io_;
  std::uint64_t last_tick_ = 0, last_begin_ = 0;
  std::optional<std::uint64_t> probe_;  // record of the last MPI_Mprobe or MPI_Improbe, whose message is unknown
  std::uint32_t known_comm_ = kUndefined32, known_number_ = 0;
  std::unordered_map<std::uint32_t, std::uint32_t> archived_contexts_;
  std::vector<instrument::SampleRecord> samples_;
};

}  // namespace ardoise::knowledge_sources

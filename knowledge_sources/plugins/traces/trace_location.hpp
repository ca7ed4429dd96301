// One location of a trace, a thread of a rank: converts its calls, in the order of time, to OTF2's events. Events in
// addition to Enter and Leave:
//
//   MPI_Send           MpiSend                MPI_Isend, MPI_Start   MpiIsend … MpiIsendComplete
//   MPI_Recv           MpiRecv                MPI_Irecv, MPI_Start   MpiIrecvRequest … MpiIrecv
//   MPI_Allreduce      MpiCollectiveBegin,    MPI_Iallreduce         NonBlockingCollectiveRequest …
//                      MpiCollectiveEnd                              NonBlockingCollectiveComplete
//   read, fsync        IoOperationBegin,      MPI_File_iread         IoOperationBegin, IoOperationIssued …
//                      IoOperationComplete                           IoOperationComplete
//   MPI_Put            RmaPut …               MPI_Win_fence          RmaCollectiveBegin, RmaOpComplete…,
//                                                                    RmaCollectiveEnd
//
// Marks: a snapshot and MPI_Pcontrol are ParameterInt with the number, a value is a Metric, a phase is a region. Sends
// are at the begin of their calls, receives and other completions at the end.
//
// Time never decreases: late events are moved to the location's current time, and counted. A call is left when the next
// one arrives, since its completions may be in a later pack. Not thread safe.
#pragma once

#include <otf2/OTF2_EvtWriter.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/matching/started.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/otf2/writer/rank_texts.hpp"
#include "knowledge_sources/otf2/writer/trace_part.hpp"
#include "knowledge_sources/otf2/writer/trace_tables.hpp"
#include "knowledge_sources/plugins/traces/call_attributes.hpp"
#include "knowledge_sources/plugins/traces/call_stacks.hpp"
#include "knowledge_sources/plugins/traces/message_numbers.hpp"
#include "knowledge_sources/plugins/traces/trace_windows.hpp"

namespace ardoise::knowledge_sources {

// Common data of the locations of a rank: its clock, and operations that one thread may start and another complete.
class TraceRankState {
 public:
  enum class Of : std::uint8_t { kSend, kReceive, kCollective, kFile, kOneSided };
  struct Operation {
    Of of;
    bool is_followed = false;  // kOneSided: by `windows`, too
    std::uint32_t number;      // id of its request in the trace
    std::uint32_t comm, function, handle;
    std::int32_t root;
    std::uint64_t sent, received;
  };

  // Assigns a number.
  [[nodiscard]] std::uint32_t start(std::uint64_t tick, Operation operation);
  // The operation started at this tick, which has ended. nullopt: another thread started it and has not been read so
  // far, or it is not in the trace.
  [[nodiscard]] std::optional<Operation> end(std::uint64_t tick) { return started_.take(tick); }
  // The number of an operation started at this tick that has not ended.
  [[nodiscard]] std::optional<std::uint32_t> number_of(std::uint64_t tick) const {
    const Operation* const operation = started_.find(tick);
    return operation != nullptr ? std::optional(operation->number) : std::nullopt;
  }
  // The number for an operation without a request; the caller increments it.
  [[nodiscard]] std::uint32_t& next_number() { return numbers_; }
  // For an operation whose start comes later.
  [[nodiscard]] std::uint32_t number_before_start(std::uint64_t tick);
  [[nodiscard]] std::uint64_t open_operations() const {
    return started_.size() + early_.size() + windows.open_operations();
  }

  // The number of a persistent request created at this tick.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t tick) {
    const std::uint64_t number = prepared_count_++;
    if (prepared_.size() < kMostPrepared) prepared_.try_emplace(tick, number);
    return number;
  }
  [[nodiscard]] std::optional<std::uint64_t> prepared_at(std::uint64_t tick) const {
    const auto found = prepared_.find(tick);
    return found != prepared_.end() ? std::optional(found->second) : std::nullopt;
  }

  // MPI_Mprobe has taken a message that MPI_Mrecv receives.
  void take_message(const MessageKey& message, MessageNumbers::Number number);
  [[nodiscard]] MessageNumbers::Number taken(const MessageKey& message);

  void use_communicator(std::uint32_t number);
  void use_datatype(std::uint32_t number) { datatypes_.insert(number); }
  [[nodiscard]] const std::set<std::uint32_t>& datatypes() const { return datatypes_; }
  void use_handle(std::uint32_t handle) { handles_.try_emplace(handle, true); }
  void add_uses(std::uint32_t rank, TraceTables& tables) const;

  // Operations may have been started in an earlier part; numbers must differ from those there.
  void follow_others() {
    several_threads = true;
    numbers_ = 1u << 31;
    windows.follow_others();
    messages.stop();
  }

  TraceClock clock{};
  TraceWindows windows;
  MessageNumbers messages;
  RankTexts texts;
  std::uint64_t used_attributes = 0;  // bits, by key
  bool several_threads = false;       // several threads make MPI calls: not all starts may have been read

 private:
  static constexpr std::size_t kMostEarlyEnds = 65536, kMostTaken = 4096, kMostPrepared = 1 << 20;
  StartedList<Operation> started_;
  std::unordered_map<std::uint64_t, std::uint32_t> early_;  // ends that came before their starts: numbers, by tick
  std::vector<std::pair<MessageKey, MessageNumbers::Number>> taken_;  // messages not received yet
  std::unordered_map<std::uint64_t, std::uint64_t> prepared_;         // persistent requests, by tick
  std::uint64_t prepared_count_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint32_t last_communicator_ = UINT32_MAX;
  std::unordered_map<std::uint32_t, bool> communicators_, handles_;  // in use
  std::set<std::uint32_t> datatypes_;                                // in use
};

class TraceLocation {
 public:
  // Each argument outlives it.
  TraceLocation(TracePart& part, const TraceSelection& selection, TraceRankState& rank, std::uint64_t location,
                TraceLosses& losses);

  // MPI_Init, which has no record; before all else.
  void add_init(std::uint64_t begin_tick, std::uint64_t end_tick);
  void add(const instrument::MpiEvent& event);
  void add(const instrument::CompletionRecord& record);
  void add(const instrument::StartedExtension& record);
  void add(const instrument::GroupExtension& record);
  void add(const instrument::ArgumentsExtension& some) {
    if (selection_.attributes().has(AttributeClass::kArguments)) attributes_.add(some);
  }
  void add(const instrument::ContextExtension& context) {
    if (selection_.attributes().has(AttributeClass::kStacks)) stacks_.add(context);
  }
  void add(const instrument::MarkExtension& mark);
  void add(const instrument::PosixRecord& record);
  // After the last call: the number of events, first and last time.
  [[nodiscard]] TraceTables::Thread end();
  // Calling contexts of its calls.
  [[nodiscard]] const std::set<std::uint32_t>& used_contexts() const { return stacks_.used(); }

 private:
  enum class Ends : std::uint8_t { kNothing, kReceive, kCollective, kFile, kWindow };
  // A call that has not been left.
  struct Call {
    bool is_open = false, is_written = false;
    Ends ends = Ends::kNothing;
    std::uint32_t region = 0, function = 0, comm = 0, handle = 0, matching = 0;
    std::int32_t peer = 0, tag = 0;
    std::uint64_t begin = 0, end = 0, sent = 0, received = 0;
    MessageNumbers::Number sent_as{}, received_as{}, met_as{};
  };
  struct KnownRegion {
    std::uint64_t key = UINT64_MAX;
    std::uint32_t number = 0;
  };

  // Writes an event with one of OTF2's functions.
  template <class Function, class... Fields>
  void write(Function function, Fields... fields) {
    write_with(nullptr, function, fields...);
  }
  // The same with attributes, which are taken from the list.
  template <class Function, class... Fields>
  void write_with(OTF2_AttributeList* attributes, Function function, Fields... fields) {
    if (part_.is_good()) part_.check(function(writer_, attributes, fields...));
  }
  template <class Function, class... Fields>
  void write_message(MessageNumbers::Number number, Function function, Fields... fields) {
    write_numbered(kMessageAttribute, number, function, fields...);
  }
  template <class Function, class... Fields>
  void write_numbered(std::uint32_t key, MessageNumbers::Number number, Function function, Fields... fields) {
    write_with(number ? attributes_.alone(key, *number, rank_.used_attributes) : nullptr, function, fields...);
  }
  // Numbers messages of the call, or of operations that it starts (trace_location_messages.cpp).
  void number_messages(const instrument::MpiEvent& event);
  void number_started(const instrument::MpiRecord& operation);
  [[nodiscard]] MessageNumbers::Number number_ended(const instrument::CompletionRecord& record, bool is_send);
  [[nodiscard]] std::uint64_t move_to(std::uint64_t time);
  [[nodiscard]] std::uint32_t region_of(const TraceRegion& region);
  void write_begin(const instrument::MpiEvent& event);
  void write_end();
  void close_call();
  void write_end_of(const instrument::CompletionRecord& record, std::uint64_t time);
  void write_start(std::uint64_t time, std::uint64_t tick, const instrument::MpiRecord& record, std::uint64_t sent,
                   std::uint64_t received);
  [[nodiscard]] std::uint32_t start(std::uint64_t tick, const TraceRankState::Operation& operation);
  // One-sided communication (trace_location_windows.cpp).
  void write_one_sided(std::uint64_t time, const instrument::MpiRecord& record, std::uint64_t bytes, std::uint64_t id);
  void begin_window_call(const instrument::MpiEvent& event);
  void end_window_call();
  void write_ended(std::uint64_t time, std::uint32_t window, const TraceWindows::Ended& ended);
  // Filters: phases=, from=, to=, min= and functions=.
  [[nodiscard]] bool has_call(bool is_posix, std::uint32_t function, std::uint64_t begin_tick,
                              std::uint64_t end_tick) const;
  // Notes the calling context of a written call; 0: unknown.
  void use_context(std::uint32_t context);
  void follow_phases(const instrument::MarkExtension& mark);
  void begin_phase(std::uint64_t time, std::uint32_t name);
  void end_phase(std::uint64_t time, std::uint32_t name);

  TracePart& part_;
  const TraceSelection& selection_;
  TraceRankState& rank_;
  TraceLosses& losses_;
  OTF2_EvtWriter* const writer_;
  std::uint64_t first_ = UINT64_MAX, last_ = 0;  // times
  Call call_;
  std::vector<instrument::CompletionRecord> completions_;  // of the call
  std::vector<std::int32_t> group_;                        // of the call
  CallAttributes attributes_;
  CallStacks stacks_;
  std::uint32_t io_number_ = 0;
  std::vector<std::uint32_t> phases_;         // regions of open phases
  std::vector<std::uint32_t> chosen_phases_;  // names of open phases that are selected
  std::array<KnownRegion, 64> known_regions_{};
};

}  // namespace ardoise::knowledge_sources

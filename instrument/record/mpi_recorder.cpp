// Records one MPI call: record() classifies it and writes its records. Work that not every call needs depends on a flag
// of the function's plan.
#include "instrument/record/mpi_recorder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "instrument/format/event_reader.hpp"
#include "instrument/format/role_shape.hpp"
#include "instrument/record/argument_records.hpp"
#include "vmpi/wrappers/call_arguments.hpp"
#include "vmpi/wrappers/type_runs.hpp"

namespace ardoise::instrument {
namespace {

using vmpi::Call;
using vmpi::FunctionId;
using vmpi::Role;

// Compile-time digest of the function table, with the facts that record() needs about a function.
struct Plan {
  Role role;
  Shape shape;
  bool is_plain;  // one record, all of whose values are in the call, and the requests that it starts or completes
  bool starts_request;
  bool persistent;
  bool is_query;
  bool makes_or_ends_objects;  // communicators, windows, files
  bool is_collective;          // counts in the order of its communicator
};

constexpr bool handles_objects(const vmpi::FunctionTraits& traits) {
  const std::string_view category = traits.category, name = traits.name;
  return traits.role == Role::kLocal &&
         (category == "communicator" || category == "topology" || category == "process" || category == "one-sided" ||
          category == "io" || name == "MPI_Cancel" || name == "MPI_Type_free");
}

// Operations other than data movement that all ranks of a communicator call in the same order as the collectives.
constexpr FunctionId kNumbered[] = {FunctionId::kComm_dup,
                                    FunctionId::kComm_dup_with_info,
                                    FunctionId::kComm_idup,
                                    FunctionId::kComm_idup_with_info,
                                    FunctionId::kComm_split,
                                    FunctionId::kComm_split_type,
                                    FunctionId::kComm_create,
                                    FunctionId::kIntercomm_create,
                                    FunctionId::kIntercomm_merge,
                                    FunctionId::kCart_create,
                                    FunctionId::kCart_sub,
                                    FunctionId::kGraph_create,
                                    FunctionId::kDist_graph_create,
                                    FunctionId::kDist_graph_create_adjacent,
                                    FunctionId::kWin_create,
                                    FunctionId::kWin_allocate,
                                    FunctionId::kWin_allocate_shared,
                                    FunctionId::kWin_create_dynamic,
                                    FunctionId::kFile_open};

// Starts of persistent collectives need no order.
constexpr bool is_numbered(const vmpi::FunctionTraits& traits) {
  return !traits.persistent &&
         (traits.role == Role::kCollective || traits.role == Role::kRooted || traits.role == Role::kNeighbour);
}

constexpr bool is_plain(const vmpi::FunctionTraits& traits) {
  const std::string_view name = traits.name;
  const bool has_message = name.starts_with("MPI_M") || name.starts_with("MPI_Im");  // Mprobe, Imrecv …
  if (traits.persistent || traits.is_query || handles_objects(traits) || has_message) return false;
  constexpr Role kPlain[] = {Role::kSend,      Role::kReceive,    Role::kPostReceive, Role::kProbe,
                             Role::kCompletes, Role::kCollective, Role::kRooted};
  return std::find(std::begin(kPlain), std::end(kPlain), traits.role) != std::end(kPlain);
}

constexpr auto kPlans = [] {
  std::array<Plan, vmpi::kFunctionCount> plans{};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[i];
    plans[i] = {
        traits.role,     shape_of_role(traits.role), is_plain(traits),   traits.starts_request, traits.persistent,
        traits.is_query, handles_objects(traits),    is_numbered(traits)};
  }
  for (const FunctionId function : kNumbered) plans[static_cast<std::size_t>(function)].is_collective = true;
  return plans;
}();

std::int32_t format_peer(std::int32_t peer) {
  if (peer >= 0) [[likely]]
    return peer;
  if (peer == MPI_ANY_SOURCE) return kAnySource;
  if (peer == MPI_ROOT) return kRootGroup;
  return kNoPeer;
}
std::int32_t format_tag(std::int32_t tag) { return tag == MPI_ANY_TAG ? kAnyTag : tag; }
std::uint64_t size_of(std::int64_t bytes) { return static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)); }
std::uint32_t narrow(std::uint64_t value) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, kWide)); }

std::uint32_t extension_word(ExtensionKind kind, FunctionId function) {
  return make_word(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(function), Shape::kExtension);
}

// Only the word, which identifies the operation.
MpiRecord operation_of(const Request& request) { return {0, 0, 0, 0, 0, 0, request.operation}; }

std::uint32_t word_of_collective(const Plan& plan, const Call& call) {
  return collective_word(static_cast<std::uint32_t>(call.function),
                         plan.role == Role::kRooted ? format_peer(call.peer) : kNoPeer);
}

WindowAct act_of(const Call& call) {
  if (call.result != MPI_SUCCESS) return WindowAct::kNone;
  if (call.function == FunctionId::kWin_lock)
    return call.tag == MPI_LOCK_EXCLUSIVE ? WindowAct::kExclusive : WindowAct::kShared;
  return call.function == FunctionId::kWin_test && call.completed_count == 1 ? WindowAct::kEnded : WindowAct::kNone;
}

}  // namespace

struct MpiRecorder::Ended {
  ThreadRecorder& thread;
  const Call& call;
  std::uint64_t end;
};

// A call while it is turned into records.
struct MpiRecorder::Event : Ended {
  std::uint64_t sent, received;  // moved by this call itself, for the totals
  std::uint32_t comm, window;
  std::uint32_t call_site;
  std::int32_t peer, tag;
  Shape shape;
  bool has_receive_half = false;
  std::uint32_t collective = 0;  // as in RecentCall

  [[nodiscard]] std::uint64_t duration() const { return end - call.begin; }
  void is_from(const MPI_Status& status) {
    peer = format_peer(status.MPI_SOURCE);
    tag = format_tag(status.MPI_TAG);
  }
  // Takes the values that are known only at the end of the call.
  void take_outcome(Role role) {
    const bool receives = role == Role::kReceive || role == Role::kPostReceive || role == Role::kProbe;
    if (role == Role::kCompletes || (role == Role::kProbe && call.completed_count != 1)) {
      peer = kNoPeer;
      if (role == Role::kCompletes) tag = call.completed_count;
    } else if (receives && call.statuses != nullptr && call.result == MPI_SUCCESS) {
      is_from(*call.statuses);
    }
  }
  // The record's `bytes`: the bytes of its own direction.
  [[nodiscard]] std::uint64_t bytes() const {
    switch (shape) {
      case Shape::kReceive:
      case Shape::kPostReceive:
      case Shape::kProbe:
      case Shape::kGet:
      case Shape::kFileRead:
        return received;
      default:
        return sent;
    }
  }
  // The call's own record; a WideExtension has what does not fit into it.
  [[nodiscard]] MpiRecord record() const {
    return {call.begin,
            narrow(duration()),
            call_site,
            peer,
            goes_both_ways(shape) ? static_cast<std::int32_t>(narrow(received)) : tag,
            narrow(bytes()),
            make_word(comm, static_cast<std::uint32_t>(call.function), shape)};
  }
  // The operation that the call starts, or prepares if it is persistent.
  [[nodiscard]] Request request(bool persistent) const {
    return {.post_begin = call.begin,
            .post_end = end,
            .made = call.begin,
            .sent = sent,
            .received = received,
            .operation = make_word(comm, static_cast<std::uint32_t>(call.function), shape),
            .call_site = call_site,
            .peer = peer,
            .tag = tag,
            .thread = thread.number(),
            .collective = collective,
            .persistent = persistent,
            .active = !persistent};
  }
  void add_to_totals() const {
    FunctionTotals& totals = thread.mpi_totals(static_cast<std::uint32_t>(call.function));
    FunctionTotals::add(totals.calls, 1);
    FunctionTotals::add(totals.ticks, duration());
    // A posted receive has moved nothing yet, a probe never does.
    if (shape == Shape::kPostReceive || shape == Shape::kProbe) return;
    FunctionTotals::add(totals.bytes_sent, sent);
    FunctionTotals::add(totals.bytes_received, received);
    FunctionTotals::add(totals.bytes, sent != 0 ? sent : received);
    thread.call_sums.bytes_sent += sent;
    thread.call_sums.bytes_received += received;
  }
};

void MpiRecorder::record(ThreadRecorder& thread, const Call& call, std::uint64_t end) {
  const auto function = static_cast<std::uint16_t>(call.function);
  const Plan& plan = kPlans[function];
  thread.call_sums = {1, end - call.begin, 0, 0};
  thread.begin_call();
  const std::uint32_t site = site_for_record(recorder_.call_site(thread, call.return_address));
  const std::uint32_t comm = comm_of(thread, call);
  if (vmpi::type_runs::shortest != 0) [[unlikely]]
    short_runs_.note(site, std::exchange(vmpi::type_runs::shortest, 0));
  const auto event = [&] {
    return Event{{thread, call, end},    size_of(call.bytes_sent), size_of(call.bytes_received),
                 comm & kNoComm,         comm >> kCommBits,        site,
                 format_peer(call.peer), format_tag(call.tag),     plan.shape};
  };
  const bool is_short = ((end - call.begin) | size_of(call.bytes_sent) | size_of(call.bytes_received)) < kWide;
  if (!plan.is_plain || !is_short || call.result != MPI_SUCCESS || call.arguments != nullptr)
    return record_rare(event());
  Event plain = event();  // passed to no other function: it stays in registers
  if (plan.is_collective && call.comm != MPI_COMM_NULL)
    plain.collective = 1 + communicators_.begin_collective(plain.comm, word_of_collective(plan, call));
  plain.take_outcome(plan.role);
  if (plan.starts_request && call.request_count == 1)
    (void)recorder_.requests.post_made(handle_value(call.requests[0]), [&] { return plain.request(false); });
  *thread.mpi_room(1, call.begin, end) = plain.record();
  plain.add_to_totals();
  if (plan.role == Role::kCompletes) write_completions({thread, call, end});
}

void MpiRecorder::record_rare(Event event) {
  ThreadRecorder& thread = event.thread;
  const Call& call = event.call;
  const Plan& plan = kPlans[static_cast<std::uint16_t>(call.function)];
  if (plan.is_query && record_counted(event)) return;
  if (call.result != MPI_SUCCESS && plan.role != Role::kCompletes) [[unlikely]] {
    event.sent = event.received = 0;
    if (plan.role != Role::kRooted) event.peer = kNoPeer;
  }

  if (plan.is_collective && call.comm != MPI_COMM_NULL)
    event.collective = 1 + communicators_.begin_collective(event.comm, word_of_collective(plan, call));
  if (plan.makes_or_ends_objects) [[unlikely]] {
    const std::uint32_t file = file_of(thread, call);  // before it is closed
    follow_objects(event);
    if (call.window != MPI_WIN_NULL && plan.role == Role::kLocal) {
      const std::uint32_t made =
          id_of(thread, HandleKind::kWindow, handle_value(call.window), event.window << kCommBits | event.comm);
      event.tag = window_tag(made >> kCommBits, WindowAct::kNone);
    }
    if (call.file != MPI_FILE_NULL && plan.role == Role::kLocal)
      event.peer = static_cast<std::int32_t>(file != Files::kUnknown ? file : file_of(thread, call));
  }
  if (call.arguments != nullptr) [[unlikely]]
    write_arguments(event);
  if ((plan.role == Role::kReceive || plan.role == Role::kPostReceive) && call.message != MPI_MESSAGE_NULL)
    receive_probed(event);
  event.take_outcome(plan.role);
  switch (plan.role) {
    case Role::kProbe:
      if (call.completed_count == 1 && call.message != MPI_MESSAGE_NULL && call.message != MPI_MESSAGE_NO_PROC)
        post(event, handle_value(call.message), false);
      break;
    case Role::kSendReceive:
      if (!plan.starts_request) {
        event.has_receive_half = true;
      } else if (call.request_count == 1) {  // MPI_Isendrecv: sends now, and waits for the receive
        Event half = event;
        half.shape = Shape::kPostReceive;
        half.peer = format_peer(call.source);
        half.tag = format_tag(call.receive_tag);
        post(half, handle_value(call.requests[0]), false);
        event.received = 0;
        return write(event);
      }
      break;
    case Role::kStart:
      if (call.function == FunctionId::kStart) return write_started(event);
      break;
    case Role::kFileRead:
    case Role::kFileWrite:
      event.peer = static_cast<std::int32_t>(file_of(thread, call));
      break;
    case Role::kPut:
    case Role::kGet:
    case Role::kWindow:
      event.tag = window_tag(event.window, act_of(call));
      break;
    default:
      break;
  }
  if (plan.persistent) [[unlikely]] {
    // Only prepared: moves nothing yet.
    if (call.request_count == 1) post(event, handle_value(call.requests[0]), true);
    event.shape = Shape::kLocal;
    event.sent = event.received = 0;
    return write(event);
  }
  if (plan.starts_request && call.request_count == 1) post(event, handle_value(call.requests[0]), false);
  // The received bytes are known, and counted, only at completion.
  if (plan.role == Role::kFileRead && plan.starts_request) event.received = 0;
  write(event);
  if (call.function == FunctionId::kPcontrol) [[unlikely]]
    thread.add_mark({event.end,
                     static_cast<std::uint64_t>(std::int64_t{call.tag}),
                     0,
                     event.call_site,
                     MarkKind::kPcontrol,
                     {},
                     kMarkWord});
  if (plan.role == Role::kNeighbour) [[unlikely]]
    write_neighbours(event);
  if (plan.role == Role::kCompletes) write_completions(event);
  if (plan.role == Role::kStart) [[unlikely]]
    write_started(event);
  if (plan.role == Role::kWindow && call.group != MPI_GROUP_NULL) [[unlikely]]
    write_group(event);
}

std::size_t MpiRecorder::open_call(const Call& call, std::uint64_t tick, std::span<RecentCall> parts) {
  const Plan& plan = kPlans[static_cast<std::uint16_t>(call.function)];
  const Shape shape = shape_of_role(plan.role);
  const bool receives = shape == Shape::kReceive || shape == Shape::kPostReceive;
  const std::uint32_t comm =
      call.comm == MPI_COMM_NULL
          ? kNoComm
          : recorder_.handles.find_at_once(handle_key(HandleKind::kComm, handle_value(call.comm)), kNoComm);
  const std::uint32_t word = make_word(comm, static_cast<std::uint32_t>(call.function), shape);
  const std::uint64_t ticks = tick - call.begin;
  parts[0] = {call.begin,
              ticks,
              size_of(receives ? call.bytes_received : call.bytes_sent),
              word,
              0,
              format_peer(call.peer),
              format_tag(call.tag),
              kOpenCall,
              plan.is_collective && comm != kNoComm ? 1 + communicators_.begun(comm) : 0};
  std::size_t count = 1;
  if (plan.role == Role::kSendReceive && count < parts.size()) {
    parts[count++] = {call.begin,
                      ticks,
                      size_of(call.bytes_received),
                      make_word(comm, static_cast<std::uint32_t>(call.function), Shape::kReceive),
                      0,
                      format_peer(call.source),
                      format_tag(call.receive_tag),
                      kPendingPart | kMayBeDone,
                      0};
    parts[0].flags |= kMayBeDone;
  }
  if (plan.role != Role::kCompletes || call.requests == nullptr) return count;
  for (int i = 0; i < call.request_count; ++i) {
    const std::uint64_t handle = handle_value(call.requests[i]);
    if (call.requests[i] == MPI_REQUEST_NULL || recorder_.requests.is_shared(handle)) continue;
    const std::optional<Request> request = recorder_.requests.look_up(handle, call.begin);
    if (request && !request->active) continue;
    const std::optional<bool> is_complete = queries_.is_complete(handle);
    if (is_complete == true) continue;
    if (count == parts.size() || !request) {  // a request whose start was not seen
      parts[0].flags |= kPartsMissing;
      continue;
    }
    parts[count++] = {request->post_begin,
                      tick - request->post_begin,
                      std::max(request->sent, request->received),
                      request->operation,
                      request->call_site,
                      request->peer,
                      request->tag,
                      kPendingPart | (is_complete ? 0u : kMayBeDone),
                      request->collective};
  }
  return count;
}

// Records a query and the counted ones from its place as one sum. False: record it like any call.
bool MpiRecorder::record_counted(const Event& event) {
  const auto function = static_cast<std::uint32_t>(event.call.function);
  QueryCounts::Place* const place = event.thread.queries.timed(event.call.return_address, function, event.duration());
  if (place == nullptr) return false;
  const CallSums sums{place->pending + 1, event.duration() + place->pending * place->shortest, 0, 0};
  if (!recorder_.add_queries(event.thread, function, event.call_site, sums, event.call.begin, event.end)) return false;
  place->pending = 0;
  event.thread.call_sums = sums;
  return true;
}

void MpiRecorder::write(const Event& event) {
  const Call& call = event.call;
  const std::uint64_t duration = event.duration(), bytes = event.bytes();
  const std::uint64_t received = goes_both_ways(event.shape) ? event.received : 0;
  const bool wide = duration >= kWide || bytes >= kWide || received >= kWide;

  const std::size_t count = 1u + (wide ? 1u : 0u) + (event.has_receive_half ? 1u : 0u);
  MpiRecord* out = event.thread.mpi_room(count, call.begin, event.end);
  *out++ = event.record();
  if (wide) [[unlikely]] {
    *out++ = std::bit_cast<MpiRecord>(
        WideExtension{duration, bytes, received, 0, extension_word(ExtensionKind::kWideValues, call.function)});
  }
  if (event.has_receive_half) {
    const MPI_Status* const status = call.result == MPI_SUCCESS ? call.statuses : nullptr;
    *out++ = std::bit_cast<MpiRecord>(
        ReceiveHalfExtension{event.received, format_peer(status != nullptr ? status->MPI_SOURCE : MPI_PROC_NULL),
                             format_tag(status != nullptr ? status->MPI_TAG : call.receive_tag), 0, 0,
                             extension_word(ExtensionKind::kReceiveHalf, call.function)});
  }
  event.add_to_totals();
}

void MpiRecorder::post(const Event& event, std::uint64_t handle, bool persistent) {
  (void)recorder_.requests.post(handle, event.request(persistent));
}

// For MPI_Mrecv and MPI_Imrecv: the message that MPI_Mprobe found.
void MpiRecorder::receive_probed(Event& event) {
  const auto probed = recorder_.requests.complete(handle_value(event.call.message), event.call.begin);
  if (!probed || event.call.result != MPI_SUCCESS) return;
  event.comm = operation_of(*probed).comm();
  event.peer = probed->peer;
  event.tag = probed->tag;
}

void MpiRecorder::write_neighbours(const Event& event) {
  const Call& call = event.call;
  if (call.neighbours == nullptr || call.result != MPI_SUCCESS) return;
  const auto count = static_cast<std::uint64_t>(std::max(call.neighbour_count, 1));
  for (int i = 0; i < call.neighbour_count; ++i) {
    const std::int32_t destination = format_peer(call.neighbours[i]);
    if (destination == kNoPeer) continue;
    const std::uint64_t bytes = call.neighbour_bytes != nullptr ? size_of(call.neighbour_bytes[i]) : event.sent / count;
    *event.thread.mpi_room(1, call.begin, event.end) = std::bit_cast<MpiRecord>(NeighbourExtension{
        bytes, destination, event.comm, call.begin, 0, extension_word(ExtensionKind::kNeighbourPart, call.function)});
  }
}

void MpiRecorder::write_group(const Event& event) {
  const Call& call = event.call;
  if (call.result != MPI_SUCCESS) return;
  std::array<int, 8 * GroupExtension::kMost> some{};
  for (std::size_t first = 0, count = some.size(); count == some.size(); first += count) {
    count = queries_.window_ranks(call.window, call.group, first, some);
    for (std::size_t i = 0; i < count; i += GroupExtension::kMost) {
      GroupExtension ranks{};
      ranks.count = static_cast<std::uint32_t>(std::min<std::size_t>(count - i, GroupExtension::kMost));
      std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(i), ranks.count, ranks.ranks);
      ranks.word = extension_word(ExtensionKind::kGroup, call.function);
      *event.thread.mpi_room(1, call.begin, event.end) = std::bit_cast<MpiRecord>(ranks);
    }
  }
}

// MPI_Start becomes a record like that of the operation it starts; those of MPI_Startall follow its own record.
void MpiRecorder::write_started(Event& event) {
  const Call& call = event.call;
  const bool single = call.function == FunctionId::kStart;
  for (int i = 0; i < call.request_count && call.result == MPI_SUCCESS; ++i) {
    const std::uint64_t id = call.begin + static_cast<std::uint64_t>(i);
    const auto request = recorder_.requests.start(handle_value(call.requests[i]), id, event.call_site,
                                                  static_cast<std::uint32_t>(call.function));
    if (!request) continue;
    const auto operation = MpiRecord{0, 0, 0, 0, 0, 0, request->operation};
    const bool receives = operation.shape() == Shape::kPostReceive;
    if (single) {
      event.shape = operation.shape();
      event.comm = operation.comm();
      event.peer = request->peer;
      event.tag = request->tag;
      event.sent = request->sent;
      event.received = request->received;
      break;
    }
    const std::uint64_t bytes = receives ? 0 : request->sent;
    *event.thread.mpi_room(1, call.begin, event.end) =
        std::bit_cast<MpiRecord>(StartedExtension{id, bytes, request->peer, request->tag, request->operation,
                                                  extension_word(ExtensionKind::kStarted, call.function)});
    if (receives) continue;
    FunctionTotals& totals = event.thread.mpi_totals(static_cast<std::uint32_t>(call.function));
    FunctionTotals::add(totals.bytes_sent, request->sent);
    FunctionTotals::add(totals.bytes_received, request->received);
    FunctionTotals::add(totals.bytes, request->sent != 0 ? request->sent : request->received);
    event.thread.call_sums.bytes_sent += request->sent;
    event.thread.call_sums.bytes_received += request->received;
  }
  if (single) write(event);
}

void MpiRecorder::write_completions(const Ended& ended) {
  const Call& call = ended.call;
  if (call.function == FunctionId::kRequest_free) {
    // The end of a freed request is not seen. An active one still moves its bytes, which are counted if they were sent.
    // A send needs no waiter; the bytes of a receive stay unknown.
    if (call.completed_count != 1) return;
    const auto request = recorder_.requests.forget(handle_value(call.requests[0]), call.begin, ended.thread.number());
    if (request && request->active && operation_of(*request).shape() == Shape::kSend)
      write_completion(ended, *request, kNoPeer, request->tag, 0);
    return;
  }
  for (int i = 0; i < call.completed_count; ++i) {
    const int index = call.completed_indices != nullptr ? call.completed_indices[i] : i;
    if (index < 0 || index >= call.request_count) continue;
    if (call.requests[index] == MPI_REQUEST_NULL) continue;
    complete(ended, handle_value(call.requests[index]), call.statuses != nullptr ? call.statuses + i : nullptr);
  }
}

// The empty status of the standard, or zeros, which a message of 0 bytes from rank 0 has, too.
bool MpiRecorder::is_empty(const MPI_Status& status, std::uint32_t function, std::uint64_t bytes) const {
  if (status.MPI_SOURCE == MPI_ANY_SOURCE) return true;
  const bool sends_too = function == static_cast<std::uint32_t>(FunctionId::kIsendrecv) ||
                         function == static_cast<std::uint32_t>(FunctionId::kIsendrecv_replace);
  return queries_.has_zero_statuses && sends_too && status.MPI_SOURCE == 0 && status.MPI_TAG == 0 && bytes == 0;
}

void MpiRecorder::report_empty_statuses() {
  if (has_reported_empty_.exchange(true, std::memory_order_relaxed)) return;
  (void)recorder_.definitions.add(
      NoticeDefinition{1, 0},
      std::string_view("MPI does not report the results of some receives (MPICH 4.0: MPI_Isendrecv): their senders and "
                       "tags are those of the call, and their bytes are the size of the buffer; the sender or tag of "
                       "a wildcard is unknown."));
}

void MpiRecorder::complete(const Ended& ended, std::uint64_t handle, const MPI_Status* status) {
  const auto request = recorder_.requests.complete(handle, ended.call.begin, ended.thread.number());
  if (!request) return;
  const MpiRecord operation = operation_of(*request);
  const bool receives = operation.shape() == Shape::kPostReceive, reads = operation.shape() == Shape::kFileRead;
  std::int32_t peer = kNoPeer, tag = request->tag;
  std::uint64_t bytes = 0;
  const bool cancelled = has_cancelled_.load(std::memory_order_relaxed) && status != nullptr &&
                         (receives || operation.shape() == Shape::kSend) && queries_.is_cancelled(*status);
  if ((receives || reads) && status != nullptr && !cancelled) {
    bytes = size_of(queries_.received_bytes(*status));
    if (receives && is_empty(*status, operation.function(), bytes)) [[unlikely]] {
      report_empty_statuses();
      if (request->peer >= 0 && request->tag >= 0) {
        peer = request->peer;
        bytes = request->received;
      }
    } else if (receives && status->MPI_SOURCE >= 0) {  // otherwise MPI_PROC_NULL, with any tag
      peer = status->MPI_SOURCE;
      tag = status->MPI_TAG;
    }
    FunctionTotals& totals = ended.thread.mpi_totals(operation.function());
    FunctionTotals::add(totals.bytes_received, bytes);
    FunctionTotals::add(totals.bytes, bytes);
    ended.thread.call_sums.bytes_received += bytes;
  }
  if (cancelled) tag = kAnyTag;
  write_completion(ended, *request, peer, tag, bytes);
}

void MpiRecorder::write_completion(const Ended& ended, const Request& request, std::int32_t peer, std::int32_t tag,
                                   std::uint64_t bytes) {
  const MpiRecord operation = operation_of(request);
  *ended.thread.mpi_room(1, ended.call.begin, ended.end) = std::bit_cast<MpiRecord>(CompletionRecord{
      request.post_begin, static_cast<std::uint32_t>(bytes >> 32), request.call_site, peer, tag,
      static_cast<std::uint32_t>(bytes), make_word(operation.comm(), operation.function(), Shape::kCompletion)});
}

// The age of a request in a call that begins at `begin`, in ticks; 0: none (null, inactive, unknown); -1: its handle is
// shared, and completions identify it.
std::int64_t MpiRecorder::request_argument(std::uint64_t handle, std::uint64_t begin) {
  if (recorder_.requests.is_shared(handle)) return -1;
  const std::optional<Request> request = recorder_.requests.look_up(handle, begin);
  return request && request->active ? static_cast<std::int64_t>(begin - request->post_begin) : 0;
}

// Called before the call's record, and before its requests are removed.
void MpiRecorder::write_arguments(const Event& event) {
  const Call& call = event.call;
  ArgumentRecords out(event.thread, static_cast<std::uint32_t>(call.function), call.begin, event.end);
  const auto number_of = [&](vmpi::ArgumentKind kind, std::int64_t value) -> std::int64_t {
    if (vmpi::is_datatype(kind)) return datatypes_.number(value);
    switch (kind) {
      case vmpi::ArgumentKind::kSource:
      case vmpi::ArgumentKind::kSources:
      case vmpi::ArgumentKind::kDestinations:
        return format_peer(static_cast<std::int32_t>(value));
      case vmpi::ArgumentKind::kTag:
      case vmpi::ArgumentKind::kReceiveTag:
        return format_tag(static_cast<std::int32_t>(value));
      case vmpi::ArgumentKind::kOtherCommunicator:
      case vmpi::ArgumentKind::kNewCommunicator:
        return id_of(event.thread, HandleKind::kComm, static_cast<std::uint64_t>(value), kNoComm);
      case vmpi::ArgumentKind::kRequests:
        return request_argument(static_cast<std::uint64_t>(value), call.begin);
      default:
        return value;
    }
  };
  for (int i = 0; i < call.argument_count; ++i) {
    const vmpi::Argument& argument = call.arguments[i];
    if (!argument.is_array()) {
      out.add(argument.kind, number_of(argument.kind, argument.value));
      continue;
    }
    out.begin_array(argument.kind, argument.count);
    for (std::int64_t k = 0; k < argument.count; ++k)
      out.add_number(number_of(argument.kind, argument.element(argument.array, k)));
  }
  const Plan& plan = kPlans[static_cast<std::size_t>(call.function)];
  if (call.requests != nullptr && (plan.role == Role::kStart || call.function == FunctionId::kRequest_free)) {
    out.begin_array(vmpi::ArgumentKind::kPersistent, call.request_count);
    for (int i = 0; i < call.request_count; ++i) {
      const std::optional<Request> request = recorder_.requests.look_up(handle_value(call.requests[i]), call.begin);
      out.add_number(request && request->persistent ? static_cast<std::int64_t>(call.begin - request->made) : 0);
    }
  }
  if (call.requests != nullptr && !plan.starts_request && plan.role != Role::kStart) {
    out.begin_array(vmpi::ArgumentKind::kRequests, call.request_count);
    for (int i = 0; i < call.request_count; ++i)
      out.add_number(request_argument(handle_value(call.requests[i]), call.begin));
  }
  out.finish();
}

// The communicator of a window; the window's number is in the bits above.
std::uint32_t MpiRecorder::comm_of(ThreadRecorder& thread, const Call& call) {
  if (call.comm != MPI_COMM_NULL) [[likely]] {
    const std::uint32_t cached = cached_id(thread, handle_key(HandleKind::kComm, handle_value(call.comm)));
    if (cached != 0) [[likely]]
      return cached - 1;
  }
  return rare_comm_of(thread, call);
}

std::uint32_t MpiRecorder::rare_comm_of(ThreadRecorder& thread, const Call& call) {
  if (call.comm != MPI_COMM_NULL) {
    const std::uint64_t handle = handle_value(call.comm);
    const std::uint32_t comm = id_of(thread, HandleKind::kComm, handle, kNoComm);
    if (comm != kNoComm) return comm;
    // Its creation was not seen (MPI_Comm_idup, MPI_Comm_get_parent). It is valid now, since the program has just used
    // it, except after a call that freed it.
    if (call.function == FunctionId::kComm_free || call.function == FunctionId::kComm_disconnect) return kNoComm;
    communicators_.become_unsure();
    define(call.comm, thread.number());
    return id_of(thread, HandleKind::kComm, handle, kUnnamedComm);
  }
  if (call.window != MPI_WIN_NULL) return id_of(thread, HandleKind::kWindow, handle_value(call.window), kNoComm);
  if (call.file != MPI_FILE_NULL) return id_of(thread, HandleKind::kFileComm, handle_value(call.file), kNoComm);
  return kNoComm;
}

std::uint32_t MpiRecorder::file_of(ThreadRecorder& thread, const Call& call) {
  return call.file == MPI_FILE_NULL ? Files::kUnknown
                                    : id_of(thread, HandleKind::kFile, handle_value(call.file), Files::kUnknown);
}

std::uint32_t MpiRecorder::id_of(ThreadRecorder& thread, HandleKind kind, std::uint64_t handle, std::uint32_t missing) {
  const std::uint32_t generation = recorder_.handles.generation();
  if (thread.handle_generation != generation) [[unlikely]] {
    thread.handles.clear();
    thread.handle_generation = generation;
  }
  const std::uint64_t key = handle_key(kind, handle);
  if (const std::uint32_t cached = thread.handles.find(key); cached != 0) [[likely]]
    return cached - 1;
  const std::uint32_t id = recorder_.handles.find(key, missing);
  if (id != missing) thread.handles.put(key, id + 1);
  return id;
}

void MpiRecorder::define(MPI_Comm comm, std::uint32_t thread) {
  recorder_.handles.put(handle_key(HandleKind::kComm, handle_value(comm)),
                        communicators_.define(queries_.describe(comm), thread));
}

void MpiRecorder::follow_objects(const Event& event) {
  const Call& call = event.call;
  if (call.result != MPI_SUCCESS) return;
  HandleIds& handles = recorder_.handles;
  switch (call.function) {
    case FunctionId::kComm_free:
    case FunctionId::kComm_disconnect:
      if (call.comm == MPI_COMM_NULL) return;
      handles.erase(handle_key(HandleKind::kComm, handle_value(call.comm)));
      communicators_.release(event.comm);
      return;
    case FunctionId::kComm_set_name:
      communicators_.rename(event.comm, queries_.describe(call.comm));
      return;
    case FunctionId::kComm_get_parent:
      return;  // not new: defined when first used
    case FunctionId::kComm_idup:
    case FunctionId::kComm_idup_with_info:
      communicators_.become_unsure();
      return;  // not usable yet: defined when first used
    case FunctionId::kWin_allocate:
    case FunctionId::kWin_allocate_c:
    case FunctionId::kWin_allocate_shared:
    case FunctionId::kWin_allocate_shared_c:
    case FunctionId::kWin_create:
    case FunctionId::kWin_create_c:
    case FunctionId::kWin_create_dynamic:
      if (call.window != MPI_WIN_NULL)
        handles.put(handle_key(HandleKind::kWindow, handle_value(call.window)),
                    communicators_.number_window(event.comm) % (1u << kWindowBits) << kCommBits | event.comm);
      return;
    case FunctionId::kWin_free:
      if (call.window != MPI_WIN_NULL) handles.erase(handle_key(HandleKind::kWindow, handle_value(call.window)));
      return;
    case FunctionId::kFile_open:
      if (call.file != MPI_FILE_NULL && call.file_name != nullptr) {
        handles.put(handle_key(HandleKind::kFile, handle_value(call.file)), recorder_.files.of_path(call.file_name));
        handles.put(handle_key(HandleKind::kFileComm, handle_value(call.file)), event.comm);
      }
      return;
    case FunctionId::kFile_close:
      if (call.file != MPI_FILE_NULL) {
        handles.erase(handle_key(HandleKind::kFile, handle_value(call.file)));
        handles.erase(handle_key(HandleKind::kFileComm, handle_value(call.file)));
      }
      return;
    case FunctionId::kCancel:
      has_cancelled_.store(true, std::memory_order_relaxed);
      return;
    case FunctionId::kType_free:
      datatypes_.forget_handles();
      vmpi::type_runs::forget();
      return;
    default:
      if (call.new_comm != MPI_COMM_NULL) define(call.new_comm, event.thread.number());
  }
}

}  // namespace ardoise::instrument

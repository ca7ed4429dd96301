// MPI calls: converts their events to the record and its extensions.
#include <otf2/otf2.h>

#include <algorithm>
#include <bit>

#include "instrument/format/event_reader.hpp"
#include "instrument/format/role_shape.hpp"
#include "knowledge_sources/matching/message_kind.hpp"
#include "knowledge_sources/otf2/packs/traced_thread.hpp"

namespace ardoise::knowledge_sources {

using instrument::CompletionRecord;
using instrument::ExtensionKind;
using instrument::goes_both_ways;
using instrument::kNoComm;
using instrument::kNoPeer;
using instrument::make_word;
using instrument::MpiRecord;
using instrument::PackClass;
using instrument::Shape;
using instrument::StartedExtension;
using instrument::WindowAct;
using vmpi::FunctionId;
using vmpi::Role;
using Kind = ArchivedKind;

namespace {

constexpr std::uint64_t kMostNarrow = instrument::kWide - 1;

std::uint32_t narrow(std::uint64_t value) {
  return value >= instrument::kWide ? instrument::kWide : static_cast<std::uint32_t>(value);
}

std::uint32_t extension_word(ExtensionKind kind, std::uint32_t function) {
  return make_word(static_cast<std::uint32_t>(kind), function, Shape::kExtension);
}

std::int32_t peer_of(std::uint32_t rank) { return rank <= INT32_MAX ? static_cast<std::int32_t>(rank) : kNoPeer; }

std::int32_t root_of(std::uint32_t root) {
  if (root == OTF2_COLLECTIVE_ROOT_SELF) return instrument::kRootGroup;
  return peer_of(root);
}

FunctionId function_of(std::uint8_t collective) {
  switch (collective) {
    case OTF2_COLLECTIVE_OP_BCAST:
      return FunctionId::kBcast;
    case OTF2_COLLECTIVE_OP_GATHER:
      return FunctionId::kGather;
    case OTF2_COLLECTIVE_OP_GATHERV:
      return FunctionId::kGatherv;
    case OTF2_COLLECTIVE_OP_SCATTER:
      return FunctionId::kScatter;
    case OTF2_COLLECTIVE_OP_SCATTERV:
      return FunctionId::kScatterv;
    case OTF2_COLLECTIVE_OP_ALLGATHER:
      return FunctionId::kAllgather;
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
      return FunctionId::kAllgatherv;
    case OTF2_COLLECTIVE_OP_ALLTOALL:
      return FunctionId::kAlltoall;
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
      return FunctionId::kAlltoallv;
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
      return FunctionId::kAlltoallw;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
      return FunctionId::kAllreduce;
    case OTF2_COLLECTIVE_OP_REDUCE:
      return FunctionId::kReduce;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
      return FunctionId::kReduce_scatter;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
      return FunctionId::kReduce_scatter_block;
    case OTF2_COLLECTIVE_OP_SCAN:
      return FunctionId::kScan;
    case OTF2_COLLECTIVE_OP_EXSCAN:
      return FunctionId::kExscan;
    default:
      return FunctionId::kBarrier;
  }
}

// The call that a single event outside a call is converted to.
FunctionId function_of(const ArchivedEvent& event) {
  switch (event.kind) {
    case Kind::kMpiSend:
      return FunctionId::kSend;
    case Kind::kMpiIsend:
      return FunctionId::kIsend;
    case Kind::kMpiIrecvRequest:
      return FunctionId::kIrecv;
    case Kind::kMpiRecv:
      return FunctionId::kRecv;
    case Kind::kMpiCollectiveEnd:
      return function_of(event.operation);
    case Kind::kNonBlockingCollectiveRequest:
      return FunctionId::kIbarrier;
    case Kind::kRmaPut:
      return FunctionId::kPut;
    case Kind::kRmaGet:
      return FunctionId::kGet;
    case Kind::kRmaAtomic:
      return FunctionId::kAccumulate;
    default:
      return FunctionId::kWait;
  }
}

}  // namespace

void TracedThread::begin_mpi(std::uint16_t function, CodePlace place, bool is_mpi_io, std::uint64_t tick) {
  rank_.note_mpi_thread(number_);
  call_.is_open = true;
  call_.function = function;
  call_.is_mpi_io = is_mpi_io;
  call_.call_site = rank_.site_of(place);
  call_.stack = 0;
  // The begin of a call is the id of the operation that it starts.
  call_.begin = last_begin_ = std::max(tick, last_begin_ + 1);
  call_.send.reset();
  call_.receive.reset();
  call_.collective.reset();
  call_.window.reset();
  call_.file = {};
  call_.further_sends.clear();
  call_.started.clear();
  call_.completions.clear();
  call_.completed_bytes = 0;
  call_.group.clear();
  call_.marks.clear();
  if (has_times_) times_.begin_call(tick, function + 1u);
}

void TracedThread::mpi_event(const ArchivedEvent& event, std::uint64_t tick) {
  if (call_.is_open) return add_mpi_event(event);
  ++rank_.losses.outside_calls;
  begin_mpi(static_cast<std::uint16_t>(function_of(event)), caller(), false, tick);
  add_mpi_event(event);
  end_mpi(tick);
}

void TracedThread::add_mpi_event(const ArchivedEvent& event) {
  const std::pair<std::uint64_t, std::uint64_t> key(0, event.request);
  Operation operation;
  switch (event.kind) {
    case Kind::kMpiSend: {
      const Message message{comm_of(event.comm), peer_of(event.peer), static_cast<std::int32_t>(event.tag),
                            event.bytes};
      if (call_.send) {
        call_.further_sends.push_back(message);
      } else {
        call_.send = message;
      }
      return;
    }
    case Kind::kMpiRecv:
      if (call_.receive) ++rank_.losses.further_messages;
      call_.receive = {comm_of(event.comm), peer_of(event.peer), static_cast<std::int32_t>(event.tag), event.bytes};
      return;
    case Kind::kMpiIsend:
      operation.kind = Operation::Kind::kSend;
      operation.comm = comm_of(event.comm);
      operation.peer = peer_of(event.peer);
      operation.tag = static_cast<std::int32_t>(event.tag);
      operation.bytes = event.bytes;
      return start(From::kRequest, key, operation);
    case Kind::kMpiIrecvRequest:
      operation.kind = Operation::Kind::kReceive;
      operation.is_known = false;
      return start(From::kRequest, key, operation);
    case Kind::kNonBlockingCollectiveRequest:
      operation.kind = Operation::Kind::kCollective;
      operation.is_known = false;
      operation.peer = kNoPeer;
      operation.tag = 0;
      return start(From::kRequest, key, operation);
    case Kind::kMpiIsendComplete:
      if (!complete(From::kRequest, key, operation)) ++rank_.losses.unknown_ends;
      return;
    case Kind::kMpiRequestCancelled:
      operation.is_cancelled = true;
      if (!complete(From::kRequest, key, operation)) ++rank_.losses.unknown_ends;
      return;
    case Kind::kMpiIrecv:
      operation.comm = comm_of(event.comm);
      operation.peer = peer_of(event.peer);
      operation.tag = static_cast<std::int32_t>(event.tag);
      operation.bytes = event.bytes;
      if (complete(From::kRequest, key, operation)) return;
      // Some writers record a blocking receive in this way.
      if (vmpi::kFunctionTraits[call_.function].role == Role::kReceive && !call_.receive) {
        call_.receive = {operation.comm, operation.peer, operation.tag, operation.bytes};
      } else {
        ++rank_.losses.unknown_ends;
      }
      return;
    case Kind::kMpiCollectiveEnd:
      call_.collective = {comm_of(event.comm), root_of(event.peer), event.bytes, event.bytes_received};
      return;
    case Kind::kNonBlockingCollectiveComplete:
      operation.comm = comm_of(event.comm);
      operation.peer = root_of(event.peer);
      operation.bytes = event.bytes;
      operation.received = event.bytes_received;
      if (!complete(From::kRequest, key, operation)) ++rank_.losses.unknown_ends;
      return;
    case Kind::kRmaPut:
    case Kind::kRmaGet:
    case Kind::kRmaAtomic: {
      const auto window = program_.window_of(rank_.number, event.reference);
      call_.window = WindowUse{window.comm,
                               window.number,
                               peer_of(event.peer),
                               std::max(event.bytes, event.bytes_received),
                               event.kind == Kind::kRmaAtomic ? event.bytes : 0,
                               WindowAct::kNone};
      if (!vmpi::kFunctionTraits[call_.function].starts_request) return;
      operation.kind = Operation::Kind::kOneSided;
      operation.comm = window.comm;
      operation.peer = kNoPeer;
      operation.tag = 0;
      return start(From::kOneSided, {event.reference, event.request}, operation);
    }
    default:
      return;
  }
}

void TracedThread::add_window_event(const ArchivedEvent& event) {
  const auto window = program_.window_of(rank_.number, event.reference);
  if (!call_.window) call_.window = WindowUse{window.comm, window.number};
  switch (event.kind) {
    case Kind::kRmaOpCompleteNonBlocking:
      if (!rank_.one_sided.empty()) (void)complete(From::kOneSided, {event.reference, event.request}, {});
      return;
    case Kind::kRmaRequestLock:
    case Kind::kRmaAcquireLock:
    case Kind::kRmaTryLock:
      call_.window->peer = peer_of(event.peer);
      if (call_.function == static_cast<std::uint16_t>(FunctionId::kWin_lock))
        call_.window->act = event.mode == OTF2_LOCK_EXCLUSIVE ? WindowAct::kExclusive : WindowAct::kShared;
      return;
    case Kind::kRmaReleaseLock:
      call_.window->peer = peer_of(event.peer);
      return;
    case Kind::kRmaGroupSync:
      if (call_.function == static_cast<std::uint16_t>(FunctionId::kWin_test) && event.mode != 0)
        call_.window->act = WindowAct::kEnded;
      if (call_.function == static_cast<std::uint16_t>(FunctionId::kWin_post) ||
          call_.function == static_cast<std::uint16_t>(FunctionId::kWin_start))
        call_.group = program_.group_in_window(event.reference, static_cast<std::uint32_t>(event.value));
      return;
    default:
      return;
  }
}

void TracedThread::start(From from, std::pair<std::uint64_t, std::uint64_t> key, Operation operation) {
  operation.thread = number_;
  operation.function = call_.function;
  operation.call_site = call_.call_site;
  operation.id = call_.begin + call_.started.size();
  call_.started.push_back({from, key, operation});
}

// Data known at its end goes into `operation`, and a completion behind the call.
bool TracedThread::complete(From from, std::pair<std::uint64_t, std::uint64_t> key, const Operation& end) {
  const auto learn = [&](Operation& operation) {
    operation.is_cancelled = end.is_cancelled;
    const bool tells = !end.is_cancelled;
    CompletionRecord completion{operation.id, 0, operation.call_site, kNoPeer, operation.tag, 0, 0};
    switch (operation.kind) {
      case Operation::Kind::kReceive:
        if (!tells) break;
        operation.comm = end.comm;
        operation.peer = completion.peer = end.peer;
        operation.tag = completion.tag = end.tag;
        operation.received = end.bytes;
        break;
      case Operation::Kind::kCollective:
        operation.comm = end.comm;
        operation.peer = end.peer;
        operation.bytes = end.bytes;
        operation.received = end.received;
        break;
      case Operation::Kind::kRead:
        operation.received = end.bytes;
        break;
      default:
        break;
    }
    if (!tells) completion.tag = instrument::kAnyTag;
    const std::uint64_t got = operation.kind == Operation::Kind::kReceive || operation.kind == Operation::Kind::kRead
                                  ? operation.received
                                  : 0;
    completion.bytes_high = static_cast<std::uint32_t>(got >> 32);
    completion.bytes_low = static_cast<std::uint32_t>(got);
    completion.word = make_word(operation.comm, operation.function, Shape::kCompletion);
    if (got != 0) rank_.packs.add_total(PackClass::kMpi, operation.function, 0, 0, 0, got);
    call_.completed_bytes += got;
    call_.completions.push_back(completion);
  };
  for (Started& each : call_.started) {
    if (each.from != from || each.key != key || each.operation.is_complete) continue;
    learn(each.operation);
    each.operation.is_complete = true;
    return true;
  }
  const auto take = [&](auto& from_map, const auto& map_key) {
    const auto found = from_map.find(map_key);
    if (found == from_map.end()) return false;
    Operation operation = found->second;
    from_map.erase(found);
    learn(operation);
    settle(operation);
    return true;
  };
  switch (from) {
    case From::kRequest:
      return take(rank_.requests, key.second);
    case From::kAccess:
      return take(rank_.accesses, key);
    case From::kOneSided:
      break;
  }
  return take(rank_.one_sided, key);
}

// Updates its record with the current data.
void TracedThread::settle(const Operation& operation) {
  if (operation.is_known) return;
  const bool is_collective = operation.kind == Operation::Kind::kCollective;
  if (is_collective)
    rank_.packs.add_total(PackClass::kMpi, operation.function, 0, 0, operation.bytes, operation.received);
  if (operation.probe && !operation.is_cancelled)
    settle_probe(*operation.probe, {operation.comm, operation.peer, operation.tag, operation.received});
  MpiRecord* const record = rank_.packs.settle(operation.thread, operation.record);
  if (record == nullptr) return;
  if (operation.is_part) {
    auto part = instrument::as<StartedExtension>(*record);
    part.peer = operation.peer;
    part.tag = operation.tag;
    part.operation =
        make_word(operation.comm, instrument::function_of(part.operation), instrument::shape_of(part.operation));
    if (is_collective) part.bytes = operation.bytes;
    *record = std::bit_cast<MpiRecord>(part);
    return;
  }
  record->word = make_word(operation.comm, record->function(), record->shape());
  if (is_collective) {
    if (record->shape() == Shape::kRooted) record->peer = operation.peer;
    // Data that needs a further record does not fit.
    record->bytes = static_cast<std::uint32_t>(std::min(operation.bytes, kMostNarrow));
    record->tag = static_cast<std::int32_t>(static_cast<std::uint32_t>(std::min(operation.received, kMostNarrow)));
  } else {
    record->peer = operation.peer;
    record->tag = operation.tag;
  }
}

void TracedThread::settle_probe(std::uint64_t number, const Message& message) {
  MpiRecord* const record = rank_.packs.settle(number_, number);
  if (record == nullptr) return;
  record->word = make_word(message.comm, record->function(), record->shape());
  record->peer = message.peer;
  record->tag = message.tag;
  record->bytes = static_cast<std::uint32_t>(std::min(message.bytes, kMostNarrow));
}

void TracedThread::end_mpi(std::uint64_t tick) {
  if (!call_.is_open) return;
  call_.is_open = false;
  const std::uint64_t duration = tick > call_.begin ? tick - call_.begin : 0;
  last_begin_ += call_.started.size();  // used ids
  write_record(duration);
  write_behind();
  rank_.packs.end_call(number_);
}

void TracedThread::write_record(std::uint64_t duration) {
  const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[call_.function];
  Shape shape = traits.persistent ? Shape::kLocal : instrument::shape_of_role(traits.role);
  std::uint32_t comm = kNoComm;
  std::int32_t peer = kNoPeer, tag = 0;
  std::uint64_t bytes = 0, received = 0;
  const bool is_start = static_cast<FunctionId>(call_.function) == FunctionId::kStart;
  const bool has_half = traits.role == Role::kSendReceive && !traits.starts_request;
  const bool starts_both = message_kind(call_.function).starts_both;
  Operation* own = nullptr;  // that the record starts
  if (starts_both) {
    // The send is recorded at its start; the wait is for the receive.
    for (Started& each : call_.started) {
      each.operation.id = call_.begin;
      if (each.operation.kind != Operation::Kind::kSend) continue;
      if (!call_.send)
        call_.send = {each.operation.comm, each.operation.peer, each.operation.tag, each.operation.bytes};
      each.operation.is_complete = true;
    }
  } else if (!call_.started.empty() && ((traits.starts_request && !traits.persistent) || is_start)) {
    own = &call_.started.front().operation;
    if (is_start) {
      shape = own->kind == Operation::Kind::kSend         ? Shape::kSend
              : own->kind == Operation::Kind::kReceive    ? Shape::kPostReceive
              : own->kind == Operation::Kind::kCollective ? Shape::kCollective
                                                          : Shape::kLocal;
    }
    comm = own->comm;
    peer = own->peer;
    tag = own->tag;
    bytes = own->bytes;
    if (own->kind == Operation::Kind::kCollective) received = own->received;
    if (own->kind == Operation::Kind::kRead) bytes = 0;
  }
  std::uint64_t sent_in_all = 0, received_in_all = 0;
  switch (own != nullptr && shape != Shape::kPut && shape != Shape::kGet ? Shape::kLocal : shape) {
    case Shape::kSend:
      if (!call_.send) break;
      comm = call_.send->comm;
      peer = call_.send->peer;
      tag = call_.send->tag;
      bytes = call_.send->bytes;
      break;
    case Shape::kReceive:
      if (!call_.receive) break;
      comm = call_.receive->comm;
      peer = call_.receive->peer;
      tag = call_.receive->tag;
      bytes = call_.receive->bytes;
      break;
    case Shape::kLocal:
      // Calls that create a communicator, a window, a file.
      if (own == nullptr && call_.collective) comm = call_.collective->comm;
      break;
    case Shape::kCompletes:
      tag = static_cast<std::int32_t>(call_.completions.size());
      break;
    case Shape::kCollective:
    case Shape::kRooted:
    case Shape::kNeighbour:
      if (!call_.collective) break;
      comm = call_.collective->comm;
      if (shape == Shape::kRooted) peer = call_.collective->root;
      bytes = call_.collective->sent;
      received = call_.collective->received;
      break;
    case Shape::kPut:
    case Shape::kGet:
    case Shape::kWindow:
      if (!call_.window) break;
      comm = call_.window->comm;
      peer = call_.window->peer;
      tag = instrument::window_tag(call_.window->number, call_.window->act);
      bytes = shape == Shape::kWindow ? 0 : call_.window->bytes;
      break;
    case Shape::kFileRead:
    case Shape::kFileWrite:
      peer = static_cast<std::int32_t>(call_.file.file);
      bytes = call_.file.bytes;
      break;
    default:
      break;
  }
  if (shape == Shape::kFileRead || shape == Shape::kFileWrite) rank_.use_file(static_cast<std::uint32_t>(peer));
  if (shape == Shape::kSend || shape == Shape::kPut || shape == Shape::kFileWrite || goes_both_ways(shape))
    sent_in_all = bytes;
  if (shape == Shape::kReceive || shape == Shape::kGet || shape == Shape::kFileRead) received_in_all = bytes;
  if (shape == Shape::kGet && call_.window) sent_in_all = call_.window->sent;
  if (goes_both_ways(shape)) received_in_all = received;
  if (has_half && call_.receive) received_in_all = call_.receive->bytes;

  const bool both = goes_both_ways(shape);
  const bool is_wide =
      duration >= instrument::kWide || bytes >= instrument::kWide || (both && received >= instrument::kWide);
  const std::uint64_t number =
      rank_.packs.add(number_, MpiRecord{call_.begin, narrow(duration), call_.call_site, peer,
                                         both ? static_cast<std::int32_t>(narrow(received)) : tag, narrow(bytes),
                                         make_word(comm, call_.function, shape)});
  if (is_wide)
    (void)rank_.packs.add_extension(
        number_, instrument::WideExtension{duration, bytes, both ? received : 0, 0,
                                           extension_word(ExtensionKind::kWideValues, call_.function)});
  if (has_half) {
    const Message half = call_.receive.value_or(Message{kNoComm, kNoPeer, instrument::kAnyTag, 0});
    (void)rank_.packs.add_extension(
        number_, instrument::ReceiveHalfExtension{half.bytes, half.peer, half.tag, 0, 0,
                                                  extension_word(ExtensionKind::kReceiveHalf, call_.function)});
  } else if (call_.receive && shape != Shape::kReceive) {
    ++rank_.losses.further_messages;
  }
  if (call_.send && shape != Shape::kSend) call_.further_sends.push_back(*call_.send);
  if (own != nullptr) own->record = number;
  if (shape == Shape::kNeighbour) ++rank_.losses.neighbourhoods;
  const MessageKind kind = message_kind(call_.function);
  if (kind.takes_message) {
    if (probe_) (void)rank_.packs.settle(number_, *probe_);  // it found no message
    probe_ = number;
    rank_.packs.hold(number_, number);
  } else if (kind.receives_taken) {
    if (own != nullptr) own->probe = probe_;
    if (own == nullptr && probe_ && call_.receive) settle_probe(*probe_, *call_.receive);
    probe_.reset();
  }
  rank_.packs.add_total(PackClass::kMpi, call_.function, 1, duration, sent_in_all, received_in_all);
  if (has_times_) times_.end_call(call_.begin + duration);
  calls_.add(call_.stack != 0 ? call_.stack : times_.context(), call_.function + 1u, duration, sent_in_all,
             received_in_all + call_.completed_bytes);
}

// Extensions of a call: further started operations, completions, the group of an epoch, marks.
void TracedThread::write_behind() {
  const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[call_.function];
  const bool own_is_first =
      (traits.starts_request && !traits.persistent) || static_cast<FunctionId>(call_.function) == FunctionId::kStart;
  const auto write_part = [&](const Operation& operation, Shape shape) {
    const std::uint64_t sent = shape == Shape::kPostReceive ? 0 : operation.bytes;
    if (sent != 0) rank_.packs.add_total(PackClass::kMpi, call_.function, 0, 0, sent, 0);
    return rank_.packs.add_extension(number_,
                                     StartedExtension{operation.id, sent, operation.peer, operation.tag,
                                                      make_word(operation.comm, call_.function, shape),
                                                      extension_word(ExtensionKind::kStarted, call_.function)});
  };
  for (std::size_t i = 0; i < call_.started.size(); ++i) {
    Started& each = call_.started[i];
    Operation& operation = each.operation;
    if (i != 0 || !own_is_first) {
      const Shape shape = operation.kind == Operation::Kind::kSend      ? Shape::kSend
                          : operation.kind == Operation::Kind::kReceive ? Shape::kPostReceive
                                                                        : Shape::kCollective;
      const bool is_message = operation.kind == Operation::Kind::kSend || operation.kind == Operation::Kind::kReceive;
      operation.is_part = true;
      if (is_message) operation.record = write_part(operation, shape);
      if (!is_message) operation.is_known = true;
    }
    if (operation.is_complete) continue;
    if (!operation.is_known) rank_.packs.hold(number_, operation.record);
    switch (each.from) {
      case From::kRequest:
        rank_.requests.insert_or_assign(each.key.second, operation);
        break;
      case From::kAccess:
        rank_.accesses.insert_or_assign(each.key, operation);
        break;
      case From::kOneSided:
        rank_.one_sided.insert_or_assign(each.key, operation);
        break;
    }
  }
  for (const Message& message : call_.further_sends) {
    Operation operation;
    operation.id = call_.begin;
    operation.comm = message.comm;
    operation.peer = message.peer;
    operation.tag = message.tag;
    operation.bytes = message.bytes;
    (void)write_part(operation, Shape::kSend);
  }
  for (const CompletionRecord& each : call_.completions) (void)rank_.packs.add_extension(number_, each);
  for (std::size_t i = 0; i < call_.group.size(); i += instrument::GroupExtension::kMost) {
    instrument::GroupExtension group{};
    group.count =
        static_cast<std::uint32_t>(std::min<std::size_t>(call_.group.size() - i, instrument::GroupExtension::kMost));
    std::copy_n(call_.group.begin() + static_cast<std::ptrdiff_t>(i), group.count, group.ranks);
    group.word = extension_word(ExtensionKind::kGroup, call_.function);
    (void)rank_.packs.add_extension(number_, group);
  }
  for (const instrument::MarkExtension& each : call_.marks) (void)rank_.packs.add_extension(number_, each);
}

}  // namespace ardoise::knowledge_sources

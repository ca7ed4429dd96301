#include "knowledge_sources/plugins/traces/trace_location.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "instrument/format/posix_functions.hpp"
#include "knowledge_sources/matching/message_kind.hpp"
#include "knowledge_sources/otf2/writer/function_kinds.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

using instrument::CompletionRecord;
using instrument::MarkExtension;
using instrument::MpiEvent;
using instrument::MpiRecord;
using instrument::PosixRecord;
using instrument::Shape;

namespace {

std::uint32_t unsigned_of(std::int32_t number) { return static_cast<std::uint32_t>(number); }

std::uint32_t root_of(std::int32_t peer) {
  if (peer >= 0) return unsigned_of(peer);
  return peer == instrument::kRootGroup ? std::uint32_t{OTF2_COLLECTIVE_ROOT_SELF}
                                        : std::uint32_t{OTF2_COLLECTIVE_ROOT_NONE};
}

bool is_window_shape(Shape shape) { return shape >= Shape::kPut && shape <= Shape::kWindow; }
bool is_file_shape(Shape shape) { return shape == Shape::kFileRead || shape == Shape::kFileWrite; }

bool is_message_role(vmpi::Role role) {
  return role == vmpi::Role::kSend || role == vmpi::Role::kReceive || role == vmpi::Role::kPostReceive ||
         role == vmpi::Role::kSendReceive;
}

OTF2_IoOperationMode mode_of(Shape shape) {
  return shape == Shape::kFileRead ? OTF2_IO_OPERATION_MODE_READ : OTF2_IO_OPERATION_MODE_WRITE;
}

}  // namespace

std::uint32_t TraceRankState::start(std::uint64_t tick, Operation operation) {
  if (!early_.empty()) {
    if (const auto ended = early_.extract(tick); !ended.empty()) return ended.mapped();
  }
  operation.number = numbers_++;
  started_.add(tick, operation);
  return operation.number;
}

std::uint32_t TraceRankState::number_before_start(std::uint64_t tick) {
  if (early_.size() < kMostEarlyEnds) early_.try_emplace(tick, numbers_);
  return numbers_++;
}

void TraceRankState::take_message(const MessageKey& message, MessageNumbers::Number number) {
  if (taken_.size() < kMostTaken) taken_.emplace_back(message, number);
}

MessageNumbers::Number TraceRankState::taken(const MessageKey& message) {
  const auto found = std::ranges::find(taken_, message, &decltype(taken_)::value_type::first);
  if (found == taken_.end()) return std::nullopt;
  const MessageNumbers::Number number = found->second;
  taken_.erase(found);
  return number;
}

void TraceRankState::use_communicator(std::uint32_t number) {
  if (std::exchange(last_communicator_, number) != number) communicators_.try_emplace(number, true);
}

void TraceRankState::add_uses(std::uint32_t rank, TraceTables& tables) const {
  for (const auto& [number, used] : communicators_) tables.communicators.push_back({rank, number});
  for (const auto& [handle, used] : handles_) tables.handles.push_back({rank, handle});
  for (const std::uint32_t number : datatypes_) tables.datatypes.push_back({rank, number});
  texts.for_each([&](std::uint32_t number, const std::string& text) {
    tables.rank_texts.push_back({rank, number, text});
  });
  tables.attributes |= used_attributes;
  for (const auto& [window, state] : windows.windows()) tables.windows.push_back({rank, window});
  for (const auto& [group, number] : windows.groups())
    tables.groups.push_back({rank, number, group.first, group.second});
}

TraceLocation::TraceLocation(TracePart& part, const TraceSelection& selection, TraceRankState& rank,
                             std::uint64_t location, TraceLosses& losses)
    : part_(part), selection_(selection), rank_(rank), losses_(losses), writer_(part.writer_of(location)) {}

std::uint64_t TraceLocation::move_to(std::uint64_t time) {
  last_ = std::max(last_, time);
  first_ = std::min(first_, last_);
  return last_;
}

std::uint32_t TraceLocation::region_of(const TraceRegion& region) {
  const std::uint64_t key = region.key();
  KnownRegion& known = known_regions_[(key * 0x9E3779B97F4A7C15u) >> 58];
  if (known.key != key) known = {key, part_.region(region)};
  return known.number;
}

void TraceLocation::add_init(std::uint64_t begin_tick, std::uint64_t end_tick) {
  const auto function = static_cast<std::uint32_t>(vmpi::FunctionId::kInit);
  const std::int64_t begin = rank_.clock.since_init(begin_tick);
  if (!part_.is_good() || writer_ == nullptr ||
      !selection_.has_call(false, function, begin, rank_.clock.since_init(end_tick) - begin))
    return;
  const std::uint32_t region = region_of({TraceRegion::Kind::kMpi, function, 0});
  write(OTF2_EvtWriter_Enter, move_to(rank_.clock.at(begin_tick)), region);
  write(OTF2_EvtWriter_Leave, move_to(rank_.clock.at(end_tick)), region);
}

void TraceLocation::add(const MpiEvent& event) {
  close_call();
  if (!part_.is_good() || writer_ == nullptr) return;
  const MpiRecord& record = event.record;
  const std::uint64_t end_tick = record.begin + event.duration;
  call_ = {};
  call_.is_open = true;
  call_.function = record.function();
  call_.begin = rank_.clock.at(record.begin);
  call_.end = std::max(call_.begin, rank_.clock.at(end_tick));
  number_messages(event);
  call_.is_written = has_call(false, record.function(), record.begin, end_tick);
  if (is_window_shape(record.shape()) && record.comm() != instrument::kNoComm) [[unlikely]] {
    call_.ends = Ends::kWindow;
    call_.comm = record.comm();
    call_.handle = trace_window(record.comm(), instrument::window_of(record.tag));
    call_.peer = record.peer;
    call_.tag = record.tag;
  }
  if (!call_.is_written) return;
  if (call_.begin < last_) ++losses_.moved;
  call_.region = region_of({TraceRegion::Kind::kMpi, record.function(), record.call_site});
  call_.begin = move_to(call_.begin);
  const std::uint32_t context = stacks_.take_mpi(record.function(), record.begin);
  use_context(context);
  write_with(attributes_.of(record, selection_.attributes().has(AttributeClass::kArguments), context, rank_,
                            rank_.used_attributes, losses_),
             OTF2_EvtWriter_Enter, call_.begin, call_.region);
  write_begin(event);
}

void TraceLocation::use_context(std::uint32_t context) {
  if (!selection_.attributes().has(AttributeClass::kStacks)) return;
  if (context == 0) {
    ++losses_.stacks;
  } else {
    stacks_.use(context);
  }
}

void TraceLocation::write_begin(const MpiEvent& event) {
  const MpiRecord& record = event.record;
  const MessageKind kind = message_kind(record.function());
  const Shape shape = record.shape();
  call_.comm = record.comm();
  const bool starts = kind.starts && !kind.starts_both;
  if (starts) return write_start(call_.begin, record.begin, record, event.bytes, event.received);
  if (shape == Shape::kSend) {
    if (kind.starts_both) {
      MpiRecord receive = record;
      receive.word = instrument::make_word(record.comm(), record.function(), Shape::kPostReceive);
      receive.peer = instrument::kAnySource;
      write_start(call_.begin, record.begin, receive, 0, 0);
    }
    if (record.peer >= 0) {
      rank_.use_communicator(record.comm());
      write_message(call_.sent_as, OTF2_EvtWriter_MpiSend, call_.begin, unsigned_of(record.peer), record.comm(),
                    unsigned_of(record.tag), event.bytes);
    }
    if (event.receive_half == nullptr) return;
    const auto half = instrument::as<instrument::ReceiveHalfExtension>(*event.receive_half);
    if (half.source < 0) return;
    call_.ends = Ends::kReceive;
    call_.peer = half.source;
    call_.tag = half.tag;
    call_.received = half.bytes;
  } else if (shape == Shape::kReceive && record.peer >= 0) {
    call_.ends = Ends::kReceive;
    call_.peer = record.peer;
    call_.tag = record.tag;
    call_.received = event.bytes;
  } else if (is_collective(record)) {
    call_.ends = Ends::kCollective;
    call_.peer = shape == Shape::kRooted ? record.peer : instrument::kNoPeer;
    call_.sent = event.bytes;
    call_.received = event.received;
    write(OTF2_EvtWriter_MpiCollectiveBegin, call_.begin);
  } else if (is_file_shape(shape) && record.peer > 0) {
    call_.ends = Ends::kFile;
    call_.handle = trace_handle(unsigned_of(record.peer), true);
    call_.matching = io_number_++;
    call_.received = event.bytes;
    rank_.use_handle(call_.handle);
    const std::string_view name = vmpi::kFunctionTraits[record.function()].name;
    const bool is_collective = name.find("_all") != name.npos || name.find("_ordered") != name.npos;
    write(OTF2_EvtWriter_IoOperationBegin, call_.begin, call_.handle, mode_of(shape),
          is_collective ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : OTF2_IO_OPERATION_FLAG_NONE, event.bytes, call_.matching);
  } else if (call_.ends == Ends::kWindow) [[unlikely]] {
    begin_window_call(event);
  }
  if (call_.ends == Ends::kReceive || call_.ends == Ends::kCollective) rank_.use_communicator(call_.comm);
}

std::uint32_t TraceLocation::start(std::uint64_t tick, const TraceRankState::Operation& operation) {
  const std::uint32_t number = rank_.start(tick, operation);
  attributes_.has_started(number);
  return number;
}

// For a call that returns a request, or MPI_Start or MPI_Startall.
void TraceLocation::write_start(std::uint64_t time, std::uint64_t tick, const MpiRecord& record, std::uint64_t sent,
                                std::uint64_t received) {
  const Shape shape = record.shape();
  TraceRankState::Operation operation{.of = TraceRankState::Of::kSend,
                                      .number = 0,
                                      .comm = record.comm(),
                                      .function = record.function(),
                                      .handle = 0,
                                      .root = instrument::kNoPeer,
                                      .sent = sent,
                                      .received = received};
  if (shape == Shape::kSend && record.peer >= 0) {
    rank_.use_communicator(record.comm());
    const std::uint32_t number = start(tick, operation);
    write_message(call_.sent_as, OTF2_EvtWriter_MpiIsend, time, unsigned_of(record.peer), record.comm(),
                  unsigned_of(record.tag), sent, number);
  } else if (shape == Shape::kPostReceive && record.peer != instrument::kNoPeer) {
    operation.of = TraceRankState::Of::kReceive;
    write(OTF2_EvtWriter_MpiIrecvRequest, time, start(tick, operation));
  } else if (instrument::goes_both_ways(shape)) {
    operation.of = TraceRankState::Of::kCollective;
    if (shape == Shape::kRooted) operation.root = record.peer;
    rank_.use_communicator(record.comm());
    const std::uint64_t number = start(tick, operation);
    write_numbered(kCollectiveAttribute, call_.met_as, OTF2_EvtWriter_NonBlockingCollectiveRequest, time, number);
  } else if (is_file_shape(shape) && record.peer > 0) {
    operation.of = TraceRankState::Of::kFile;
    operation.handle = trace_handle(unsigned_of(record.peer), true);
    rank_.use_handle(operation.handle);
    const std::uint32_t number = start(tick, operation);
    // The highest bit of the number is 0 for operations that end at once.
    write(OTF2_EvtWriter_IoOperationBegin, time, operation.handle, mode_of(shape), OTF2_IO_OPERATION_FLAG_NON_BLOCKING,
          sent, std::uint64_t{1} << 32 | number);
    write(OTF2_EvtWriter_IoOperationIssued, time, operation.handle, std::uint64_t{1} << 32 | number);
  } else if (call_.ends == Ends::kWindow && record.peer >= 0) {
    operation.of = TraceRankState::Of::kOneSided;
    operation.handle = call_.handle;
    const std::uint32_t number = rank_.next_number();
    operation.is_followed = rank_.windows.start(call_.handle, unsigned_of(record.peer), shape == Shape::kGet, number);
    (void)start(tick, operation);
    write_one_sided(time, record, sent, number);
  }
}

void TraceLocation::add(const instrument::StartedExtension& record) {
  if (!part_.is_good() || !call_.is_open) return;
  const MpiRecord operation{record.begin, 0, 0, record.peer, record.tag, 0, record.operation};
  number_started(operation);
  if (!call_.is_written) return;
  write_start(last_, record.begin, operation, record.bytes, 0);
}

void TraceLocation::add(const CompletionRecord& record) {
  if (call_.is_open) {
    completions_.push_back(record);
  } else if (part_.is_good() && writer_ != nullptr) {
    write_end_of(record, last_);
  }
}

void TraceLocation::write_end_of(const CompletionRecord& record, std::uint64_t time) {
  const std::uint32_t function = instrument::function_of(record.word);
  const std::uint32_t comm = instrument::comm_of(record.word);
  auto operation = rank_.end(record.post_begin);
  const MessageNumbers::Number number = number_ended(record, operation && operation->of == TraceRankState::Of::kSend);
  if (!operation) {
    // With several threads it may have been started in one that is read later.
    const bool is_receive = record.peer >= 0;
    if (!rank_.several_threads || (!is_receive && message_kind(function).starts_both) ||
        !selection_.has_call(false, function, rank_.clock.since_init(record.post_begin), INT64_MAX) ||
        function >= vmpi::kFunctionCount || !is_message_role(vmpi::kFunctionTraits[function].role))
      return;
    const bool is_from_nobody = !is_receive && record.tag != instrument::kAnyTag &&
                                vmpi::kFunctionTraits[function].role == vmpi::Role::kPostReceive;
    if (is_from_nobody) return;
    operation = TraceRankState::Operation{.of = is_receive ? TraceRankState::Of::kReceive : TraceRankState::Of::kSend,
                                          .number = rank_.number_before_start(record.post_begin),
                                          .comm = comm,
                                          .function = function,
                                          .handle = 0,
                                          .root = instrument::kNoPeer,
                                          .sent = 0,
                                          .received = 0};
  }
  time = move_to(time);
  switch (operation->of) {
    case TraceRankState::Of::kSend:
      write(record.tag == instrument::kAnyTag ? OTF2_EvtWriter_MpiRequestCancelled : OTF2_EvtWriter_MpiIsendComplete,
            time, operation->number);
      return;
    case TraceRankState::Of::kReceive:
      if (record.peer < 0) {
        write(OTF2_EvtWriter_MpiRequestCancelled, time, operation->number);
        return;
      }
      rank_.use_communicator(comm);
      write_message(number, OTF2_EvtWriter_MpiIrecv, time, unsigned_of(record.peer), comm, unsigned_of(record.tag),
                    instrument::completion_bytes(record), operation->number);
      return;
    case TraceRankState::Of::kCollective:
      write(OTF2_EvtWriter_NonBlockingCollectiveComplete, time, collective_op(operation->function), operation->comm,
            root_of(operation->root), operation->sent, operation->received, operation->number);
      return;
    case TraceRankState::Of::kFile:
      write(OTF2_EvtWriter_IoOperationComplete, time, operation->handle,
            std::max(operation->sent, instrument::completion_bytes(record)),
            std::uint64_t{1} << 32 | operation->number);
      return;
    case TraceRankState::Of::kOneSided:
      if (!operation->is_followed) {
        write_ended(time, operation->handle, {operation->number, true, false});
      } else if (const auto ended = rank_.windows.end_request(operation->handle, operation->number)) {
        write_ended(time, operation->handle, *ended);
      }
      return;
  }
}

void TraceLocation::close_call() {
  if (!call_.is_open) return;
  call_.is_open = false;
  if (part_.is_good()) {
    for (const CompletionRecord& each : completions_) write_end_of(each, call_.end);
    if (call_.ends == Ends::kWindow) [[unlikely]]
      end_window_call();
    if (call_.is_written) write_end();
  }
  completions_.clear();
}

void TraceLocation::write_end() {
  const std::uint64_t time = move_to(call_.end);
  switch (call_.ends) {
    case Ends::kNothing:
    case Ends::kWindow:
      break;
    case Ends::kReceive:
      write_message(call_.received_as, OTF2_EvtWriter_MpiRecv, time, unsigned_of(call_.peer), call_.comm,
                    unsigned_of(call_.tag), call_.received);
      break;
    case Ends::kCollective:
      write_numbered(kCollectiveAttribute, call_.met_as, OTF2_EvtWriter_MpiCollectiveEnd, time,
                     collective_op(call_.function), call_.comm, root_of(call_.peer), call_.sent, call_.received);
      break;
    case Ends::kFile:
      write(OTF2_EvtWriter_IoOperationComplete, time, call_.handle, call_.received, call_.matching);
      break;
  }
  write(OTF2_EvtWriter_Leave, time, call_.region);
}

void TraceLocation::add(const PosixRecord& record) {
  const std::uint32_t context = stacks_.take_io(record.function, record.begin);
  if (!has_call(true, record.function, record.begin, record.begin + record.duration)) return;
  std::uint64_t begin = rank_.clock.at(record.begin);
  std::uint64_t end = std::max(begin, rank_.clock.at(record.begin + record.duration));
  // A call made inside an MPI call, by a callback of the program, is nested in it.
  if (call_.is_open && call_.is_written && begin < call_.end) {
    end = std::min(end, call_.end);
  } else {
    close_call();
  }
  if (!part_.is_good() || writer_ == nullptr) return;
  if (begin < last_) ++losses_.moved;
  const std::uint32_t region = region_of({TraceRegion::Kind::kPosix, record.function, record.call_site});
  begin = move_to(begin);
  use_context(context);
  write_with(context != 0 ? attributes_.alone_stack(context, rank_.used_attributes) : nullptr, OTF2_EvtWriter_Enter,
             begin, region);
  const auto mode = io_mode(instrument::posix_function_info(record.function).category);
  const std::uint32_t handle = trace_handle(record.file, false);
  const bool is_operation = mode && record.file != 0;
  const std::uint32_t matching = io_number_;
  if (is_operation) {
    ++io_number_;
    rank_.use_handle(handle);
    write(OTF2_EvtWriter_IoOperationBegin, begin, handle, *mode, OTF2_IO_OPERATION_FLAG_NONE, record.bytes, matching);
  }
  end = move_to(end);
  if (is_operation) write(OTF2_EvtWriter_IoOperationComplete, end, handle, record.bytes, matching);
  const bool is_error =
      (record.flags & instrument::kPosixFailed) != 0 && selection_.attributes().has(AttributeClass::kErrors);
  write_numbered(kErrorAttribute, is_error ? MessageNumbers::Number(record.flags >> 1) : std::nullopt,
                 OTF2_EvtWriter_Leave, end, region);
}

void TraceLocation::add(const MarkExtension& mark) {
  close_call();
  follow_phases(mark);
  if (!part_.is_good() || writer_ == nullptr || !selection_.has_time(rank_.clock.since_init(mark.tick))) return;
  const std::uint64_t time = move_to(rank_.clock.at(mark.tick));
  switch (mark.kind) {
    case instrument::MarkKind::kSnapshot:
    case instrument::MarkKind::kPcontrol:
      write(OTF2_EvtWriter_ParameterInt, time, part_.name(mark.name), static_cast<std::int64_t>(mark.value));
      return;
    case instrument::MarkKind::kValue: {
      const OTF2_Type type = OTF2_TYPE_DOUBLE;
      OTF2_MetricValue value{};
      value.floating_point = std::bit_cast<double>(mark.value);
      write(OTF2_EvtWriter_Metric, time, part_.name(mark.name), std::uint8_t{1}, &type, &value);
      return;
    }
    case instrument::MarkKind::kPhaseBegin:
      return begin_phase(time, mark.name);
    case instrument::MarkKind::kPhaseEnd:
      return end_phase(time, mark.name);
  }
}

bool TraceLocation::has_call(bool is_posix, std::uint32_t function, std::uint64_t begin_tick,
                             std::uint64_t end_tick) const {
  const std::int64_t begin = rank_.clock.since_init(begin_tick);
  return (selection_.phases().empty() || !chosen_phases_.empty()) &&
         selection_.has_call(is_posix, function, begin, rank_.clock.since_init(end_tick) - begin);
}

void TraceLocation::follow_phases(const MarkExtension& mark) {
  if (std::ranges::find(selection_.phases(), mark.name) == selection_.phases().end()) return;
  if (mark.kind == instrument::MarkKind::kPhaseBegin) chosen_phases_.push_back(mark.name);
  if (mark.kind != instrument::MarkKind::kPhaseEnd) return;
  const auto open = std::ranges::find(chosen_phases_, mark.name);
  if (open != chosen_phases_.end()) chosen_phases_.erase(open);
}

void TraceLocation::begin_phase(std::uint64_t time, std::uint32_t name) {
  phases_.push_back(region_of({TraceRegion::Kind::kPhase, 0, name}));
  write(OTF2_EvtWriter_Enter, time, phases_.back());
}

// Regions must nest, phases may overlap: later phases that continue are left and entered again.
void TraceLocation::end_phase(std::uint64_t time, std::uint32_t name) {
  const std::uint32_t region = region_of({TraceRegion::Kind::kPhase, 0, name});
  const auto found = std::find(phases_.rbegin(), phases_.rend(), region);
  if (found == phases_.rend()) return;
  for (auto phase = phases_.rbegin(); phase != found + 1; ++phase) write(OTF2_EvtWriter_Leave, time, *phase);
  const auto place = phases_.erase(found.base() - 1);
  for (auto phase = place; phase != phases_.end(); ++phase) write(OTF2_EvtWriter_Enter, time, *phase);
}

TraceTables::Thread TraceLocation::end() {
  close_call();
  if (writer_ == nullptr) return {};
  while (!phases_.empty() && part_.is_good()) {
    write(OTF2_EvtWriter_Leave, last_, phases_.back());
    phases_.pop_back();
  }
  const std::uint64_t events = part_.end(writer_);
  return {0, 0, events, events == 0 ? 0 : first_, last_, 0, 0};
}

}  // namespace ardoise::knowledge_sources

// Regions, marks, samples and I/O; traced_calls.cpp has the MPI calls.
#include "knowledge_sources/otf2/packs/traced_thread.hpp"

#include <otf2/otf2.h>

#include <algorithm>
#include <cmath>

#include "instrument/format/posix_functions.hpp"

namespace ardoise::knowledge_sources {

using instrument::MarkKind;
using instrument::PackClass;
using instrument::PosixCategory;
using instrument::PosixFunction;
using Kind = ArchivedKind;

namespace {

constexpr std::size_t kSamplesTogether = 2044;
constexpr std::uint64_t kSpans = 1000;  // divides the whole trace into intervals for region times

std::uint64_t span_of(const TracedProgram& program) {
  const auto least = static_cast<std::uint64_t>(program.ticks_per_second() / 100);
  return std::max(least, program.length_ticks() / kSpans);
}

PosixFunction function_of_mode(std::uint8_t mode) {
  return mode == OTF2_IO_OPERATION_MODE_READ    ? PosixFunction::kRead
         : mode == OTF2_IO_OPERATION_MODE_WRITE ? PosixFunction::kWrite
                                                : PosixFunction::kFsync;
}

}  // namespace

TracedThread::TracedThread(TracedRank& rank, std::uint32_t number)
    : rank_(rank),
      program_(rank.program),
      number_(number),
      has_times_(!program_.is_ours() && program_.definitions().interrupt_generators.empty()),
      times_(contexts_, 1e9 / program_.ticks_per_second(), span_of(program_), rank.counts()) {}

void TracedThread::event(const ArchivedEvent& event) {
  const std::uint64_t tick = program_.tick(event.time);
  last_tick_ = tick;
  rank_.note(tick);
  switch (event.kind) {
    case Kind::kEnter:
      return enter(event.reference, stack_of(event), tick);
    case Kind::kLeave:
      return leave(event.reference, tick);
    case Kind::kCallingContextEnter:
    case Kind::kCallingContextLeave: {
      const auto* const context = program_.definitions().calling_contexts.find(event.reference);
      const std::uint32_t region = context == nullptr ? kUndefined32 : context->region;
      return event.kind == Kind::kCallingContextEnter ? enter(region, stack_of(event), tick) : leave(region, tick);
    }
    case Kind::kCallingContextSample:
      return sample(event);
    case Kind::kMpiSend:
    case Kind::kMpiIsend:
    case Kind::kMpiIsendComplete:
    case Kind::kMpiIrecvRequest:
    case Kind::kMpiRecv:
    case Kind::kMpiIrecv:
    case Kind::kMpiRequestCancelled:
    case Kind::kMpiCollectiveEnd:
    case Kind::kNonBlockingCollectiveRequest:
    case Kind::kNonBlockingCollectiveComplete:
    case Kind::kRmaPut:
    case Kind::kRmaGet:
    case Kind::kRmaAtomic:
      if (is_in_begin_or_end()) return;
      return mpi_event(event, tick);
    case Kind::kRmaCollectiveEnd:
    case Kind::kRmaGroupSync:
    case Kind::kRmaRequestLock:
    case Kind::kRmaAcquireLock:
    case Kind::kRmaTryLock:
    case Kind::kRmaReleaseLock:
    case Kind::kRmaSync:
    case Kind::kRmaWaitChange:
    case Kind::kRmaOpCompleteBlocking:
    case Kind::kRmaOpCompleteNonBlocking:
    case Kind::kRmaOpTest:
    case Kind::kRmaOpCompleteRemote:
      if (call_.is_open) add_window_event(event);
      return;
    case Kind::kIoOperationBegin:
    case Kind::kIoOperationComplete:
    case Kind::kIoOperationCancelled:
    case Kind::kIoCreateHandle:
    case Kind::kIoDestroyHandle:
    case Kind::kIoSeek:
      return io_event(event, tick);
    case Kind::kMetric:
    case Kind::kParameterInt:
      return metric(event, tick);
    case Kind::kParameterString:
    case Kind::kParameterUnsignedInt:
      ++rank_.losses.values;
      return;
    case Kind::kBufferFlush:
      ++rank_.losses.flushes;
      return;
    // Fully covered by other events, or by definitions.
    case Kind::kMpiRequestTest:
    case Kind::kMpiCollectiveBegin:
    case Kind::kRmaWinCreate:
    case Kind::kRmaWinDestroy:
    case Kind::kRmaCollectiveBegin:
    case Kind::kIoOperationTest:
    case Kind::kIoOperationIssued:
    case Kind::kIoDuplicateHandle:
    case Kind::kIoChangeStatusFlags:
    case Kind::kProgramBegin:
    case Kind::kProgramEnd:
    case Kind::kMeasurementOnOff:
    case Kind::kCommCreate:
    case Kind::kCommDestroy:
      return;
    default:
      ++rank_.losses.others;
  }
}

// Score-P records MPI_Init and MPI_Finalize as collectives that create and free MPI_COMM_WORLD. They are no calls here.
bool TracedThread::is_in_begin_or_end() const {
  return !open_.empty() && (open_.back().what == Opens::kInit || open_.back().what == Opens::kFinalize);
}

void TracedThread::enter(std::uint32_t reference, std::uint32_t stack, std::uint64_t tick) {
  const TracedRegion& region = program_.region(reference);
  Open open{reference, Opens::kNothing, caller()};
  const CodePlace place = region.caller.code != 0 ? region.caller : open.caller;
  switch (region.kind) {
    case TracedRegion::Kind::kMpi:
      if (call_.is_open) {
        ++rank_.losses.inner_calls;
        break;
      }
      open.what = Opens::kMpi;
      begin_mpi(region.function, place, region.is_mpi_io, tick);
      call_.stack = stack;
      break;
    case TracedRegion::Kind::kPosix:
      // I/O that MPI does to move the data of a file belongs to MPI.
      if (io_.is_open || (call_.is_open && call_.is_mpi_io)) break;
      open.what = Opens::kIo;
      begin_io(region.function, place, tick);
      io_.stack = stack;
      break;
    case TracedRegion::Kind::kInit:
      open.what = Opens::kInit;
      rank_.begin_init(tick);
      break;
    case TracedRegion::Kind::kFinalize:
      open.what = Opens::kFinalize;
      times_.pass(tick);
      rank_.begin_finalize(tick);
      break;
    case TracedRegion::Kind::kPhase:
      open.what = Opens::kPhase;
      mark(MarkKind::kPhaseBegin, region.mark_name, 0, tick);
      break;
    case TracedRegion::Kind::kUser:
      open.caller = {region.own.code, program_.code(region.own.code).first_line};
      if (open.caller.line == kUndefined32) open.caller.line = 0;
      if (!has_times_ || call_.is_open || io_.is_open) break;
      open.what = Opens::kRegion;
      rank_.define_code(region.own.code);
      times_.enter(tick, region.own);
      break;
  }
  open_.push_back(open);
}

// Regions that were not left before the enclosing one end with it.
void TracedThread::leave(std::uint32_t reference, std::uint64_t tick) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& o) { return o.region == reference; });
  if (found == open_.rend()) {
    ++rank_.losses.unbalanced;
    return;
  }
  for (bool is_last = false; !is_last;) {
    const Open open = open_.back();
    is_last = open.region == reference;
    open_.pop_back();
    close(open, tick);
  }
}

void TracedThread::close(const Open& open, std::uint64_t tick) {
  switch (open.what) {
    case Opens::kNothing:
      return;
    case Opens::kRegion:
      times_.leave(tick);
      if (times_.is_due(tick)) flush();
      return;
    case Opens::kMpi:
      return end_mpi(tick);
    case Opens::kIo:
      return end_io(tick);
    case Opens::kInit:
      times_.pass(tick);
      return rank_.end_init(tick);
    case Opens::kFinalize:
      return;
    case Opens::kPhase:
      return mark(MarkKind::kPhaseEnd, program_.region(open.region).mark_name, 0, tick);
  }
}

void TracedThread::mark(MarkKind kind, std::uint32_t name, std::uint64_t value, std::uint64_t tick) {
  rank_.use_mark(name);
  instrument::MarkExtension mark{};
  mark.tick = tick;
  mark.value = value;
  mark.name = name;
  mark.kind = kind;
  mark.word = instrument::kMarkWord;
  if (call_.is_open) {
    call_.marks.push_back(mark);
    return;
  }
  (void)rank_.packs.add_extension(number_, mark);
  rank_.packs.end_call(number_);
}

void TracedThread::metric(const ArchivedEvent& event, std::uint64_t tick) {
  if (event.kind == Kind::kParameterInt) {
    const auto name = program_.mark_of_parameter(event.reference);
    if (!name) {
      ++rank_.losses.values;
    } else {
      mark(*name == 0 ? MarkKind::kPcontrol : MarkKind::kSnapshot, *name, event.value, tick);
    }
    return;
  }
  const auto name = program_.mark_of_metric(event.reference);
  if (!name || event.metrics.size() != 1 || !event.metrics[0].is_real()) {
    rank_.losses.values += event.metrics.size();
    return;
  }
  mark(MarkKind::kValue, *name, event.metrics[0].bits, tick);
}

void TracedThread::begin_io(std::uint16_t function, CodePlace place, std::uint64_t tick) {
  io_ = {};
  io_.is_open = true;
  io_.function = function;
  io_.call_site = rank_.site_of(place);
  io_.begin = tick;
  if (has_times_ && !call_.is_open) times_.begin_call(tick, kPosixFunction | (function + 1u));
}

void TracedThread::end_io(std::uint64_t tick) {
  io_.is_open = false;
  const std::uint64_t duration = tick > io_.begin ? tick - io_.begin : 0;
  instrument::PosixRecord record{};
  record.begin = io_.begin;
  record.duration = static_cast<std::uint32_t>(std::min<std::uint64_t>(duration, instrument::kWide));
  record.call_site = io_.call_site;
  record.file = io_.file.file;
  record.function = io_.function;
  record.bytes = io_.file.bytes;
  rank_.use_file(record.file);
  const PosixCategory category = instrument::posix_function_info(io_.function).category;
  const std::uint64_t sent = category == PosixCategory::kWrite ? record.bytes : 0;
  const std::uint64_t received = category == PosixCategory::kRead ? record.bytes : 0;
  rank_.packs.add_total(PackClass::kPosix, io_.function, 1, duration, sent, received);
  const bool has_time = has_times_ && !call_.is_open;
  if (has_time) times_.end_call(tick);
  calls_.add(io_.stack != 0 ? io_.stack
             : has_time     ? times_.context()
                            : 0,
             kPosixFunction | (io_.function + 1u), duration, sent, received);
  rank_.packs.add(number_, record);
  if (!call_.is_open) rank_.packs.end_call(number_);
}

void TracedThread::io_event(const ArchivedEvent& event, std::uint64_t tick) {
  const std::uint32_t file = program_.file_of(event.reference);
  const std::pair<std::uint64_t, std::uint64_t> key(event.reference, event.request);
  if (event.kind == Kind::kIoOperationBegin) {
    if (io_.is_open) {
      io_.file = {file, event.bytes, event.request};
    } else if (call_.is_open) {
      call_.file = {file, event.bytes, event.request};
      if ((event.flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) == 0) return;
      const bool reads = event.mode == OTF2_IO_OPERATION_MODE_READ;
      Operation operation;
      operation.kind = reads ? Operation::Kind::kRead : Operation::Kind::kWrite;
      operation.tag = 0;
      operation.peer = static_cast<std::int32_t>(file);
      operation.bytes = reads ? 0 : event.bytes;
      start(From::kAccess, key, operation);
    } else {
      begin_io(static_cast<std::uint16_t>(function_of_mode(event.mode)), caller(), tick);
      io_.file = {file, event.bytes, event.request};
      io_.ends_with_operation = true;
    }
    return;
  }
  const bool is_end = event.kind == Kind::kIoOperationComplete || event.kind == Kind::kIoOperationCancelled;
  if (io_.is_open) {
    if (io_.file.file == 0) io_.file.file = file;
    if (!is_end) return;
    io_.file.bytes = event.bytes;
    if (io_.ends_with_operation && io_.file.matching == event.request) end_io(tick);
    return;
  }
  if (!call_.is_open) {
    rank_.losses.unknown_ends += is_end ? 1 : 0;
    return;
  }
  if (!is_end) {
    if (call_.file.file == 0) call_.file.file = file;
    return;
  }
  Operation end;
  end.bytes = event.bytes;
  if (complete(From::kAccess, key, end)) return;
  if (call_.file.matching == event.request) call_.file.bytes = event.bytes;
}

std::uint32_t TracedThread::comm_of(std::uint32_t reference) {
  if (known_comm_ != reference) {
    known_comm_ = reference;
    known_number_ = program_.comm_of(rank_.number, reference);
  }
  return known_number_;
}

// Functions of MPI and of I/O are no contexts of their own: their caller's is used.
std::uint32_t TracedThread::context_of(std::uint32_t archived) {
  const auto& contexts = program_.definitions().calling_contexts;
  std::vector<const ArchivedCallingContext*> path;
  std::uint32_t context = 0;
  for (const auto* each = contexts.find(archived); each != nullptr; each = contexts.find(each->parent)) {
    if (const auto known = archived_contexts_.find(each->id); known != archived_contexts_.end()) {
      context = known->second;
      break;
    }
    path.push_back(each);
  }
  for (auto each = path.rbegin(); each != path.rend(); ++each) {
    CodePlace place = program_.region((*each)->region).own;
    if (const auto* const line = program_.definitions().source_lines.find((*each)->source_line))
      place.line = line->line;
    if (place.code != 0) {
      rank_.define_code(place.code);
      context = contexts_.child(context, place);
    }
    archived_contexts_.emplace((*each)->id, context);
  }
  return context;
}

std::uint32_t TracedThread::stack_of(const ArchivedEvent& event) {
  for (const auto& [key, value] : event.attributes) {
    if (key == program_.stack_attribute() && value.type == OTF2_TYPE_CALLING_CONTEXT)
      return context_of(static_cast<std::uint32_t>(value.bits));
  }
  return 0;
}

void TracedThread::sample(const ArchivedEvent& event) {
  if (event.kind == Kind::kMetric) {
    rank_.losses.values += event.metrics.size();
    return;
  }
  if (event.kind != Kind::kCallingContextSample) {
    ++rank_.losses.others;
    return;
  }
  const std::uint64_t tick = program_.tick(event.time);
  rank_.note(tick);
  const auto* const generator = program_.definitions().interrupt_generators.find(event.other);
  const bool counts = generator != nullptr && generator->mode == OTF2_INTERRUPT_GENERATOR_MODE_COUNT;
  double period = 1e6;  // ns
  if (generator != nullptr) {
    period = static_cast<double>(generator->period) *
             std::pow(generator->base == OTF2_BASE_BINARY ? 2.0 : 10.0, static_cast<double>(generator->exponent));
    if (!counts) period *= 1e9;
    rank_.define_sampling(counts ? instrument::SampleUnit::kEvents : instrument::SampleUnit::kCpuNanoseconds,
                          generator->name, counts || period <= 0 ? 0 : 1e9 / period,
                          counts ? static_cast<std::uint64_t>(period) : 0, number_);
  }
  instrument::SampleRecord record{};
  record.tick = tick;
  record.context = context_of(event.reference);
  record.weight = static_cast<std::uint32_t>(std::clamp(period, 1.0, 4e9));
  if (const auto* const context = program_.definitions().calling_contexts.find(event.reference)) {
    const TracedRegion& region = program_.region(context->region);
    if (region.kind == TracedRegion::Kind::kMpi || region.kind == TracedRegion::Kind::kPosix) {
      record.function = static_cast<std::uint16_t>(region.function + 1);
      record.flags = region.kind == TracedRegion::Kind::kPosix ? instrument::kPosixCall : instrument::kInsideMpi;
    }
  }
  samples_.push_back(record);
  if (samples_.size() == kSamplesTogether) flush();
}

void TracedThread::flush() {
  if (has_times_) times_.send(rank_.packs, number_);
  contexts_.send(rank_.packs, number_);
  calls_.send(rank_.packs, number_);
  if (samples_.empty()) return;
  rank_.packs.samples(number_, samples_);
  samples_.clear();
}

void TracedThread::end() {
  while (!open_.empty()) {
    const Open open = open_.back();
    open_.pop_back();
    if (open.what == Opens::kMpi || open.what == Opens::kIo) ++rank_.losses.unfinished;
    close(open, last_tick_);
  }
  if (io_.is_open) end_io(last_tick_);
  flush();
}

}  // namespace ardoise::knowledge_sources

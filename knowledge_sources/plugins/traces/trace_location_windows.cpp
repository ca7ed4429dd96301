// One-sided communication: the events that Score-P writes for the same calls, as far as records contain them.
//
//   MPI_Put, MPI_Get      RmaPut, RmaGet          MPI_Win_fence                   RmaCollectiveBegin, RmaCollectiveEnd
//   MPI_Accumulate …      RmaAtomic               MPI_Win_post, _start            RmaGroupSync (process)
//   MPI_Win_lock          RmaRequestLock          MPI_Win_complete, _wait, _test  RmaGroupSync (process and memory)
//   MPI_Win_unlock        RmaReleaseLock
//
// RmaOpCompleteNonBlocking and RmaOpCompleteRemote are in the call that completes operations. A lock is only requested:
// MPI may grant it later.
#include <algorithm>

#include "knowledge_sources/otf2/writer/function_kinds.hpp"
#include "knowledge_sources/plugins/traces/trace_location.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

using instrument::MpiRecord;
using instrument::Shape;
using instrument::WindowAct;
using vmpi::FunctionId;

namespace {

constexpr OTF2_RmaSyncLevel kProcess = OTF2_RMA_SYNC_LEVEL_PROCESS;
constexpr OTF2_RmaSyncLevel kProcessAndMemory = OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY;
constexpr std::uint32_t kAllRanks = OTF2_UNDEFINED_UINT32;

}  // namespace

void TraceLocation::write_one_sided(std::uint64_t time, const MpiRecord& record, std::uint64_t bytes,
                                    std::uint64_t id) {
  const auto target = static_cast<std::uint32_t>(record.peer);
  if (const auto type = atomic_type(record.function())) {
    // Operations that read and write move equal amounts in both directions.
    write(OTF2_EvtWriter_RmaAtomic, time, call_.handle, target, *type, bytes,
          record.shape() == Shape::kGet ? bytes : std::uint64_t{0}, id);
  } else if (record.shape() == Shape::kGet) {
    write(OTF2_EvtWriter_RmaGet, time, call_.handle, target, bytes, id);
  } else {
    write(OTF2_EvtWriter_RmaPut, time, call_.handle, target, bytes, id);
  }
}

void TraceLocation::begin_window_call(const instrument::MpiEvent& event) {
  const MpiRecord& record = event.record;
  const std::uint32_t window = call_.handle;
  rank_.use_communicator(record.comm());
  rank_.windows.use(window);
  if (record.shape() != Shape::kWindow) {
    if (record.peer < 0) return;
    const std::uint64_t id = rank_.windows.operate(window, static_cast<std::uint32_t>(record.peer),
                                                   record.shape() == Shape::kGet, rank_.next_number());
    attributes_.has_started(static_cast<std::uint32_t>(id));
    return write_one_sided(call_.begin, record, event.bytes, id);
  }
  const WindowAct act = instrument::window_act_of(record.tag);
  switch (static_cast<FunctionId>(record.function())) {
    case FunctionId::kWin_fence:
      return write(OTF2_EvtWriter_RmaCollectiveBegin, call_.begin);
    case FunctionId::kWin_lock:
      if (record.peer < 0 || act == WindowAct::kNone) return;
      return write(OTF2_EvtWriter_RmaRequestLock, call_.begin, window, static_cast<std::uint32_t>(record.peer),
                   std::uint64_t{0}, act == WindowAct::kExclusive ? OTF2_LOCK_EXCLUSIVE : OTF2_LOCK_SHARED);
    case FunctionId::kWin_lock_all:
      return write(OTF2_EvtWriter_RmaRequestLock, call_.begin, window, kAllRanks, std::uint64_t{0}, OTF2_LOCK_SHARED);
    default:
      return;
  }
}

void TraceLocation::write_ended(std::uint64_t time, std::uint32_t window, const TraceWindows::Ended& ended) {
  if (ended.at_origin) write(OTF2_EvtWriter_RmaOpCompleteNonBlocking, time, window, ended.id);
  if (ended.at_target) write(OTF2_EvtWriter_RmaOpCompleteRemote, time, window, ended.id);
}

void TraceLocation::add(const instrument::GroupExtension& record) {
  if (!call_.is_open) return;
  for (std::uint32_t i = 0; i < std::min(record.count, instrument::GroupExtension::kMost); ++i)
    group_.push_back(record.ranks[i]);
}

// Its completions are written even if the call itself is filtered out.
void TraceLocation::end_window_call() {
  using Completes = TraceWindows::Completes;
  using Side = TraceWindows::Side;
  const std::uint32_t window = call_.handle;
  TraceWindows& windows = rank_.windows;
  const auto target = call_.peer < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(call_.peer));
  const auto complete = [&](Completes how) {
    for (const TraceWindows::Ended& each : windows.complete(window, target, how))
      write_ended(move_to(call_.end), window, each);
  };
  const auto synchronise = [&](Side side, OTF2_RmaSyncLevel level) {
    const auto group = windows.group_of(window, side);
    if (group && call_.is_written) write(OTF2_EvtWriter_RmaGroupSync, move_to(call_.end), level, window, *group);
  };
  const auto open = [&](Side side) {
    windows.open(window, side, windows.group(call_.comm, group_));
    synchronise(side, kProcess);
  };
  const auto close = [&](Side side) {
    synchronise(side, kProcessAndMemory);
    windows.close(window, side);
  };
  switch (static_cast<FunctionId>(call_.function)) {
    case FunctionId::kWin_fence:
      complete(Completes::kEverywhere);
      if (call_.is_written)
        write(OTF2_EvtWriter_RmaCollectiveEnd, move_to(call_.end), OTF2_COLLECTIVE_OP_BARRIER, kProcessAndMemory,
              window, std::uint32_t{OTF2_COLLECTIVE_ROOT_NONE}, std::uint64_t{0}, std::uint64_t{0});
      break;
    case FunctionId::kWin_post:
      open(Side::kExposure);
      break;
    case FunctionId::kWin_start:
      open(Side::kAccess);
      break;
    case FunctionId::kWin_complete:
      complete(Completes::kEpoch);
      close(Side::kAccess);
      break;
    case FunctionId::kWin_wait:
      close(Side::kExposure);
      break;
    case FunctionId::kWin_test:
      if (instrument::window_act_of(call_.tag) == WindowAct::kEnded) {
        close(Side::kExposure);
      } else {
        synchronise(Side::kExposure, OTF2_RMA_SYNC_LEVEL_NONE);
      }
      break;
    case FunctionId::kWin_unlock:
    case FunctionId::kWin_unlock_all:
      complete(Completes::kEverywhere);
      if (call_.is_written)
        write(OTF2_EvtWriter_RmaReleaseLock, move_to(call_.end), window, target.value_or(kAllRanks), std::uint64_t{0});
      break;
    case FunctionId::kWin_flush:
    case FunctionId::kWin_flush_all:
      complete(Completes::kEverywhere);
      break;
    case FunctionId::kWin_flush_local:
    case FunctionId::kWin_flush_local_all:
      complete(Completes::kAtOrigin);
      break;
    default:
      break;
  }
  group_.clear();
}

}  // namespace ardoise::knowledge_sources

// Completes a call at its end from its events and attributes, by function.
#include <otf2/otf2.h>

#include <algorithm>

#include "tools/replay/script_compiler.hpp"

namespace ardoise::replay {

using vmpi::ArgumentKind;
using vmpi::FunctionId;
using vmpi::Role;

namespace {

bool has_object_call(std::string_view category, const CallShape& shape, FunctionId function) {
  if (shape.comm == kNothing) return false;
  if (category == "communicator" || category == "topology" || category == "process") {
    return shape.object != kNothing || function == FunctionId::kComm_free || function == FunctionId::kComm_disconnect ||
           function == FunctionId::kComm_idup || function == FunctionId::kComm_idup_with_info ||
           function == FunctionId::kComm_split || function == FunctionId::kComm_split_type ||
           function == FunctionId::kComm_create || function == FunctionId::kCart_create ||
           function == FunctionId::kGraph_create;
  }
  return false;
}

}  // namespace

void ScriptCompiler::as_bytes(Call& call, std::uint64_t sent, std::uint64_t received) {
  call.shape.flags = static_cast<std::uint8_t>(call.shape.flags | CallShape::kAsBytes);
  call.shape.count = static_cast<std::int64_t>(sent);
  call.shape.receive_count = static_cast<std::int64_t>(received);
}

void ScriptCompiler::count_messages(const Call& call) {
  const auto add = [&](auto& counts, std::uint32_t comm, std::int32_t other, std::int32_t tag, bool sends) {
    const ReplayComm* const found = world_.comm(comm);
    if (found == nullptr) return;
    if (other < 0) return;  // absent
    const std::int32_t rank = world_.world_rank(*found, other, rank_);
    ++counts[sends ? Channel{comm, rank_, rank, tag} : Channel{comm, rank, rank_, tag}];
  };
  if (call.has_sent) add(summary_.sends, call.shape.comm, call.shape.peer, call.shape.tag, true);
  if (call.has_received) add(summary_.receives, call.shape.comm, call.shape.source, call.shape.receive_tag, false);
  for (const Start& start : call.starts) {
    if (start.kind == Started::kSend) add(summary_.sends, start.comm, start.peer, start.tag, true);
  }
}

// Send, receive, probe, and calls that start one.
void ScriptCompiler::finish_message_call(Call& call) {
  CallShape& shape = call.shape;
  const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[call.function];
  const auto function = static_cast<FunctionId>(call.function);
  const bool is_start = function == FunctionId::kStart;
  if (call.starts.size() == 1 && call.starts[0].kind == Started::kSend) {
    shape.peer = call.starts[0].peer;
    shape.tag = call.starts[0].tag;
    shape.comm = call.starts[0].comm;
    call.sent = call.starts[0].bytes;
  }
  const bool is_prepared = std::ranges::any_of(
      call.lists, [](const auto& list) { return list.kind == ListKind::kPersistent && !list.values.empty(); });
  if (is_start && !is_prepared && call.starts.size() == 1) {
    const bool sends = call.starts[0].kind == Started::kSend;
    call.function = static_cast<std::uint16_t>(sends ? FunctionId::kIsend : FunctionId::kIrecv);
    ++summary_.guessed["persistent operations are started as ordinary ones because their initialization is unknown"];
    as_bytes(call, call.sent, 0);
  } else if (!call.has_arguments && traits.role != Role::kProbe && !is_start && function != FunctionId::kStartall) {
    ++summary_.guessed["messages are replayed as bytes because their datatypes are not in the trace"];
    as_bytes(call, traits.role == Role::kReceive ? call.received : call.sent, call.received);
  }
  if (traits.role == Role::kProbe && shape.peer >= 0) {
    shape.source = shape.peer;
    shape.receive_tag = shape.tag;
  }
  place_message(call);
  if (traits.role == Role::kSend && (shape.flags & CallShape::kAsBytes) == 0)
    script_.note_size(shape.type, shape.count, call.sent);
  count_messages(call);
}

void ScriptCompiler::finish_collective(Call& call) {
  CallShape& shape = call.shape;
  if (!call.has_arguments && static_cast<FunctionId>(call.function) != FunctionId::kBarrier &&
      static_cast<FunctionId>(call.function) != FunctionId::kIbarrier) {
    ++summary_.guessed
          ["collectives are replayed with the bytes of their events because their arguments are not in the trace"];
    const ReplayComm* const comm = world_.comm(shape.comm);
    const auto size = static_cast<std::uint64_t>(std::max<std::size_t>(comm == nullptr ? 1 : comm->members.size(), 1));
    const std::string_view name = vmpi::kFunctionTraits[call.function].name;
    const bool is_spread =
        name.find("ll") != name.npos || name.find("catter") != name.npos || name.find("ather") != name.npos;
    const std::uint64_t most = std::max(call.sent, call.received);
    const std::uint64_t part = is_spread ? most / size : most;
    as_bytes(call, part, part);
  }
  if (!place_collective(call)) shape.comm = kNothing;
  if (shape.comm != kNothing) ++summary_.collectives[shape.comm];
}

std::int32_t ScriptCompiler::placed(std::uint32_t comm, std::int32_t rank) const {
  const ReplayComm* const found = world_.comm(comm);
  return found == nullptr || !found->has_absent || rank < 0 ? rank : world_.place(*found, rank, rank_);
}

// A message to or from an absent rank becomes one to or from MPI_PROC_NULL.
void ScriptCompiler::place_message(Call& call) {
  CallShape& shape = call.shape;
  const auto place = [&](std::int32_t& rank) {
    const std::int32_t there = placed(shape.comm, rank);
    if (there < 0 && rank >= 0) call.has_absent = true;
    rank = there;
  };
  for (Start& start : call.starts) start.peer = placed(start.comm, start.peer);
  place(shape.peer);
  if (shape.source >= 0) {
    place(shape.source);
    if (shape.source < 0) shape.flags = static_cast<std::uint8_t>(shape.flags & ~CallShape::kAnySourceGiven);
  }
  if (call.starts.size() == 1) call.has_absent = false;  // the completing call waits
}

// Restricted to present ranks. False: it cannot be replayed.
bool ScriptCompiler::place_collective(Call& call) {
  CallShape& shape = call.shape;
  const ReplayComm* const comm = world_.comm(shape.comm);
  if (comm == nullptr || !comm->has_absent) return true;
  call.has_absent = call.starts.empty();
  if (vmpi::kFunctionTraits[call.function].role == Role::kNeighbour) return false;
  if (shape.peer >= 0) {
    shape.peer = world_.place(*comm, shape.peer, rank_);
    if (shape.peer < 0) return false;
  }
  const bool is_first = std::ranges::find(comm->members, rank_) != comm->members.end();
  const auto& places = comm->is_inter() && is_first ? comm->other_places : comm->places;
  for (CallScript::List& list : call.lists) {
    if (list.values.size() != places.size()) continue;
    std::size_t next = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= 0) list.values[next++] = list.values[i];
    }
    list.values.resize(next);
  }
  return true;
}

void ScriptCompiler::place_one_sided(Call& call) {
  CallShape& shape = call.shape;
  const auto* const window = world_.definitions().windows.find(shape.object);
  if (window == nullptr || shape.peer < 0) return;
  shape.peer = placed(window->comm, shape.peer);
  if (shape.peer >= 0) return;
  call.has_absent = true;
  shape.object = kNothing;  // skipped
}

bool ScriptCompiler::finish_call(Call& call) {
  CallShape& shape = call.shape;
  if (call.function >= kFileReadCall) return call.function <= kFileFlushCall;
  const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[call.function];
  const std::string_view category = traits.category;
  const auto function = static_cast<FunctionId>(call.function);
  if (category == "point-to-point") {
    switch (function) {
      case FunctionId::kGrequest_complete:
      case FunctionId::kGrequest_start:
      case FunctionId::kRequest_get_status:
      case FunctionId::kCancel:
      case FunctionId::kPsend_init:
      case FunctionId::kPrecv_init:
      case FunctionId::kPready:
      case FunctionId::kPready_list:
      case FunctionId::kPready_range:
      case FunctionId::kParrived:
        ++summary_.left_out[traits.name];
        return false;
      default:
        break;
    }
    if (shape.function == 0 && (traits.role == Role::kSend || traits.role == Role::kReceive) && shape.comm == kNothing)
      shape.comm = world_.number();  // to or from MPI_PROC_NULL
    finish_message_call(call);
    return true;
  }
  if (category == "wait") return true;
  if (category == "collective" || category == "neighbourhood") {
    finish_collective(call);
    return shape.comm != kNothing || !call.starts.empty() || call.has_absent;
  }
  if (category == "one-sided") place_one_sided(call);
  if (category == "one-sided" || category == "io")
    return !traits.is_query && (shape.object != kNothing || call.has_absent);
  if (!has_object_call(category, shape, function)) return false;
  if (category == "process" && function != FunctionId::kComm_disconnect)
    throw ReplayError(place_of(world_.definitions(), shape.region, traits.name) +
                      " joins programs of different launches: that cannot be replayed");
  if (function == FunctionId::kIntercomm_create || function == FunctionId::kIntercomm_merge) {
    const ReplayComm* const made = world_.comm(shape.object);
    if (made != nullptr && made->has_absent)
      throw ReplayError("intercommunicators cannot be replayed with a part of their ranks (--ranks)");
  }
  if (shape.object != kNothing && function != FunctionId::kComm_free) summary_.made.insert(shape.object);
  return true;
}

}  // namespace ardoise::replay

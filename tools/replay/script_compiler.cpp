#include "tools/replay/script_compiler.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <charconv>

#include "knowledge_sources/otf2/contents/trace_attribute.hpp"

namespace ardoise::replay {

using knowledge_sources::ArchivedValue;
using vmpi::ArgumentKind;
using vmpi::FunctionId;
using vmpi::Role;
using Kind = knowledge_sources::ArchivedKind;

namespace {

constexpr std::uint16_t kNoFunction = UINT16_MAX, kPosix = UINT16_MAX - 1;

bool is_posix(std::uint16_t function) { return function >= kFileReadCall; }

// Numbers of a text list: "1,2,-,*"; other elements are skipped.
void for_numbers(std::string_view text, const auto& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::int64_t number = 0;
    const char* const last = text.data() + end;
    if (const auto [after, error] = std::from_chars(text.data(), last, number); error == std::errc() && after == last)
      take(number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string_view> parts_of(std::string_view text, std::string_view between) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != text.npos; text.remove_prefix(end == text.npos ? 0 : end + between.size())) {
    end = text.find(between);
    parts.push_back(text.substr(0, end));
  }
  return parts;
}

std::uint8_t operation_of(std::string_view name) {
  const auto found = std::ranges::find(vmpi::kOperationNames, name);
  return found == vmpi::kOperationNames.end() ? std::uint8_t{0}
                                              : static_cast<std::uint8_t>(found - vmpi::kOperationNames.begin());
}

void set_flag(CallShape& shape, CallShape::Flag flag, bool is_set = true) {
  if (is_set) shape.flags = static_cast<std::uint8_t>(shape.flags | flag);
}

// CallShape::receive_count holds the transferred bytes.
bool moves_file_bytes(std::uint16_t function) {
  if (is_posix(function)) return false;
  const Role role = vmpi::kFunctionTraits[function].role;
  return role == Role::kFileRead || role == Role::kFileWrite;
}

bool frees_object(std::uint16_t function) {
  switch (static_cast<FunctionId>(function)) {
    case FunctionId::kComm_free:
    case FunctionId::kComm_disconnect:
    case FunctionId::kWin_free:
    case FunctionId::kFile_close:
      return true;
    default:
      return false;
  }
}

std::int32_t root_of(std::uint32_t root) {
  if (root == OTF2_COLLECTIVE_ROOT_SELF) return kRootGroup;
  return root <= INT32_MAX ? static_cast<std::int32_t>(root) : kNoRank;
}

}  // namespace

ScriptCompiler::ScriptCompiler(const ArchiveWorld& world, std::int32_t rank, CallScript& script)
    : world_(world), rank_(rank), script_(script), free_slots_(script.threads()) {
  for (std::size_t i = 0; i < vmpi::kFunctionCount; ++i)
    names_.emplace(vmpi::kFunctionTraits[i].name, static_cast<std::uint16_t>(i));
  // Twins with large counts and early names are the same calls.
  for (auto& [name, number] : names_) {
    const std::string_view base = name.ends_with("_c") ? name.substr(0, name.size() - 2) : name;
    const std::string plain = base.starts_with("MPIX_") ? "MPI_" + std::string(base.substr(5)) : std::string(base);
    if (const auto same = names_.find(plain); same != names_.end()) number = same->second;
  }
  for (const auto& attribute : world.definitions().attributes) {
    for (const auto& known : knowledge_sources::kTraceAttributes) {
      if (known.name == attribute.name) attributes_.emplace(attribute.id, known.key);
    }
  }
  std::size_t index = 0;
  for (const auto* const location : world.threads(rank))
    threads_.emplace(location->id, Thread{index++, 0, 0, 0, 0, {}});
}

ScriptCompiler::Thread& ScriptCompiler::thread_of(const Event& event) { return threads_.at(event.location->id); }

std::uint16_t ScriptCompiler::function_of(std::uint32_t region) {
  const auto [known, is_new] = functions_.try_emplace(region, kNoFunction);
  if (!is_new) return known->second;
  const auto* const found = world_.definitions().regions.find(region);
  if (found == nullptr) return kNoFunction;
  if (const auto name = names_.find(found->name); name != names_.end()) {
    known->second = name->second;
  } else if (found->paradigm == OTF2_PARADIGM_MEASUREMENT_SYSTEM || found->role == OTF2_REGION_ROLE_FILE_IO) {
    known->second = kPosix;
  }
  return known->second;
}

bool ScriptCompiler::event(const Event& event) {
  Thread& thread = thread_of(event);
  if (event.kind == Kind::kEnter || event.kind == Kind::kLeave) {
    const std::uint16_t function = function_of(event.reference);
    if (function == kNoFunction) return true;
    if (event.kind == Kind::kEnter) {
      if (thread.depth++ == 0) enter(thread, event, function);
    } else if (thread.depth > 0 && --thread.depth == 0) {
      leave(thread, event);
    }
  } else if (thread.depth == 1) {
    take(thread, event);
  }
  return true;
}

void ScriptCompiler::enter(Thread& thread, const Event& event, std::uint16_t function) {
  Call& call = thread.call;
  call = {};
  call.function = function;
  call.begin = event.time;
  call.shape.region = event.reference;
  for (const Event::Attribute& attribute : event.attributes) {
    const auto key = attributes_.find(attribute.reference);
    if (key != attributes_.end()) take_attribute(thread, key->second, attribute.value);
  }
}

void ScriptCompiler::take_attribute(Thread& thread, std::uint32_t key, const ArchivedValue& value) {
  Call& call = thread.call;
  CallShape& shape = call.shape;
  const std::string_view words =
      value.is_string() ? std::string_view(world_.definitions().string_of(static_cast<std::uint32_t>(value.bits)))
                        : std::string_view();
  const auto number = value.as_signed();
  const auto take_list = [&](ListKind kind) {
    CallScript::List list{kind, {}};
    for_numbers(words, [&](std::int64_t each) { list.values.push_back(each); });
    call.lists.push_back(std::move(list));
  };
  const auto take_types = [&](ListKind kind) {
    CallScript::List list{kind, {}};
    for (const std::string_view each : parts_of(words, " | ")) list.values.push_back(text(each));
    call.lists.push_back(std::move(list));
  };
  const auto use = [&](std::uint64_t request) {
    const auto found = requests_.find(request);
    if (found != requests_.end()) call.lists.back().values.push_back(found->second.slot);
  };
  call.has_arguments = true;
  switch (key) {
    case knowledge_sources::kRequestAttribute:
      call.lists.push_back({ListKind::kUsed, {}});
      return use(value.bits);
    case knowledge_sources::kCommAttribute:
      shape.comm = static_cast<std::uint32_t>(value.bits);
      return;
    case knowledge_sources::kPeerAttribute:
      shape.peer = static_cast<std::int32_t>(number);
      return;
    case knowledge_sources::kPeerTagAttribute:
      shape.tag = static_cast<std::int32_t>(number);
      return;
    case knowledge_sources::kWindowAttribute:
    case knowledge_sources::kFileAttribute:
    case knowledge_sources::kPreparedAttribute:
      shape.object = static_cast<std::uint32_t>(value.bits);
      if (key == knowledge_sources::kPreparedAttribute) script_.prepared = std::max(script_.prepared, shape.object + 1);
      return;
    default:
      break;
  }
  switch (static_cast<ArgumentKind>(key)) {
    case ArgumentKind::kCount:
    case ArgumentKind::kSendCount:
      shape.count = number;
      return;
    case ArgumentKind::kReceiveCount:
      shape.receive_count = number;
      return;
    case ArgumentKind::kType:
    case ArgumentKind::kSendType:
      shape.type = text(words);
      return;
    case ArgumentKind::kReceiveType:
      shape.receive_type = text(words);
      return;
    case ArgumentKind::kOtherType: {
      const auto types = parts_of(words, " | ");
      shape.other_type = text(types[0]);
      if (types.size() > 1) shape.receive_type = text(types[1]);
      return;
    }
    case ArgumentKind::kSource:
      shape.source = static_cast<std::int32_t>(number);
      set_flag(shape, CallShape::kAnySourceGiven, number == kAnySource);
      return;
    case ArgumentKind::kTag:
    case ArgumentKind::kReceiveTag:
      shape.receive_tag = static_cast<std::int32_t>(number);
      set_flag(shape, CallShape::kAnyTagGiven, number == kAnyTag);
      return;
    case ArgumentKind::kOperation:
      shape.operation = operation_of(words);
      return;
    case ArgumentKind::kInPlace:
      return set_flag(shape, CallShape::kInPlace);
    case ArgumentKind::kFlag:
      return set_flag(shape, CallShape::kAnswer, number != 0);
    case ArgumentKind::kNewCommunicator:
      shape.object = static_cast<std::uint32_t>(value.bits);
      return;
    case ArgumentKind::kOtherCommunicator:
      call.lists.push_back({list_of(ArgumentKind::kOtherCommunicator), {number}});
      return;
    case ArgumentKind::kOffset:
      call.lists.push_back({list_of(ArgumentKind::kOffset), {number}});
      return;
    case ArgumentKind::kSendTypes:
    case ArgumentKind::kReceiveTypes:
      return take_types(list_of(static_cast<ArgumentKind>(key)));
    case ArgumentKind::kRequests:
      call.lists.push_back({ListKind::kUsed, {}});
      return for_numbers(words, [&](std::int64_t age) { use(thread.last_request - static_cast<std::uint64_t>(age)); });
    case ArgumentKind::kPersistent:
      return take_list(ListKind::kPersistent);
    case ArgumentKind::kSendCounts:
    case ArgumentKind::kReceiveCounts:
    case ArgumentKind::kSendDisplacements:
    case ArgumentKind::kReceiveDisplacements:
    case ArgumentKind::kInteger:
    case ArgumentKind::kAddress:
    case ArgumentKind::kSources:
    case ArgumentKind::kDestinations:
      return take_list(list_of(static_cast<ArgumentKind>(key)));
    default:
      return;
  }
}

// Flushes of a buffer of the program (fflush) are already recorded as writes.
std::uint16_t ScriptCompiler::posix_call(std::uint8_t mode, std::uint32_t region) const {
  if (mode == OTF2_IO_OPERATION_MODE_READ) return kFileReadCall;
  if (mode == OTF2_IO_OPERATION_MODE_WRITE) return kFileWriteCall;
  const auto* const found = world_.definitions().regions.find(region);
  return found != nullptr && found->name.find("sync") != std::string::npos ? kFileFlushCall : kPosix;
}

void ScriptCompiler::take(Thread& thread, const Event& event) {
  Call& call = thread.call;
  CallShape& shape = call.shape;
  const auto start = [&](Started kind, std::uint64_t request) {
    // Numbers of file operations are separate from the numbers that they share.
    thread.last_request = std::max(thread.last_request, request & UINT32_MAX);
    call.starts.push_back({kind, request, static_cast<std::int32_t>(event.peer), static_cast<std::int32_t>(event.tag),
                           event.comm, event.bytes});
  };
  switch (event.kind) {
    case Kind::kMpiSend:
      shape.peer = static_cast<std::int32_t>(event.peer);
      shape.tag = static_cast<std::int32_t>(event.tag);
      shape.comm = event.comm;
      call.sent = event.bytes;
      call.has_sent = true;
      return;
    case Kind::kMpiRecv:
      shape.source = static_cast<std::int32_t>(event.peer);
      shape.receive_tag = static_cast<std::int32_t>(event.tag);
      shape.comm = event.comm;
      call.received = event.bytes;
      call.has_received = true;
      return;
    case Kind::kMpiIsend:
      return start(Started::kSend, event.request);
    case Kind::kMpiIrecvRequest:
      return start(Started::kReceive, event.request);
    case Kind::kNonBlockingCollectiveRequest:
      return start(Started::kCollective, event.request);
    case Kind::kMpiIsendComplete:
    case Kind::kMpiIrecv:
    case Kind::kMpiRequestCancelled:
    case Kind::kNonBlockingCollectiveComplete:
      return complete(thread, event, event.request);
    case Kind::kMpiCollectiveEnd:
      shape.comm = event.comm;
      if (event.operation != OTF2_COLLECTIVE_OP_CREATE_HANDLE) shape.peer = root_of(event.peer);
      call.sent = event.bytes;
      call.received = event.bytes_received;
      call.has_collective = true;
      return;
    case Kind::kRmaPut:
    case Kind::kRmaGet:
    case Kind::kRmaAtomic:
      shape.object = event.reference;
      shape.peer = static_cast<std::int32_t>(event.peer);
      call.sent = std::max(event.bytes, event.bytes_received);
      thread.last_request = std::max(thread.last_request, event.request);
      if (vmpi::kFunctionTraits[call.function % vmpi::kFunctionCount].starts_request)
        start(Started::kOneSided, event.request);
      return;
    case Kind::kRmaOpCompleteNonBlocking:
      return complete(thread, event, event.request);
    case Kind::kRmaCollectiveEnd:
      shape.object = event.reference;
      return;
    case Kind::kRmaGroupSync: {
      shape.object = event.reference;
      CallScript::List group{ListKind::kGroup, {}};
      for (const std::int32_t rank : world_.group_ranks(static_cast<std::uint32_t>(event.value)))
        group.values.push_back(rank);
      call.lists.push_back(std::move(group));
      return;
    }
    case Kind::kRmaRequestLock:
    case Kind::kRmaAcquireLock:
      set_flag(shape, CallShape::kExclusive, event.mode == OTF2_LOCK_EXCLUSIVE);
      shape.object = event.reference;
      shape.peer = static_cast<std::int32_t>(event.peer);
      return;
    case Kind::kRmaReleaseLock:
      shape.object = event.reference;
      shape.peer = static_cast<std::int32_t>(event.peer);
      return;
    case Kind::kIoOperationBegin:
      shape.object = event.reference;
      call.sent = event.bytes;
      if (call.function == kPosix) {
        call.function = posix_call(event.mode, call.shape.region);
        shape.count = static_cast<std::int64_t>(event.bytes);
      } else {
        call.moved = event.bytes;
      }
      if ((event.flags & OTF2_IO_OPERATION_FLAG_NON_BLOCKING) != 0) start(Started::kFile, event.request & UINT32_MAX);
      return;
    case Kind::kIoOperationComplete:
      if (requests_.contains(event.request & UINT32_MAX) && !is_posix(call.function) &&
          vmpi::kFunctionTraits[call.function].role == Role::kCompletes)
        complete(thread, event, event.request & UINT32_MAX);
      return;
    default:
      return;
  }
}

void ScriptCompiler::change(const Request& request, const auto& how) {
  if (!request.place) change_call(request, [&](CallShape& shape, std::vector<CallScript::List>&) { how(shape); });
}

void ScriptCompiler::change_call(const Request& request, const auto& how) {
  if (!request.step) return;
  const std::uint32_t place = script_.steps(request.thread)[static_cast<std::size_t>(*request.step)].shape;
  const CallShape& before = script_.shape(place);
  CallShape shape = before;
  std::vector<CallScript::List> lists;
  const Lists old(before);
  for (std::uint32_t kind = 1; kind <= static_cast<std::uint32_t>(ListKind::kGot); ++kind) {
    const auto values = old.find(static_cast<ListKind>(kind));
    if (!values.empty()) lists.push_back({static_cast<ListKind>(kind), {values.begin(), values.end()}});
  }
  how(shape, lists);
  script_.change_shape(request.thread, *request.step, script_.add_shape(shape, lists));
}

void ScriptCompiler::complete(Thread& thread, const Event& event, std::uint64_t number) {
  const auto found = requests_.find(number);
  if (found == requests_.end()) return;
  const Request request = found->second;
  Call& call = thread.call;
  // A request of a one-sided operation completed by a window call still has to be waited for.
  if (event.kind == Kind::kRmaOpCompleteNonBlocking &&
      (is_posix(call.function) || vmpi::kFunctionTraits[call.function].role != Role::kCompletes))
    return;
  requests_.erase(found);
  call.completed.push_back(request.slot);
  call.has_absent = call.has_absent || request.is_absent;
  if (request.thread == thread.index) call.freed.push_back(request.slot);
  switch (event.kind) {
    case Kind::kMpiIrecv: {
      const std::int32_t source = placed(event.comm, static_cast<std::int32_t>(event.peer));
      call.has_absent = call.has_absent || source < 0;
      if (request.place) {
        change_call(request, [&](CallShape&, std::vector<CallScript::List>& lists) {
          const auto got = std::ranges::find(lists, ListKind::kGot, &CallScript::List::kind);
          if (got == lists.end() || got->values.size() < 2 * *request.place + 2) return;
          got->values[2 * *request.place] = source;
          got->values[2 * *request.place + 1] = static_cast<std::int32_t>(event.tag);
        });
      }
      change(request, [&](CallShape& shape) {
        shape.comm = event.comm;
        shape.source = source;
        if (source < 0) shape.flags = static_cast<std::uint8_t>(shape.flags & ~CallShape::kAnySourceGiven);
        shape.receive_tag = static_cast<std::int32_t>(event.tag);
        if ((shape.flags & CallShape::kAsBytes) != 0) shape.count = static_cast<std::int64_t>(event.bytes);
      });
      if (const ReplayComm* const comm = world_.comm(event.comm); comm != nullptr && source >= 0)
        ++summary_.receives[{event.comm, world_.world_rank(*comm, source, rank_), rank_,
                             static_cast<std::int32_t>(event.tag)}];
      return;
    }
    case Kind::kMpiRequestCancelled:
      return change(request, [](CallShape& shape) { set_flag(shape, CallShape::kNeverDone); });
    case Kind::kNonBlockingCollectiveComplete:
      return change(request, [&](CallShape& shape) {
        // A call skipped for an absent root stays skipped.
        if (const ReplayComm* const comm = world_.comm(event.comm); comm == nullptr || !comm->has_absent)
          shape.comm = event.comm;
        if (shape.peer == kNoRank) shape.peer = placed(event.comm, root_of(event.peer));
        if ((shape.flags & CallShape::kAsBytes) != 0)
          shape.count = shape.receive_count = static_cast<std::int64_t>(std::max(event.bytes, event.bytes_received));
      });
    case Kind::kIoOperationComplete:
      return change(request, [&](CallShape& shape) { shape.receive_count = static_cast<std::int64_t>(event.bytes); });
    default:
      return;
  }
}

std::uint32_t ScriptCompiler::begin_request(Thread& thread, const Start& start, std::optional<std::uint64_t> step) {
  auto& free = free_slots_[thread.index];
  std::uint32_t slot = 0;
  if (free.empty()) {
    slot = script_.slots++;
  } else {
    slot = free.back();
    free.pop_back();
  }
  const bool is_absent = start.kind == Started::kSend && start.peer < 0;
  requests_.insert_or_assign(start.request, Request{slot, thread.index, step, start.kind, is_absent, std::nullopt});
  return slot;
}

void ScriptCompiler::leave(Thread& thread, const Event& event) {
  Call& call = thread.call;
  const std::uint64_t before = thread.last_end != 0 ? thread.last_end : begin_.value_or(call.begin);
  const auto& clock = world_.definitions().clock;
  const auto nanoseconds = [&](std::uint64_t from, std::uint64_t to) {
    const std::int64_t length = clock.nanoseconds(to) - clock.nanoseconds(from);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(length, 0));
  };
  if (call.function == static_cast<std::uint16_t>(FunctionId::kInit) ||
      call.function == static_cast<std::uint16_t>(FunctionId::kInit_thread))
    begin_ = event.time;
  if (!is_posix(call.function) && call.function != kPosix) summary_.has_arguments |= call.has_arguments;
  if (finish_call(call)) {
    if (call.has_absent) set_flag(call.shape, CallShape::kAtLeast);
    if (!call.completed.empty())
      call.lists.push_back({ListKind::kCompleted, {call.completed.begin(), call.completed.end()}});
    const bool is_single = call.starts.size() == 1;
    std::vector<std::uint32_t> slots;
    for (const Start& start : call.starts) slots.push_back(begin_request(thread, start, std::nullopt));
    if (slots.size() > 1) {
      call.lists.push_back({ListKind::kStarted, {slots.begin(), slots.end()}});
      if (std::ranges::any_of(call.starts, [](const Start& start) { return start.kind == Started::kReceive; }))
        call.lists.push_back({ListKind::kGot, std::vector<std::int64_t>(2 * slots.size(), kNoRank)});
    }
    if (threads_.size() > 1 && frees_object(call.function)) {
      CallScript::List after{ListKind::kAfter, std::vector<std::int64_t>(threads_.size())};
      for (const auto& [location, each] : threads_)
        after.values[each.index] = each.index == thread.index ? 0 : static_cast<std::int64_t>(each.calls);
      call.lists.push_back(std::move(after));
    }
    ++thread.calls;
    call.shape.function = call.function;
    summary_.has_files = summary_.has_files || call.function == static_cast<std::uint16_t>(FunctionId::kFile_open);
    if (moves_file_bytes(call.function)) call.shape.receive_count = static_cast<std::int64_t>(call.moved);
    const std::uint32_t shape = script_.add_shape(call.shape, call.lists);
    const std::uint64_t step = script_.add_step(thread.index, shape, nanoseconds(before, call.begin),
                                                nanoseconds(call.begin, event.time), is_single ? slots[0] : kNothing);
    for (std::size_t i = 0; i < call.starts.size(); ++i) {
      Request& request = requests_.at(call.starts[i].request);
      request.step = step;
      if (!is_single) request.place = i;
    }
    thread.last_end = event.time;
    ++summary_.calls;
  }
  auto& free = free_slots_[thread.index];
  free.insert(free.end(), call.freed.begin(), call.freed.end());
}

void ScriptCompiler::finish() {
  for (const auto& [number, request] : requests_) {
    if (request.kind == Started::kReceive)
      change(request, [](CallShape& shape) { set_flag(shape, CallShape::kNeverDone); });
  }
}

}  // namespace ardoise::replay

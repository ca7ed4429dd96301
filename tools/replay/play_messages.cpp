// Messages and completions.
#include <algorithm>
#include <thread>

#include "tools/replay/player.hpp"

namespace ardoise::replay {

using vmpi::FunctionId;

namespace {

int as_peer(std::int32_t peer) { return peer >= 0 ? peer : MPI_PROC_NULL; }

}  // namespace

int Player::source_of(const CallShape& shape) const {
  const bool is_open = stage_.options.open_wildcards && (shape.flags & CallShape::kAnySourceGiven) != 0;
  if (is_open || shape.source == kAnySource) return MPI_ANY_SOURCE;
  return as_peer(shape.source);
}

int Player::tag_of(const CallShape& shape) const {
  const bool is_open = stage_.options.open_wildcards && (shape.flags & CallShape::kAnyTagGiven) != 0;
  return is_open || shape.receive_tag == kAnyTag ? MPI_ANY_TAG : shape.receive_tag;
}

bool Player::is_left_out(const CallShape& shape, bool sends) {
  const auto& limits = sends ? stage_.most_sends : stage_.most_receives;
  if (limits.empty()) return false;
  const ReplayComm* const comm = stage_.world.comm(shape.comm);
  if (comm == nullptr) return false;
  const std::int32_t other = stage_.world.world_rank(*comm, sends ? shape.peer : shape.source, stage_.rank);
  const Channel channel = sends ? Channel{shape.comm, stage_.rank, other, shape.tag}
                                : Channel{shape.comm, other, stage_.rank, shape.receive_tag};
  const auto limit = limits.find(channel);
  if (limit == limits.end()) return false;
  return ++(sends ? sent_ : received_)[channel] > limit->second;
}

void Player::make_message(const CallShape& shape, const Lists& lists, std::uint32_t slot) {
  const auto function = static_cast<FunctionId>(shape.function);
  const vmpi::Role role = vmpi::kFunctionTraits[shape.function].role;
  switch (function) {
    case FunctionId::kStart:
    case FunctionId::kStartall:
      return start_prepared(shape, lists, slot);
    case FunctionId::kRequest_free:
      return free_request(shape, lists);
    case FunctionId::kBuffer_attach: {
      const auto sizes = lists.find(list_of(vmpi::ArgumentKind::kInteger));
      const std::int64_t bytes = sizes.empty() ? 0 : sizes[0];
      void* const own = buffers_.own(kNothing, false, {0, bytes});
      MPI_Buffer_attach(own, static_cast<int>(bytes));
      return;
    }
    case FunctionId::kBuffer_detach: {
      void* address = nullptr;
      int bytes = 0;
      MPI_Buffer_detach(static_cast<void*>(&address), &bytes);
      return;
    }
    default:
      break;
  }
  if (role == vmpi::Role::kProbe) return make_probe(shape);
  const ReplayType& type = stage_.types[shape.type];
  const ReplayType& other_type = stage_.types[shape.receive_type];
  const auto count = static_cast<int>(scaled(shape.count));
  const auto room = static_cast<int>(std::max(shape.count, scaled(shape.count)));
  const MPI_Comm comm = stage_.comms.get(shape.comm);
  MPI_Request none = MPI_REQUEST_NULL;
  const bool is_prepared = vmpi::kFunctionTraits[shape.function].persistent;
  MPI_Request* request = slot != kNothing ? begin(slot) : &none;
  if (is_prepared) {
    if (shape.object >= stage_.prepared.size()) return;
    Prepared& prepared = stage_.prepared[shape.object];
    request = &prepared.request;
    const bool is_open = shape.source == kAnySource || shape.receive_tag == kAnyTag;
    const bool is_forced = role == vmpi::Role::kPostReceive && is_open && !stage_.options.open_wildcards;
    prepared.receive = is_forced ? &shape : nullptr;
  }
  const bool goes_on = slot != kNothing || is_prepared;
  const std::uint32_t owner = is_prepared ? kNothing - 1 - shape.object : slot;
  const auto send_buffer = [&] {
    const Extent touched = extent(count, type);
    return goes_on ? buffers_.own(owner, false, touched) : buffers_.send(touched);
  };
  const auto receive_buffer = [&](int elements, const ReplayType& of) {
    const Extent touched = extent(elements, of);
    return goes_on ? buffers_.own(owner, true, touched) : buffers_.receive(touched);
  };
  const bool sends = role == vmpi::Role::kSend || role == vmpi::Role::kSendReceive;
  const int peer = as_peer(shape.peer);
  if (!is_prepared && sends && peer != MPI_PROC_NULL && role == vmpi::Role::kSend && is_left_out(shape, true))
    return pass(slot);
  if (!is_prepared && !sends && shape.source >= 0 && is_left_out(shape, false)) return pass(slot);
  switch (function) {
    case FunctionId::kSend:
      MPI_Send(send_buffer(), count, type.handle, peer, shape.tag, comm);
      break;
    case FunctionId::kSsend:
      MPI_Ssend(send_buffer(), count, type.handle, peer, shape.tag, comm);
      break;
    case FunctionId::kRsend:
      MPI_Rsend(send_buffer(), count, type.handle, peer, shape.tag, comm);
      break;
    case FunctionId::kBsend:
      MPI_Bsend(send_buffer(), count, type.handle, peer, shape.tag, comm);
      break;
    case FunctionId::kIsend:
      MPI_Isend(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kIssend:
      MPI_Issend(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kIrsend:
      MPI_Irsend(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kIbsend:
      MPI_Ibsend(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kSend_init:
      MPI_Send_init(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kSsend_init:
      MPI_Ssend_init(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kRsend_init:
      MPI_Rsend_init(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kBsend_init:
      MPI_Bsend_init(send_buffer(), count, type.handle, peer, shape.tag, comm, request);
      break;
    case FunctionId::kRecv:
      MPI_Recv(receive_buffer(room, type), room, type.handle, source_of(shape), tag_of(shape), comm, MPI_STATUS_IGNORE);
      break;
    case FunctionId::kIrecv:
      MPI_Irecv(receive_buffer(room, type), room, type.handle, source_of(shape), tag_of(shape), comm, request);
      break;
    case FunctionId::kRecv_init:
      MPI_Recv_init(receive_buffer(room, type), room, type.handle, source_of(shape), tag_of(shape), comm, request);
      break;
    case FunctionId::kMrecv:
    case FunctionId::kImrecv: {
      MPI_Message message = MPI_MESSAGE_NO_PROC;
      if (shape.source >= 0) {
        const std::lock_guard guard(stage_.messages_lock);
        auto& waiting = stage_.messages[{shape.comm, shape.source, stage_.rank, shape.receive_tag}];
        if (!waiting.empty()) {
          message = waiting.front();
          waiting.pop_front();
        }
      }
      if (message == MPI_MESSAGE_NO_PROC && shape.source >= 0)  // the probe is not in the trace
        MPI_Mprobe(source_of(shape), tag_of(shape), comm, &message, MPI_STATUS_IGNORE);
      if (function == FunctionId::kMrecv) {
        MPI_Mrecv(receive_buffer(room, type), room, type.handle, &message, MPI_STATUS_IGNORE);
      } else {
        MPI_Imrecv(receive_buffer(room, type), room, type.handle, &message, request);
      }
      break;
    }
    case FunctionId::kSendrecv: {
      const auto other_room = static_cast<int>(std::max(shape.receive_count, scaled(shape.receive_count)));
      MPI_Sendrecv(send_buffer(), count, type.handle, peer, shape.tag, receive_buffer(other_room, other_type),
                   other_room, other_type.handle, source_of(shape), tag_of(shape), comm, MPI_STATUS_IGNORE);
      break;
    }
    case FunctionId::kSendrecv_replace:
      MPI_Sendrecv_replace(send_buffer(), count, type.handle, peer, shape.tag, source_of(shape), tag_of(shape), comm,
                           MPI_STATUS_IGNORE);
      break;
    default:
      break;
  }
  if (slot != kNothing) {
    begun(slot);
  } else if (none != MPI_REQUEST_NULL) {
    MPI_Wait(&none, MPI_STATUS_IGNORE);  // of MPI_PROC_NULL
  }
}

// A successful probe waits for its message, if necessary.
void Player::make_probe(const CallShape& shape) {
  const MPI_Comm comm = stage_.comms.get(shape.comm);
  const auto function = static_cast<FunctionId>(shape.function);
  const bool takes = function == FunctionId::kMprobe || function == FunctionId::kImprobe;
  const bool asks = function == FunctionId::kIprobe || function == FunctionId::kImprobe;
  const bool found = !asks || (shape.flags & CallShape::kAnswer) != 0;
  if (shape.source == kNoRank) return;  // MPI_PROC_NULL
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status{};
  if (!found) {
    int flag = 0;
    if (!takes) {
      MPI_Iprobe(source_of(shape), tag_of(shape), comm, &flag, MPI_STATUS_IGNORE);
      return;
    }
    // A matched probe would take the message: the receiving call probes for it.
    PMPI_Iprobe(source_of(shape), tag_of(shape), comm, &flag, MPI_STATUS_IGNORE);
    MPI_Improbe(MPI_PROC_NULL, tag_of(shape), comm, &flag, &message, MPI_STATUS_IGNORE);
    return;
  }
  if (!takes) {
    int flag = 0;
    if (!asks) {
      MPI_Probe(source_of(shape), tag_of(shape), comm, MPI_STATUS_IGNORE);
      return;
    }
    MPI_Iprobe(source_of(shape), tag_of(shape), comm, &flag, MPI_STATUS_IGNORE);
    if (flag == 0) PMPI_Probe(source_of(shape), tag_of(shape), comm, MPI_STATUS_IGNORE);
    return;
  }
  if (asks) {
    int flag = 0;
    MPI_Improbe(source_of(shape), tag_of(shape), comm, &flag, &message, &status);
    if (flag == 0) PMPI_Mprobe(source_of(shape), tag_of(shape), comm, &message, &status);
  } else {
    MPI_Mprobe(source_of(shape), tag_of(shape), comm, &message, &status);
  }
  const std::lock_guard guard(stage_.messages_lock);
  stage_.messages[{shape.comm, shape.source, stage_.rank, shape.receive_tag}].push_back(message);
}

// Posts a separate receive, because a persistent one has only one source and tag.
void Player::post_prepared(const CallShape& made, std::int32_t source, std::int32_t tag, std::uint32_t slot) {
  if (source == kNoRank) return pass(slot);  // it never received one
  const ReplayType& type = stage_.types[made.type];
  const auto room = static_cast<int>(std::max(made.count, scaled(made.count)));
  void* const buffer = buffers_.own(kNothing - 1 - made.object, true, extent(room, type));
  MPI_Irecv(buffer, room, type.handle, as_peer(source), tag, stage_.comms.get(made.comm), begin(slot));
  begun(slot);
}

void Player::start_prepared(const CallShape& shape, const Lists& lists, std::uint32_t slot) {
  const auto numbers = lists.find(ListKind::kPersistent);
  const auto several = lists.find(ListKind::kStarted);
  requests_.clear();
  for (std::size_t i = 0, next = 0; i < numbers.size(); ++i) {
    const auto number = static_cast<std::uint64_t>(numbers[i]);
    if (number >= stage_.prepared.size()) continue;
    Prepared& prepared = stage_.prepared[number];
    const std::uint32_t own = several.empty()         ? slot
                              : next < several.size() ? static_cast<std::uint32_t>(several[next])
                                                      : kNothing;
    ++next;
    if (own == kNothing && prepared.collective == nullptr) {
      // To or from MPI_PROC_NULL: no call completes it.
      if (prepared.request != MPI_REQUEST_NULL) {
        MPI_Start(&prepared.request);
        MPI_Wait(&prepared.request, MPI_STATUS_IGNORE);
      }
      continue;
    }
    if (prepared.collective != nullptr) {
      if (own == kNothing) continue;
      const Lists collective_lists(*prepared.collective);
      if (std::string_view(vmpi::kFunctionTraits[prepared.collective->function].category) == "neighbourhood") {
        make_neighbourhood(*prepared.collective, collective_lists, begin(own), own);
      } else {
        make_collective(*prepared.collective, collective_lists, begin(own), own);
      }
      begun(own);
      continue;
    }
    if (prepared.request == MPI_REQUEST_NULL) {  // unknown parameters
      pass(own);
      continue;
    }
    if (prepared.receive != nullptr) {
      const auto got = lists.find(ListKind::kGot);
      const std::size_t place = 2 * (next - 1);
      const bool is_told = place + 2 <= got.size();
      post_prepared(*prepared.receive, is_told ? static_cast<std::int32_t>(got[place]) : shape.source,
                    is_told ? static_cast<std::int32_t>(got[place + 1]) : shape.receive_tag, own);
      continue;
    }
    requests_.push_back(prepared.request);
    stage_.slots[own].request = prepared.request;
    begun(own);
  }
  if (requests_.empty()) return;
  if (static_cast<FunctionId>(shape.function) == FunctionId::kStartall) {
    MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
  } else {
    MPI_Start(requests_.data());
  }
}

void Player::free_request(const CallShape&, const Lists& lists) {
  for (const std::int64_t number : lists.find(ListKind::kPersistent)) {
    if (static_cast<std::size_t>(number) >= stage_.prepared.size()) continue;
    Prepared& prepared = stage_.prepared[static_cast<std::size_t>(number)];
    prepared.collective = nullptr;
    if (prepared.request != MPI_REQUEST_NULL) MPI_Request_free(&prepared.request);
    return;
  }
  const auto completed = lists.find(ListKind::kCompleted);
  const auto freed = completed.empty() ? lists.find(ListKind::kUsed) : completed;
  gather(freed);
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  end_slots(freed);
}

void Player::gather(std::span<const std::int64_t> slots) {
  requests_.clear();
  request_slots_.clear();
  for (const std::int64_t number : slots) {
    const auto place = static_cast<std::uint32_t>(number);
    Slot& slot = stage_.slots[place];
    int state = slot.state.load(std::memory_order_acquire);
    // Another thread may still have to start it.
    while (state == Slot::kIdle && stage_.script.threads() > 1) {
      std::this_thread::yield();
      state = slot.state.load(std::memory_order_acquire);
    }
    if (state != Slot::kStarted) continue;
    requests_.push_back(slot.request);
    request_slots_.push_back(place);
  }
}

void Player::end_gathered(int place) {
  Slot& slot = stage_.slots[request_slots_[static_cast<std::size_t>(place)]];
  slot.request = requests_[static_cast<std::size_t>(place)];
  slot.state.store(Slot::kDone, std::memory_order_release);
}

void Player::end_slots(std::span<const std::int64_t> slots) {
  for (const std::int64_t number : slots)
    stage_.slots[static_cast<std::size_t>(number)].state.store(Slot::kIdle, std::memory_order_release);
}

void Player::make_completion(const CallShape& shape, const Lists& lists) {
  switch (static_cast<FunctionId>(shape.function)) {
    case FunctionId::kTest:
    case FunctionId::kTestall:
    case FunctionId::kTestany:
    case FunctionId::kTestsome:
      make_test(shape, lists);
      break;
    default:
      make_wait(shape, lists);
      break;
  }
  end_slots(lists.find(ListKind::kCompleted));
}

void Player::make_wait(const CallShape& shape, const Lists& lists) {
  const auto completed = lists.find(ListKind::kCompleted);
  const auto function = static_cast<FunctionId>(shape.function);
  const bool chooses = function == FunctionId::kWaitany || function == FunctionId::kWaitsome;
  if (chooses && stage_.options.open_wildcards) {
    // Completes any open one. Requests completed early count for the call that completed them in the recorded run.
    gather(lists.find(ListKind::kUsed));
    if (!requests_.empty()) {
      int index = MPI_UNDEFINED;
      MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE);
      if (index != MPI_UNDEFINED) end_gathered(index);
    }
  }
  gather(completed);
  const auto count = static_cast<int>(requests_.size());
  switch (function) {
    case FunctionId::kWaitall:
      MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE);
      return;
    case FunctionId::kWaitsome: {
      indices_.resize(requests_.size());
      for (int left = count; left > 0;) {
        int done = 0;
        MPI_Waitsome(count, requests_.data(), &done, indices_.data(), MPI_STATUSES_IGNORE);
        if (done == MPI_UNDEFINED || done <= 0) break;
        left -= done;
      }
      return;
    }
    case FunctionId::kWaitany:
      for (MPI_Request& request : requests_) {
        int index = 0;
        MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
      }
      return;
    default:
      if (completed.empty()) requests_.push_back(MPI_REQUEST_NULL);
      for (MPI_Request& request : requests_) MPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
  }
}

// Two cases differ from the recorded run (Knüpfer et al., A generic attribute extension to OTF and its use for MPI
// replay, section 4). A test may succeed earlier than recorded: later tests are skipped. A test may fail that succeeded
// in the recorded run: it waits, since no other test follows.
void Player::make_test(const CallShape& shape, const Lists& lists) {
  const auto completed = lists.find(ListKind::kCompleted);
  const auto function = static_cast<FunctionId>(shape.function);
  gather(completed.empty() ? lists.find(ListKind::kUsed) : completed);
  const auto count = static_cast<int>(requests_.size());
  // Null requests gave the program a result, too.
  if (count == 0 && (!completed.empty() || !lists.find(ListKind::kUsed).empty())) return;
  int flag = 0, index = MPI_UNDEFINED;
  switch (function) {
    case FunctionId::kTest:
      if (count == 0) {
        MPI_Request none = MPI_REQUEST_NULL;
        MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
      }
      for (int i = 0; i < count; ++i) {
        MPI_Test(&requests_[static_cast<std::size_t>(i)], &flag, MPI_STATUS_IGNORE);
        if (flag != 0) end_gathered(i);
      }
      break;
    case FunctionId::kTestall:
      MPI_Testall(count, requests_.data(), &flag, MPI_STATUSES_IGNORE);
      for (int i = 0; flag != 0 && i < count; ++i) end_gathered(i);
      break;
    case FunctionId::kTestany:
      MPI_Testany(count, requests_.data(), &index, &flag, MPI_STATUS_IGNORE);
      if (flag != 0 && index != MPI_UNDEFINED) end_gathered(index);
      break;
    default: {
      int done = 0;
      indices_.resize(requests_.size());
      MPI_Testsome(count, requests_.data(), &done, indices_.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; done != MPI_UNDEFINED && i < done; ++i) end_gathered(indices_[static_cast<std::size_t>(i)]);
      break;
    }
  }
  if (completed.empty()) return;
  gather(completed);
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
}

}  // namespace ardoise::replay

#include "tests/analyzer/hang_model.hpp"

#include <algorithm>
#include <memory>

namespace ardoise::analyzer::hang_model {

using instrument::Shape;
using Kind = Op::Kind;

namespace {

// "MPI_Barrier" → "MPI_Ibarrier" of a non-blocking one.
std::string name_of(const Op& op) {
  std::string name = op.function;
  if (op.kind != Kind::kICollective) return name;
  name.insert(4, "I");
  name[5] = static_cast<char>(name[5] | 0x20);
  return name;
}

}  // namespace

bool Machine::step(int rank) {
  if (has_ended(rank)) return false;
  const Op& op = program_.scripts[index(rank)][at(rank).pc];
  if (op.kind == Kind::kPause && holds_) return false;
  Rank& own = at(rank);
  const bool is_new = !own.is_in;
  if (is_new) enter(rank, op);
  own.is_in = true;
  if (!is_done(rank, op)) return is_new;
  own.is_in = false;
  ++own.pc;
  return true;
}

void Machine::enter(int rank, const Op& op) {
  Rank& own = at(rank);
  const auto enter_collective = [&] {
    auto& entries = entered_[op.comm][rank];
    entries.push_back({name_of(op), op.root});
    return entries.size() - 1;
  };
  switch (op.kind) {
    case Kind::kSend:
      own.message = send(rank, op, op.peer);
      break;
    case Kind::kReceive:
      own.receive = receive(rank, op, op.peer);
      break;
    case Kind::kSendReceive:
      own.receive = receive(rank, op, op.source);
      own.message = send(rank, op, op.peer);
      break;
    case Kind::kISend:
      own.requests[op.request] = {op.kind, send(rank, op, op.peer), &op};
      break;
    case Kind::kIReceive:
      own.requests[op.request] = {op.kind, receive(rank, op, op.peer), &op};
      break;
    case Kind::kCollective:
      own.number = enter_collective();
      break;
    case Kind::kICollective:
      own.requests[op.request] = {op.kind, enter_collective(), &op};
      break;
    default:
      break;
  }
}

std::size_t Machine::send(int rank, const Op& op, int peer) {
  messages_.push_back({rank, world(op.comm, peer), op.comm, op.tag, op.eager});
  Message& message = messages_.back();
  for (Receive& receive : receives_) {
    if (receive.message >= 0 || receive.rank != message.to || receive.comm != op.comm || receive.tag != op.tag)
      continue;
    if (receive.from != Op::kAny && receive.from != rank) continue;
    match(message, receive, static_cast<int>(messages_.size() - 1), receive.rank);
    break;
  }
  return messages_.size() - 1;
}

std::size_t Machine::receive(int rank, const Op& op, int source) {
  receives_.push_back({rank, world(op.comm, source), op.comm, op.tag});
  Receive& receive = receives_.back();
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    Message& message = messages_[i];
    if (message.matched || message.to != rank || message.comm != op.comm || message.tag != op.tag) continue;
    if (receive.from != Op::kAny && receive.from != message.from) continue;
    match(message, receive, static_cast<int>(i), message.from);
    break;
  }
  return receives_.size() - 1;
}

void Machine::match(Message& message, Receive& receive, int message_number, int posted_by) {
  message.matched = true;
  receive.message = message_number;
  if (computes(posted_by)) message.stalled_by = posted_by;
}

bool Machine::may_leave(int rank, const Op& op, std::size_t number, bool is_request) const {
  const auto& members = program_.comms[op.comm];
  const int size = static_cast<int>(members.size()), own = position(op.comm, rank);
  const int root = std::max(op.root, 0);
  const auto member = [&](int place) { return members[index((place + root) % size)]; };  // of the tree
  const auto has = [&](int place, bool passes_on) {
    const auto found = entered_[op.comm].find(member(place));
    if (found == entered_[op.comm].end() || found->second.size() <= number) return false;
    const Entry& entry = found->second[number];
    if (entry.function != name_of(op) || entry.root != op.root) return false;
    return !is_request || !passes_on || !computes(member(place));
  };
  const auto all = [&](bool pass_on) {
    for (int place = 0; place < size; ++place) {
      if (!has(place, pass_on)) return false;
    }
    return true;
  };
  const int place = (own - root + size) % size;
  const auto is_above = [&](int ancestor, int of) {
    for (int each = of; each != 0;) {
      each &= each - 1;
      if (each == ancestor) return true;
    }
    return false;
  };
  enum { kLinear, kTree, kTogether };
  const unsigned how = static_cast<unsigned>(op.comm * 7 + number * 3 + program_.scripts[0].size()) % 3;
  const std::string& name = op.function;
  const bool spreads = name == "MPI_Bcast" || name == "MPI_Scatter";
  const bool gathers = name == "MPI_Reduce" || name == "MPI_Gather";
  if (name == "MPI_Scan") {
    for (int lower = 0; lower < own; ++lower) {
      const auto found = entered_[op.comm].find(members[index(lower)]);
      if (found == entered_[op.comm].end() || found->second.size() <= number) return false;
      if (found->second[number].function != name_of(op)) return false;
    }
    return true;
  }
  if ((!spreads && !gathers) || how == kTogether) return all(how == kTree);
  if (how == kLinear) {
    if (spreads) return place == 0 || has(0, false);
    return place != 0 || all(false);
  }
  for (int other = 0; other < size; ++other) {
    if (spreads && is_above(other, place) && !has(other, other != 0)) return false;
    if (gathers && is_above(place, other) && !has(other, true)) return false;
  }
  return true;
}

bool Machine::is_complete(int rank, const Request& request) const {
  if (request.done) return true;
  if (request.kind == Kind::kISend) return is_sent(request.number);
  if (request.kind == Kind::kIReceive) return is_received(request.number);
  return may_leave(rank, *request.op, request.number, true);
}

bool Machine::is_done(int rank, const Op& op) {
  Rank& own = at(rank);
  switch (op.kind) {
    case Kind::kSend:
      return is_sent(own.message);
    case Kind::kReceive:
      return is_received(own.receive);
    case Kind::kSendReceive:
      return is_sent(own.message) && is_received(own.receive);
    case Kind::kProbe:
      return std::ranges::any_of(messages_, [&](const Message& message) {
        return !message.matched && message.to == rank && message.comm == op.comm && message.tag == op.tag &&
               (op.peer == Op::kAny || message.from == world(op.comm, op.peer));
      });
    case Kind::kCollective:
      return may_leave(rank, op, own.number, false);
    case Kind::kWait:
      for (const int number : op.requests) {
        const auto request = own.requests.find(number);
        if (request != own.requests.end() && !is_complete(rank, request->second)) return false;
      }
      for (const int number : op.requests) own.requests.erase(number);
      return true;
    case Kind::kWaitAny: {
      bool is_none_left = true;
      for (const int number : op.requests) {
        const auto request = own.requests.find(number);
        if (request == own.requests.end()) continue;
        is_none_left = false;
        if (!is_complete(rank, request->second)) continue;
        own.requests.erase(request);
        return true;
      }
      return is_none_left;
    }
    default:
      return true;
  }
}

std::shared_ptr<const CommView> Machine::comm(std::size_t number) const {
  auto& made = comms_[number];
  if (made != nullptr) return made;
  auto comm = std::make_shared<CommView>();
  for (const int rank : program_.comms[number]) {
    comm->members.push_back(rank);
    comm->key.hash = comm->key.hash * 31 + static_cast<std::uint64_t>(rank) + 1;
  }
  for (std::size_t i = 0; i < number; ++i) comm->key.instance += program_.comms[i] == program_.comms[number] ? 1 : 0;
  if (number == 0) comm->name = "MPI_COMM_WORLD";
  return made = comm;
}

PendingOperation Machine::operation(const Op& op, int rank) const {
  PendingOperation made;
  made.comm = comm(op.comm);
  made.peer = op.peer;
  made.tag = op.tag;
  switch (op.kind) {
    case Kind::kSend:
    case Kind::kSendReceive:
      made.function = op.kind == Kind::kSend ? "MPI_Send" : "MPI_Sendrecv";
      made.shape = Shape::kSend;
      break;
    case Kind::kISend:
      made.function = "MPI_Isend";
      made.shape = Shape::kSend;
      break;
    case Kind::kReceive:
      made.function = "MPI_Recv";
      made.shape = Shape::kReceive;
      break;
    case Kind::kIReceive:
      made.function = "MPI_Irecv";
      made.shape = Shape::kPostReceive;
      break;
    case Kind::kProbe:
      made.function = "MPI_Probe";
      made.shape = Shape::kProbe;
      break;
    case Kind::kCollective:
    case Kind::kICollective:
      made.function = name_of(op);
      made.shape = op.root >= 0 ? Shape::kRooted : Shape::kCollective;
      made.peer = op.root >= 0 ? op.root : instrument::kNoPeer;
      break;
    default:
      made.comm = nullptr;
      made.peer = instrument::kNoPeer;
      made.shape = Shape::kCompletes;
      made.function = op.kind == Kind::kWaitAny ? "MPI_Waitany" : op.requests.size() == 1 ? "MPI_Wait" : "MPI_Waitall";
  }
  if (op.kind == Kind::kCollective) made.number = static_cast<std::uint32_t>(at(rank).number);
  return made;
}

std::vector<StalledProcess> Machine::processes(Setting setting) const {
  std::vector<StalledProcess> processes;
  for (int rank = 0; rank < program_.ranks(); ++rank) {
    if (has_ended(rank) && setting.ends_leave) continue;
    StalledProcess& stalled = processes.emplace_back();
    stalled.process = {0, static_cast<std::uint32_t>(rank)};
    stalled.seconds = 64;
    stalled.in_finalize = has_ended(rank);
    const Op* const op = stalled.in_finalize ? nullptr : &program_.scripts[index(rank)][at(rank).pc];
    const bool is_inside = op != nullptr && op->kind == Kind::kCollective;
    for (std::size_t number = 0; number < program_.comms.size(); ++number) {
      const auto found = entered_[number].find(rank);
      if (found == entered_[number].end()) continue;
      CollectiveHistory& all = stalled.collectives[comm(number)->key];
      all.begun = static_cast<std::uint32_t>(found->second.size()) - (is_inside && op->comm == number ? 1 : 0);
      constexpr std::uint32_t kLast = instrument::CollectivesDefinition::kLast;
      for (std::uint32_t i = all.begun - std::min(all.begun, kLast); i != all.begun; ++i) {
        const Entry& entry = found->second[i];
        all.last.push_back({entry.function, static_cast<std::int32_t>(instrument::root_of_collective(
                                                instrument::collective_word(0, entry.root)))});
      }
    }
    if (op == nullptr || op->kind == Kind::kPause) continue;
    PendingCall& call = stalled.mpi.emplace();
    call.seconds = 64;
    call.operation = operation(*op, rank);
    if (op->kind == Kind::kSendReceive) {
      Op half = *op;
      half.kind = Kind::kReceive;
      half.peer = op->source;
      call.parts.push_back(operation(half, rank));
      call.operation.may_be_done = call.parts.back().may_be_done = true;
    }
    for (const int number : op->requests) {
      const auto request = at(rank).requests.find(number);
      if (request == at(rank).requests.end()) continue;
      if (setting.knows_requests && is_complete(rank, request->second)) continue;
      PendingOperation& part = call.parts.emplace_back(operation(*request->second.op, rank));
      part.may_be_done = !setting.knows_requests;
      if (request->second.kind == Kind::kICollective) part.number = static_cast<std::uint32_t>(request->second.number);
    }
  }
  return processes;
}

}  // namespace ardoise::analyzer::hang_model

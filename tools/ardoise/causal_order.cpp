// See causal_order.hpp.
#include "tools/ardoise/causal_order.hpp"

#include <otf2/OTF2_Definitions.h>
#include <otf2/OTF2_Events.h>

#include <algorithm>

namespace ardoise::launcher {

using knowledge_sources::ArchivedEvent;
using knowledge_sources::ArchivedKind;
using knowledge_sources::CommRanks;
using knowledge_sources::kUndefined32;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 29;  // of steps, and of messages
constexpr std::uint64_t kOfWindow = std::uint64_t{1} << 32;

}  // namespace

CausalOrder::CausalOrder(const knowledge_sources::ArchiveDefinitions& definitions, const CommRanks& ranks, Take take)
    : definitions_(definitions), ranks_(ranks), take_(std::move(take)) {
  for (const auto& location : definitions.locations) {
    const std::uint32_t process = definitions.process_of(location);
    if (location.events == 0 || !places_.try_emplace(process, processes_.size()).second) continue;
    processes_.push_back({});
    processes_.back().number = process;
  }
  for (Process& each : processes_) each.clock.resize(processes_.size());
  most_messages_ = kMostBytes / (sizeof(Message) + 64 + 8 * processes_.size());
}

CausalOrder::Location& CausalOrder::location_of(const ArchivedEvent& event, std::uint32_t process) {
  const auto [found, is_new] = locations_.try_emplace(event.location->id);
  if (is_new) {
    const auto [place, is_new_process] = places_.try_emplace(process, processes_.size());
    if (is_new_process) {  // it was said to have no events
      processes_.push_back({});
      processes_.back().number = process;
      for (Process& each : processes_) {
        each.clock.resize(processes_.size());
        each.shared = nullptr;
      }
    }
    found->second.process = place->second;
  }
  return found->second;
}

CausalOrder::Step& CausalOrder::add(const ArchivedEvent& event, std::uint32_t process, StepKind kind) {
  Step& step = location_of(event, process).steps.emplace_back();
  ++steps_;
  step.kind = kind;
  step.position = event.position;
  step.time = event.time;
  wake(event.location->id);
  return step;
}

CausalOrder::Step* CausalOrder::find(const Half& half) {
  const auto location = locations_.find(half.location->id);
  if (location == locations_.end()) return nullptr;
  auto& steps = location->second.steps;
  const auto found =
      std::lower_bound(steps.begin(), steps.end(), half.position,
                       [](const Step& step, std::uint64_t position) { return step.position < position; });
  return found == steps.end() || found->position != half.position ? nullptr : &*found;
}

void CausalOrder::wake(std::uint64_t location) {
  Location& at = locations_.at(location);
  if (at.is_ready) return;
  at.is_ready = true;
  ready_.push_back(location);
}

void CausalOrder::send(const ArchivedEvent& event, std::uint32_t process, std::uint32_t region) {
  const CommRanks::Comm* const comm = ranks_.find(event.comm);
  const std::uint32_t receiver = comm == nullptr ? kUndefined32 : ranks_.process_of(*comm, event.peer, process);
  (void)add(event, process, StepKind::kSend);
  if (receiver == kUndefined32 || !places_.contains(receiver)) return;
  if (messages_.size() >= most_messages_) {
    ++without_room_;
    return;
  }
  Message& message = messages_[{event.location->id, event.position}];
  message.message = ReceivedMessage{.post = 0,
                                    .number = 0,
                                    .seen = UINT64_MAX,
                                    .receiver = receiver,
                                    .sender = process,
                                    .comm = event.comm,
                                    .tag = event.tag,
                                    .send_region = region,
                                    .bytes = event.bytes,
                                    .send_time = event.time,
                                    .receive_time = 0,
                                    .given = {}};
}

void CausalOrder::receive(const ArchivedEvent& event, std::uint32_t process, const GivenReceive& given) {
  const CommRanks::Comm* const comm = ranks_.find(event.comm);
  const std::uint32_t sender = comm == nullptr ? kUndefined32 : ranks_.process_of(*comm, event.peer, process);
  if (sender == kUndefined32) return;
  Step& step = add(event, process, StepKind::kReceive);
  step.is_alone = !places_.contains(sender);
  step.message = ReceivedMessage{.post = 0,
                                 .number = 0,
                                 .seen = UINT64_MAX,
                                 .receiver = process,
                                 .sender = sender,
                                 .comm = event.comm,
                                 .tag = event.tag,
                                 .send_region = kUndefined32,
                                 .bytes = event.bytes,
                                 .send_time = 0,
                                 .receive_time = event.time,
                                 .given = given};
}

void CausalOrder::posted(const Half& receive) {
  Step* const step = find(receive);
  if (step == nullptr) return;
  step->message.post = processes_[locations_.at(receive.location->id).process].posts++;
  step->has_post = true;
  wake(receive.location->id);
}

void CausalOrder::paired(const Half& send, const Half& receive) {
  const Place place{send.location->id, send.position};
  const auto message = messages_.find(place);
  Step* const step = find(receive);
  if (step == nullptr) {  // it did not wait
    if (message != messages_.end()) messages_.erase(message);
    return;
  }
  if (message == messages_.end()) {
    step->is_alone = true;
  } else {
    step->is_paired = message->second.is_paired = true;
    step->send = place;
    message->second.receiver_location = receive.location->id;
  }
  wake(receive.location->id);
}

void CausalOrder::cancelled(const Half& send) {
  const auto found = messages_.find({send.location->id, send.position});
  if (found != messages_.end() && !found->second.is_paired) messages_.erase(found);
}

void CausalOrder::probe(const ArchivedEvent& event, std::uint32_t process, std::uint64_t number) {
  add(event, process, StepKind::kProbe).number = number;
}

void CausalOrder::collective(const ArchivedEvent& event, std::uint32_t process, std::uint32_t comm, bool is_neighbour) {
  const bool is_request = event.kind == ArchivedKind::kNonBlockingCollectiveRequest;
  const bool is_window = event.kind == ArchivedKind::kRmaCollectiveEnd;
  if (is_request && comm == kUndefined32) return;  // arrives when it is complete
  std::uint64_t group = is_window ? kOfWindow + event.reference : is_request ? comm : event.comm;
  if (group_of(group) == nullptr) return;
  Process& own = processes_[location_of(event, process).process];
  std::pair<std::uint64_t, std::uint64_t> instance{group, 0};
  bool arrives = true;
  if (const auto request = own.requests.find(event.request);
      event.kind == ArchivedKind::kNonBlockingCollectiveComplete && request != own.requests.end()) {
    instance = request->second;
    own.requests.erase(request);
    arrives = false;
  } else {
    instance.second = own.next[group]++;
  }
  if (is_request) own.requests.insert_or_assign(event.request, instance);
  Step& step = add(event, process, StepKind::kCollective);
  step.group = instance.first;
  step.number = instance.second;
  step.arrives = arrives;
  step.leaves = !is_request;
  const Group& members = groups_.at(step.group);
  switch (event.operation) {
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
      step.direction = members.is_inter ? Direction::kNone : Direction::kFromRoot;
      break;
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
    case OTF2_COLLECTIVE_OP_REDUCE:
      step.direction = members.is_inter ? Direction::kNone : Direction::kToRoot;
      break;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
      step.direction = Direction::kScan;
      break;
    default:
      step.direction = Direction::kAll;
  }
  if (is_neighbour) step.direction = Direction::kNone;
  if (is_window) step.direction = (event.mode & OTF2_RMA_SYNC_LEVEL_PROCESS) != 0 ? Direction::kAll : Direction::kNone;
  if (is_window || is_request) return;
  const CommRanks::Comm* const of = ranks_.find(event.comm);
  if (of != nullptr && !members.is_inter) step.root = ranks_.process_of(*of, event.peer, process);
}

CausalOrder::Group* CausalOrder::group_of(std::uint64_t number) {
  const auto found = groups_.find(number);
  if (found != groups_.end()) return found->second.members.empty() ? nullptr : &found->second;
  Group& group = groups_[number];
  std::uint32_t id = static_cast<std::uint32_t>(number);
  if (number >= kOfWindow) {
    const auto* const window = definitions_.windows.find(id);
    if (window == nullptr) return nullptr;
    id = window->comm;
  }
  const CommRanks::Comm* const comm = ranks_.find(id);
  if (comm == nullptr || comm->is_self) return nullptr;
  group.is_inter = comm->is_inter;
  for (const auto* const side : {&comm->members, &comm->others}) {
    for (const std::uint32_t each : *side) {
      if (places_.contains(each)) group.members.push_back(each);
    }
  }
  return group.members.empty() ? nullptr : &group;
}

CausalOrder::Moment CausalOrder::now(Process& process) {
  if (process.shared == nullptr) process.shared = std::make_shared<const Clock>(process.clock);
  const std::size_t place = places_.at(process.number);
  return {process.shared, place, process.clock[place]};
}

void CausalOrder::join(Process& process, const Moment& moment) {
  bool has_changed = false;
  const Clock& others = *moment.others;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::uint64_t seen = i == moment.process ? moment.own : others[i];
    if (seen <= process.clock[i]) continue;
    process.clock[i] = seen;
    has_changed = true;
  }
  if (has_changed) process.shared = nullptr;
}

void CausalOrder::run() {
  for (;;) {
    while (!ready_.empty()) {
      const std::uint64_t id = ready_.back();
      ready_.pop_back();
      Location& location = locations_.at(id);
      location.is_ready = false;
      while (!location.steps.empty() && take(location, id, false)) {
        location.steps.pop_front();
        --steps_;
      }
    }
    if (steps_ * sizeof(Step) <= kMostBytes) return;
    force_oldest();
    ++without_room_;
  }
}

void CausalOrder::force_oldest() {
  std::uint64_t oldest = 0;
  const Step* first = nullptr;
  for (const auto& [id, location] : locations_) {
    if (location.steps.empty() || (first != nullptr && location.steps.front().time >= first->time)) continue;
    oldest = id;
    first = &location.steps.front();
  }
  if (first == nullptr) return;
  Location& location = locations_.at(oldest);
  (void)take(location, oldest, true);
  location.steps.pop_front();
  --steps_;
  wake(oldest);
}

bool CausalOrder::take(Location& location, std::uint64_t id, bool is_forced) {
  Process& process = processes_[location.process];
  Step& step = location.steps.front();
  std::uint64_t& own = process.clock[location.process];
  switch (step.kind) {
    case StepKind::kSend: {
      ++own;
      const auto found = messages_.find({id, step.position});
      if (found == messages_.end()) return true;
      Message& message = found->second;
      message.moment = now(process);
      message.is_sent = true;
      const std::size_t receiver = places_.at(message.message.receiver);
      message.message.seen = receiver == location.process ? own : (*message.moment.others)[receiver];
      if (message.is_paired) wake(message.receiver_location);
      return true;
    }
    case StepKind::kProbe:
      process.probes[step.number] = ++own;
      return true;
    case StepKind::kReceive:
      return take_receive(process, step, is_forced);
    case StepKind::kCollective:
      return take_collective(process, step, id, is_forced);
  }
  return true;
}

bool CausalOrder::take_receive(Process& process, Step& step, bool is_forced) {
  const auto sent = step.is_paired ? messages_.find(step.send) : messages_.end();
  const bool is_sent = sent != messages_.end() && sent->second.is_sent;
  const bool has_other_end = step.is_paired ? is_sent : step.is_alone || is_finished_;
  if (!is_forced && !(has_other_end && (step.has_post || is_finished_))) return false;
  const std::size_t place = places_.at(process.number);
  if (is_sent) {
    join(process, sent->second.moment);
    const ReceivedMessage& message = sent->second.message;
    step.message.seen = message.seen;
    step.message.send_region = message.send_region;
    step.message.send_time = message.send_time;
    step.message.bytes = message.bytes;
    ++matched_;
  } else {
    ++without_sends_;
  }
  if (sent != messages_.end()) messages_.erase(sent);
  step.message.number = ++process.clock[place];
  if (const auto probe = process.probes.find(step.message.given.probe); probe != process.probes.end()) {
    step.message.number = probe->second;
    process.probes.erase(probe);
  }
  if (step.has_post) take_(step.message);
  return true;
}

bool CausalOrder::is_complete(const Group& group, const Instance& instance, const Step& step, std::uint32_t process) {
  switch (step.direction) {
    case Direction::kNone:
      return true;
    case Direction::kFromRoot:
      return instance.arrived.contains(step.root) ||
             std::find(group.members.begin(), group.members.end(), step.root) == group.members.end();
    case Direction::kScan:
      return std::all_of(group.members.begin(), std::find(group.members.begin(), group.members.end(), process),
                         [&](std::uint32_t each) { return instance.arrived.contains(each); });
    case Direction::kToRoot:
      return process != step.root || instance.arrived.size() >= group.members.size();
    case Direction::kAll:
      break;
  }
  return instance.arrived.size() >= group.members.size();
}

bool CausalOrder::take_collective(Process& process, Step& step, std::uint64_t id, bool is_forced) {
  Group& group = groups_.at(step.group);
  const std::size_t place = places_.at(process.number);
  if (step.number < group.first) return true;  // complete without it: more take part than there are members
  while (step.number >= group.first + group.open.size()) group.open.emplace_back();
  Instance& instance = group.open[static_cast<std::size_t>(step.number - group.first)];
  if (step.arrives) {
    step.arrives = false;
    ++process.clock[place];
    const Moment moment = now(process);
    instance.arrived.insert_or_assign(process.number, moment);
    instance.all.resize(processes_.size());
    for (std::size_t i = 0; i < instance.all.size(); ++i) instance.all[i] = std::max(instance.all[i], process.clock[i]);
    for (const std::uint64_t each : std::exchange(instance.waiting, {})) wake(each);
  }
  if (!step.leaves) return true;
  if (!is_complete(group, instance, step, process.number)) {
    if (!is_forced) {
      instance.waiting.insert(id);
      return false;
    }
    incomplete_ += is_finished_;
  } else if (step.direction == Direction::kFromRoot) {
    if (const auto root = instance.arrived.find(step.root); root != instance.arrived.end()) join(process, root->second);
  } else if (step.direction == Direction::kScan) {
    for (const std::uint32_t each : group.members) {
      if (each == process.number) break;
      join(process, instance.arrived.at(each));
    }
  } else if (step.direction == Direction::kAll ||
             (step.direction == Direction::kToRoot && process.number == step.root)) {
    for (std::size_t i = 0; i < instance.all.size(); ++i)
      process.clock[i] = std::max(process.clock[i], instance.all[i]);
    process.shared = nullptr;
  }
  ++process.clock[place];
  ++instance.left;
  while (!group.open.empty() && group.open.front().left >= group.members.size()) {
    group.open.pop_front();
    ++group.first;
  }
  return true;
}

void CausalOrder::finish() {
  is_finished_ = true;
  for (const auto& [id, location] : locations_) wake(id);
  run();
  while (steps_ != 0) {
    force_oldest();
    run();
  }
}

std::vector<ReceivedMessage> CausalOrder::never_received() const {
  std::vector<ReceivedMessage> all;
  for (const auto& [place, message] : messages_) {
    if (message.is_sent && !message.is_paired) all.push_back(message.message);
  }
  return all;
}

std::uint64_t CausalOrder::floor(std::uint32_t process) const {
  const auto found = places_.find(process);
  if (found == places_.end()) return 0;
  std::uint64_t least = UINT64_MAX;
  for (const Process& each : processes_) {
    if (each.number != process) least = std::min(least, each.clock[found->second]);
  }
  for (const auto& [place, message] : messages_) {
    if (message.is_sent && message.message.receiver == process) least = std::min(least, message.message.seen);
  }
  return least;
}

}  // namespace ardoise::launcher

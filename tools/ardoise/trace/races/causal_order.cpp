#include "tools/ardoise/trace/races/causal_order.hpp"

#include <otf2/OTF2_Definitions.h>
#include <otf2/OTF2_Events.h>

#include <algorithm>

namespace ardoise::launcher {

using knowledge_sources::ArchivedEvent;
using knowledge_sources::ArchivedKind;
using knowledge_sources::CommRanks;
using knowledge_sources::kUndefined32;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 29;  // of steps and messages
constexpr std::uint64_t kOfWindow = std::uint64_t{1} << 32;

}  // namespace

CausalOrder::CausalOrder(const knowledge_sources::ArchiveDefinitions& definitions, const CommRanks& ranks, Take take)
    : definitions_(definitions), ranks_(ranks), take_(std::move(take)) {
  for (const auto& location : definitions.locations) {
    if (location.events != 0) ++processes_[definitions.process_of(location)].threads;
  }
}

CausalOrder::Location& CausalOrder::location_of(const ArchivedEvent& event, std::uint32_t process) {
  const auto [found, is_new] = locations_.try_emplace(event.location->id);
  if (is_new) {
    found->second.process = process;
    if (event.location->events == 0) ++processes_[process].threads;  // the definitions announce no events
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
  if (receiver == kUndefined32 || !processes_.contains(receiver)) return;
  if (messages_.size() * (sizeof(Message) + 64 + 4 * std::size_t{components_}) >= kMostBytes) {
    ++without_room_;
    return;
  }
  Message& message = messages_[{event.location->id, event.position}];
  message.message.receiver = receiver;
  message.message.sender = process;
  message.message.sending_thread = event.location->id;
  message.message.comm = event.comm;
  message.message.tag = event.tag;
  message.message.send_region = region;
  message.message.bytes = event.bytes;
  message.message.send_time = event.time;
}

void CausalOrder::receive(const ArchivedEvent& event, std::uint32_t process, const GivenReceive& given) {
  const CommRanks::Comm* const comm = ranks_.find(event.comm);
  const std::uint32_t sender = comm == nullptr ? kUndefined32 : ranks_.process_of(*comm, event.peer, process);
  if (sender == kUndefined32) return;
  Step& step = add(event, process, StepKind::kReceive);
  step.is_alone = !processes_.contains(sender);
  step.message = std::make_unique<ReceivedMessage>();
  step.message->receiver = process;
  step.message->sender = sender;
  step.message->comm = event.comm;
  step.message->tag = event.tag;
  step.message->bytes = event.bytes;
  step.message->receive_time = event.time;
  step.message->given = given;
}

void CausalOrder::posted(const Half& receive) {
  Step* const step = find(receive);
  if (step == nullptr) return;
  step->message->post = processes_.at(locations_.at(receive.location->id).process).posts++;
  step->has_post = true;
  wake(receive.location->id);
}

void CausalOrder::paired(const Half& send, const Half& receive) {
  const Place place{send.location->id, send.position};
  const auto message = messages_.find(place);
  Step* const step = find(receive);
  if (step == nullptr) {  // it was taken already
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

void CausalOrder::point(const ArchivedEvent& event, std::uint32_t process, std::shared_ptr<CausalPoint> point) {
  if (!point->is_probe && processes_.at(location_of(event, process).process).threads == 1) {
    point->is_reached = true;  // a single thread needs no clock
    return;
  }
  add(event, process, StepKind::kPoint).point = std::move(point);
}

void CausalOrder::collective(const ArchivedEvent& event, std::uint32_t process, std::uint32_t comm, bool is_neighbour) {
  const bool is_request = event.kind == ArchivedKind::kNonBlockingCollectiveRequest;
  const bool is_window = event.kind == ArchivedKind::kRmaCollectiveEnd;
  if (is_request && comm == kUndefined32) return;  // joins when it is complete
  std::uint64_t group = is_window ? kOfWindow + event.reference : is_request ? comm : event.comm;
  if (group_of(group) == nullptr) return;
  Process& own = processes_.at(location_of(event, process).process);
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
      if (processes_.contains(each)) group.members.push_back(each);
    }
  }
  return group.members.empty() ? nullptr : &group;
}

void CausalOrder::reach(CausalPoint& point, Location& location, bool is_counted) {
  point.is_reached = true;
  if (!is_counted) return;
  if (location.component == kNoComponent) location.component = components_++;
  point.component = location.component;
  point.number = ++location.choices;
  location.clock.set(point.component, point.number);
  point.clock = location.clock;
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
    if (bytes() <= kMostBytes) return;
    if (arrivals_ > steps_) {
      close_oldest();
    } else {
      force_oldest();
    }
    ++without_room_;
  }
}

std::size_t CausalOrder::bytes() const {
  return steps_ * (sizeof(Step) + sizeof(ReceivedMessage)) + arrivals_ * (96 + 4 * std::size_t{components_});
}

// Closes the oldest collective of the group with the most open ones. Ranks that have not left it go on.
void CausalOrder::close_oldest() {
  const auto fullest = std::ranges::max_element(groups_, {}, [](const auto& each) { return each.second.open.size(); });
  if (fullest == groups_.end() || fullest->second.open.empty()) return;
  Group& group = fullest->second;
  const Instance oldest = std::move(group.open.front());
  group.open.pop_front();
  ++group.first;
  arrivals_ -= oldest.arrived.size();
  for (const std::uint64_t each : oldest.waiting) wake(each);
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
  Step& step = location.steps.front();
  switch (step.kind) {
    case StepKind::kSend: {
      const auto found = messages_.find({id, step.position});
      if (found == messages_.end()) return true;
      found->second.message.is_sent = true;
      found->second.message.sent = location.clock;
      if (found->second.is_paired) wake(found->second.receiver_location);
      return true;
    }
    case StepKind::kPoint:
      reach(*step.point, location, step.point->is_probe || processes_.at(location.process).threads > 1);
      if (step.point->waiting) wake(*step.point->waiting);
      return true;
    case StepKind::kReceive:
      return take_receive(location, step, id, is_forced);
    case StepKind::kCollective:
      return take_collective(location, step, id, is_forced);
  }
  return true;
}

bool CausalOrder::take_receive(Location& location, Step& step, std::uint64_t id, bool is_forced) {
  ReceivedMessage& message = *step.message;
  const GivenReceive& given = message.given;
  const auto sent = step.is_paired ? messages_.find(step.send) : messages_.end();
  const bool is_sent = sent != messages_.end() && sent->second.message.is_sent;
  const bool has_other_end = step.is_paired ? is_sent : step.is_alone || is_finished_;
  if (!is_forced) {
    if (!has_other_end || !(step.has_post || is_finished_)) return false;
    if (given.point != nullptr && !given.point->is_reached) {
      given.point->waiting = id;
      return false;
    }
  }
  const bool has_threads = processes_.at(location.process).threads > 1;
  if (given.point != nullptr) {
    message.posted = *given.point;
    location.clock.join(given.point->clock);
  } else {
    reach(message.posted, location, has_threads);
  }
  if (is_sent) {
    const ReceivedMessage& of_send = sent->second.message;
    location.clock.join(of_send.sent);
    message.is_sent = true;
    message.sent = of_send.sent;
    message.sending_thread = of_send.sending_thread;
    message.send_region = of_send.send_region;
    message.send_time = of_send.send_time;
    message.bytes = of_send.bytes;
    ++matched_;
  } else {
    ++without_sends_;
  }
  if (sent != messages_.end()) messages_.erase(sent);
  if (given.any_source) {
    CausalPoint end;
    if (!given.is_probed()) reach(end, location, true);
    const CausalPoint& chosen = given.is_probed() ? message.posted : end;
    message.chooser = chosen.component;
    message.choice = chosen.number;
  }
  if (step.has_post) take_(message);
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

bool CausalOrder::take_collective(Location& location, Step& step, std::uint64_t id, bool is_forced) {
  Group& group = groups_.at(step.group);
  const std::uint32_t process = location.process;
  if (step.number < group.first) return true;  // it was closed without this member
  while (step.number >= group.first + group.open.size()) group.open.emplace_back();
  Instance& instance = group.open[static_cast<std::size_t>(step.number - group.first)];
  if (step.arrives) {
    step.arrives = false;
    arrivals_ += instance.arrived.insert_or_assign(process, location.clock).second ? 1u : 0u;
    instance.all.join(location.clock);
    for (const std::uint64_t each : std::exchange(instance.waiting, {})) wake(each);
  }
  if (!step.leaves) return true;
  if (!is_complete(group, instance, step, process)) {
    if (!is_forced) {
      instance.waiting.insert(id);
      return false;
    }
    incomplete_ += is_finished_;
  } else if (step.direction == Direction::kFromRoot) {
    if (const auto root = instance.arrived.find(step.root); root != instance.arrived.end())
      location.clock.join(root->second);
  } else if (step.direction == Direction::kScan) {
    for (const std::uint32_t each : group.members) {
      if (each == process) break;
      location.clock.join(instance.arrived.at(each));
    }
  } else if (step.direction == Direction::kAll || (step.direction == Direction::kToRoot && process == step.root)) {
    location.clock.join(instance.all);
  }
  ++instance.left;
  while (!group.open.empty() && group.open.front().left >= group.members.size()) {
    arrivals_ -= group.open.front().arrived.size();
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
    if (message.message.is_sent && !message.is_paired) all.push_back(message.message);
  }
  return all;
}

}  // namespace ardoise::launcher

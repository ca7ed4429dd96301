#include "tools/ardoise/trace/trace_check.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_Definitions.h>

#include <algorithm>
#include <tuple>

#include "reports/text/units.hpp"

namespace ardoise::launcher {

using knowledge_sources::ArchivedKind;
using knowledge_sources::ArchivedLocation;
using knowledge_sources::CommRanks;
using knowledge_sources::kUndefined32;
using knowledge_sources::kUndefined64;
using knowledge_sources::MessageChannel;

TraceCheck::TraceCheck(const knowledge_sources::ArchiveDefinitions& definitions, std::size_t most_ends)
    : definitions_(definitions),
      ranks_(definitions),
      matcher_([this](const Half& send, const Half& receive) { pair(send, receive); }, most_ends),
      tracker_(
          definitions, ranks_,
          [this](const Half& half) {
            const auto events = events_of_process_.find(half.is_send ? half.channel.receiver : half.channel.sender);
            if (events == events_of_process_.end() || events->second == 0) {
              ++unseen_messages_;
            } else {
              matcher_.take(half);
            }
          },
          [this](const Half& half) { matcher_.cancel(half); }) {
  for (const ArchivedLocation& each : definitions.locations)
    events_of_process_[definitions.process_of(each)] += each.events;
}

std::string TraceCheck::at(const ArchivedLocation& location, std::uint64_t time) const {
  return fmt::format("{} at {:.9f} s", definitions_.place_of(location), definitions_.clock.seconds(time));
}
std::string TraceCheck::name_of_process(std::uint32_t process) const {
  if (const auto rank = definitions_.world_ranks.find(process); rank != definitions_.world_ranks.end())
    return fmt::format("rank {}", rank->second);
  const auto* const group = definitions_.location_groups.find(process);
  return group == nullptr ? fmt::format("location group {}", process) : fmt::format("'{}'", group->name);
}
std::string TraceCheck::name_of_region(std::uint32_t region) const {
  const auto* const found = definitions_.regions.find(region);
  return found == nullptr ? fmt::format("region {}", region) : found->name;
}
std::string TraceCheck::name_of_comm(std::uint32_t comm) const {
  const auto* const found = definitions_.comms.find(comm);
  return found == nullptr || found->name.empty() ? fmt::format("communicator {}", comm) : found->name;
}

void TraceCheck::add(const char* kind, const Event& event, const std::string& detail) {
  // Only the first faults of a kind need an example.
  const auto& known = faults_.by_kind();
  const auto found = known.find(kind);
  if (found != known.end() && found->second.examples.size() >= knowledge_sources::ArchiveFaults::kExamples)
    return faults_.add(kind);
  faults_.add(kind, at(*event.location, event.time) + (detail.empty() ? "" : ", " + detail));
}

TraceCheck::Location& TraceCheck::location_of(const Event& event) {
  const auto [found, is_new] = locations_.try_emplace(event.location->id);
  if (is_new) found->second.process = definitions_.process_of(*event.location);
  return found->second;
}

bool TraceCheck::event(const Event& event) {
  ++events_;
  Location& location = location_of(event);
  if (event.time < location.last_time)
    add("events that are earlier than one before them", event,
        fmt::format("by {} ticks", location.last_time - event.time));
  location.last_time = std::max(location.last_time, event.time);
  if (!event.attributes.empty()) check_attributes(event);
  calls_.event(event);
  if (event.kind == ArchivedKind::kEnter || event.kind == ArchivedKind::kLeave) {
    check_regions(location, event);
    return true;
  }
  check_references(event);
  Process& process = processes_[location.process];
  check_requests(process, event);
  check_collectives(process, location.process, event);
  tracker_.event(event, calls_);
  return true;
}

void TraceCheck::check_regions(Location& location, const Event& event) {
  if (definitions_.regions.find(event.reference) == nullptr)
    add("events with an undefined region", event, fmt::format("region {}", event.reference));
  if (event.kind == ArchivedKind::kEnter) {
    location.open.emplace_back(event.reference, event.time);
    return;
  }
  if (location.open.empty())
    return add("regions that are left and were not entered", event, name_of_region(event.reference));
  if (location.open.back().first != event.reference)
    add("regions that are left while another one is inside", event,
        fmt::format("{} within {}", name_of_region(event.reference), name_of_region(location.open.back().first)));
  location.open.pop_back();
}

void TraceCheck::check_references(const Event& event) {
  const auto check = [&](bool is_there, const char* kind, std::uint64_t number) {
    if (!is_there) add(kind, event, std::to_string(number));
  };
  switch (event.kind) {
    case ArchivedKind::kMpiSend:
    case ArchivedKind::kMpiIsend:
    case ArchivedKind::kMpiRecv:
    case ArchivedKind::kMpiIrecv: {
      const CommRanks::Comm* const comm = ranks_.find(event.comm);
      if (comm == nullptr) return add("events with an undefined communicator", event, std::to_string(event.comm));
      if (ranks_.process_of(*comm, event.peer, locations_.at(event.location->id).process) == kUndefined32)
        add("messages with a rank that their communicator does not have", event,
            fmt::format("rank {} of {}", event.peer, name_of_comm(event.comm)));
      return;
    }
    case ArchivedKind::kMpiCollectiveEnd:
    case ArchivedKind::kNonBlockingCollectiveComplete:
    case ArchivedKind::kCommCreate:
    case ArchivedKind::kCommDestroy:
      return check(ranks_.find(event.comm) != nullptr, "events with an undefined communicator", event.comm);
    case ArchivedKind::kMetric:
      return check(definitions_.metric_classes.find(event.reference) != nullptr ||
                       definitions_.metric_instances.find(event.reference) != nullptr,
                   "events with an undefined metric", event.reference);
    case ArchivedKind::kParameterInt:
    case ArchivedKind::kParameterString:
    case ArchivedKind::kParameterUnsignedInt:
      return check(definitions_.parameters.find(event.reference) != nullptr, "events with an undefined parameter",
                   event.reference);
    case ArchivedKind::kCallingContextEnter:
    case ArchivedKind::kCallingContextLeave:
    case ArchivedKind::kCallingContextSample:
      return check(event.reference == kUndefined32 || definitions_.calling_contexts.find(event.reference) != nullptr,
                   "events with an undefined calling context", event.reference);
    default:
      break;
  }
  if (event.kind >= ArchivedKind::kRmaWinCreate && event.kind <= ArchivedKind::kRmaOpCompleteRemote &&
      event.kind != ArchivedKind::kRmaCollectiveBegin)
    check(definitions_.windows.find(event.reference) != nullptr, "events with an undefined window", event.reference);
  if (event.kind >= ArchivedKind::kIoCreateHandle && event.kind <= ArchivedKind::kIoTryLock &&
      event.kind != ArchivedKind::kIoDeleteFile)
    check(definitions_.handles.find(event.reference) != nullptr, "events with an undefined file handle",
          event.reference);
}

void TraceCheck::check_attributes(const Event& event) {
  for (const auto& attribute : event.attributes) {
    const auto* const key = definitions_.attributes.find(attribute.reference);
    if (key == nullptr) {
      add("attributes with an undefined key", event, fmt::format("key {}", attribute.reference));
    } else if (!attribute.value.is_known()) {
      add("attributes with a value of unknown type", event, key->name);
    } else if (key->type != attribute.value.type) {
      add("attributes with a value of another type than their key has", event,
          fmt::format("{} has {} instead of {}", key->name, unsigned{attribute.value.type}, unsigned{key->type}));
    }
    if (attribute.value.is_string() && !definitions_.strings.contains(static_cast<std::uint32_t>(attribute.value.bits)))
      add("attributes with an undefined string", event, std::to_string(attribute.value.bits));
  }
}

void TraceCheck::check_requests(Process& process, const Event& event) {
  switch (event.kind) {
    case ArchivedKind::kMpiIsend:
      return start(process, event, RequestKind::kSend, 0);
    case ArchivedKind::kMpiIrecvRequest:
      return start(process, event, RequestKind::kReceive, 0);
    case ArchivedKind::kNonBlockingCollectiveRequest:
      return start(process, event, RequestKind::kCollective, 0);
    case ArchivedKind::kMpiIsendComplete:
      return complete(process, event, RequestKind::kSend, 0);
    case ArchivedKind::kMpiIrecv:
      return complete(process, event, RequestKind::kReceive, 0);
    case ArchivedKind::kNonBlockingCollectiveComplete:
      return complete(process, event, RequestKind::kCollective, 0);
    case ArchivedKind::kMpiRequestCancelled: {
      const bool is_send = process.requests.contains({RequestKind::kSend, 0, event.request});
      return complete(process, event, is_send ? RequestKind::kSend : RequestKind::kReceive, 0);
    }
    case ArchivedKind::kRmaPut:
    case ArchivedKind::kRmaGet:
    case ArchivedKind::kRmaAtomic:
      return start(process, event, RequestKind::kRma, event.reference);
    case ArchivedKind::kRmaOpCompleteBlocking:
    case ArchivedKind::kRmaOpCompleteNonBlocking:
      return complete(process, event, RequestKind::kRma, event.reference);
    case ArchivedKind::kRmaOpCompleteRemote: {
      // Some operations have this record in addition, others instead.
      const auto found = process.requests.find({RequestKind::kRma, event.reference, event.request});
      if (found != process.requests.end() && found->second.open > 0)
        complete(process, event, RequestKind::kRma, event.reference);
      return;
    }
    case ArchivedKind::kIoOperationBegin:
      return start(process, event, RequestKind::kIo, event.reference);
    case ArchivedKind::kIoOperationComplete:
    case ArchivedKind::kIoOperationCancelled:
      return complete(process, event, RequestKind::kIo, event.reference);
    default:
      return;
  }
}

void TraceCheck::start(Process& process, const Event& event, RequestKind kind, std::uint32_t of) {
  const auto key = std::tuple(kind, of, event.request);
  Request& request = process.requests[key];
  if (++request.open == 0) {
    process.requests.erase(key);
    return;
  }
  if (request.open > 1) {
    // One completion ends all one-sided operations with its number.
    if (kind != RequestKind::kRma)
      add("requests started again before completion", event, fmt::format("request {}", event.request));
    request.open = 1;
  }
  request.location = event.location;
  request.time = event.time;
}

void TraceCheck::complete(Process& process, const Event& event, RequestKind kind, std::uint32_t of) {
  const auto key = std::tuple(kind, of, event.request);
  Request& request = process.requests[key];
  if (--request.open == 0) {
    process.requests.erase(key);
    return;
  }
  request.location = event.location;
  request.time = event.time;
}

void TraceCheck::check_collectives(Process& process, std::uint32_t number, const Event& event) {
  const auto take = [&](const Member& member) { take_part(number, member); };
  if (event.kind == ArchivedKind::kNonBlockingCollectiveRequest) {
    process.posted_collectives.insert_or_assign(event.request, process.collectives.post());
    return;
  }
  std::uint64_t order = 0;
  if (event.kind == ArchivedKind::kMpiCollectiveEnd) {
    order = process.collectives.pass();
  } else if (event.kind == ArchivedKind::kNonBlockingCollectiveComplete) {
    const auto posted = process.posted_collectives.find(event.request);
    order = posted == process.posted_collectives.end() ? process.collectives.pass() : posted->second;
    if (posted != process.posted_collectives.end()) process.posted_collectives.erase(posted);
  } else {
    return;
  }
  process.collectives.complete(order, {event.comm, event.operation, event.location, event.time});
  (void)process.collectives.release(take);
}

void TraceCheck::take_part(std::uint32_t process, const Member& member) {
  const CommRanks::Comm* const comm = ranks_.find(member.comm);
  if (comm == nullptr || comm->is_self) return;
  const auto [found, is_new] = comms_.try_emplace(member.comm);
  Collectives& of = found->second;
  if (is_new) {
    for (const auto* const side : {&comm->members, &comm->others}) {
      for (const std::uint32_t each : *side) {
        const auto events = events_of_process_.find(each);
        of.members += events != events_of_process_.end() && events->second != 0;
      }
    }
  }
  const std::uint64_t number = of.next[process]++;
  while (number >= of.first + of.open.size()) of.open.push_back({member.operation, 0, member.location, member.time});
  // The collective was complete without this member: more take part than the communicator has.
  if (number < of.first)
    return faults_.add("collectives with more members than their communicator has", at(*member.location, member.time));
  auto& instance = of.open[static_cast<std::size_t>(number - of.first)];
  if (instance.arrived++ == 0) {
    instance = {member.operation, 1, member.location, member.time};
  } else if (instance.operation != member.operation) {
    faults_.add(
        "collectives whose members call different operations",
        fmt::format("number {} on {}, {}", number, name_of_comm(member.comm), at(*member.location, member.time)));
  }
  while (!of.open.empty() && of.open.front().arrived >= of.members) {
    ++collectives_;
    ++of.first;
    of.open.pop_front();
  }
}

void TraceCheck::pair(const Half& send, const Half& receive) {
  ++messages_;
  const auto text = [&] {
    return fmt::format("{}, {} to {}, tag {}, sent at {:.9f} s", name_of_comm(send.channel.comm),
                       name_of_process(send.channel.sender), name_of_process(send.channel.receiver), send.channel.tag,
                       definitions_.clock.seconds(send.time));
  };
  if (send.bytes != receive.bytes)
    faults_.add("messages whose receive has another size than their send",
                fmt::format("{}: {} and {} bytes", text(), send.bytes, receive.bytes));
  if (receive.time >= send.time) return;
  ++too_early_;
  if (send.time - receive.time <= most_too_early_) return;
  most_too_early_ = send.time - receive.time;
  most_too_early_where_ = text();
}

void TraceCheck::finish_messages() {
  struct Unmatched {
    std::uint64_t count;
    std::string text;
  };
  std::vector<Unmatched> sends, receives;
  for (const auto& [key, found] : matcher_.channels()) {
    const auto& channel = found;  // clang 14: lambdas cannot capture structured bindings
    const auto note = [&, &of = key](const std::deque<Half>& halves, std::uint64_t count, std::vector<Unmatched>& list,
                                     std::uint32_t other) {
      if (count == 0) return;
      if (const auto events = events_of_process_.find(other);
          events == events_of_process_.end() || events->second == 0) {
        unseen_messages_ += count;
        return;
      }
      std::string text = fmt::format("{}, {} to {}, tag {}: {}", name_of_comm(of.comm), name_of_process(of.sender),
                                     name_of_process(of.receiver), of.tag, count);
      const auto first =
          std::min_element(halves.begin(), halves.end(), [](const Half& a, const Half& b) { return a.time < b.time; });
      if (first != halves.end() && !channel.is_counted)
        text += fmt::format(", the first at {:.9f} s in {}", definitions_.clock.seconds(first->time),
                            name_of_region(first->region));
      list.push_back({count, std::move(text)});
    };
    note(channel.sends, channel.unpaired_sends(), sends, key.receiver);
    note(channel.receives, channel.unpaired_receives(), receives, key.sender);
  }
  const auto tell = [&](std::vector<Unmatched>& list, const char* kind) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Unmatched& a, const Unmatched& b) { return a.count > b.count; });
    for (const Unmatched& each : list) faults_.add(kind, each.text, each.count);
  };
  tell(sends, "messages never received");
  tell(receives, "receives of messages never sent");
  if (too_early_ != 0)
    faults_.add("messages that are received before they are sent, by the clock",
                fmt::format("by up to {}: {}",
                            reports::human_seconds(static_cast<double>(most_too_early_) /
                                                   static_cast<double>(definitions_.clock.ticks_per_second)),
                            most_too_early_where_),
                too_early_);
}

void TraceCheck::finish_collectives() {
  for (auto& [number, process] : processes_) {
    const std::uint32_t id = number;
    (void)process.collectives.release([&](const Member& member) { take_part(id, member); }, true);
  }
  for (const auto& [comm, of] : comms_) {
    if (of.open.empty()) continue;
    const auto& first = of.open.front();
    faults_.add("collectives in which not all members take part",
                fmt::format("{} on {}, the first has {} of {}, {}", of.open.size(), name_of_comm(comm), first.arrived,
                            of.members, at(*first.location, first.time)),
                of.open.size());
  }
}

void TraceCheck::finish_locations() {
  for (const ArchivedLocation& each : definitions_.locations) {
    const auto found = locations_.find(each.id);
    if (found == locations_.end()) continue;
    for (const auto& [region, time] : found->second.open)
      faults_.add("regions never left", fmt::format("{}, {}", at(each, time), name_of_region(region)));
  }
  for (const auto& [number, process] : processes_) {
    for (const auto& [key, request] : process.requests) {
      static constexpr const char* kKinds[] = {"send", "receive", "collective", "one-sided operation",
                                               "operation of I/O"};
      const char* const kind = request.open > 0 ? "requests that are never completed"
                                                : "completions of requests never started, or already complete";
      faults_.add(kind,
                  fmt::format("{} {}, {}", kKinds[static_cast<std::size_t>(std::get<0>(key))], std::get<2>(key),
                              at(*request.location, request.time)),
                  static_cast<std::uint64_t>(std::abs(request.open)));
    }
  }
}

void TraceCheck::finish() {
  tracker_.finish();
  finish_messages();
  finish_collectives();
  finish_locations();
}

std::vector<std::string> TraceCheck::remarks() const {
  std::vector<std::string> all;
  if (unseen_messages_ != 0)
    all.push_back(fmt::format("ends of messages of ranks without events in this trace are not checked ({})",
                              reports::with_separators(unseen_messages_)));
  if (const std::uint64_t ends = matcher_.without_room(); ends != 0)
    all.push_back(
        fmt::format("ends of messages without the other one were so many that further ones are only counted ({})",
                    reports::with_separators(ends)));
  if (const std::uint64_t early = tracker_.numbered_as_completed(); early != 0)
    all.push_back(fmt::format(
        "{} matched in the order of completion, since one that was posted before does not complete for long",
        reports::counted(early, "receive", "is", "are")));
  return all;
}

}  // namespace ardoise::launcher

#include "knowledge_sources/otf2/reader/archive_definitions.hpp"

#include <fmt/format.h>
#include <otf2/OTF2_AttributeValue.h>
#include <otf2/OTF2_Definitions.h>
#include <otf2/OTF2_GeneralDefinitions.h>

#include <algorithm>
#include <bit>
#include <set>
#include <unordered_set>

namespace ardoise::knowledge_sources {

bool ArchivedValue::is_signed() const { return type >= OTF2_TYPE_INT8 && type <= OTF2_TYPE_INT64; }
bool ArchivedValue::is_real() const { return type == OTF2_TYPE_FLOAT || type == OTF2_TYPE_DOUBLE; }
bool ArchivedValue::is_string() const { return type == OTF2_TYPE_STRING; }
bool ArchivedValue::is_known() const { return type >= OTF2_TYPE_UINT8 && type <= OTF2_TYPE_LOCATION_GROUP; }
double ArchivedValue::as_real() const {
  if (is_real()) return std::bit_cast<double>(bits);
  return is_signed() ? static_cast<double>(as_signed()) : static_cast<double>(bits);
}

std::int64_t ArchivedClock::nanoseconds(std::uint64_t time) const {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const bool is_before = time < begin;
  const std::uint64_t ticks = is_before ? begin - time : time - begin;
  __extension__ using Wide = unsigned __int128;
  const auto ns = static_cast<std::int64_t>(Wide{ticks} * kSecond / ticks_per_second);
  return is_before ? -ns : ns;
}

const std::string& ArchiveDefinitions::string_of(std::uint32_t reference) const {
  static const std::string kNone;
  const auto found = strings.find(reference);
  return found == strings.end() ? kNone : found->second;
}

std::span<const std::uint32_t> ArchiveDefinitions::metric_members_of(std::uint32_t metric) const {
  if (const ArchivedMetricInstance* const instance = metric_instances.find(metric)) metric = instance->metric_class;
  const ArchivedMetricClass* const found = metric_classes.find(metric);
  return found == nullptr ? std::span<const std::uint32_t>() : std::span(found->members);
}

std::uint64_t ArchiveDefinitions::location_of(const ArchivedComm& comm, std::uint32_t rank, std::uint64_t own) const {
  if (comm.is_self) return rank == 0 ? own : kUndefined64;
  const std::vector<std::uint64_t>* side = &comm.members;
  if (comm.other_group != kUndefined32) {
    // A location is in one of the two groups, and refers to ranks of the other one.
    const bool is_of_first = std::find(comm.members.begin(), comm.members.end(), own) != comm.members.end();
    if (is_of_first) side = &comm.others;
  }
  return rank < side->size() ? (*side)[rank] : kUndefined64;
}

std::uint32_t ArchiveDefinitions::process_of(const ArchivedLocation& location) const {
  const ArchivedLocationGroup* const group = location_groups.find(location.group);
  if (group == nullptr || group->creator == kUndefined32) return location.group;
  return location_groups.find(group->creator) == nullptr ? location.group : group->creator;
}

bool ArchiveDefinitions::has_threads() const {
  std::unordered_set<std::uint32_t> processes;
  return std::any_of(locations.begin(), locations.end(), [&](const ArchivedLocation& location) {
    return location.events != 0 && !processes.insert(process_of(location)).second;
  });
}

std::uint64_t ArchiveDefinitions::world_rank_of(std::uint64_t location) const {
  const ArchivedLocation* const found = locations.find(location);
  if (found == nullptr) return kUndefined64;
  const auto rank = world_ranks.find(process_of(*found));
  return rank == world_ranks.end() ? kUndefined64 : rank->second;
}

std::string ArchiveDefinitions::place_of(const ArchivedLocation& location) const {
  const ArchivedLocationGroup* const group = location_groups.find(location.group);
  if (group == nullptr) return fmt::format("location {} ('{}')", location.id, location.name);
  return fmt::format("location {} ('{}' of '{}')", location.id, location.name, group->name);
}

std::string ArchiveDefinitions::text_of(const ArchivedValue& value) const {
  const auto named = [&](const char* kind, const auto& list, auto name) {
    const auto* const found = list.find(value.bits);
    return found == nullptr ? fmt::format("{} {}", kind, value.bits) : name(*found);
  };
  const auto name = [](const auto& each) { return each.name; };
  switch (value.type) {
    case OTF2_TYPE_STRING:
      return string_of(static_cast<std::uint32_t>(value.bits));
    case OTF2_TYPE_ATTRIBUTE:
      return named("attribute", attributes, name);
    case OTF2_TYPE_LOCATION:
      return fmt::format("location {}", value.bits);
    case OTF2_TYPE_REGION:
      return named("region", regions, name);
    case OTF2_TYPE_GROUP:
      return named("group", groups, name);
    case OTF2_TYPE_METRIC:
      return fmt::format("metric {}", value.bits);
    case OTF2_TYPE_COMM:
      return named("communicator", comms, name);
    case OTF2_TYPE_PARAMETER:
      return named("parameter", parameters, name);
    case OTF2_TYPE_RMA_WIN:
      return named("window", windows, name);
    case OTF2_TYPE_SOURCE_CODE_LOCATION:
      return named("source line", source_lines,
                   [](const auto& each) { return fmt::format("{}:{}", each.file, each.line); });
    case OTF2_TYPE_CALLING_CONTEXT:
      return named("calling context", calling_contexts,
                   [&](const ArchivedCallingContext& each) { return stack_of(each); });
    case OTF2_TYPE_INTERRUPT_GENERATOR:
      return named("interrupt generator", interrupt_generators, name);
    case OTF2_TYPE_IO_FILE:
      return named("file", files, [](const auto& each) { return each.path; });
    case OTF2_TYPE_IO_HANDLE:
      return named("file handle", handles, name);
    case OTF2_TYPE_LOCATION_GROUP:
      return named("location group", location_groups, name);
    default:
      if (value.is_real()) return fmt::format("{}", value.as_real());
      return value.is_signed() ? fmt::format("{}", value.as_signed()) : fmt::format("{}", value.bits);
  }
}

std::string ArchiveDefinitions::stack_of(const ArchivedCallingContext& innermost) const {
  std::string text;
  std::size_t left = kMostFrames;
  for (const auto* each = &innermost; each != nullptr; each = calling_contexts.find(each->parent)) {
    if (each != &innermost) text += " < ";
    if (left-- == 0) return text + "…";
    const ArchivedRegion* const region = regions.find(each->region);
    text += region == nullptr ? fmt::format("calling context {}", each->id) : region->name;
  }
  return text;
}

namespace {

// Removes undefined and cyclic parents; what: "system tree nodes". T has id and parent.
template <class T>
void mend_parents(ById<T>& list, const char* what, ArchiveFaults& faults) {
  std::unordered_set<std::uint32_t> sound;  // lead to a root
  for (T& each : list) {
    std::vector<T*> way;
    std::unordered_set<std::uint32_t> on_way;
    for (T* at = &each; at != nullptr && !sound.contains(at->id);) {
      way.push_back(at);
      on_way.insert(at->id);
      if (at->parent == kUndefined32) break;
      T* const next = list.find(at->parent);
      if (next == nullptr) {
        faults.add(fmt::format("{} whose parent is not defined", what), fmt::format("{} has {}", at->id, at->parent));
      } else if (on_way.contains(next->id)) {
        faults.add(fmt::format("{} that are their own ancestors", what), fmt::format("{}", at->id));
      } else {
        at = next;
        continue;
      }
      at->parent = kUndefined32;
      break;
    }
    for (const T* const passed : way) sound.insert(passed->id);
  }
}

}  // namespace

void ArchiveDefinitions::finish() {
  if (clock.is_known && clock.ticks_per_second == 0) {
    faults.add("clock properties with a rate of 0: times are taken as nanoseconds");
    clock.ticks_per_second = 1'000'000'000;
  }
  if (!clock.is_known) faults.add("no clock properties: times are taken as nanoseconds");
  mend_parents(system_tree, "system tree nodes", faults);
  mend_parents(comms, "communicators", faults);
  mend_parents(calling_contexts, "calling contexts", faults);

  const auto check = [&](bool is_there, const char* what, std::uint64_t id, const char* of, std::uint64_t missing) {
    if (!is_there)
      faults.add(fmt::format("{} whose {} is not defined", what, of), fmt::format("{} has {}", id, missing));
  };
  for (const auto& each : location_groups)
    check(each.node == kUndefined32 || system_tree.find(each.node) != nullptr, "location groups", each.id,
          "system tree node", each.node);
  for (ArchivedLocationGroup& each : location_groups) {
    // An accelerator's group names its creating process, which has no creator itself.
    if (each.creator == kUndefined32) continue;
    const bool is_there = location_groups.find(each.creator) != nullptr;
    check(is_there, "location groups", each.id, "creator", each.creator);
    if (each.creator == each.id) faults.add("location groups that are their own creators", fmt::format("{}", each.id));
    if (!is_there || each.creator == each.id) each.creator = kUndefined32;
  }
  for (const auto& each : locations)
    check(location_groups.find(each.group) != nullptr, "locations", each.id, "location group", each.group);
  for (const auto& each : windows)
    check(comms.find(each.comm) != nullptr, "windows", each.id, "communicator", each.comm);
  for (const auto& each : handles) {
    check(each.file == kUndefined32 || files.find(each.file) != nullptr, "file handles", each.id, "file", each.file);
    check(io_paradigms.find(each.paradigm) != nullptr, "file handles", each.id, "paradigm", each.paradigm);
  }
  for (const auto& each : metric_classes) {
    for (const std::uint32_t member : each.members)
      check(metric_members.find(member) != nullptr, "metric classes", each.id, "member", member);
  }
  for (const auto& each : metric_instances)
    check(metric_classes.find(each.metric_class) != nullptr, "metric instances", each.id, "class", each.metric_class);
  for (const auto& each : topologies)
    check(comms.find(each.comm) != nullptr, "topologies", each.id, "communicator", each.comm);
  for (const auto& each : calling_contexts)
    check(regions.find(each.region) != nullptr, "calling contexts", each.id, "region", each.region);

  // Ranks: COMM_LOCATIONS of the paradigm, MPI's for the world.
  std::unordered_map<std::uint8_t, const ArchivedGroup*> comm_locations;
  for (const ArchivedGroup& group : groups) {
    if (group.type == OTF2_GROUP_TYPE_COMM_LOCATIONS) comm_locations.try_emplace(group.paradigm, &group);
    if (group.type != OTF2_GROUP_TYPE_COMM_LOCATIONS && group.type != OTF2_GROUP_TYPE_LOCATIONS) continue;
    for (const std::uint64_t member : group.members)
      check(locations.find(member) != nullptr, "groups", group.id, "member", member);
  }
  std::uint64_t members_so_far = 0;
  const auto members_of = [&](std::uint32_t id, std::uint32_t comm) {
    std::vector<std::uint64_t> members;
    const ArchivedGroup* const group = groups.find(id);
    check(group != nullptr, "communicators", comm, "group", id);
    if (group == nullptr) return members;
    if (group->members.size() > kMostMembers - members_so_far) {
      faults.add(fmt::format("communicators treated as empty because all together may have {} members", kMostMembers),
                 fmt::format("{}", comm));
      return members;
    }
    members_so_far += group->members.size();
    if (group->type != OTF2_GROUP_TYPE_COMM_GROUP) return group->members;
    const auto found = comm_locations.find(group->paradigm);
    members.reserve(group->members.size());
    for (const std::uint64_t index : group->members) {
      const bool is_there = found != comm_locations.end() && index < found->second->members.size();
      if (!is_there) faults.add("groups with a member out of range", fmt::format("group {} has {}", id, index));
      members.push_back(is_there ? found->second->members[static_cast<std::size_t>(index)] : kUndefined64);
    }
    return members;
  };
  for (ArchivedComm& comm : comms) {
    const ArchivedGroup* const group = groups.find(comm.group);
    comm.is_self = group != nullptr && group->type == OTF2_GROUP_TYPE_COMM_SELF;
    if (!comm.is_self) comm.members = members_of(comm.group, comm.id);
    if (comm.other_group != kUndefined32) comm.others = members_of(comm.other_group, comm.id);
  }
  if (const auto mpi = comm_locations.find(OTF2_PARADIGM_MPI); mpi != comm_locations.end()) {
    std::uint64_t rank = 0;
    for (const std::uint64_t member : mpi->second->members) {
      if (const ArchivedLocation* const location = locations.find(member))
        world_ranks.try_emplace(location->group, rank);
      ++rank;
    }
  } else {
    // No MPI: processes in their order.
    std::uint64_t rank = 0;
    for (const ArchivedLocationGroup& group : location_groups) {
      if (group.creator == kUndefined32) world_ranks.try_emplace(group.id, rank++);
    }
  }
  std::stable_sort(markers.begin(), markers.end(),
                   [](const ArchivedMarker& a, const ArchivedMarker& b) { return a.time < b.time; });
}

}  // namespace ardoise::knowledge_sources

#include "knowledge_sources/reduction/level_resolver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "knowledge_sources/containers/counted.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/reduction/level.hpp"
#include "knowledge_sources/symbols/python_lines.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kPythonImport = 1;  // PythonCodeDefinition::code
constexpr std::size_t kMaxDimensions = 32;  // limit of the model

// nullptr: the number is undefined.
template <class Entry>
const Entry* find(const std::vector<Entry>& entries, std::uint32_t Entry::*key, std::uint32_t number) {
  const auto place = std::ranges::lower_bound(entries, number, {}, key);
  return place != entries.end() && (*place).*key == number ? &*place : nullptr;
}

}  // namespace

LevelResolver::LevelResolver(const Program& program, const DefinitionStore& definitions, const Accounts& accounts)
    : name_(program.name), place_(program.place), definitions_(definitions), accounts_(accounts) {
  if (place_.world_ranks == 0) place_ = {0, program.ranks};
  processes_.resize(program.ranks);
  seconds_per_tick_.resize(program.ranks);
  sums_.resize(program.ranks);
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    const RankDefinitions& from = definitions.ranks()[rank];
    ProcessFacts& facts = processes_[rank];
    facts.has_process = from.has_process;
    facts.process = from.process;
    facts.program = definitions.text(from.program);
    facts.command_line = definitions.text(from.command_line);
    facts.host = definitions.text(from.host);
    facts.directory = definitions.text(from.directory);
    facts.has_usage = from.has_usage;
    facts.usage = from.usage;
    facts.memory = from.memory;
    facts.memory_points = from.memory_points;
    facts.has_clock = from.has_clock;
    facts.clock = from.clock;
    facts.clock_name = definitions.text(from.clock_name);
    facts.node = definitions.text(from.node);
    facts.threads = std::max(from.threads, accounts.ledger(rank).threads);
    double rate = from.has_clock ? from.clock.ticks_per_second : 0;
    if (!is_clock_rate(rate)) rate = accounts.ledger(rank).ticks_per_second;
    if (!is_clock_rate(rate)) rate = program.ticks_per_second;
    seconds_per_tick_[rank] = 1.0 / rate;
    sums_[rank] = accounts.sums(rank);
  }
  for (const auto& [key, parts] : definitions.groups()) groups_.emplace(key, assemble(key, parts));
}

LevelResolver::Members LevelResolver::assemble(const GroupKey& key, const DefinitionStore::Parts& parts) {
  Members members;
  for (const auto& [first, ranges] : parts) {
    if (first != members.ranges.size()) break;  // a part is missing: the position of later parts is unknown
    members.ranges.insert(members.ranges.end(), ranges.begin(), ranges.end());
  }
  members.own_ranges = std::min<std::size_t>(key.ranges, members.ranges.size());
  members.complete = members.ranges.size() == std::size_t{key.ranges} + key.remote_ranges;
  members.begins.reserve(members.ranges.size() + 1);
  std::uint64_t place = 0;
  for (const auto& range : members.ranges) {
    members.begins.push_back(place);
    place += range.count;
  }
  members.begins.push_back(place);
  return members;
}

std::int64_t LevelResolver::world_rank(std::uint32_t rank, std::uint32_t comm, std::int32_t peer) const {
  if (peer < 0) return kOutsideWorld;
  if (comm == instrument::kWorldComm)
    return static_cast<std::uint32_t>(peer) < place_.world_ranks ? peer : kUnknownRank;
  const CommFacts* const facts = comm_facts(rank, comm);
  if (facts == nullptr) return kUnknownRank;
  return member_of(rank, *facts, facts->kind == instrument::CommunicatorKind::kInter, static_cast<std::uint64_t>(peer));
}

const CommFacts* LevelResolver::comm_facts(std::uint32_t rank, std::uint32_t comm) const {
  const CommEntry* const entry = find(definitions_.ranks()[rank].comms, &CommEntry::comm, comm);
  return entry == nullptr ? nullptr : &definitions_.comm_facts(*entry);
}

// For an intercommunicator the list of the rank's side.
const LevelResolver::Members* LevelResolver::members_of(std::uint32_t rank, const CommFacts& comm) const {
  if (comm.kind == instrument::CommunicatorKind::kIntra) {
    const auto found = groups_.find(group_key(comm, 0));
    return found == groups_.end() ? nullptr : &found->second;
  }
  const std::int64_t world_rank = std::int64_t{place_.first_rank} + rank;
  auto found = groups_.lower_bound(group_key(comm, INT32_MIN));
  for (const auto end = groups_.upper_bound(group_key(comm, INT32_MAX)); found != end; ++found) {
    const auto own = std::span(found->second.ranges).first(found->second.own_ranges);
    const bool is_member = std::ranges::any_of(own, [world_rank](const instrument::RankRange& range) {
      if (range.start < 0 || range.count == 0) return false;
      const std::int64_t away = world_rank - range.start;
      if (range.stride == 0) return away == 0;
      return away % range.stride == 0 && away / range.stride >= 0 && away / range.stride < range.count;
    });
    if (is_member) return &found->second;
  }
  return nullptr;
}

std::int64_t LevelResolver::member_of(std::uint32_t rank, const CommFacts& comm, bool is_remote,
                                      std::uint64_t place) const {
  const Members* const found = members_of(rank, comm);
  if (found == nullptr) return kUnknownRank;
  const Members& members = *found;
  if (is_remote && members.own_ranges != comm.ranges) return kUnknownRank;
  if (is_remote) place += members.begins[members.own_ranges];
  if (place >= members.begins[is_remote ? members.ranges.size() : members.own_ranges]) return kUnknownRank;
  const auto range =
      static_cast<std::size_t>(std::ranges::upper_bound(members.begins, place) - members.begins.begin() - 1);
  const auto& members_of = members.ranges[range];
  if (members_of.start < 0) return kOutsideWorld;
  const std::int64_t world =
      members_of.start + static_cast<std::int64_t>(place - members.begins[range]) * std::int64_t{members_of.stride};
  return world >= 0 && world < place_.world_ranks ? world : kUnknownRank;
}

std::vector<CommunicatorOfRank> LevelResolver::communicators_of(std::uint32_t rank) const {
  std::vector<CommunicatorOfRank> list;
  for (const CommEntry& each : definitions_.ranks()[rank].comms) {
    const TopologyEntry* const topology = find(definitions_.ranks()[rank].topologies, &TopologyEntry::comm, each.comm);
    const CommFacts& facts = definitions_.comm_facts(each);
    list.push_back({each.comm, facts.kind == instrument::CommunicatorKind::kInter, facts.group_hash, facts.instance,
                    facts.size, facts.remote_size, communicator(rank, each.comm),
                    topology == nullptr ? std::span<const instrument::TopologyDimension>() : topology->dimensions});
  }
  return list;
}

std::vector<std::int64_t> LevelResolver::members(std::uint32_t rank, std::uint32_t comm, bool is_remote) const {
  const CommFacts* const facts = comm_facts(rank, comm);
  std::vector<std::int64_t> list;
  // Some members of a communicator larger than the world are unknown.
  if (facts == nullptr || std::max(facts->size, facts->remote_size) > place_.world_ranks) return list;
  for (std::uint64_t place = 0; place < (is_remote ? facts->remote_size : facts->size); ++place)
    list.push_back(member_of(rank, *facts, is_remote, place));
  return list;
}

std::string_view LevelResolver::communicator(std::uint32_t rank, std::uint32_t comm) const {
  const auto* const entry = find(definitions_.ranks()[rank].comm_names, &CommNameEntry::comm, comm);
  return entry == nullptr ? std::string_view() : definitions_.text(entry->name);
}

const Location& LevelResolver::call_site(std::uint32_t id) const {
  const auto [place, added] = locations_.try_emplace(id);
  Location& location = place->second;
  if (!added) return location;
  if (const auto runs = definitions_.short_runs().find(id); runs != definitions_.short_runs().end())
    location.run_bytes = runs->second;
  const auto site = definitions_.call_sites().find(id);
  if (site == definitions_.call_sites().end()) return location;
  location.offset = site->second.offset;
  if (site->second.module == instrument::kPythonModule) {
    SourceFrame frame = python(site->second.rank, site->second.offset);
    location.offset &= UINT32_MAX;
    location.module = location.source_file = std::move(frame.source_file);
    location.symbol = std::move(frame.symbol);
    location.line = frame.line;
    return location;
  }
  const ModuleFacts binary = module(site->second.rank, site->second.module);
  location.module = binary.path;
  auto frame = symbolizer_.find(location.module, binary.build_id, location.offset);
  location.symbol = std::move(frame.symbol);
  location.source_file = std::move(frame.source_file);
  location.line = frame.line;
  return location;
}

std::vector<std::string> LevelResolver::notices() const {
  std::vector<std::string> lines = definitions_.notices().lines();
  if (const std::size_t ambiguous = definitions_.ambiguous_call_sites().size(); ambiguous != 0) {
    lines.push_back(counted(ambiguous, "call site id", "stands", "stand") +
                    " for different places (hash collisions), whose calls are shown together, at one of the places.");
  }
  return lines;
}

ModuleFacts LevelResolver::module(std::uint32_t rank, std::uint32_t module) const {
  const auto* const entry = find(definitions_.ranks()[rank].modules, &ModuleEntry::module, module);
  return entry == nullptr ? ModuleFacts{}
                          : ModuleFacts{definitions_.text(entry->path), definitions_.text(entry->build_id)};
}

SourceFrame LevelResolver::python(std::uint32_t rank, std::uint64_t offset) const {
  const auto code = static_cast<std::uint32_t>(offset >> 32), instruction = static_cast<std::uint32_t>(offset);
  SourceFrame frame;
  if (code <= kPythonImport) {
    frame.symbol = code == kPythonImport ? "(import of modules)" : "(more functions of Python)";
    return frame;
  }
  const PythonEntry* const entry = find(definitions_.ranks()[rank].python, &PythonEntry::code, code);
  if (entry == nullptr) return frame;
  frame.symbol = definitions_.text(entry->name);
  frame.source_file = frame.function_file = definitions_.text(entry->file);
  frame.function_line = entry->first_line;
  if (entry->minor == 0) {
    frame.line = instruction;
    return frame;
  }
  const auto [line, added] = python_lines_.try_emplace({entry->lines, entry->first_line, instruction});
  if (added) line->second = python_line(definitions_.text(entry->lines), entry->minor, entry->first_line, instruction);
  frame.line = line->second;
  return frame;
}

std::string_view LevelResolver::file(std::uint32_t rank, std::uint32_t file) const {
  const auto* const entry = find(definitions_.ranks()[rank].files, &FileEntry::file, file);
  return entry == nullptr ? std::string_view{} : definitions_.text(entry->path);
}

std::optional<Resolver::Cartesian> LevelResolver::cartesian() const {
  if (ranks() == 0) return std::nullopt;
  // A communicator that spans the program includes its first rank.
  for (const TopologyEntry& topology : definitions_.ranks()[0].topologies) {
    Cartesian result;
    std::uint64_t cells = 1;
    for (const auto& dimension : topology.dimensions) {
      result.extents.push_back(dimension.extent);
      if (cells <= ranks()) cells *= dimension.extent;
    }
    if (cells != ranks() || result.extents.size() < 2 || result.extents.size() > kMaxDimensions) continue;
    std::vector<bool> seen(ranks());
    for (std::uint32_t cell = 0; cell < ranks(); ++cell) {
      const auto rank = world_rank(0, topology.comm, static_cast<std::int32_t>(cell)) - place_.first_rank;
      if (rank < 0 || rank >= ranks() || seen[static_cast<std::size_t>(rank)]) break;
      seen[static_cast<std::size_t>(rank)] = true;
      result.rank_of_cell.push_back(static_cast<std::uint32_t>(rank));
    }
    if (result.rank_of_cell.size() == ranks()) return result;
  }
  return std::nullopt;
}

namespace {

// Communicators of one group and name; some ranks may not have reported the name.
struct SameGroup {
  std::string name;
  std::uint32_t instances = 0;
  std::vector<std::uint32_t> ranks;             // ranks with such a communicator
  std::uint32_t size = 0, number = UINT32_MAX;  // number: the lowest in any rank, for their order
  bool is_intra = false;
};

// Communicators of one size and name that share no rank.
struct ApartGroups {
  CommunicatorFacts facts;
  std::uint32_t groups = 0;
};
constexpr std::size_t kMostApart = 4;   // later ones are only counted
constexpr std::size_t kMostNames = 8;   // of one communicator, which ranks may name differently
constexpr std::size_t kMostRows = 256;  // of sizes and names; beyond, those of one size share a row
constexpr const char* kFurtherCommunicators = "(further communicators)";

std::string name_of_all(const std::set<std::string_view>& names) {
  std::string text;
  std::size_t shown = 0;
  for (const std::string_view each : names) {
    if (shown++ == kMostNames) return text + fmt::format(", and {} more", names.size() - kMostNames);
    text += (text.empty() ? "" : ", ") + std::string(each);
  }
  return text;
}

void add_group(std::vector<ApartGroups>& apart, const SameGroup& group, const std::string& name, bool is_part,
               std::uint32_t ranks) {
  const auto has_room = [&](const ApartGroups& each) {
    const auto& group_of_rank = each.facts.group_of_rank;
    return group_of_rank.empty() ||
           std::ranges::all_of(group.ranks, [&](std::uint32_t rank) { return group_of_rank[rank] == 0; });
  };
  auto place = std::ranges::find_if(apart, has_room);
  if (place == apart.end()) {
    apart.push_back({{name, group.size, 0, {}}, 0});
    place = apart.end() - 1;
    if (is_part && apart.size() < kMostApart) place->facts.group_of_rank.resize(ranks);
  }
  place->facts.count += group.instances;
  ++place->groups;
  if (place->facts.group_of_rank.empty()) return;
  for (const std::uint32_t rank : group.ranks) place->facts.group_of_rank[rank] = place->groups;
}

}  // namespace

std::vector<CommunicatorFacts> LevelResolver::communicators() const {
  using Group = std::tuple<std::uint64_t, std::uint32_t>;                        // hash, kind
  std::map<std::tuple<Group, std::uint32_t>, std::set<std::string_view>> names;  // of each, by instance
  for (std::uint32_t rank = 0; rank < definitions_.ranks().size(); ++rank) {
    for (const CommEntry& entry : definitions_.ranks()[rank].comms) {
      const CommFacts& comm = definitions_.comm_facts(entry);
      auto& of_one = names[{{comm.group_hash, static_cast<std::uint32_t>(comm.kind)}, comm.instance}];
      if (const auto name = communicator(rank, entry.comm); !name.empty()) of_one.insert(name);
    }
  }
  std::map<std::tuple<Group, std::set<std::string_view>>, SameGroup> groups;
  for (const auto& [one, of_one] : names) ++groups[{std::get<0>(one), of_one}].instances;
  for (std::uint32_t rank = 0; rank < definitions_.ranks().size(); ++rank) {
    for (const CommEntry& entry : definitions_.ranks()[rank].comms) {
      const CommFacts& comm = definitions_.comm_facts(entry);
      const Group group{comm.group_hash, static_cast<std::uint32_t>(comm.kind)};
      SameGroup& same = groups[{group, names[{group, comm.instance}]}];
      same.size = std::max(same.size, comm.size);
      same.number = std::min(same.number, entry.comm);
      same.is_intra = comm.kind == instrument::CommunicatorKind::kIntra;
      if (same.ranks.empty() || same.ranks.back() != rank) same.ranks.push_back(rank);
    }
  }
  std::vector<const SameGroup*> in_order;
  for (auto& [key, same] : groups) {
    same.name = name_of_all(std::get<1>(key));
    in_order.push_back(&same);
  }
  std::ranges::stable_sort(in_order, {}, [](const SameGroup* same) { return std::pair(same->number, same->ranks[0]); });
  // MPI_COMM_SELF is one communicator here, not one for each rank.
  std::map<std::tuple<std::uint32_t, std::string, bool>, std::vector<ApartGroups>> by_name;
  for (const SameGroup* const same : in_order) {
    const char* name = same->name.c_str();
    bool is_part = same->is_intra && same->size > 1 && same->size < ranks() && same->ranks.size() == same->size;
    if (by_name.size() >= kMostRows && !by_name.contains({same->size, name, is_part})) {
      name = kFurtherCommunicators;
      is_part = false;
    }
    add_group(by_name[{same->size, name, is_part}], *same, name, is_part, ranks());
  }
  std::vector<CommunicatorFacts> result;
  for (auto& [key, apart] : by_name) {
    for (ApartGroups& each : apart) result.push_back(std::move(each.facts));
  }
  std::ranges::stable_sort(result, std::greater{}, &CommunicatorFacts::size);
  return result;
}

}  // namespace ardoise::knowledge_sources

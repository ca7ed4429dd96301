// Communicators, their grids, and windows of one-sided communication.
#include <otf2/otf2.h>

#include <algorithm>

#include "instrument/format/rank_ranges.hpp"
#include "knowledge_sources/otf2/packs/traced_program.hpp"

namespace ardoise::knowledge_sources {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::RankRange;

std::vector<std::int32_t> TracedProgram::ranks_of(const std::vector<std::uint64_t>& locations) const {
  std::vector<std::int32_t> ranks;
  ranks.reserve(locations.size());
  for (const std::uint64_t each : locations) {
    const auto thread = threads_.find(each);
    ranks.push_back(thread == threads_.end() ? instrument::kNoPeer : static_cast<std::int32_t>(thread->second.rank));
  }
  return ranks;
}

// Numbers communicators for each rank: 0 is the communicator of all ranks, 1 is MPI_COMM_SELF, others follow.
void TracedProgram::find_communicators() {
  comms_of_rank_.resize(ranks());
  std::vector<std::uint32_t> next(ranks(), 2);
  const auto is_of_all = [&](const std::vector<std::int32_t>& members) {
    if (members.size() != ranks()) return false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != static_cast<std::int32_t>(i)) return false;
    }
    return true;
  };
  // By its name, otherwise the first one.
  const ArchivedComm* world = nullptr;
  for (const ArchivedComm& comm : definitions_.comms) {
    const bool may_be = !comm.is_self && comm.other_group == kUndefined32 && is_of_all(ranks_of(comm.members));
    if (may_be && (world == nullptr || (comm.name == "MPI_COMM_WORLD" && world->name != comm.name))) world = &comm;
  }
  std::map<std::uint64_t, std::uint32_t> instances;  // of groups, by hash
  const std::uint64_t hash_of_world = [&] {
    std::vector<std::int32_t> all(ranks());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    return instrument::group_hash(all);
  }();
  instances[hash_of_world] = 1;
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    const auto own = static_cast<std::int32_t>(rank);
    ++instances[instrument::group_hash(std::span(&own, 1))];
  }
  for (const ArchivedComm& comm : definitions_.comms) {
    // Groups of threads are communicators, too.
    const ArchivedGroup* const group = definitions_.groups.find(comm.group);
    if (group != nullptr && group->paradigm != OTF2_PARADIGM_MPI && group->paradigm != OTF2_PARADIGM_UNKNOWN &&
        !comm.is_self)
      continue;
    if (&comm == world || comm.is_self) {
      comms_of_all_.emplace(comm.id, comm.is_self ? 1 : instrument::kWorldComm);
      continue;
    }
    Comm own{&comm, ranks_of(comm.members), ranks_of(comm.others), 0, 0};
    if (own.members.empty()) continue;
    own.hash = comm.other_group != kUndefined32 ? instrument::group_hash(own.members, own.others)
                                                : instrument::group_hash(own.members);
    own.instance = instances[own.hash]++;
    for (const auto* const side : {&own.members, &own.others}) {
      for (const std::int32_t member : *side) {
        if (member < 0) continue;
        const auto rank = static_cast<std::size_t>(member);
        if (next[rank] < instrument::kUnnamedComm && comms_of_rank_[rank].try_emplace(comm.id, next[rank]).second)
          ++next[rank];
      }
    }
    comms_.push_back(std::move(own));
  }
}

std::uint32_t TracedProgram::comm_of(std::uint32_t rank, std::uint32_t reference) const {
  if (const auto found = comms_of_all_.find(reference); found != comms_of_all_.end()) return found->second;
  const auto& of_rank = comms_of_rank_[rank];
  const auto found = of_rank.find(reference);
  return found == of_rank.end() ? instrument::kNoComm : found->second;
}

void TracedProgram::define_communicators(MadePacks& packs, std::uint32_t rank) const {
  const auto define = [&](CommunicatorDefinition definition, const std::vector<std::int32_t>& members,
                          const std::vector<std::int32_t>& others, bool is_lead, const std::string& name) {
    auto list = instrument::encode_ranges(members);
    definition.ranges = static_cast<std::uint32_t>(list.size());
    const auto remote = instrument::encode_ranges(others);
    definition.remote_ranges = static_cast<std::uint32_t>(remote.size());
    list.insert(list.end(), remote.begin(), remote.end());
    definition.size = static_cast<std::uint32_t>(members.size());
    definition.remote_size = static_cast<std::uint32_t>(others.size());
    if (list.size() > instrument::kRangesSentByAll && !is_lead) list.clear();
    do {
      const auto count = std::min<std::size_t>(list.size() - definition.first_range,
                                               list.empty() ? 0 : instrument::kMaxRangesPerDefinition);
      definition.range_count = static_cast<std::uint32_t>(count);
      packs.define(definition, std::span<const RankRange>(list).subspan(definition.first_range, count),
                   std::string_view(name));
      definition.first_range += definition.range_count;
    } while (definition.first_range < list.size());
  };
  const auto own = static_cast<std::int32_t>(rank);
  std::vector<std::int32_t> all(ranks());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  CommunicatorDefinition world{};
  world.comm = instrument::kWorldComm;
  world.group_hash = instrument::group_hash(all);
  world.rank = rank;
  define(world, all, {}, rank == 0, "MPI_COMM_WORLD");
  CommunicatorDefinition self{};
  self.comm = 1;
  self.group_hash = instrument::group_hash(std::span(&own, 1));
  self.instance = ranks() == 1 ? 1 : 0;
  define(self, {own}, {}, true, "MPI_COMM_SELF");
  for (const Comm& comm : comms_) {
    const std::uint32_t number = comm_of(rank, comm.archived->id);
    if (number == instrument::kNoComm) continue;
    const auto place = std::ranges::find(comm.members, own);
    const bool is_member = place != comm.members.end();
    const auto& members = is_member ? comm.members : comm.others;
    CommunicatorDefinition definition{};
    definition.comm = number;
    definition.kind = comm.archived->other_group != kUndefined32 ? CommunicatorKind::kInter : CommunicatorKind::kIntra;
    definition.group_hash = comm.hash;
    definition.instance = comm.instance;
    definition.rank = static_cast<std::uint32_t>(std::ranges::find(members, own) - members.begin());
    define(definition, members, is_member ? comm.others : comm.members, members.front() == own, comm.archived->name);
  }
  for (const ArchivedTopology& topology : definitions_.topologies) {
    const std::uint32_t number = comm_of(rank, topology.comm);
    if (number == instrument::kNoComm || topology.dimensions.empty()) continue;
    std::vector<instrument::TopologyDimension> dimensions;
    for (const auto& each : topology.dimensions) dimensions.push_back({each.size, each.is_periodic ? 1u : 0u});
    packs.define(instrument::TopologyDefinition{number, static_cast<std::uint32_t>(dimensions.size())},
                 std::span<const instrument::TopologyDimension>(dimensions));
  }
}

void TracedProgram::find_windows() {
  std::unordered_map<std::uint32_t, std::uint32_t> next;
  for (const ArchivedWindow& window : definitions_.windows) windows_[window.id] = {window.comm, next[window.comm]++};
}

TracedProgram::Window TracedProgram::window_of(std::uint32_t rank, std::uint32_t reference) const {
  const auto found = windows_.find(reference);
  if (found == windows_.end()) return {instrument::kNoComm, 0};
  return {comm_of(rank, found->second.first), found->second.second};
}

std::vector<std::int32_t> TracedProgram::group_in_window(std::uint32_t window, std::uint32_t group) const {
  std::vector<std::int32_t> places;
  const auto found = windows_.find(window);
  const ArchivedGroup* const members = definitions_.groups.find(group);
  const ArchivedComm* const comm = found == windows_.end() ? nullptr : definitions_.comms.find(found->second.first);
  if (comm == nullptr || members == nullptr) return places;
  // Its members are ranks of the process group of MPI.
  const auto ranks = ranks_of(comm->members);
  for (const std::uint64_t each : members->members) {
    const auto place = std::ranges::find(ranks, static_cast<std::int32_t>(each));
    if (place != ranks.end()) places.push_back(static_cast<std::int32_t>(place - ranks.begin()));
  }
  return places;
}

}  // namespace ardoise::knowledge_sources

#include "tools/replay/archive_world.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tools/replay/scratch_file.hpp"

namespace ardoise::replay {

using knowledge_sources::ArchivedComm;
using knowledge_sources::ArchiveDefinitions;
using knowledge_sources::ArchivedLocation;

namespace {

// Properties of the archive that mark missing calls.
struct Gap {
  std::string_view property, what;
};
constexpr std::array kGaps = {
    Gap{"ARDOISE::CALLS_AS_SUMS", "calls aggregated because a process ran out of memory (--policy block keeps them)"},
    Gap{"ARDOISE::MISSING_PLACES", "gaps where calls did not arrive"},
    Gap{"ARDOISE::UNTIMED_CALLS", "calls at unknown times"},
    Gap{"ARDOISE::RECORDS_BEYOND_LIMIT", "calls dropped because of limit="},
    Gap{"ARDOISE::UNSEEN_RANKS", "ranks that are missing in it"}};

const ArchivedComm* world_of(const ArchiveDefinitions& definitions) {
  const ArchivedComm* world = nullptr;
  for (const ArchivedComm& comm : definitions.comms) {
    if (comm.is_self) continue;
    if (comm.name == "MPI_COMM_WORLD") return &comm;
    if (comm.parent == knowledge_sources::kUndefined32 && comm.others.empty() &&
        (world == nullptr || comm.members.size() > world->members.size()))
      world = &comm;
  }
  return world;
}

}  // namespace

ArchiveWorld::ArchiveWorld(const knowledge_sources::ArchiveReader& archive, const std::vector<std::int32_t>& present)
    : definitions_(archive.definitions()), present_(present) {
  check_gaps(archive.anchor());
  const ArchivedComm* const world = world_of(definitions_);
  if (world == nullptr || world->members.empty()) throw ReplayError("the trace has no MPI_COMM_WORLD");
  number_ = world->id;
  ranks_.assign(world->members.size(), present.empty() ? 0 : -1);
  if (present.empty()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) present_.push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t i = 0; i < present_.size(); ++i) {
    const auto traced = static_cast<std::size_t>(present_[i]);
    if (traced >= ranks_.size())
      throw ReplayError(fmt::format("the trace has no rank {}: it has {} ranks", traced, ranks_.size()));
    ranks_[traced] = static_cast<std::int32_t>(i);
  }
  locations_.resize(present_.size());
  for (const ArchivedLocation& location : definitions_.locations) {
    const std::int32_t rank = rank_of(location.id);
    if (location.type != OTF2_LOCATION_TYPE_CPU_THREAD || rank == -1 || rank >= ranks()) continue;
    auto& threads = locations_[static_cast<std::size_t>(rank)];
    const bool is_master = std::ranges::find(world->members, location.id) != world->members.end();
    threads.insert(is_master ? threads.begin() : threads.end(), &location);
  }
  for (const ArchivedComm& comm : definitions_.comms) {
    ReplayComm& added = comms_.emplace_back();
    added.number = comm.id;
    added.is_self = comm.is_self;
    add_side(comm.members, added.members, added.places);
    add_side(comm.others, added.others, added.other_places);
    added.has_absent = added.members.size() + added.others.size() < added.places.size() + added.other_places.size();
  }
  std::ranges::sort(comms_, {}, &ReplayComm::number);
  for (const auto& topology : definitions_.topologies) {
    ReplayGrid grid;
    for (const auto& dimension : topology.dimensions) {
      grid.dimensions.push_back(static_cast<int>(dimension.size));
      grid.periods.push_back(dimension.is_periodic ? 1 : 0);
    }
    grids_.emplace_back(topology.comm, std::move(grid));
  }
}

void ArchiveWorld::add_side(const std::vector<std::uint64_t>& locations, std::vector<std::int32_t>& members,
                            std::vector<std::int32_t>& places) const {
  for (const std::uint64_t location : locations) {
    const std::int32_t rank = rank_of(location);
    places.push_back(rank < 0 ? -1 : static_cast<std::int32_t>(members.size()));
    if (rank >= 0) members.push_back(rank);
  }
}

void ArchiveWorld::check_gaps(const knowledge_sources::ArchiveAnchor& anchor) const {
  for (const auto& [name, value] : anchor.properties) {
    for (const Gap& gap : kGaps) {
      if (name == gap.property && value != "0")
        throw ReplayError(fmt::format("the trace has gaps, so its calls cannot be replayed: {} {}", value, gap.what));
    }
  }
}

std::int32_t ArchiveWorld::rank_of(std::uint64_t location) const {
  const std::uint64_t rank = definitions_.world_rank_of(location);
  return rank < ranks_.size() ? ranks_[static_cast<std::size_t>(rank)] : -1;
}

const ReplayComm* ArchiveWorld::comm(std::uint32_t number) const {
  const auto found = std::ranges::lower_bound(comms_, number, {}, &ReplayComm::number);
  return found != comms_.end() && found->number == number ? &*found : nullptr;
}

const ReplayGrid* ArchiveWorld::grid(std::uint32_t comm) const {
  const ReplayComm* const found = this->comm(comm);
  if (found == nullptr || found->has_absent) return nullptr;
  for (const auto& [number, grid] : grids_) {
    if (number == comm) return &grid;
  }
  return nullptr;
}

std::vector<std::int32_t> ArchiveWorld::group_ranks(std::uint32_t group) const {
  std::vector<std::int32_t> ranks;
  if (const auto* const found = definitions_.groups.find(group)) {
    for (const std::uint64_t member : found->members) {
      if (member < ranks_.size() && ranks_[member] >= 0) ranks.push_back(ranks_[member]);
    }
  }
  return ranks;
}

std::int32_t ArchiveWorld::place(const ReplayComm& comm, std::int32_t rank, std::int32_t own) const {
  if (comm.is_self) return rank;
  const bool is_first = std::ranges::find(comm.members, own) != comm.members.end();
  const auto& side = comm.is_inter() && is_first ? comm.other_places : comm.places;
  return rank >= 0 && static_cast<std::size_t>(rank) < side.size() ? side[static_cast<std::size_t>(rank)] : -1;
}

std::int32_t ArchiveWorld::world_rank(const ReplayComm& comm, std::int32_t rank, std::int32_t own) const {
  if (comm.is_self) return own;
  const bool is_first = std::ranges::find(comm.members, own) != comm.members.end();
  const auto& side = comm.is_inter() && is_first ? comm.others : comm.members;
  return rank >= 0 && static_cast<std::size_t>(rank) < side.size() ? side[static_cast<std::size_t>(rank)] : -1;
}

std::string place_of(const ArchiveDefinitions& definitions, std::uint32_t region, std::string_view name) {
  const auto* const found = definitions.regions.find(region);
  if (found == nullptr || found->source_file.empty() || found->line == 0) return std::string(name);
  return fmt::format("{} ({}:{})", name, std::filesystem::path(found->source_file).filename().string(), found->line);
}

}  // namespace ardoise::replay

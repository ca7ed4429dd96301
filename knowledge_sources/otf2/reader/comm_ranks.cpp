#include "knowledge_sources/otf2/reader/comm_ranks.hpp"

#include <utility>

namespace ardoise::knowledge_sources {

CommRanks::CommRanks(const ArchiveDefinitions& definitions) {
  const auto processes_of = [&](const std::vector<std::uint64_t>& members) {
    std::vector<std::uint32_t> processes;
    processes.reserve(members.size());
    for (const std::uint64_t member : members) {
      const ArchivedLocation* const location = definitions.locations.find(member);
      processes.push_back(location == nullptr ? kUndefined32 : definitions.process_of(*location));
    }
    return processes;
  };
  for (const ArchivedComm& each : definitions.comms) {
    Comm comm;
    comm.is_self = each.is_self;
    comm.is_inter = each.other_group != kUndefined32;
    comm.members = processes_of(each.members);
    comm.others = processes_of(each.others);
    if (comm.is_inter) comm.first_side.insert(comm.members.begin(), comm.members.end());
    comms_.emplace(each.id, std::move(comm));
  }
}

const CommRanks::Comm* CommRanks::find(std::uint32_t comm) const {
  const auto found = comms_.find(comm);
  return found == comms_.end() ? nullptr : &found->second;
}

std::uint32_t CommRanks::process_of(const Comm& comm, std::uint32_t rank, std::uint32_t own) const {
  if (comm.is_self) return rank == 0 ? own : kUndefined32;
  const std::vector<std::uint32_t>& side = comm.is_inter && comm.first_side.contains(own) ? comm.others : comm.members;
  return rank < side.size() ? side[rank] : kUndefined32;
}

std::size_t CommRanks::size(const Comm& comm) const {
  return comm.is_self ? 1 : comm.members.size() + comm.others.size();
}

}  // namespace ardoise::knowledge_sources

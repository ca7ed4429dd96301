// Communicators with their groups and grids, and windows.
#include <fmt/format.h>

#include "knowledge_sources/otf2/writer/string_writer.hpp"
#include "knowledge_sources/otf2/writer/world_archive.hpp"

namespace ardoise::knowledge_sources {

void WorldArchive::write_communicators(OTF2_GlobalDefWriter* out, StringWriter& strings) const {
  std::vector<std::uint64_t> members;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) members.push_back(trace_location(rank, 0));
  OTF2_GroupRef groups = 0;
  const auto write_group = [&](OTF2_GroupType type, const std::vector<std::uint64_t>& list) {
    OTF2_GlobalDefWriter_WriteGroup(out, groups, strings.of(""), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                    static_cast<std::uint32_t>(list.size()), list.data());
    return groups++;
  };
  (void)write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, members);
  std::map<std::vector<std::uint64_t>, OTF2_GroupRef> known_groups;
  for (const auto* const list : by_number(groups_, kFirstGroup))
    known_groups[*list] = write_group(OTF2_GROUP_TYPE_COMM_GROUP, *list);
  const auto group_of = [&](const std::vector<std::uint64_t>& list) {
    const auto [found, is_new] = known_groups.try_emplace(list, 0);
    if (is_new) found->second = write_group(OTF2_GROUP_TYPE_COMM_GROUP, list);
    return found->second;
  };
  for (OTF2_CommRef number = 0; number < communicators_.size(); ++number) {
    const Communicator& each = communicators_[number];
    const OTF2_StringRef name = strings.of(each.name);
    if (each.is_inter) {
      const OTF2_GroupRef own = group_of(each.members), other = group_of(each.others);
      OTF2_GlobalDefWriter_WriteInterComm(out, number, name, own, other, 0, OTF2_COMM_FLAG_NONE);
    } else {
      const OTF2_GroupRef group = each.is_self ? write_group(OTF2_GROUP_TYPE_COMM_SELF, {}) : group_of(each.members);
      OTF2_GlobalDefWriter_WriteComm(out, number, name, group, number == 0 ? OTF2_UNDEFINED_COMM : OTF2_CommRef{0},
                                     OTF2_COMM_FLAG_NONE);
    }
  }

  OTF2_RmaWinRef window = 0;
  for (const auto* const each : by_number(windows_)) {
    const auto& [communicator, number] = *each;
    const std::string& name = communicators_[communicator].name;
    OTF2_GlobalDefWriter_WriteRmaWin(
        out, window++,
        strings.of(
            fmt::format("window {} of {}", number, name.empty() ? fmt::format("communicator {}", communicator) : name)),
        static_cast<OTF2_CommRef>(communicator), OTF2_RMA_WIN_FLAG_NONE);
  }
  write_grids(out, strings);
}

// Order of ranks in a grid as in MPI: the last coordinate varies fastest.
void WorldArchive::write_grids(OTF2_GlobalDefWriter* out, StringWriter& strings) const {
  OTF2_CartTopologyRef topology = 0;
  OTF2_CartDimensionRef next = 0;
  for (std::size_t number = 0; number < communicators_.size(); ++number) {
    const Communicator& each = communicators_[number];
    const auto dimensions = static_cast<std::uint8_t>(each.grid.size());
    if (dimensions == 0) continue;
    std::vector<OTF2_CartDimensionRef> references;
    for (const auto& dimension : each.grid) {
      OTF2_GlobalDefWriter_WriteCartDimension(
          out, next, strings.of(fmt::format("dimension {}", references.size())), dimension.extent,
          dimension.periodic != 0 ? OTF2_CART_PERIODIC_TRUE : OTF2_CART_PERIODIC_FALSE);
      references.push_back(next++);
    }
    OTF2_GlobalDefWriter_WriteCartTopology(out, topology, strings.of(each.name), static_cast<OTF2_CommRef>(number),
                                           dimensions, references.data());
    std::vector<std::uint32_t> coordinates(dimensions);
    for (std::uint32_t rank = 0; rank < each.members.size(); ++rank) {
      OTF2_GlobalDefWriter_WriteCartCoordinate(out, topology, rank, dimensions, coordinates.data());
      for (std::size_t i = dimensions; i-- != 0 && ++coordinates[i] == each.grid[i].extent;) coordinates[i] = 0;
    }
    ++topology;
  }
}

}  // namespace ardoise::knowledge_sources

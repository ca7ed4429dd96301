// The C functions of vmpi.h on maps. Each process computes built-in policies alone (map_policy.hpp). Only one process,
// the pivot, calls a user-defined function, because it may keep state or differ between the programs. The pivot then
// sends every process its part, or that the map is invalid:
//
//   pivot (first process of the master partition) ── scatter over the master partition ──▶ each master: its slaves
//     └── one message ──▶ first process of the slave partition ── scatter ──▶ each slave: its master
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vmpi/streams/control_message.hpp"
#include "vmpi/streams/map_policy.hpp"
#include "vmpi/vmpi.h"
#include "vmpi/world/partitions.hpp"

namespace ardoise::vmpi {
namespace {

// The two partitions that are mapped, seen from this process.
struct Pair {
  const Partitions& all;
  int remote;  // partition id
  int master;  // partition id: the smaller partition, or the lower id when sizes are equal
  int slave;

  Pair(const Partitions& partitions, int remote_id)
      : all(partitions), remote(remote_id), master(all.id), slave(remote_id) {
    const int own_size = all.table.size(all.id);
    const int remote_size = all.table.size(remote);
    if (remote_size < own_size || (remote_size == own_size && remote < all.id)) std::swap(master, slave);
  }
  bool is_master() const { return master == all.id; }
  // The seed derives from the pair: equal on both sides and in every launch, different between pairs.
  MapShape shape() const {
    return {all.table.size(slave), all.table.size(master),
            (static_cast<std::uint64_t>(master) << 32) | static_cast<std::uint64_t>(slave)};
  }
};

// Appends ranks of the remote partition as universe ranks; ranks already in the map stay where they are.
int append(const Pair& pair, const std::vector<int>& ranks, VMPI_Map& map) {
  const std::unordered_set<int> present(map.ranks, map.ranks + map.count);
  const int wanted = map.count + static_cast<int>(ranks.size());
  if (wanted > map.capacity) {
    auto* grown = static_cast<int*>(std::realloc(map.ranks, static_cast<std::size_t>(wanted) * sizeof(int)));
    if (grown == nullptr) return VMPI_ERR_NO_MEMORY;
    map.ranks = grown;
    map.capacity = wanted;
  }
  for (const int rank : ranks) {
    const int universe_rank = pair.all.table.universe_rank(pair.remote, rank);
    if (!present.contains(universe_rank)) map.ranks[map.count++] = universe_rank;
  }
  return VMPI_SUCCESS;
}

bool ok(int mpi_result) { return mpi_result == MPI_SUCCESS; }

// The pivot calls the function for every slave; empty: the map is invalid. A C++ function that throws gives an invalid
// map too.
std::vector<int> ask_user(const Pair& pair, VMPI_Map_function function, void* context) {
  const auto shape = pair.shape();
  std::vector<int> masters(static_cast<std::size_t>(shape.slave_size));
  if (function == nullptr) return {};
  try {
    for (int slave = 0; slave < shape.slave_size; ++slave)
      masters[static_cast<std::size_t>(slave)] = function(slave, shape.slave_size, shape.master_size, context);
  } catch (...) {
    return {};
  }
  if (!is_valid_map(masters, shape.master_size)) return {};
  return masters;
}

int map_as_master(const Pair& pair, VMPI_Map_function function, void* context, VMPI_Map& map) {
  const MPI_Comm own = partition_comm();
  const int size = pair.all.table.size(pair.all.id);
  std::vector<int> masters;
  GroupedMap grouped;
  std::vector<int> counts(static_cast<std::size_t>(size), 0);
  // the pivot sends it, followed by the ranks, to the first slave; both forward it to their partitions
  int is_valid = 0;
  if (pair.all.rank == 0) {
    masters = ask_user(pair, function, context);
    is_valid = masters.empty() ? 0 : 1;
    const int slave_root = pair.all.table.root(pair.slave);
    masters.resize(static_cast<std::size_t>(pair.all.table.size(pair.slave)));
    if (!ok(PMPI_Send(&is_valid, 1, MPI_INT, slave_root, kMapTag, control_comm())) ||
        !ok(PMPI_Send(masters.data(), static_cast<int>(masters.size()), MPI_INT, slave_root, kMapTag, control_comm())))
      return VMPI_ERR_MPI;
    if (is_valid != 0) grouped = group_by_master(masters, size);
    grouped.offsets.resize(static_cast<std::size_t>(size) + 1);
    for (std::size_t m = 0; m < counts.size(); ++m) counts[m] = grouped.offsets[m + 1] - grouped.offsets[m];
  }
  if (!ok(PMPI_Bcast(&is_valid, 1, MPI_INT, 0, own))) return VMPI_ERR_MPI;
  if (is_valid == 0) return VMPI_ERR_MAP;
  int count = 0;
  if (!ok(PMPI_Scatter(counts.data(), 1, MPI_INT, &count, 1, MPI_INT, 0, own))) return VMPI_ERR_MPI;
  std::vector<int> slaves(static_cast<std::size_t>(count));
  if (!ok(PMPI_Scatterv(grouped.slaves.data(), counts.data(), grouped.offsets.data(), MPI_INT, slaves.data(), count,
                        MPI_INT, 0, own)))
    return VMPI_ERR_MPI;
  return append(pair, slaves, map);
}

int map_as_slave(const Pair& pair, VMPI_Map& map) {
  const MPI_Comm own = partition_comm();
  std::vector<int> masters;
  int is_valid = 0;
  if (pair.all.rank == 0) {
    const int pivot = pair.all.table.root(pair.master);
    masters.resize(static_cast<std::size_t>(pair.all.table.size(pair.all.id)));
    if (!ok(PMPI_Recv(&is_valid, 1, MPI_INT, pivot, kMapTag, control_comm(), MPI_STATUS_IGNORE)) ||
        !ok(PMPI_Recv(masters.data(), static_cast<int>(masters.size()), MPI_INT, pivot, kMapTag, control_comm(),
                      MPI_STATUS_IGNORE)))
      return VMPI_ERR_MPI;
  }
  if (!ok(PMPI_Bcast(&is_valid, 1, MPI_INT, 0, own))) return VMPI_ERR_MPI;
  if (is_valid == 0) return VMPI_ERR_MAP;
  int master = 0;
  if (!ok(PMPI_Scatter(masters.data(), 1, MPI_INT, &master, 1, MPI_INT, 0, own))) return VMPI_ERR_MPI;
  return append(pair, {master}, map);
}

int map_locally(const Pair& pair, MapPolicy policy, VMPI_Map& map) {
  if (pair.is_master()) return append(pair, slaves_of(policy, pair.all.rank, pair.shape()), map);
  return append(pair, {master_of(policy, pair.all.rank, pair.shape())}, map);
}

// Calls action(pair) when the arguments are valid.
template <typename Action>
int with_pair(int partition, const VMPI_Map* map, Action action) {
  const auto* all = partitions();
  if (all == nullptr) return VMPI_ERR_STATE;
  if (map == nullptr || partition < 0 || partition >= all->table.count() || partition == all->id) return VMPI_ERR_ARG;
  try {
    return action(Pair(*all, partition));
  } catch (const std::exception&) {
    return VMPI_ERR_NO_MEMORY;
  }
}

}  // namespace
}  // namespace ardoise::vmpi

using namespace ardoise::vmpi;

int VMPI_Map_clear(VMPI_Map* map) {
  if (map == nullptr) return VMPI_ERR_ARG;
  *map = VMPI_Map{0, nullptr, 0};
  return VMPI_SUCCESS;
}

int VMPI_Map_free(VMPI_Map* map) {
  if (map == nullptr) return VMPI_ERR_ARG;
  std::free(map->ranks);
  return VMPI_Map_clear(map);
}

int VMPI_Map_partitions(int partition, VMPI_Map_policy policy, VMPI_Map* map) {
  return with_pair(partition, map, [&](const Pair& pair) -> int {
    // VMPI_MAP_USER has a function of its own, which takes the callback.
    if (policy < VMPI_MAP_ROUND_ROBIN || policy >= VMPI_MAP_USER) return VMPI_ERR_ARG;
    return map_locally(pair, static_cast<MapPolicy>(policy), *map);
  });
}

int VMPI_Map_partitions_user(int partition, VMPI_Map_function function, void* context, VMPI_Map* map) {
  return with_pair(partition, map, [&](const Pair& pair) {
    return pair.is_master() ? map_as_master(pair, function, context, *map) : map_as_slave(pair, *map);
  });
}

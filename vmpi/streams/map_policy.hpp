// Policies that map two partitions onto each other, as pure functions that each process computes without messages. The
// larger partition is the slave. Each slave has exactly one master; each master has at least one slave and about
// slave_size / master_size of them, and computing its list costs that many steps. Used by map_api.cpp; tested without
// MPI up to 65,536 ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ardoise::vmpi {

enum class MapPolicy { round_robin, random, fixed };  // in the order of VMPI_Map_policy

// Sizes of two partitions: 1 <= master_size <= slave_size. The seed, equal on both sides, affects the random policy
// only.
struct MapShape {
  int slave_size;
  int master_size;
  std::uint64_t seed = 0;
};

int master_of(MapPolicy policy, int slave, const MapShape& shape);

// In ascending order.
std::vector<int> slaves_of(MapPolicy policy, int master, const MapShape& shape);

// A user-defined map as the pivot computed it: masters[slave]. true: every value is a rank of the master partition, and
// every master occurs.
bool is_valid_map(std::span<const int> masters, int master_size);

// The slaves of each master in one array: those of master m are slaves[offsets[m] ... offsets[m + 1]).
struct GroupedMap {
  std::vector<int> slaves;
  std::vector<int> offsets;
};
GroupedMap group_by_master(std::span<const int> masters, int master_size);

// A pseudo-random permutation of 0 ... size-1, computed in both directions in constant time and memory: four Feistel
// rounds over the next even power of two, repeated until the value is in range (Black and Rogaway, "Ciphers with
// Arbitrary Finite Domains", 2002; expected number of steps below four).
class RandomPermutation {
 public:
  RandomPermutation(std::uint32_t size, std::uint64_t seed);
  std::uint32_t forward(std::uint32_t value) const;
  std::uint32_t inverse(std::uint32_t value) const;

 private:
  std::uint32_t round(std::uint32_t half, unsigned number) const;
  std::uint32_t size_;
  std::uint64_t seed_;
  unsigned half_bits_;
  std::uint32_t mask_;
};

}  // namespace ardoise::vmpi

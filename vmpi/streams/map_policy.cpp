#include "vmpi/streams/map_policy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace ardoise::vmpi {
namespace {

constexpr unsigned kRounds = 4;

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31);
}

std::size_t index(int value) { return static_cast<std::size_t>(value); }

// First slave of a master under the fixed policy: slaves are divided into master_size runs of nearly equal length.
int first_of_run(int master, const MapShape& shape) {
  const auto product = static_cast<std::int64_t>(master) * shape.slave_size;
  return static_cast<int>((product + shape.master_size - 1) / shape.master_size);
}

RandomPermutation permutation_of(const MapShape& shape) {
  return {static_cast<std::uint32_t>(shape.slave_size), shape.seed};
}

}  // namespace

int master_of(MapPolicy policy, int slave, const MapShape& shape) {
  switch (policy) {
    case MapPolicy::fixed:
      return static_cast<int>(static_cast<std::int64_t>(slave) * shape.master_size / shape.slave_size);
    case MapPolicy::random: {
      const auto place = permutation_of(shape).forward(static_cast<std::uint32_t>(slave));
      return static_cast<int>(place % static_cast<std::uint32_t>(shape.master_size));
    }
    case MapPolicy::round_robin:
      break;
  }
  return slave % shape.master_size;
}

std::vector<int> slaves_of(MapPolicy policy, int master, const MapShape& shape) {
  std::vector<int> slaves;
  slaves.reserve(index(shape.slave_size / shape.master_size + 1));
  switch (policy) {
    case MapPolicy::fixed:
      for (int s = first_of_run(master, shape); s < first_of_run(master + 1, shape); ++s) slaves.push_back(s);
      break;
    case MapPolicy::random: {
      const auto permutation = permutation_of(shape);
      for (std::int64_t place = master; place < shape.slave_size; place += shape.master_size)
        slaves.push_back(static_cast<int>(permutation.inverse(static_cast<std::uint32_t>(place))));
      std::sort(slaves.begin(), slaves.end());
      break;
    }
    case MapPolicy::round_robin:
      for (std::int64_t s = master; s < shape.slave_size; s += shape.master_size) slaves.push_back(static_cast<int>(s));
      break;
  }
  return slaves;
}

bool is_valid_map(std::span<const int> masters, int master_size) {
  std::vector<bool> is_mapped(index(master_size), false);
  for (const int master : masters) {
    if (master < 0 || master >= master_size) return false;
    is_mapped[index(master)] = true;
  }
  return std::find(is_mapped.begin(), is_mapped.end(), false) == is_mapped.end();
}

GroupedMap group_by_master(std::span<const int> masters, int master_size) {
  GroupedMap map{std::vector<int>(masters.size()), std::vector<int>(index(master_size) + 1, 0)};
  for (const int master : masters) ++map.offsets[index(master) + 1];
  for (std::size_t m = 1; m < map.offsets.size(); ++m) map.offsets[m] += map.offsets[m - 1];
  auto next = map.offsets;
  for (std::size_t slave = 0; slave < masters.size(); ++slave)
    map.slaves[index(next[index(masters[slave])]++)] = static_cast<int>(slave);
  return map;
}

RandomPermutation::RandomPermutation(std::uint32_t size, std::uint64_t seed)
    : size_(size),
      seed_(mixed(seed + 0x9E3779B97F4A7C15ULL)),
      half_bits_((static_cast<unsigned>(std::bit_width(size > 1 ? size - 1 : 1U)) + 1) / 2),
      mask_((1U << half_bits_) - 1) {}

std::uint32_t RandomPermutation::round(std::uint32_t half, unsigned number) const {
  return static_cast<std::uint32_t>(mixed(seed_ + (std::uint64_t{number} << 32) + half)) & mask_;
}

std::uint32_t RandomPermutation::forward(std::uint32_t value) const {
  do {
    std::uint32_t left = value >> half_bits_;
    std::uint32_t right = value & mask_;
    for (unsigned number = 0; number < kRounds; ++number) {
      left ^= round(right, number);
      std::swap(left, right);
    }
    value = (left << half_bits_) | right;
  } while (value >= size_);
  return value;
}

std::uint32_t RandomPermutation::inverse(std::uint32_t value) const {
  do {
    std::uint32_t left = value >> half_bits_;
    std::uint32_t right = value & mask_;
    for (unsigned number = kRounds; number-- > 0;) {
      std::swap(left, right);
      left ^= round(right, number);
    }
    value = (left << half_bits_) | right;
  } while (value >= size_);
  return value;
}

}  // namespace ardoise::vmpi

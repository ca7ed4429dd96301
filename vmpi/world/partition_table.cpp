#include "vmpi/world/partition_table.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "vmpi/world/partition_name.hpp"

namespace ardoise::vmpi {
namespace {

// FNV-1a, 64 bits. The last bit holds the kind of the key.
constexpr std::uint64_t kNeighboursOnly = 1;

std::uint64_t hash(std::string_view kind, std::string_view text) {
  std::uint64_t value = 14695981039346656037ULL;
  const auto mix = [&](std::string_view part) {
    for (const char c : part) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    value = (value ^ 0xFFU) * 1099511628211ULL;
  };
  mix(kind);
  mix(text);
  return value & ~kNeighboursOnly;
}

}  // namespace

PartitionKey PartitionKey::explicit_name(std::string_view name) { return PartitionKey(hash("name", name)); }

PartitionKey PartitionKey::application_context(int number) {
  return PartitionKey(hash("context", std::to_string(number)));
}

PartitionKey PartitionKey::command_line(std::string_view executable, std::string_view command) {
  return PartitionKey(hash(executable, command) | kNeighboursOnly);
}

std::size_t text_share(std::size_t contexts) {
  constexpr std::size_t kAll = 64 << 20;
  constexpr std::size_t kName = kMaxPartitionName + 2;  // with a mark in front and a terminating zero
  return std::max(kAll / std::max<std::size_t>(contexts, 1), kName);
}

PartitionTable::PartitionTable(std::span<const std::uint64_t> keys) {
  std::unordered_map<std::uint64_t, std::size_t> partition_of_key;
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    const bool same_as_before = rank > 0 && keys[rank] == keys[rank - 1];
    auto [found, is_new] = partition_of_key.try_emplace(keys[rank], partitions_.size());
    if (!is_new && !same_as_before && PartitionKey::from_bits(keys[rank]).joins_neighbours_only()) {
      found->second = partitions_.size();
      is_new = true;
    }
    if (is_new) partitions_.emplace_back();
    auto& partition = partitions_[found->second];
    if (!same_as_before) partition.runs.push_back({static_cast<int>(rank), partition.size, 0});
    ++partition.runs.back().count;
    ++partition.size;
  }
}

int PartitionTable::universe_rank(int partition, int rank) const {
  if (partition < 0 || partition >= count() || rank < 0 || rank >= size(partition)) return -1;
  const auto& runs = partitions_[index(partition)].runs;
  const auto after = std::upper_bound(runs.begin(), runs.end(), rank,
                                      [](int value, const Run& run) { return value < run.first_rank; });
  const auto& run = *std::prev(after);
  return run.first_universe_rank + (rank - run.first_rank);
}

int PartitionTable::rank_in(int partition, int universe_rank) const {
  if (partition < 0 || partition >= count()) return -1;
  const auto& runs = partitions_[index(partition)].runs;
  const auto after = std::upper_bound(runs.begin(), runs.end(), universe_rank,
                                      [](int value, const Run& run) { return value < run.first_universe_rank; });
  if (after == runs.begin()) return -1;
  const auto& run = *std::prev(after);
  const int offset = universe_rank - run.first_universe_rank;
  return offset < run.count ? run.first_rank + offset : -1;
}

int PartitionTable::partition_of(int universe_rank) const {
  for (int partition = 0; partition < count(); ++partition) {
    if (rank_in(partition, universe_rank) >= 0) return partition;
  }
  return -1;
}

}  // namespace ardoise::vmpi

// Which process belongs to which partition: the pure part of partitions, computed by every process alike from one key
// for each process of the universe. No MPI; used by partitions.cpp, and by tests at sizes no test machine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ardoise::vmpi {

// What decides the partition of a process, in eight bytes: processes with equal keys are together.
class PartitionKey {
 public:
  // An explicit name: joins all processes that have it, wherever they are.
  static PartitionKey explicit_name(std::string_view name);
  // The application context that the launcher numbers (MPI_APPNUM).
  static PartitionKey application_context(int number);
  // Where the launcher doesn't number contexts: program and arguments. Joins neighbours in rank only, because the same
  // program may have been launched twice.
  static PartitionKey command_line(std::string_view executable, std::string_view command);

  bool joins_neighbours_only() const { return (bits_ & 1U) != 0; }
  std::uint64_t bits() const { return bits_; }
  static PartitionKey from_bits(std::uint64_t bits) { return PartitionKey(bits); }

 private:
  explicit PartitionKey(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_;
};

// Bytes of name and command line that one application context may send, when there are so many of them: there is room
// for every name, and MPI can count the bytes of all in one int.
std::size_t text_share(std::size_t contexts);

// Immutable once built; const members may be called by any thread. Ranks in a partition follow the universe ranks.
// Memory: a few bytes for each run of consecutive ranks, of which there is one for each partition in an ordinary
// launch.
class PartitionTable {
 public:
  PartitionTable() = default;
  // keys[r] is the PartitionKey::bits() of universe rank r.
  explicit PartitionTable(std::span<const std::uint64_t> keys);

  int count() const { return static_cast<int>(partitions_.size()); }
  int size(int partition) const { return partitions_[index(partition)].size; }
  int root(int partition) const { return partitions_[index(partition)].runs.front().first_universe_rank; }
  // Universe rank of a partition's process, -1: no such partition or rank.
  int universe_rank(int partition, int rank) const;
  // Partition of a process of the universe, -1: no such process.
  int partition_of(int universe_rank) const;
  // Rank in its partition, -1: not a member.
  int rank_in(int partition, int universe_rank) const;

 private:
  struct Run {
    int first_universe_rank;
    int first_rank;  // in the partition
    int count;
  };
  struct Partition {
    int size = 0;
    std::vector<Run> runs;  // ascending in both ranks
  };
  static std::size_t index(int partition) { return static_cast<std::size_t>(partition); }

  std::vector<Partition> partitions_;
};

}  // namespace ardoise::vmpi

// Membership of processes in partitions: the pure part of partitions.cpp, computed alike by every process from one key
// per process of the universe. No MPI; tested at sizes beyond any test machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ardoise::vmpi {

// Eight bytes that decide a process's partition: processes with equal keys share one.
class PartitionKey {
 public:
  // An explicit name joins all processes that have it, whatever their ranks.
  static PartitionKey explicit_name(std::string_view name);
  // The application context that the launcher numbers (MPI_APPNUM).
  static PartitionKey application_context(int number);
  // Program and arguments, for launchers that do not number contexts. Joins only processes of consecutive ranks,
  // because the same program may have been launched twice.
  static PartitionKey command_line(std::string_view executable, std::string_view command);

  bool joins_neighbours_only() const { return (bits_ & 1U) != 0; }
  std::uint64_t bits() const { return bits_; }
  static PartitionKey from_bits(std::uint64_t bits) { return PartitionKey(bits); }

 private:
  explicit PartitionKey(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t bits_;
};

// Bytes of name and command line that one application context may send when there are this many: every name fits, and
// the total fits an int of MPI.
std::size_t text_share(std::size_t contexts);

// Immutable once built; any thread may call const members. Ranks in a partition follow universe ranks. Memory: a few
// bytes for each run of consecutive ranks; an ordinary launch has one run for each partition.
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
  // Partition of a process of the universe; -1: no such process.
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

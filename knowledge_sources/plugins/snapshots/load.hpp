// Time of ranks outside MPI, round by round, during the run: the input of balance() (balances.hpp). A *round* is a
// second since MPI_Init, or a snapshot or phase of a name that the program marks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "knowledge_sources/snapshot_files/snapshot_list.hpp"

namespace ardoise::knowledge_sources {

// The load of one rank in one round.
struct Load {
  std::uint32_t name = 0;  // mark_name_id(); 0: seconds
  std::uint32_t rank = 0;
  std::uint64_t round = 0;  // 0, 1, 2 … of the name
  std::int64_t end = 0;     // of the round, ns on the program's time axis
  std::uint64_t own_ns = 0;
};

// Loads that are required.
struct LoadWatch {
  std::span<const std::uint32_t> names{};  // as in Load; empty: none
  std::function<void(const Load&)> tell{};

  [[nodiscard]] bool wants(std::uint32_t name) const { return std::ranges::find(names, name) != names.end(); }
};

// Not thread safe. watch outlives it.
class RankLoad {
 public:
  static constexpr std::int64_t kRound = 1'000'000'000;  // ns

  static constexpr std::uint64_t kMostAtOnce = 1'000'000;  // more rounds than this between two calls: invalid time

  RankLoad(const LoadWatch& watch, std::uint32_t rank) : watch_(watch), rank_(rank), counts_seconds_(watch.wants(0)) {}

  // The rank's calls are incomplete from now on.
  void stop() { is_known_ = false; }
  // An MPI call of the first thread, in order.
  void call(std::int64_t begin, std::int64_t end) {
    if (!is_known_ || !counts_seconds_ || begin / kRound > static_cast<std::int64_t>(round_ + kMostAtOnce)) return;
    end_rounds_before(begin);
    while (end >= end_of_round()) {
      in_mpi_ += std::max<std::int64_t>(end_of_round() - std::max(begin, end_of_round() - kRound), 0);
      begin = end_of_round();
      end_rounds_before(begin);
    }
    in_mpi_ += std::max<std::int64_t>(end - begin, 0);
  }
  // The n-th snapshot or phase of a mark's name.
  void took(std::uint32_t name, std::uint64_t round, const Snapshot& snapshot, std::span<const std::uint64_t> keys) {
    if (!is_known_ || !watch_.wants(name)) return;
    std::uint64_t in_mpi = 0;
    for (const CallCell& cell : snapshot.calls) {
      if ((keys[cell.id] & (kIsPosix | kIsSampled)) == 0) in_mpi += cell.sums.ns;
    }
    watch_.tell({name, rank_, round, snapshot.end, snapshot.ns - std::min(snapshot.ns, in_mpi)});
  }

 private:
  [[nodiscard]] std::int64_t end_of_round() const { return static_cast<std::int64_t>(round_ + 1) * kRound; }
  void end_rounds_before(std::int64_t time) {
    while (time >= end_of_round()) {
      const std::int64_t in_mpi = std::min(std::exchange(in_mpi_, 0), kRound);
      watch_.tell({0, rank_, round_, end_of_round(), static_cast<std::uint64_t>(kRound - in_mpi)});
      ++round_;
    }
  }

  const LoadWatch& watch_;
  const std::uint32_t rank_;
  const bool counts_seconds_;
  bool is_known_ = true;
  std::uint64_t round_ = 0;
  std::int64_t in_mpi_ = 0;  // in this round so far
};

}  // namespace ardoise::knowledge_sources

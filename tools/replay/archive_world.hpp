// The processes and communicators of an archive, as a replay needs them: by ranks in MPI_COMM_WORLD. Knows no MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "knowledge_sources/trace_reader/archive_reader.hpp"

namespace ardoise::replay {

struct ReplayComm {
  std::uint32_t number;  // in the archive
  bool is_self = false;
  std::vector<std::int32_t> members, others;  // ranks in the world; others: of the other side of an intercommunicator
  [[nodiscard]] bool is_inter() const { return !others.empty(); }
};

struct ReplayGrid {
  std::vector<int> dimensions, periods;
};

// Does not change.
class ArchiveWorld {
 public:
  // Throws ReplayError: there is no MPI_COMM_WORLD, or what a replay needs is missing from the trace.
  explicit ArchiveWorld(const knowledge_sources::ArchiveReader& archive);

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(locations_.size()); }
  // Its threads, the one that called MPI_Init first.
  [[nodiscard]] const std::vector<const knowledge_sources::ArchivedLocation*>& threads(std::int32_t rank) const {
    return locations_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<ReplayComm>& comms() const { return comms_; }
  [[nodiscard]] const ReplayComm* comm(std::uint32_t number) const;  // nullptr: not defined
  [[nodiscard]] const ReplayGrid* grid(std::uint32_t comm) const;    // nullptr: has no Cartesian topology
  // Of a group of the archive.
  [[nodiscard]] std::vector<std::int32_t> group_ranks(std::uint32_t group) const;
  // The rank in the world of a rank as an event of `own` names it.
  [[nodiscard]] std::int32_t world_rank(const ReplayComm& comm, std::int32_t rank, std::int32_t own) const;
  [[nodiscard]] const knowledge_sources::ArchiveDefinitions& definitions() const { return definitions_; }

 private:
  void check_gaps(const knowledge_sources::ArchiveAnchor& anchor) const;
  [[nodiscard]] std::int32_t rank_of(std::uint64_t location) const;

  const knowledge_sources::ArchiveDefinitions& definitions_;
  std::uint32_t number_ = 0;
  std::vector<std::vector<const knowledge_sources::ArchivedLocation*>> locations_;  // by rank
  std::vector<ReplayComm> comms_;
  std::vector<std::pair<std::uint32_t, ReplayGrid>> grids_;
};

// "3 messages", of a program's call where it is known: "MPI_Recv (solver.c:12)".
[[nodiscard]] std::string place_of(const knowledge_sources::ArchiveDefinitions& definitions, std::uint32_t region,
                                   std::string_view name);

}  // namespace ardoise::replay

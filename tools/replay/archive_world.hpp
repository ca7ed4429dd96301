// The processes and communicators of an archive, by ranks in its MPI_COMM_WORLD. If only some ranks of the trace are
// replayed, ranks are those of the replay, and communicators contain the present members; ranks in events are mapped by
// `places`. Uses no MPI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_reader.hpp"

namespace ardoise::replay {

struct ReplayComm {
  std::uint32_t number = 0;  // in the archive
  bool is_self = false;
  std::vector<std::int32_t> members, others;  // ranks in the world; others: of the other side of an intercommunicator
  // Maps ranks of the traced communicator to those of the replayed one; -1: absent.
  std::vector<std::int32_t> places, other_places;
  bool has_absent = false;
  [[nodiscard]] bool is_inter() const { return !other_places.empty(); }
};

struct ReplayGrid {
  std::vector<int> dimensions, periods;
};

// Immutable.
class ArchiveWorld {
 public:
  // Throws ReplayError if there is no MPI_COMM_WORLD, or the trace lacks data that a replay needs. present: the
  // replayed ranks, in order; empty: all.
  ArchiveWorld(const knowledge_sources::ArchiveReader& archive, const std::vector<std::int32_t>& present);

  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] std::int32_t ranks() const { return static_cast<std::int32_t>(locations_.size()); }
  // The rank in the trace.
  [[nodiscard]] std::int32_t traced_rank(std::int32_t rank) const { return present_[static_cast<std::size_t>(rank)]; }
  // Its threads, starting with the one that called MPI_Init.
  [[nodiscard]] const std::vector<const knowledge_sources::ArchivedLocation*>& threads(std::int32_t rank) const {
    return locations_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] const std::vector<ReplayComm>& comms() const { return comms_; }
  [[nodiscard]] const ReplayComm* comm(std::uint32_t number) const;  // nullptr: undefined
  [[nodiscard]] const ReplayGrid* grid(std::uint32_t comm) const;    // nullptr: no Cartesian topology
  // The present members of a group of the archive.
  [[nodiscard]] std::vector<std::int32_t> group_ranks(std::uint32_t group) const;
  // The rank of a member, as an event of `own` refers to it, in the communicator of the replay; -1: absent.
  [[nodiscard]] std::int32_t place(const ReplayComm& comm, std::int32_t rank, std::int32_t own) const;
  // The world rank of such a member.
  [[nodiscard]] std::int32_t world_rank(const ReplayComm& comm, std::int32_t rank, std::int32_t own) const;
  [[nodiscard]] const knowledge_sources::ArchiveDefinitions& definitions() const { return definitions_; }

 private:
  void check_gaps(const knowledge_sources::ArchiveAnchor& anchor) const;
  [[nodiscard]] std::int32_t rank_of(std::uint64_t location) const;
  void add_side(const std::vector<std::uint64_t>& locations, std::vector<std::int32_t>& members,
                std::vector<std::int32_t>& places) const;

  const knowledge_sources::ArchiveDefinitions& definitions_;
  std::uint32_t number_ = 0;
  std::vector<std::int32_t> present_;                                               // by rank: rank of the trace
  std::vector<std::int32_t> ranks_;                                                 // by rank of the trace; -1: absent
  std::vector<std::vector<const knowledge_sources::ArchivedLocation*>> locations_;  // by rank
  std::vector<ReplayComm> comms_;
  std::vector<std::pair<std::uint32_t, ReplayGrid>> grids_;
};

// A call with its place in the program, if known: "MPI_Recv (solver.c:12)".
[[nodiscard]] std::string place_of(const knowledge_sources::ArchiveDefinitions& definitions, std::uint32_t region,
                                   std::string_view name);

}  // namespace ardoise::replay

// The process of a rank of a communicator, for matching: made once for an archive.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "knowledge_sources/otf2/reader/archive_definitions.hpp"

namespace ardoise::knowledge_sources {

// Processes are numbers of location groups; kUndefined32: none.
class CommRanks {
 public:
  explicit CommRanks(const ArchiveDefinitions& definitions);

  struct Comm {
    bool is_self = false, is_inter = false;
    std::vector<std::uint32_t> members, others;    // by rank
    std::unordered_set<std::uint32_t> first_side;  // of an intercommunicator
  };
  // nullptr: undefined.
  [[nodiscard]] const Comm* find(std::uint32_t comm) const;
  // As events of the process `own` refer to it: on an intercommunicator ranks are those of the other side.
  [[nodiscard]] std::uint32_t process_of(const Comm& comm, std::uint32_t rank, std::uint32_t own) const;
  // Number of participants of its collectives.
  [[nodiscard]] std::size_t size(const Comm& comm) const;

 private:
  std::unordered_map<std::uint32_t, Comm> comms_;
};

}  // namespace ardoise::knowledge_sources

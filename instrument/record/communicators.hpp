// Communicators as definitions: numbers in this process, members as ranges of world ranks, and the (hash, instance)
// that all members compute alike without talking to each other. Knows no MPI: mpi_queries.cpp collects the facts.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "blackboard/mutex.hpp"
#include "instrument/buffer/definition_queue.hpp"

namespace ardoise::instrument {

// What MPI says of a communicator.
struct CommunicatorFacts {
  CommunicatorKind kind = CommunicatorKind::kIntra;
  std::uint32_t rank = 0;            // own, in the local group
  std::vector<std::int32_t> local;   // ranks in the program's world, kNoPeer for those of other programs
  std::vector<std::int32_t> remote;  // of an intercommunicator
  std::string name;
  std::vector<TopologyDimension> cartesian;  // empty: no Cartesian topology
};

// Thread safe. instance counts correctly when all members of a group create its communicators in the same order, which
// MPI demands of them on one parent; creations on two parents by two threads at once may be numbered differently.
class Communicators {
 public:
  explicit Communicators(DefinitionQueue& definitions) : definitions_(definitions) {}

  // Defines a new communicator and returns its number; kUnnamedComm when numbers or memory are used up.
  [[nodiscard]] std::uint32_t define(const CommunicatorFacts& facts);
  // Defines it once more, with its new name.
  void rename(std::uint32_t comm, const CommunicatorFacts& facts);
  // A definition with the first of its members, for who may not wait; nullptr: not known.
  struct Known {
    CommunicatorDefinition definition;
    std::vector<RankRange> ranges;
    std::string name;
  };
  static constexpr std::uint32_t kKept = 1024;
  [[nodiscard]] const Known* known(std::uint32_t comm) const noexcept {
    return comm < kKept ? known_[comm].load(std::memory_order_acquire) : nullptr;
  }
  // The number of a window that was made on it: 0, 1, 2 … on each, so equal in all its ranks.
  [[nodiscard]] std::uint32_t number_window(std::uint32_t comm);

 private:
  void keep(CommunicatorDefinition definition, const std::vector<RankRange>& ranges, const std::string& name);
  bool send(std::uint32_t comm, std::uint32_t instance, const CommunicatorFacts& facts);

  DefinitionQueue& definitions_;
  std::array<std::atomic<const Known*>, kKept> known_{};  // of the first numbers
  Mutex lock_;
  std::vector<std::unique_ptr<const Known>> kept_ GUARDED_BY(lock_);
  std::vector<std::uint32_t> instances_ GUARDED_BY(lock_);                      // by number
  std::unordered_map<std::uint64_t, std::uint32_t> created_ GUARDED_BY(lock_);  // by group hash: how many
  std::unordered_map<std::uint32_t, std::uint32_t> windows_ GUARDED_BY(lock_);  // by number: how many
};

}  // namespace ardoise::instrument

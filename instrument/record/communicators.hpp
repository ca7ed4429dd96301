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

#include "blackboard/threads/mutex.hpp"
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

  // Defines a new communicator and returns its number; kUnnamedComm when numbers or memory are used up. thread: that
  // made it.
  [[nodiscard]] std::uint32_t define(const CommunicatorFacts& facts, std::uint32_t thread = 0);
  // Defines it once more, with its new name.
  void rename(std::uint32_t comm, const CommunicatorFacts& facts);
  // A definition with the first of its members, for who may not wait; nullptr: not known.
  struct Known {
    CommunicatorDefinition definition;
    std::vector<RankRange> ranges;
    std::string name;
  };
  static constexpr std::uint32_t kKept = 1024;
  // How many there have been. Relaxed: for who looks from beside.
  [[nodiscard]] std::uint32_t defined() const noexcept { return defined_.load(std::memory_order_relaxed); }
  [[nodiscard]] const Known* known(std::uint32_t comm) const noexcept {
    return comm < kKept ? known_[comm].load(std::memory_order_acquire) : nullptr;
  }
  // A communicator has been made that is defined at its first use, or collectives were not counted: from now on other
  // ranks may number differently. Those that are made from now on are not known.
  void become_unsure() noexcept { is_unsure_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_unsure() const noexcept { return is_unsure_.load(std::memory_order_relaxed); }

  // The process begins a collective on it (collective_word()): how many it had begun before; kNoNumber: not counted.
  // MPI allows one thread at a time to do so.
  static constexpr std::uint32_t kNoNumber = 0xFFFFFFFF;
  std::uint32_t begin_collective(std::uint32_t comm, std::uint32_t word) noexcept {
    if (comm >= kKept) return kNoNumber;
    Collectives& on = collectives_[comm];
    const std::uint32_t number = on.begun.load(std::memory_order_relaxed);
    on.last[number % CollectivesDefinition::kLast].store(word, std::memory_order_relaxed);
    on.begun.store(number + 1, std::memory_order_release);  // who looks from beside sees the word, too
    return number;
  }
  [[nodiscard]] std::uint32_t begun(std::uint32_t comm) const noexcept {
    return comm < kKept ? collectives_[comm].begun.load(std::memory_order_acquire) : kNoNumber;
  }
  [[nodiscard]] CollectivesDefinition collectives(std::uint32_t comm) const noexcept;

  // The number of a window that was made on it: 0, 1, 2 … on each, so equal in all its ranks.
  [[nodiscard]] std::uint32_t number_window(std::uint32_t comm);

 private:
  void keep(CommunicatorDefinition definition, const std::vector<RankRange>& ranges, const std::string& name);
  bool send(std::uint32_t comm, std::uint32_t instance, const CommunicatorFacts& facts);

  struct Collectives {
    std::atomic<std::uint32_t> begun = 0;
    std::array<std::atomic<std::uint32_t>, CollectivesDefinition::kLast> last{};
  };

  DefinitionQueue& definitions_;
  std::atomic<bool> is_unsure_ = false;  // relaxed: alone
  std::atomic<std::uint32_t> defined_ = 0;
  std::array<Collectives, kKept> collectives_{};          // by number
  std::array<std::atomic<const Known*>, kKept> known_{};  // of the first numbers
  Mutex lock_;
  std::vector<std::unique_ptr<const Known>> kept_ GUARDED_BY(lock_);
  std::uint32_t thread_ GUARDED_BY(lock_) = kNoThread;                          // that made the first
  std::vector<std::uint32_t> instances_ GUARDED_BY(lock_);                      // by number
  std::unordered_map<std::uint64_t, std::uint32_t> created_ GUARDED_BY(lock_);  // by group hash: how many
  std::unordered_map<std::uint32_t, std::uint32_t> windows_ GUARDED_BY(lock_);  // by number: how many
};

}  // namespace ardoise::instrument

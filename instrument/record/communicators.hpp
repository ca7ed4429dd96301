// Communicators as definitions: numbers in this process, members as ranges of world ranks, and the (hash, instance)
// that all members compute equally without communication. Does not depend on MPI: mpi_queries.cpp collects the facts.
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

// The facts of a communicator that MPI reports.
struct CommunicatorFacts {
  CommunicatorKind kind = CommunicatorKind::kIntra;
  std::uint32_t rank = 0;            // own, in the local group
  std::vector<std::int32_t> local;   // ranks in the program's world, kNoPeer for those of other programs
  std::vector<std::int32_t> remote;  // of an intercommunicator
  std::string name;
  std::vector<TopologyDimension> cartesian;  // empty: no Cartesian topology
};

// Thread safe. instance is right if all members of a group create its communicators in the same order, as MPI requires
// on one parent; concurrent creations by two threads on two parents may be numbered differently.
//
// Programs that make and free communicators in a loop get a bounded set of numbers: the n-th communicator of a group
// takes that of the (n - kReuseAfter)-th if this one was freed and neither has a name. All ranks get the same result,
// since they create in the same order; with the lowest free number it would depend on the moment at which each rank
// frees. If one rank has not freed it yet, one communicator in kReuseAfter gets different instances from then on, and
// its messages are not matched.
class Communicators {
 public:
  explicit Communicators(DefinitionQueue& definitions) : definitions_(definitions) {}

  // Defines a new communicator and returns its number; kUnnamedComm if numbers or memory run out. thread: its creator.
  [[nodiscard]] std::uint32_t define(const CommunicatorFacts& facts, std::uint32_t thread = 0);
  // Freed: its number may be used again.
  void release(std::uint32_t comm);
  static constexpr std::uint32_t kReuseAfter = 256;
  // Defines it once more, with its new name.
  void rename(std::uint32_t comm, const CommunicatorFacts& facts);
  // A definition with the first of the members, for readers that must not wait; nullptr: unknown.
  struct Known {
    CommunicatorDefinition definition;
    std::vector<RankRange> ranges;
    std::string name;
  };
  static constexpr std::uint32_t kKept = 1024;
  // The number of definitions so far. Relaxed: for the survivor.
  [[nodiscard]] std::uint32_t defined() const noexcept { return defined_.load(std::memory_order_relaxed); }
  [[nodiscard]] const Known* known(std::uint32_t comm) const noexcept {
    return comm < kKept ? known_[comm].load(std::memory_order_acquire) : nullptr;
  }
  // A communicator was created that is defined only at its first use, or collectives were not counted. From now on
  // other ranks may number differently, and new communicators are unknown.
  void become_unsure() noexcept { is_unsure_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_unsure() const noexcept { return is_unsure_.load(std::memory_order_relaxed); }

  // Counts a collective that begins on it (collective_word()). Returns the number begun before; kNoNumber: not counted.
  // MPI allows only one thread at a time to start one.
  static constexpr std::uint32_t kNoNumber = 0xFFFFFFFF;
  std::uint32_t begin_collective(std::uint32_t comm, std::uint32_t word) noexcept {
    if (comm >= kKept) return kNoNumber;
    Collectives& on = collectives_[comm];
    const std::uint32_t number = on.begun.load(std::memory_order_relaxed);
    on.last[number % CollectivesDefinition::kLast].store(word, std::memory_order_relaxed);
    on.begun.store(number + 1, std::memory_order_release);  // the survivor, which reads it, sees the word as well
    return number;
  }
  [[nodiscard]] std::uint32_t begun(std::uint32_t comm) const noexcept {
    return comm < kKept ? collectives_[comm].begun.load(std::memory_order_acquire) : kNoNumber;
  }
  [[nodiscard]] CollectivesDefinition collectives(std::uint32_t comm) const noexcept;

  // The number of a new window on it: 0, 1, 2 …, equal in all its ranks.
  [[nodiscard]] std::uint32_t number_window(std::uint32_t comm);

 private:
  void keep(CommunicatorDefinition definition, const std::vector<RankRange>& ranges, const std::string& name);
  bool send(std::uint32_t comm, std::uint32_t instance, const CommunicatorFacts& facts);

  struct Collectives {
    std::atomic<std::uint32_t> begun = 0;
    std::array<std::atomic<std::uint32_t>, CollectivesDefinition::kLast> last{};
  };

  DefinitionQueue& definitions_;
  std::atomic<bool> is_unsure_ = false;  // relaxed: no other data depends on it
  std::atomic<std::uint32_t> defined_ = 0;
  std::array<Collectives, kKept> collectives_{};          // by number
  std::array<std::atomic<const Known*>, kKept> known_{};  // of the first numbers
  Mutex lock_;
  std::vector<std::unique_ptr<const Known>> kept_ GUARDED_BY(lock_);
  std::uint32_t thread_ GUARDED_BY(lock_) = kNoThread;                          // creator of the first
  struct Numbered {
    std::uint32_t instance = 0;
    bool is_freed = false, has_name = false;
  };
  std::vector<Numbered> numbers_ GUARDED_BY(lock_);
  // Numbers of the last communicators of one group and topology; after kReuseAfter the oldest is replaced.
  struct Lately {
    std::uint32_t created = 0;
    std::vector<std::uint32_t> numbers;
  };
  std::unordered_map<std::uint64_t, Lately> lately_ GUARDED_BY(lock_);          // by hash of both
  std::unordered_map<std::uint64_t, std::uint32_t> created_ GUARDED_BY(lock_);  // counts by group hash
  std::unordered_map<std::uint32_t, std::uint32_t> windows_ GUARDED_BY(lock_);  // counts by number
};

}  // namespace ardoise::instrument

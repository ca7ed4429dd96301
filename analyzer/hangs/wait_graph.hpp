// Waits between processes that are all blocked, and which of them can never be released. The model is that of AND and
// OR waits (Hilbrich, de Supinski, Schulz, Müller: A Graph Based Approach for MPI Deadlock Detection, ICS 2009). A rank
// is stuck only if nothing that another rank may still do releases it:
//
//   a rank outside MPI, with a free thread, or in an unknown call may do anything: it is free
//   a receive or a send waits for the other end, a receive from any source for one of the communicator
//   MPI_Waitall waits for each request known to be pending; if unknown, for one of them
//   a collective waits for members that have begun fewer collectives on its communicator: for each of them, for the
//   root or for one of them, as the operation needs their data; all others have been in it, and may have left it
//   a rank that has ended MPI does nothing any more
//
// Used by deadlock.cpp, which explains it in words. Time and memory are linear in the waits: the members of each
// collective once, the other end of every other operation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyzer/hangs/stalled_processes.hpp"

namespace ardoise::analyzer {

class WaitGraph {
 public:
  // The ranks that a call waits for: all of `targets`, or one of them.
  struct Group {
    bool all = false;
    std::vector<std::int32_t> targets;  // ranks
    bool is_alive = false;              // targets may still arrive
  };
  // A collective as called by the ranks that are known to have begun it.
  struct Variant {
    std::vector<std::uint32_t> inside, past;  // ranks inside it, ranks that have left it
    const PendingCall* call = nullptr;        // call of one rank inside
  };
  using Variants = std::map<std::pair<std::string, std::int32_t>, Variant>;  // by function and root; -1: no root

  // All processes of one world that have not ended.
  explicit WaitGraph(std::span<const StalledProcess> processes);

  [[nodiscard]] const std::map<std::int32_t, const StalledProcess*>& processes() const { return processes_; }
  [[nodiscard]] bool has_ended(std::int32_t rank) const;
  [[nodiscard]] bool is_stuck(std::int32_t rank) const;
  // False: it is free only because others are.
  [[nodiscard]] bool waits(std::int32_t rank) const { return threads_.contains(rank); }
  // For a stuck rank: the first wait that does not end, and the call. Prefers waits for ranks that are stuck too.
  struct Stuck {
    const PendingCall* call = nullptr;
    const Group* group = nullptr;
  };
  [[nodiscard]] Stuck why_stuck(std::int32_t rank) const;
  // Collectives that ranks wait in and that do not match.
  [[nodiscard]] const std::vector<Variants>& mismatches() const { return mismatches_; }

  [[nodiscard]] static std::optional<std::int32_t> member(const PendingOperation& operation, std::int32_t peer);
  [[nodiscard]] static bool has_peer(const PendingOperation& operation);
  [[nodiscard]] static bool is_collective(const PendingOperation& operation) { return operation.number.has_value(); }

 private:
  using GroupId = std::size_t;
  struct Thread {
    const PendingCall* call;
    std::vector<GroupId> groups;  // all have to be satisfied; never empty
    std::size_t left;             // number of targets that may not arrive
  };
  // The members of a communicator relative to one of its collectives.
  struct MissingMembers {
    std::vector<std::int32_t> known;  // have not begun it
    std::vector<std::int32_t> ended;  // have ended, and may have been in it
    bool has_unknown = false;
  };
  enum class Need : std::uint8_t { kEach, kEachThatIsKnown, kRoot, kOne };
  using Place = std::pair<CommView::Key, std::uint32_t>;

  void add_threads(std::int32_t rank, const StalledProcess& stalled);
  [[nodiscard]] std::vector<GroupId> groups_of(std::int32_t rank, const PendingCall& call);
  [[nodiscard]] std::vector<GroupId> one_of(std::int32_t rank, std::span<const PendingOperation* const> operations,
                                            bool is_any);
  [[nodiscard]] std::vector<GroupId> groups_of(std::int32_t rank, const PendingOperation& operation);
  [[nodiscard]] std::vector<GroupId> groups_of_message(const PendingOperation& operation);
  [[nodiscard]] std::vector<GroupId> groups_of_collective(std::int32_t rank, const PendingOperation& operation);
  // A collective that all have begun.
  [[nodiscard]] bool is_at_work(const PendingOperation& operation);
  [[nodiscard]] bool meets(std::int32_t rank, const PendingOperation& operation) const;
  [[nodiscard]] const MissingMembers& missing_members(const PendingOperation& collective);
  void compare(const PendingOperation& collective);
  [[nodiscard]] std::optional<std::uint32_t> begun(std::int32_t rank, CommView::Key key) const;
  GroupId add(bool all, std::vector<std::int32_t> targets);
  void release();

  std::map<std::int32_t, const StalledProcess*> processes_;
  std::unordered_map<std::int32_t, bool> free_;
  std::map<std::int32_t, std::vector<Thread>> threads_;  // of ranks whose threads all wait
  std::vector<Group> groups_;
  struct End {
    std::int32_t rank;
    const PendingOperation* operation;
  };
  std::unordered_map<std::int32_t, std::vector<End>> sends_to_;  // incomplete sends, by destination
  std::map<Place, MissingMembers> missing_members_;
  std::map<std::tuple<Place, Need, std::int32_t>, std::vector<GroupId>> of_collective_;
  std::map<CommView::Key, GroupId> from_any_;
  std::vector<Variants> mismatches_;
};

}  // namespace ardoise::analyzer

// See deadlock.hpp.
#include "analyzer/deadlock.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "reports/findings/ending_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
namespace {

using instrument::Shape;

// Calls without data that all members of their communicator make.
constexpr std::array<std::string_view, 18> kCollectiveCalls{"MPI_Comm_dup",           "MPI_Comm_dup_with_info",
                                                            "MPI_Comm_split",         "MPI_Comm_split_type",
                                                            "MPI_Comm_create",        "MPI_Cart_create",
                                                            "MPI_Cart_sub",           "MPI_Graph_create",
                                                            "MPI_Dist_graph_create",  "MPI_Dist_graph_create_adjacent",
                                                            "MPI_Intercomm_merge",    "MPI_Win_create",
                                                            "MPI_Win_allocate",       "MPI_Win_allocate_shared",
                                                            "MPI_Win_create_dynamic", "MPI_File_open",
                                                            "MPI_Comm_disconnect",    "MPI_Comm_free"};

bool is_collective(const StandOperation& operation) {
  return operation.shape == Shape::kCollective || operation.shape == Shape::kRooted ||
         operation.shape == Shape::kNeighbour ||
         std::ranges::find(kCollectiveCalls, operation.function) != kCollectiveCalls.end();
}
bool receives(const StandOperation& operation) {
  return operation.shape == Shape::kReceive || operation.shape == Shape::kPostReceive ||
         operation.shape == Shape::kProbe;
}
bool has_peer(const StandOperation& operation) { return operation.shape == Shape::kSend || receives(operation); }

std::string ranks_in_words(std::vector<std::uint32_t> ranks) {
  reports::Application world;  // whose ranks are those of its world
  return reports::ranks_in_words(world, ranks);
}

class World {
 public:
  explicit World(std::span<const ProcessStand> stands) {
    for (const ProcessStand& stand : stands) stands_[static_cast<std::int32_t>(stand.process.second)] = &stand;
    for (const auto& [rank, stand] : stands_) waits_[rank] = waits_of(rank, *stand);
    release();
  }

  HangReason reason() {
    if (auto text = mismatch(); !text.empty()) return {true, text};
    if (auto text = blocked(); !text.empty()) return {true, text};
    return {false, "no fault seen" + who_may_go_on()};
  }

 private:
  // What a rank waits for: `any`: one of `targets` is enough.
  struct Wait {
    bool is_known = false;  // else it may go on at any time, for all that is known
    bool any = false;
    std::vector<std::int32_t> targets;
  };

  [[nodiscard]] static std::optional<std::int32_t> member(const StandOperation& operation, std::int32_t peer) {
    if (!operation.comm || peer < 0 || static_cast<std::size_t>(peer) >= operation.comm->members.size())
      return std::nullopt;
    return operation.comm->members[static_cast<std::size_t>(peer)];
  }
  // All operations that a rank is at.
  [[nodiscard]] static std::vector<StandOperation> operations_of(const ProcessStand& stand) {
    if (!stand.mpi) return {};
    std::vector<StandOperation> all{stand.mpi->operation};
    all.insert(all.end(), stand.mpi->parts.begin(), stand.mpi->parts.end());
    return all;
  }

  // The other end of a message is there: it comes to its end.
  [[nodiscard]] bool meets(std::int32_t rank, const StandOperation& operation, std::int32_t target) const {
    const auto other = stands_.find(target);
    if (other == stands_.end() || target == rank) return false;
    return std::ranges::any_of(operations_of(*other->second), [&](const StandOperation& theirs) {
      if (!has_peer(theirs) || receives(theirs) == receives(operation)) return false;
      if (!theirs.comm || !operation.comm || theirs.comm->key != operation.comm->key) return false;
      const StandOperation& receive = receives(operation) ? operation : theirs;
      const StandOperation& send = receives(operation) ? theirs : operation;
      const bool tags = receive.tag == instrument::kAnyTag || receive.tag == send.tag;
      return tags && (theirs.peer == instrument::kAnySource || member(theirs, theirs.peer) == rank);
    });
  }

  [[nodiscard]] Wait wait_of(std::int32_t rank, const StandOperation& operation, bool is_request = false) const {
    if (has_peer(operation)) {
      if (!operation.comm || operation.peer == instrument::kNoPeer) return {};
      if (operation.peer == instrument::kAnySource) {
        Wait wait{true, true, {}};
        for (const std::int32_t other : operation.comm->members) {
          if (meets(rank, operation, other)) return {};
          if (other != rank) wait.targets.push_back(other);
        }
        return wait;
      }
      const auto target = member(operation, operation.peer);
      if (!target || meets(rank, operation, *target)) return {};
      return {true, false, {*target}};
    }
    if (!is_collective(operation) || !operation.comm) return {};
    // Others may have started a non-blocking one, and be elsewhere: only one of them has not.
    Wait wait{true, is_request, {}};
    for (const std::int32_t other : operation.comm->members) {
      const bool takes_part = is_request ? has_request(other, operation) : is_in(other, operation);
      if (other != rank && !takes_part) wait.targets.push_back(other);
    }
    // All are there: it is at work.
    wait.is_known = !wait.targets.empty();
    return wait;
  }
  // The rank is in the same collective.
  [[nodiscard]] bool is_in(std::int32_t rank, const StandOperation& collective) const {
    const auto stand = stands_.find(rank);
    return stand != stands_.end() && stand->second->mpi && is_collective(stand->second->mpi->operation) &&
           stand->second->mpi->operation.comm && stand->second->mpi->operation.comm->key == collective.comm->key;
  }

  // It waits for the same non-blocking collective.
  [[nodiscard]] bool has_request(std::int32_t rank, const StandOperation& collective) const {
    const auto stand = stands_.find(rank);
    return stand != stands_.end() && stand->second->mpi &&
           std::ranges::any_of(stand->second->mpi->parts, [&](const StandOperation& part) {
             return part.function == collective.function && part.comm && part.comm->key == collective.comm->key;
           });
  }

  [[nodiscard]] Wait waits_of(std::int32_t rank, const ProcessStand& stand) const {
    if (!stand.mpi || stand.in_finalize) return {};
    const StandCall& call = *stand.mpi;
    if (call.operation.shape != Shape::kCompletes) {
      Wait wait = wait_of(rank, call.operation);
      for (const StandOperation& part : call.parts) {  // of MPI_Sendrecv: one of its halves
        const Wait more = wait_of(rank, part);
        if (!more.is_known) continue;
        if (!wait.is_known) {
          wait = more;
        } else {
          wait.targets.insert(wait.targets.end(), more.targets.begin(), more.targets.end());
        }
      }
      return wait;
    }
    const std::string& name = call.operation.function;
    Wait wait{false, name.find("any") != std::string::npos || name.find("some") != std::string::npos, {}};
    for (const StandOperation& part : call.parts) {
      const Wait more = wait_of(rank, part, true);
      if (!more.is_known) {
        if (wait.any) return {};
        continue;
      }
      // One receive from any source among others: all its sources are taken, so that a rank is rather thought free.
      if (more.any && !wait.any && call.parts.size() > 1) continue;
      wait.any = wait.any || more.any;
      wait.is_known = true;
      wait.targets.insert(wait.targets.end(), more.targets.begin(), more.targets.end());
    }
    return wait;
  }

  [[nodiscard]] bool is_over(std::int32_t rank) const {
    const auto stand = stands_.find(rank);
    return stand == stands_.end() || stand->second->in_finalize;
  }
  // Ranks that may go on, and those that wait for nothing but them.
  void release() {
    for (const auto& [rank, wait] : waits_) {
      if (!wait.is_known && !is_over(rank)) free_.insert(rank);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& [rank, wait] : waits_) {
        if (!wait.is_known || free_.contains(rank)) continue;
        const auto is_free = [&](std::int32_t target) { return free_.contains(target); };
        const bool goes_on =
            wait.any ? std::ranges::any_of(wait.targets, is_free) : std::ranges::all_of(wait.targets, is_free);
        if (goes_on) changed = free_.insert(rank).second;
      }
    }
  }

  // Different collectives, or roots, on one communicator.
  [[nodiscard]] std::string mismatch() const {
    struct Group {
      std::vector<std::uint32_t> ranks;
      const ProcessStand* first = nullptr;
    };
    std::map<StandComm::Key, std::map<std::pair<std::string, std::int32_t>, Group>> by_comm;
    for (const auto& [rank, stand] : stands_) {
      if (!stand->mpi || !is_collective(stand->mpi->operation) || !stand->mpi->operation.comm) continue;
      const StandOperation& operation = stand->mpi->operation;
      const std::int32_t root = operation.shape == Shape::kRooted ? operation.peer : -1;
      Group& group = by_comm[operation.comm->key][{operation.function, root}];
      group.ranks.push_back(static_cast<std::uint32_t>(rank));
      if (group.first == nullptr) group.first = stand;
    }
    for (const auto& [comm, groups] : by_comm) {
      if (groups.size() < 2) continue;
      const bool same_call = groups.begin()->first.first == groups.rbegin()->first.first;
      std::string text =
          same_call ? "a collective with different roots: " : "different collectives on one communicator: ";
      std::size_t shown = 0;
      for (const auto& [call, group] : groups) {
        text += fmt::format("{}{} {} in {}", shown == 0 ? "" : "; ", ranks_in_words(group.ranks),
                            group.ranks.size() == 1 ? "is" : "are", call_in_words(*group.first->mpi));
        if (same_call) text += fmt::format(" with root {}", call.second);
        if (++shown == 4) break;
      }
      return text;
    }
    return "";
  }

  [[nodiscard]] std::optional<std::int32_t> next_of(std::int32_t rank) const {
    const auto wait = waits_.find(rank);
    if (wait == waits_.end() || !wait->second.is_known) return std::nullopt;
    // Rather one that waits, too, than one that is over: a circle says more.
    const auto& targets = wait->second.targets;
    const auto blocked =
        std::ranges::find_if(targets, [&](std::int32_t target) { return !is_over(target) && !free_.contains(target); });
    if (blocked != targets.end()) return *blocked;
    const auto over = std::ranges::find_if(targets, [&](std::int32_t target) { return is_over(target); });
    return over == targets.end() ? std::nullopt : std::optional(*over);
  }

  [[nodiscard]] std::string in_words(std::int32_t rank) const {
    const StandCall& call = *stands_.at(rank)->mpi;
    std::string text = "waits in " + call_in_words(call);
    const StandOperation& operation =
        call.parts.size() == 1 && call.operation.shape == Shape::kCompletes ? call.parts.front() : call.operation;
    if (&operation != &call.operation && is_collective(operation)) text += " of " + operation.function;
    if (has_peer(operation)) {
      if (operation.tag >= 0) text += fmt::format(" with tag {}", operation.tag);
    }
    if (operation.comm && !operation.comm->name.empty() && operation.comm->name != "MPI_COMM_WORLD")
      text += " on " + operation.comm->name;
    return text;
  }

  // A circle, the shortest that is found, or a wait for a rank that does nothing any more.
  [[nodiscard]] std::string blocked() const {
    std::vector<std::int32_t> best;
    bool is_circle = false;
    for (const auto& [start, wait] : waits_) {
      if (!wait.is_known || free_.contains(start) || is_over(start)) continue;
      std::vector<std::int32_t> path{start};
      for (std::optional<std::int32_t> next = next_of(start); next; next = next_of(path.back())) {
        const auto again = std::ranges::find(path, *next);
        if (again != path.end()) {
          path.erase(path.begin(), again);
          if (!is_circle || path.size() < best.size()) best = path;
          is_circle = true;
          break;
        }
        path.push_back(*next);
        if (is_over(*next)) {
          if (!is_circle && (best.empty() || path.size() < best.size())) best = path;
          break;
        }
      }
    }
    if (best.empty()) return "";
    return is_circle ? circle(best) : dead_end(best);
  }

  [[nodiscard]] std::string circle(std::vector<std::int32_t> ranks) const {
    constexpr std::size_t kMost = 5;
    std::rotate(ranks.begin(), std::ranges::min_element(ranks), ranks.end());
    if (ranks.size() == 1) return fmt::format("rank {} {} for itself", ranks[0], in_words(ranks[0]));
    std::string text = "deadlock: ";
    for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
      text += fmt::format("{} {} for rank {}", i == 0 ? fmt::format("rank {}", ranks[i]) : ", which",
                          in_words(ranks[i]), ranks[(i + 1) % ranks.size()]);
    if (ranks.size() > kMost) text += fmt::format(", and so on through {} ranks", ranks.size());
    return text;
  }

  [[nodiscard]] std::string dead_end(const std::vector<std::int32_t>& path) const {
    const std::int32_t waiting = path[path.size() - 2], over = path.back();
    const bool has_stand = stands_.contains(over);
    const char* const state = has_stand ? "is in MPI_Finalize" : "has ended MPI";
    const StandOperation& operation = stands_.at(waiting)->mpi->operation;
    if (is_collective(operation)) {
      const Wait& wait = waits_.at(waiting);
      std::vector<std::uint32_t> missing;
      for (const std::int32_t target : wait.targets) {
        if (is_over(target)) missing.push_back(static_cast<std::uint32_t>(target));
      }
      return fmt::format("a collective that not all have called: rank {} {}; {} {} MPI_Finalize", waiting,
                         in_words(waiting), ranks_in_words(missing),
                         missing.size() == 1 ? "has called" : "have called");
    }
    if (waits_.at(waiting).any)
      return fmt::format("rank {} {} for any rank, but no other can send: rank {} {}", waiting, in_words(waiting), over,
                         state);
    return fmt::format("rank {} {} for rank {}, which {}", waiting, in_words(waiting), over, state);
  }

  // What is not MPI's fault.
  [[nodiscard]] std::string who_may_go_on() const {
    const ProcessStand* longest = nullptr;
    std::int32_t rank = -1;
    for (const auto& [number, stand] : stands_) {
      if (stand->mpi || stand->in_finalize) continue;
      if (longest != nullptr && longest->seconds >= stand->seconds) continue;
      longest = stand;
      rank = number;
    }
    if (longest == nullptr) return "";
    const std::string since = reports::human_seconds(longest->seconds);
    if (longest->is_stopped) return fmt::format(": rank {} is stopped, by a signal or a debugger, for {}", rank, since);
    if (longest->io) return fmt::format(": rank {} is in {} for {}", rank, call_in_words(*longest->io), since);
    constexpr double kBusy = 0.5;
    if (longest->cpu_share && *longest->cpu_share < kBusy)
      return fmt::format(": rank {} sleeps or is blocked outside MPI for {}", rank, since);
    const std::string place = reports::place_in_words(longest->computes);
    return fmt::format(": rank {} computes{} for {}", rank, place.empty() ? "" : " in " + place, since);
  }

  std::map<std::int32_t, const ProcessStand*> stands_;
  std::map<std::int32_t, Wait> waits_;
  std::set<std::int32_t> free_;
};

}  // namespace

std::string call_in_words(const StandCall& call) {
  const std::string place = reports::place_in_words(call.place);
  return place.empty() ? call.operation.function : fmt::format("{} in {}", call.operation.function, place);
}

HangReason reason_of_hang(std::span<const ProcessStand> stands) { return World(stands).reason(); }

}  // namespace ardoise::analyzer

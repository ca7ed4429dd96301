#include "analyzer/hangs/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analyzer/hangs/wait_graph.hpp"
#include "reports/findings/ending_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
namespace {

using instrument::Shape;
using Ranks = std::vector<std::uint32_t>;

std::string ranks_in_words(const Ranks& ranks) {
  reports::Application world;  // ranks are those of its world
  return reports::ranks_in_words(world, ranks);
}
std::string ranks_in_words(const std::vector<std::int32_t>& ranks) {
  return ranks_in_words(Ranks(ranks.begin(), ranks.end()));
}

class Explanation {
 public:
  explicit Explanation(std::span<const StalledProcess> processes) : graph_(processes) { collect_names(); }

  [[nodiscard]] HangReason reason() const {
    if (!graph_.mismatches().empty()) return {true, mismatch(graph_.mismatches().front())};
    if (auto text = blocked(); !text.empty()) return {true, text};
    return {false, "no fault seen" + who_may_go_on()};
  }

 private:
  void collect_names() {
    for (const auto& [rank, stalled] : graph_.processes()) {
      const auto add = [&](const PendingCall& call) {
        if (call.operation.comm) keys_of_[call.operation.comm->name].insert(call.operation.comm->key);
        for (const PendingOperation& part : call.parts) {
          if (part.comm) keys_of_[part.comm->name].insert(part.comm->key);
        }
      };
      if (stalled->mpi) add(*stalled->mpi);
      for (const PendingCall& call : stalled->others) add(call);
    }
  }

  // " on row", " on communicator 2 of ranks 0–1"; "" for the world, when no other communicator is involved.
  [[nodiscard]] std::string comm_in_words(const CommView& comm) const {
    if (comm.name.empty() && !comm.is_whole) return "";
    const std::string name = reports::in_sentence(comm.name);
    const bool is_unique = keys_of_.at(comm.name).size() == 1;
    if (comm.name == "MPI_COMM_WORLD" && is_unique) return keys_of_.size() == 1 ? "" : " on MPI_COMM_WORLD";
    if (!comm.name.empty() && is_unique) return " on " + name;
    const std::string number = fmt::format("communicator {} of {}", comm.key.instance + 1,
                                           comm.is_whole ? ranks_in_words(comm.members) : std::string("its ranks"));
    return comm.name.empty() ? " on " + number : fmt::format(" on {} ({})", name, number);
  }

  // Different collectives, or roots, on one communicator.
  [[nodiscard]] std::string mismatch(const WaitGraph::Variants& variants) const {
    const bool same_call = variants.begin()->first.first == variants.rbegin()->first.first;
    std::string text =
        same_call ? "a collective with different roots: " : "different collectives on one communicator: ";
    std::size_t shown = 0;
    const auto add = [&](const Ranks& ranks, std::string_view one, std::string_view several, const std::string& call,
                         std::int32_t root) {
      if (ranks.empty() || shown == 4) return;
      text += fmt::format("{}{} {} {}", shown++ == 0 ? "" : "; ", ranks_in_words(ranks),
                          ranks.size() == 1 ? one : several, call);
      if (same_call) text += fmt::format(" with root {}", root);
    };
    for (const auto& [of, variant] : variants) {
      if (!variant.inside.empty()) add(variant.inside, "is in", "are in", in_words(*variant.call), of.second);
      add(variant.past, "has called", "have called", of.first, of.second);
    }
    return text;
  }

  // "MPI_Recv in main (a.c:4) with tag 5 on row", "MPI_Wait in main (a.c:4) of MPI_Ibarrier".
  [[nodiscard]] std::string in_words(const PendingCall& call) const {
    std::string text = call_in_words(call);
    const bool is_of_one = call.parts.size() == 1 && call.operation.shape == Shape::kCompletes;
    const PendingOperation& operation = is_of_one ? call.parts.front() : call.operation;
    if (is_of_one && WaitGraph::is_collective(operation)) text += " of " + operation.function;
    if (WaitGraph::has_peer(operation) && operation.tag >= 0) text += fmt::format(" with tag {}", operation.tag);
    if (operation.comm) text += comm_in_words(*operation.comm);
    return text;
  }

  struct Link {
    std::int32_t rank = 0;
    WaitGraph::Stuck why;
    std::int32_t next = 0;
  };
  [[nodiscard]] std::optional<Link> link_of(std::int32_t rank) const {
    if (!graph_.is_stuck(rank)) return std::nullopt;
    const WaitGraph::Stuck why = graph_.why_stuck(rank);
    // Prefers a rank that waits too over one that has ended: a cycle explains more.
    const auto& targets = why.group->targets;
    auto next = std::ranges::find_if(targets, [&](std::int32_t target) { return graph_.is_stuck(target); });
    if (next == targets.end())
      next = std::ranges::find_if(targets, [&](std::int32_t target) { return graph_.has_ended(target); });
    return Link{rank, why, *next};
  }

  // A cycle, the shortest that is found, or a wait for a rank that has ended MPI.
  [[nodiscard]] std::string blocked() const {
    std::vector<Link> best;
    std::optional<Link> end;
    std::map<std::int32_t, std::int32_t> walk_of;  // rank → predecessor on its first visit
    for (const auto& [start, stalled] : graph_.processes()) {
      std::vector<Link> path;
      for (auto link = link_of(start); link; link = link_of(link->next)) {
        if (const auto [met, is_new] = walk_of.try_emplace(link->rank, start); !is_new) {
          if (met->second != start) break;  // a known cycle
          path.erase(path.begin(), std::ranges::find(path, link->rank, &Link::rank));
          if (best.empty() || path.size() < best.size()) best = path;
          break;
        }
        if (!end && graph_.has_ended(link->next)) end = link;
        path.push_back(*link);
      }
    }
    if (!best.empty()) return circle(std::move(best));
    return end ? dead_end(*end) : "";
  }

  [[nodiscard]] std::string circle(std::vector<Link> links) const {
    constexpr std::size_t kMost = 5;
    std::rotate(links.begin(), std::ranges::min_element(links, {}, &Link::rank), links.end());
    std::string text = links.size() == 1 ? "" : "deadlock: ";
    for (std::size_t i = 0; i < std::min(links.size(), kMost); ++i) {
      const Link& link = links[i];
      const auto& group = *link.why.group;
      if (i == 0) text += fmt::format("rank {}", link.rank);
      text += fmt::format(" waits in {} for ", in_words(*link.why.call));
      const bool is_last = i + 1 == std::min(links.size(), kMost);
      if (links.size() == 1 && group.targets.size() == 1) {
        text += "itself";
      } else if (group.all || group.targets.size() == 1) {
        text += fmt::format("rank {}{}", link.next, is_last ? "" : ", which");
      } else {
        text += fmt::format("one of {}, which all wait", ranks_in_words(group.targets));
        if (!is_last) text += fmt::format("; rank {}", link.next);
      }
    }
    if (links.size() > kMost) text += fmt::format(", and so on through {} ranks", links.size());
    return text;
  }

  [[nodiscard]] std::string dead_end(const Link& link) const {
    const char* const state = graph_.processes().contains(link.next) ? "is in MPI_Finalize" : "has ended MPI";
    const auto& group = *link.why.group;
    const PendingCall& call = *link.why.call;
    const std::string waits = fmt::format("rank {} waits in {}", link.rank, in_words(call));
    const bool is_of_one = call.parts.size() == 1 && call.operation.shape == Shape::kCompletes;
    if (WaitGraph::is_collective(is_of_one ? call.parts.front() : call.operation)) {
      std::vector<std::int32_t> missing;
      std::ranges::copy_if(group.targets, std::back_inserter(missing),
                           [&](std::int32_t target) { return graph_.has_ended(target); });
      return fmt::format("a collective that not all have called: {}; {} {} MPI_Finalize", waits,
                         ranks_in_words(missing), missing.size() == 1 ? "has called" : "have called");
    }
    if (!group.all && group.targets.size() > 1)
      return fmt::format("{} for any rank, but no other can send: rank {} {}", waits, link.next, state);
    return fmt::format("{} for rank {}, which {}", waits, link.next, state);
  }

  // State of ranks that may proceed, as a phrase for one rank and for several.
  struct State {
    std::string one, several;
    friend auto operator<=>(const State&, const State&) = default;
  };
  [[nodiscard]] State state_of(const StalledProcess& stalled) const {
    if (stalled.is_stopped)
      return {"is stopped, by a signal or a debugger,", "are stopped, by a signal or a debugger,"};
    if (stalled.mpi && stalled.has_free_threads) {
      const std::string call = call_in_words(*stalled.mpi);
      return {fmt::format("is in {}, and has threads that are not in MPI,", call),
              fmt::format("are in {}, and have threads that are not in MPI,", call)};
    }
    if (stalled.mpi) {
      const std::string call = in_words(*stalled.mpi) + (waits_outside(*stalled.mpi) ? ", for another program," : "");
      return {"is in " + call, "are in " + call};
    }
    if (stalled.io) {
      const std::string call = call_in_words(*stalled.io);
      return {"is in " + call, "are in " + call};
    }
    constexpr double kBusy = 0.5, kIdle = 0.05;
    const bool is_busy = stalled.cpu_share && *stalled.cpu_share >= kBusy;
    if (stalled.sleeps && stalled.cpu_share && *stalled.cpu_share < kIdle)
      return {"sleeps or is blocked outside MPI", "sleep or are blocked outside MPI"};
    if (stalled.sleeps && !is_busy) return {"is outside MPI", "are outside MPI"};
    const std::string place = reports::place_in_words(stalled.computes);
    const std::string in = place.empty() ? "" : " in " + place;
    return {"computes" + in, "compute" + in};
  }
  // Waits for a process outside this world.
  [[nodiscard]] static bool waits_outside(const PendingCall& call) {
    const PendingOperation& operation = call.operation;
    if (!WaitGraph::has_peer(operation) || operation.peer < 0 || !operation.comm) return false;
    const auto& members = operation.comm->members;
    const auto peer = static_cast<std::size_t>(operation.peer);
    return peer < members.size() && members[peer] < 0;
  }

  // No fault in MPI: the ranks that may proceed, and those that wait for them.
  [[nodiscard]] std::string who_may_go_on() const {
    struct Late {
      Ranks ranks;
      double seconds = 0;
      bool is_in_mpi = false;
    };
    std::map<State, Late> states;
    std::size_t free_ranks = 0, waiting = 0;
    for (const auto& [rank, stalled] : graph_.processes()) {
      if (stalled->in_finalize) continue;
      if (graph_.waits(rank)) {
        ++waiting;
        continue;
      }
      ++free_ranks;
      Late& late = states[state_of(*stalled)];
      late.ranks.push_back(static_cast<std::uint32_t>(rank));
      late.seconds = std::max(late.seconds, stalled->seconds);
      late.is_in_mpi = stalled->mpi.has_value();
    }
    using Entry = std::pair<const State, Late>;
    std::vector<const Entry*> order;
    for (const Entry& entry : states) order.push_back(&entry);
    // Ranks outside MPI first, the longest first.
    std::ranges::stable_sort(order, [](const Entry* a, const Entry* b) {
      return std::pair(a->second.is_in_mpi, -a->second.seconds) < std::pair(b->second.is_in_mpi, -b->second.seconds);
    });
    constexpr std::size_t kMost = 4;
    std::string text;
    for (std::size_t i = 0; i < std::min(order.size(), kMost); ++i) {
      const auto& [state, late] = *order[i];
      text += fmt::format("{}{} {} for {}", i == 0 ? ": " : "; ", ranks_in_words(late.ranks),
                          late.ranks.size() == 1 ? state.one : state.several, reports::human_seconds(late.seconds));
    }
    if (order.size() > kMost) text += "; and so on";
    if (waiting == 0 || free_ranks == 0) return text;
    return text + (waiting == 1 ? ", the other waits for " : ", the others wait for ") +
           (free_ranks == 1 ? "it" : "them");
  }

  const WaitGraph graph_;
  std::map<std::string, std::set<CommView::Key>> keys_of_;  // of communicators in this set of processes, by name
};

}  // namespace

std::string call_in_words(const PendingCall& call) {
  const std::string place = reports::place_in_words(call.place);
  return place.empty() ? call.operation.function : fmt::format("{} in {}", call.operation.function, place);
}

HangReason reason_of_hang(std::span<const StalledProcess> processes) { return Explanation(processes).reason(); }

}  // namespace ardoise::analyzer

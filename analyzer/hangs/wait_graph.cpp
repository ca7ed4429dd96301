#include "analyzer/hangs/wait_graph.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace ardoise::analyzer {
namespace {

using instrument::Shape;

bool receives(const PendingOperation& operation) {
  return operation.shape == Shape::kReceive || operation.shape == Shape::kPostReceive ||
         operation.shape == Shape::kProbe;
}

// A call of this function completes without other processes.
bool returns_at_once(std::string_view function) {
  return function.starts_with("MPI_I") || function.starts_with("MPI_Bsend") || function.starts_with("MPI_Start");
}

// Functions that match each other share one name. Implementations differ on whether those with different counts for
// each rank match the others.
std::string family(std::string name) {
  for (const std::string_view ending : {"_c", "_with_info"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  if (name.ends_with("erv") || name.ends_with("llv") || name.ends_with("llw")) name.pop_back();
  return name;
}

// "MPI_Ibarrier" → "MPI_Barrier".
std::string blocking(std::string name) {
  constexpr std::string_view kNonBlocking = "MPI_I";
  if (!name.starts_with(kNonBlocking) || name.size() == kNonBlocking.size() || name.starts_with("MPI_Intercomm"))
    return name;
  name.erase(kNonBlocking.size() - 1, 1);
  name[kNonBlocking.size() - 1] =
      static_cast<char>(std::toupper(static_cast<unsigned char>(name[kNonBlocking.size() - 1])));
  return name;
}

bool is_one_of(const std::string& name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::int32_t root_of(const PendingOperation& operation) {
  return operation.shape == Shape::kRooted ? operation.peer : instrument::kNoPeer;
}
// The root as a process's list of its last collectives stores it.
std::int32_t cut(std::int32_t root) {
  return static_cast<std::int32_t>(instrument::root_of_collective(instrument::collective_word(0, root)));
}

// The MPI calls that a process is in.
template <class Visit>
void for_each_call(const StalledProcess& stalled, Visit visit) {
  if (stalled.mpi) visit(*stalled.mpi);
  for (const PendingCall& call : stalled.others) visit(call);
}
template <class Visit>
void for_each_operation(const StalledProcess& stalled, Visit visit) {
  for_each_call(stalled, [&](const PendingCall& call) {
    visit(call.operation, call);
    for (const PendingOperation& part : call.parts) visit(part, call);
  });
}

}  // namespace

bool WaitGraph::has_peer(const PendingOperation& operation) {
  return operation.shape == Shape::kSend || receives(operation);
}

std::optional<std::int32_t> WaitGraph::member(const PendingOperation& operation, std::int32_t peer) {
  if (!operation.comm || peer < 0 || static_cast<std::size_t>(peer) >= operation.comm->members.size())
    return std::nullopt;
  const std::int32_t rank = operation.comm->members[static_cast<std::size_t>(peer)];
  return rank < 0 ? std::nullopt : std::optional(rank);
}

WaitGraph::WaitGraph(std::span<const StalledProcess> processes) {
  for (const StalledProcess& stalled : processes)
    processes_[static_cast<std::int32_t>(stalled.process.second)] = &stalled;
  for (const auto& [rank, stalled] : processes_) {
    for_each_operation(*stalled, [&, sender = rank](const PendingOperation& operation, const PendingCall&) {
      if (operation.shape != Shape::kSend) return;
      if (const auto target = member(operation, operation.peer)) sends_to_[*target].push_back({sender, &operation});
    });
  }
  for (const auto& [rank, stalled] : processes_) add_threads(rank, *stalled);
  release();
}

void WaitGraph::add_threads(std::int32_t rank, const StalledProcess& stalled) {
  if (stalled.in_finalize) return;
  std::vector<Thread> threads;
  bool all_wait = stalled.mpi.has_value() && !stalled.has_free_threads;
  for_each_call(stalled, [&](const PendingCall& call) {
    Thread thread{&call, groups_of(rank, call), 0};
    thread.left = thread.groups.size();
    all_wait = all_wait && !thread.groups.empty();
    threads.push_back(std::move(thread));
  });
  if (all_wait) {
    threads_[rank] = std::move(threads);
  } else {
    free_[rank] = true;
  }
}

// None: as far as known, it may complete.
std::vector<WaitGraph::GroupId> WaitGraph::groups_of(std::int32_t rank, const PendingCall& call) {
  const PendingOperation& operation = call.operation;
  const std::string& name = operation.function;
  const bool completes = operation.shape == Shape::kCompletes;
  if (completes && !name.starts_with("MPI_Wait")) return {};
  std::vector<const PendingOperation*> parts;
  if (!completes) parts.push_back(&operation);
  for (const PendingOperation& part : call.parts) parts.push_back(&part);
  // One of them is incomplete, but not known which.
  const bool is_any = completes && (name.find("any") != std::string::npos || name.find("some") != std::string::npos);
  const bool is_sure = !call.parts_missing && parts.size() == 1;
  const bool may_be_done = std::ranges::any_of(parts, [](const auto* part) { return part->may_be_done; });
  if (is_any || (may_be_done && !is_sure))
    return call.parts_missing ? std::vector<GroupId>() : one_of(rank, parts, is_any);
  std::vector<GroupId> groups;
  for (const PendingOperation* const part : parts) {
    if (!completes && returns_at_once(part->function)) continue;
    if (has_peer(*part) && meets(rank, *part)) continue;
    const auto more = groups_of(rank, *part);
    groups.insert(groups.end(), more.begin(), more.end());
  }
  return groups;
}

// is_any: one completion is enough. Otherwise all have to complete; all but one may have completed, and messages whose
// other end has arrived do.
std::vector<WaitGraph::GroupId> WaitGraph::one_of(std::int32_t rank,
                                                  std::span<const PendingOperation* const> operations, bool is_any) {
  std::vector<std::int32_t> targets;
  const auto meets_other = [&](const PendingOperation* operation) {
    return has_peer(*operation) && meets(rank, *operation);
  };
  if (is_any ? std::ranges::any_of(operations, meets_other) : std::ranges::all_of(operations, meets_other)) return {};
  for (const PendingOperation* const operation : operations) {
    if (has_peer(*operation) && operation->peer == instrument::kNoPeer && operation->may_be_done) continue;
    const auto groups = groups_of(rank, *operation);
    // All have begun it: it has completed, or will when computing ranks call MPI.
    if (groups.empty() && !is_any && is_at_work(*operation))
      targets.insert(targets.end(), operation->comm->members.begin(), operation->comm->members.end());
    else if (groups.empty())
      return {};
    for (const GroupId group : groups) {
      const auto& of_group = groups_[group].targets;
      targets.insert(targets.end(), of_group.begin(), of_group.end());
    }
  }
  std::ranges::sort(targets);
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  if (targets.empty()) return {};
  return {add(false, std::move(targets))};
}

std::vector<WaitGraph::GroupId> WaitGraph::groups_of(std::int32_t rank, const PendingOperation& operation) {
  if (!operation.comm) return {};
  if (has_peer(operation)) return groups_of_message(operation);
  return is_collective(operation) ? groups_of_collective(rank, operation) : std::vector<GroupId>();
}

std::vector<WaitGraph::GroupId> WaitGraph::groups_of_message(const PendingOperation& operation) {
  if (operation.peer == instrument::kAnySource) {
    if (!operation.comm->is_whole) return {};
    // The rank itself may be among them, which changes nothing.
    const auto [known, is_new] = from_any_.try_emplace(operation.comm->key, groups_.size());
    if (is_new || operation.comm->is_inter) return {add(false, operation.comm->members)};
    return {known->second};
  }
  const auto target = member(operation, operation.peer);
  if (!target) return {};
  return {add(false, {*target})};
}

// The other end of the message has arrived: it completes.
bool WaitGraph::meets(std::int32_t rank, const PendingOperation& operation) const {
  const auto matches = [&](const PendingOperation& send, std::int32_t from, const PendingOperation& receive) {
    if (!send.comm || !receive.comm || send.comm->key != receive.comm->key) return false;
    if (receive.tag != instrument::kAnyTag && receive.tag != send.tag) return false;
    return receive.peer == instrument::kAnySource || member(receive, receive.peer) == from;
  };
  if (receives(operation)) {
    const auto sends = sends_to_.find(rank);
    return sends != sends_to_.end() && std::ranges::any_of(sends->second, [&](const End& end) {
             return end.rank != rank && matches(*end.operation, end.rank, operation);
           });
  }
  const auto target = member(operation, operation.peer);
  const auto other = target && *target != rank ? processes_.find(*target) : processes_.end();
  if (other == processes_.end()) return false;
  bool found = false;
  for_each_operation(*other->second, [&](const PendingOperation& theirs, const PendingCall&) {
    found = found || (receives(theirs) && matches(operation, rank, theirs));
  });
  return found;
}

std::vector<WaitGraph::GroupId> WaitGraph::groups_of_collective(std::int32_t rank, const PendingOperation& operation) {
  constexpr std::array<std::string_view, 8> kNeedAll{
      "MPI_Barrier",  "MPI_Allreduce",  "MPI_Allgather",      "MPI_Alltoall", "MPI_Reduce_scatter_block",
      "MPI_Comm_dup", "MPI_Comm_split", "MPI_Comm_split_type"};
  constexpr std::array<std::string_view, 2> kFromRoot{"MPI_Bcast", "MPI_Scatter"}, kToRoot{"MPI_Reduce", "MPI_Gather"};
  if (operation.comm->is_inter || !operation.comm->is_whole) return {};
  const MissingMembers& others = missing_members(operation);
  std::string name = operation.function;
  for (const std::string_view ending : {"_c", "_with_info"}) {
    if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  // A non-blocking collective may need ranks that have begun it to call MPI before it completes, even when others have
  // ended: it must be known whether these took part.
  const bool is_request = blocking(name) != name;
  name = blocking(name);
  const bool has_unknown = others.has_unknown || (is_request && !others.ended.empty());
  const std::int32_t root = operation.shape == Shape::kRooted ? member(operation, operation.peer).value_or(-1) : -1;
  Need need = Need::kOne;
  if (is_one_of(name, kNeedAll)) need = Need::kEach;
  if (root == rank && is_one_of(name, kToRoot)) need = Need::kEachThatIsKnown;
  if (root != rank && is_one_of(name, kFromRoot) && std::ranges::find(others.known, root) != others.known.end())
    need = Need::kRoot;
  if (need == Need::kEachThatIsKnown && others.known.empty()) need = Need::kOne;

  const auto [known, is_new] = of_collective_.try_emplace(
      {Place{operation.comm->key, *operation.number}, need, need == Need::kRoot ? root : -1});
  if (!is_new) return known->second;
  std::vector<std::int32_t> targets = others.known;
  if ((need == Need::kEach || need == Need::kOne) && !is_request)
    targets.insert(targets.end(), others.ended.begin(), others.ended.end());
  if (need == Need::kRoot) targets = {root};
  // All have arrived: it is in progress.
  if (targets.empty() || (need == Need::kOne && has_unknown)) return {};
  known->second = {add(need != Need::kOne, std::move(targets))};
  return known->second;
}

bool WaitGraph::is_at_work(const PendingOperation& operation) {
  if (!is_collective(operation) || !operation.comm || operation.comm->is_inter || !operation.comm->is_whole)
    return false;
  const MissingMembers& others = missing_members(operation);
  return others.known.empty() && others.ended.empty() && !others.has_unknown;
}

// Number of collectives that the rank has begun on a communicator.
std::optional<std::uint32_t> WaitGraph::begun(std::int32_t rank, CommView::Key key) const {
  const StalledProcess& stalled = *processes_.at(rank);
  const auto found = stalled.collectives.find(key);
  if (found == stalled.collectives.end() && !stalled.knows_all_collectives) return std::nullopt;
  std::uint32_t count = found == stalled.collectives.end() ? 0 : found->second.begun;
  for_each_operation(stalled, [&](const PendingOperation& operation, const PendingCall&) {
    if (is_collective(operation) && operation.comm && operation.comm->key == key)
      count = std::max(count, *operation.number + 1);
  });
  return count;
}

const WaitGraph::MissingMembers& WaitGraph::missing_members(const PendingOperation& collective) {
  const auto [found, is_new] = missing_members_.try_emplace(Place{collective.comm->key, *collective.number});
  MissingMembers& others = found->second;
  if (!is_new) return others;
  for (const std::int32_t rank : collective.comm->members) {
    if (!processes_.contains(rank)) {
      others.ended.push_back(rank);
    } else if (const auto count = begun(rank, collective.comm->key); !count) {
      // Operations that it has completed without reporting it.
      if (has_ended(rank)) {
        others.ended.push_back(rank);
      } else {
        others.has_unknown = true;
      }
    } else if (*count <= *collective.number) {
      others.known.push_back(rank);
    }
  }
  compare(collective);
  return others;
}

void WaitGraph::compare(const PendingOperation& collective) {
  Variants variants;
  for (const std::int32_t rank : collective.comm->members) {
    const auto found = processes_.find(rank);
    if (found == processes_.end()) continue;
    const StalledProcess& stalled = *found->second;
    const auto number = static_cast<std::uint32_t>(rank);
    bool is_inside = false;
    for_each_operation(stalled, [&](const PendingOperation& theirs, const PendingCall& call) {
      if (is_inside || !theirs.comm || theirs.comm->key != collective.comm->key || theirs.number != collective.number)
        return;
      is_inside = true;
      Variant& variant = variants[{family(theirs.function), cut(root_of(theirs))}];
      variant.inside.push_back(number);
      if (variant.call == nullptr) variant.call = &call;
    });
    const auto all = stalled.collectives.find(collective.comm->key);
    if (is_inside || all == stalled.collectives.end() || all->second.begun <= *collective.number) continue;
    const std::uint32_t ago = all->second.begun - *collective.number;
    if (ago > all->second.last.size()) continue;
    const CollectiveHistory::Call& call = all->second.last[all->second.last.size() - ago];
    variants[{family(call.function), cut(call.root)}].past.push_back(number);
  }
  if (variants.size() > 1) mismatches_.push_back(std::move(variants));
}

WaitGraph::GroupId WaitGraph::add(bool all, std::vector<std::int32_t> targets) {
  groups_.push_back({all, std::move(targets), false});
  return groups_.size() - 1;
}

bool WaitGraph::has_ended(std::int32_t rank) const {
  const auto stalled = processes_.find(rank);
  return stalled == processes_.end() || stalled->second->in_finalize;
}

bool WaitGraph::is_stuck(std::int32_t rank) const { return threads_.contains(rank) && !free_.contains(rank); }

// Propagates from free ranks to all that wait only for free ones. Each wait is visited once.
void WaitGraph::release() {
  std::unordered_map<std::int32_t, std::vector<GroupId>> waited_for;
  std::vector<std::size_t> left(groups_.size());
  for (GroupId group = 0; group < groups_.size(); ++group) {
    left[group] = groups_[group].all ? groups_[group].targets.size() : 1;
    for (const std::int32_t target : groups_[group].targets) waited_for[target].push_back(group);
  }
  struct Waiter {
    std::int32_t rank;
    Thread* thread;
  };
  std::vector<std::vector<Waiter>> waiters(groups_.size());
  for (auto& [rank, threads] : threads_) {
    for (Thread& thread : threads) {
      for (const GroupId group : thread.groups) waiters[group].push_back({rank, &thread});
    }
  }
  std::vector<std::int32_t> next;
  for (const auto& [rank, is_free] : free_) next.push_back(rank);
  while (!next.empty()) {
    const std::int32_t rank = next.back();
    next.pop_back();
    for (const GroupId group : waited_for[rank]) {
      if (groups_[group].is_alive || --left[group] != 0) continue;
      groups_[group].is_alive = true;
      for (const Waiter& waiter : waiters[group]) {
        if (--waiter.thread->left == 0 && free_.emplace(waiter.rank, true).second) next.push_back(waiter.rank);
      }
    }
  }
}

WaitGraph::Stuck WaitGraph::why_stuck(std::int32_t rank) const {
  Stuck found;
  for (const Thread& thread : threads_.at(rank)) {
    for (const GroupId id : thread.groups) {
      const Group& group = groups_[id];
      if (group.is_alive) continue;
      const bool is_better = std::ranges::any_of(group.targets, [&](std::int32_t target) { return is_stuck(target); });
      if (found.group == nullptr || is_better) found = {thread.call, &group};
      if (is_better) return found;
    }
  }
  return found;
}

}  // namespace ardoise::analyzer

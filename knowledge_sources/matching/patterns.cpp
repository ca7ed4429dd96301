#include "knowledge_sources/matching/patterns.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ardoise::knowledge_sources {
namespace {

// awaited: nullptr unless it is one rank.
void add(WaitPattern pattern, const Part& waiter, const Part* awaited, double waited, double error,
         std::vector<Wait>& out) {
  Wait wait = no_wait(waiter);
  if (set_length(wait, waited, error, awaited == nullptr ? kNobody : awaited->rank)) {
    wait.pattern = pattern;
    if (awaited != nullptr) wait.of_awaited = awaited->stretch;
    if (pattern == WaitPattern::kBarrierCompletion) wait.begin = waiter.end - waited;
  }
  if (wait.ns != 0 || wait.operations > 1) out.push_back(wait);
}

// `waiter` was blocked until `until`, when `awaited` arrived.
void add_until(WaitPattern pattern, const Part& waiter, const Part& awaited, double until, std::vector<Wait>& out) {
  add(pattern, waiter, &awaited, std::min(until, waiter.end) - waiter.begin, waiter.clock_error + awaited.clock_error,
      out);
}

double posted(const Arrival& arrival) { return arrival.part.posted; }

// If several are the latest, the lowest rank wins, so that the order of arrival does not matter.
const Arrival* latest(std::span<const Arrival> arrivals) {
  return &*std::ranges::max_element(arrivals, {},
                                    [](const Arrival& each) { return std::pair(each.part.posted, ~each.part.rank); });
}

const Arrival* root_of(std::span<const Arrival> arrivals) {
  const auto root = std::ranges::find_if(arrivals, [](const Arrival& each) {
    return each.root >= 0 && each.comm_rank == static_cast<std::uint32_t>(each.root);
  });
  return root == arrivals.end() ? nullptr : &*root;
}

// MPI lets a sender go on before the receiver of its data comes, but some algorithms hold it: such a sender leaves soon
// after the receiver came.
bool is_held(const Part& sender, const Part& receiver) {
  constexpr double kSoon = 0.2;  // ÷ time before
  const double before = receiver.posted - sender.begin, after = sender.end - receiver.posted;
  return before > 0 && after > 0 && after < kSoon * before;
}

WaitPattern pattern_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kBarrier:
      return WaitPattern::kBarrier;
    case CollectiveKind::kFromRoot:
      return WaitPattern::kLateRoot;
    case CollectiveKind::kToRoot:
      return WaitPattern::kEarlyRoot;
    case CollectiveKind::kFromLower:
      return WaitPattern::kEarlyScan;
    case CollectiveKind::kWindow:
      return WaitPattern::kFence;
    case CollectiveKind::kInit:
      return WaitPattern::kInit;
    case CollectiveKind::kFinalize:
      return WaitPattern::kFinalize;
    default:
      return WaitPattern::kAllToAll;
  }
}

// Time from the first leaving, but not before the last arrival, to each rank's own leaving.
void barrier_completion(std::span<const Arrival> arrivals, std::vector<Wait>& out) {
  const double last = latest(arrivals)->part.begin;
  const Part& first = std::ranges::min_element(arrivals, {}, [](const Arrival& each) { return each.part.end; })->part;
  for (const Arrival& each : arrivals) {
    const Part& part = each.part;
    if (part.rank == first.rank) continue;
    add(WaitPattern::kBarrierCompletion, part, nullptr, part.end - std::max(first.end, std::min(last, part.end)),
        part.clock_error + first.clock_error, out);
  }
}

}  // namespace

std::string_view pattern_name(WaitPattern pattern) {
  constexpr std::array<std::string_view, kWaitPatterns> kNames{"wait_barrier",
                                                               "barrier_completion",
                                                               "wait_nxn",
                                                               "late_broadcast",
                                                               "early_reduce",
                                                               "early_scan",
                                                               "nonblocking_collective",
                                                               "late_sender",
                                                               "wrong_order",
                                                               "late_receiver",
                                                               "fence",
                                                               "init",
                                                               "finalize",
                                                               "late_post",
                                                               "early_wait",
                                                               "late_complete",
                                                               "lock"};
  return kNames[static_cast<std::size_t>(pattern)];
}

Wait no_wait(const Part& part) {
  Wait wait{};
  wait.pattern = WaitPattern::kNonblocking;
  wait.certain = true;
  wait.waiter = part.rank;
  wait.awaited = kNobody;
  wait.call_site = part.call_site;
  wait.function = part.function;
  wait.operations = part.operations;
  wait.call = part.call;
  wait.order = part.order;
  wait.call_begin = wait.begin = part.begin;
  wait.of_waiter = part.stretch;
  return wait;
}

bool set_length(Wait& wait, double ns, double error, std::uint32_t awaited) {
  const double rounded = ns + 0.5;
  if (!(rounded >= 1 && rounded < 1e18)) return false;
  wait.ns = static_cast<std::uint64_t>(rounded);
  wait.certain = ns > error;
  wait.awaited = awaited;
  return true;
}

void find_waits(CollectiveKind kind, bool nonblocking, std::span<Arrival> arrivals, std::vector<Wait>& out) {
  if (arrivals.empty()) return;
  const WaitPattern pattern = nonblocking ? WaitPattern::kNonblocking : pattern_of(kind);
  const Arrival* awaited = nullptr;  // by all, or by the root
  if (kind == CollectiveKind::kFromLower) {
    std::ranges::sort(arrivals, {}, &Arrival::comm_rank);
  } else if (kind == CollectiveKind::kFromRoot) {
    awaited = root_of(arrivals);
  } else if (kind != CollectiveKind::kUnjudged) {
    awaited = latest(arrivals);
  }
  const bool to_root = kind == CollectiveKind::kToRoot, from_root = kind == CollectiveKind::kFromRoot;
  const Arrival* const root = to_root ? root_of(arrivals) : from_root ? awaited : nullptr;
  // The last receiver of a sender's data: the root, or the last to come.
  const Arrival* const receiver = to_root ? root : from_root ? latest(arrivals) : nullptr;
  for (const Arrival& each : arrivals) {
    const bool sends = root != nullptr && to_root == (root != &each);
    // In collectives that need no waiting, a rank that left before another arrived did not wait.
    const bool waits = awaited != nullptr && awaited != &each && (!to_root || root == &each) &&
                       (!may_not_wait(kind) || each.part.end > posted(*awaited));
    if (sends && receiver != &each && is_held(each.part, receiver->part)) {
      add_until(nonblocking ? pattern
                : to_root   ? WaitPattern::kLateRoot
                            : WaitPattern::kEarlyRoot,
                each.part, receiver->part, receiver->part.posted, out);
    } else if (waits && posted(*awaited) > posted(each)) {
      add_until(pattern, each.part, awaited->part, posted(*awaited), out);
    } else if (each.part.operations > 1) {
      out.push_back(no_wait(each.part));
    }
    if (kind == CollectiveKind::kFromLower && (awaited == nullptr || posted(each) > posted(*awaited))) awaited = &each;
  }
  if (kind == CollectiveKind::kBarrier && !nonblocking && arrivals.size() > 1) barrier_completion(arrivals, out);
}

void find_neighbour_waits(bool nonblocking, std::span<Arrival> arrivals, std::span<const Neighbours> neighbours,
                          std::vector<Wait>& out) {
  std::ranges::sort(arrivals, {}, &Arrival::comm_rank);
  std::vector<const Part*> awaited(arrivals.size());  // by the waiting rank
  const auto order = [](const Part& part) { return std::pair(part.posted, ~part.rank); };
  for (const auto& [source, destination] : neighbours) {
    if (source >= arrivals.size() || destination >= arrivals.size() || source == destination) continue;
    const Part& part = arrivals[source].part;
    const Part*& latest = awaited[destination];
    if (latest == nullptr || order(part) > order(*latest)) latest = &part;
  }
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const Part& part = arrivals[i].part;
    if (awaited[i] != nullptr && awaited[i]->posted > part.posted) {
      add_until(nonblocking ? WaitPattern::kNonblocking : WaitPattern::kAllToAll, part, *awaited[i], awaited[i]->posted,
                out);
    } else if (part.operations > 1) {
      out.push_back(no_wait(part));
    }
  }
}

void find_message_waits(const Part& send, const Part& receive, std::vector<Wait>& out) {
  add_until(WaitPattern::kLateSender, receive, send, send.posted, out);
  // A send that ended before the receive was posted was buffered.
  const bool is_held = send.end > receive.posted;
  add_until(WaitPattern::kLateReceiver, send, receive, is_held ? receive.posted : send.begin, out);
}

}  // namespace ardoise::knowledge_sources

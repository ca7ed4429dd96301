// See patterns.hpp.
#include "knowledge_sources/waits/patterns.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ardoise::knowledge_sources {
namespace {

class Finder {
 public:
  explicit Finder(std::vector<Wait>& out) : out_(out) {}

  // `waiter` was in the call from its begin, or `from`, on and could not go on before `until`, when `awaited` came.
  void add(WaitPattern pattern, const Arrival& waiter, const Arrival& awaited, double until) {
    const double waited = std::min(until, waiter.end) - waiter.begin;
    note(pattern, waiter, awaited.rank, waited, waiter.clock_error + awaited.clock_error);
  }
  void note(WaitPattern pattern, const Arrival& waiter, std::uint32_t awaited, double waited, double error) {
    const double ns = std::round(waited);
    if (!(ns >= 1) || !(ns < 1e18)) return;
    out_.push_back({pattern, waiter.rank, awaited, waiter.call_site, static_cast<std::uint64_t>(ns), waited > error});
  }

 private:
  std::vector<Wait>& out_;
};

const Arrival& latest(std::span<const Arrival> arrivals) {
  return *std::ranges::max_element(arrivals, {}, &Arrival::begin);
}

void all_for_all(WaitPattern pattern, std::span<const Arrival> arrivals, Finder& finder) {
  const Arrival& last = latest(arrivals);
  for (const Arrival& each : arrivals) {
    if (each.rank != last.rank) finder.add(pattern, each, last, last.begin);
  }
}

// The time from the first one's leaving, but not before all have come, to a rank's own.
void completion(std::span<const Arrival> arrivals, Finder& finder) {
  const Arrival& last = latest(arrivals);
  const Arrival& first = *std::ranges::min_element(arrivals, {}, &Arrival::end);
  for (const Arrival& each : arrivals) {
    if (each.rank == first.rank) continue;
    finder.note(WaitPattern::kBarrierCompletion, each, kNobody,
                each.end - std::max(first.end, std::min(last.begin, each.end)), each.clock_error + first.clock_error);
  }
}

void with_root(CollectiveKind kind, std::span<const Arrival> arrivals, Finder& finder) {
  const auto root = std::ranges::find_if(arrivals, [](const Arrival& each) {
    return each.root >= 0 && each.comm_rank == static_cast<std::uint32_t>(each.root);
  });
  if (root == arrivals.end()) return;
  if (kind == CollectiveKind::kToRoot) {
    const Arrival& last = latest(arrivals);
    if (last.rank != root->rank) finder.add(WaitPattern::kEarlyRoot, *root, last, last.begin);
    return;
  }
  for (const Arrival& each : arrivals) {
    if (each.rank != root->rank) finder.add(WaitPattern::kLateRoot, each, *root, root->begin);
  }
}

void from_lower(std::span<Arrival> arrivals, Finder& finder) {
  std::ranges::sort(arrivals, {}, &Arrival::comm_rank);
  const Arrival* last = &arrivals[0];
  for (const Arrival& each : arrivals.subspan(1)) {
    if (each.begin > last->begin) {
      last = &each;
    } else {
      finder.add(WaitPattern::kEarlyScan, each, *last, last->begin);
    }
  }
}

}  // namespace

std::string_view pattern_name(WaitPattern pattern) {
  constexpr std::array<std::string_view, kWaitPatterns> kNames{"wait_barrier",   "barrier_completion", "wait_nxn",
                                                               "late_broadcast", "early_reduce",       "early_scan"};
  return kNames[static_cast<std::size_t>(pattern)];
}

void find_waits(CollectiveKind kind, std::span<Arrival> arrivals, std::vector<Wait>& out) {
  if (arrivals.size() < 2) return;
  Finder finder(out);
  switch (kind) {
    case CollectiveKind::kNone:
    case CollectiveKind::kUnjudged:
      return;
    case CollectiveKind::kBarrier:
      all_for_all(WaitPattern::kBarrier, arrivals, finder);
      return completion(arrivals, finder);
    case CollectiveKind::kAllToAll:
      return all_for_all(WaitPattern::kAllToAll, arrivals, finder);
    case CollectiveKind::kFromRoot:
    case CollectiveKind::kToRoot:
      return with_root(kind, arrivals, finder);
    case CollectiveKind::kFromLower:
      return from_lower(arrivals, finder);
  }
}

}  // namespace ardoise::knowledge_sources

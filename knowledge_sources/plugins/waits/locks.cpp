#include "knowledge_sources/plugins/waits/locks.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace ardoise::knowledge_sources {
namespace {

double error_of(const LockEpoch& a, const LockEpoch& b) { return double{a.clock_error} + double{b.clock_error}; }

// The locks of one window by target, each list in the order of release.
class OfWindow {
 public:
  explicit OfWindow(std::span<const LockEpoch> epochs) {
    for (const LockEpoch& epoch : epochs) {
      by_target_[epoch.target].push_back(&epoch);
      if (epoch.exclusive != 0) exclusive_.push_back(&epoch);
      greatest_error_ = std::max(greatest_error_, 2 * double{epoch.clock_error});
    }
    for (auto& [target, list] : by_target_) sort(list);
    sort(exclusive_);
  }

  // The last one to release the lock that `waiter` needed in `call` for `target`; nullptr: none.
  [[nodiscard]] const LockEpoch* awaited(const LockEpoch& waiter, const WindowCall& call, std::uint32_t target) const {
    if (waiter.target == kAllTargets && target == kAllTargets) return last_of(exclusive_, waiter, call);
    const LockEpoch* const of_one = last_of(list_of(target), waiter, call);
    const LockEpoch* const of_all = waiter.exclusive != 0 ? last_of(list_of(kAllTargets), waiter, call) : nullptr;
    if (of_one == nullptr || of_all == nullptr) return of_one == nullptr ? of_all : of_one;
    return order(of_one) < order(of_all) ? of_all : of_one;
  }

 private:
  using List = std::vector<const LockEpoch*>;
  static std::tuple<double, std::uint32_t, double> order(const LockEpoch* epoch) {
    return {epoch->unlock_begin, ~epoch->rank, epoch->lock.begin};
  }
  static void sort(List& list) { std::ranges::sort(list, {}, order); }
  [[nodiscard]] const List& list_of(std::uint32_t target) const {
    static const List kNone;
    const auto found = by_target_.find(target);
    return found == by_target_.end() ? kNone : found->second;
  }
  [[nodiscard]] const LockEpoch* last_of(const List& list, const LockEpoch& waiter, const WindowCall& call) const {
    auto end = std::ranges::upper_bound(list, call.end + greatest_error_, {}, &LockEpoch::unlock_begin);
    while (end != list.begin()) {
      const LockEpoch* const holder = *--end;
      if (holder->unlock_begin <= call.begin) return nullptr;
      if (was_before(*holder, waiter, call)) return holder;
    }
    return nullptr;
  }
  // A rank that waits in its first call cannot have had the lock before. If it waits in a later call, a holder that
  // releases meanwhile had it if it had left MPI_Win_lock before, ended its epoch first, and cannot itself have waited
  // for this one.
  static bool was_before(const LockEpoch& holder, const LockEpoch& waiter, const WindowCall& call) {
    const double error = error_of(holder, waiter);
    if (holder.rank == waiter.rank || (holder.exclusive == 0 && waiter.exclusive == 0)) return false;
    if (holder.unlock_begin > call.end + error) return false;
    if (&call == &waiter.lock) return true;
    const auto is_within = [&](double begin, double end) {
      return begin - error < waiter.unlock_begin && waiter.unlock_begin < end + error;
    };
    return holder.lock.end <= call.begin + error && holder.unlock_end <= waiter.unlock_end + error &&
           !is_within(holder.later.begin, holder.later.end) && !is_within(holder.unlock_begin, holder.unlock_end);
  }

  std::map<std::uint32_t, List> by_target_;
  List exclusive_;
  double greatest_error_ = 0;
};

void judge_one(const OfWindow& window, const LockEpoch& waiter, WaitSums& sums) {
  const WindowCall* call = &waiter.lock;
  const LockEpoch* holder = window.awaited(waiter, *call, waiter.target);
  if (holder == nullptr) {
    call = &waiter.later;
    holder = window.awaited(waiter, *call, waiter.later_target);
  }
  if (holder == nullptr) return;
  Wait wait = wait_in(WaitPattern::kLock, waiter, *call, call->begin, std::min(holder->unlock_begin, call->end),
                      holder->rank, error_of(*holder, waiter));
  wait.of_awaited = holder->held;
  if (wait.ns != 0) sums.add(std::span(&wait, 1));
}

}  // namespace

void Locks::add(const LockEpoch& epoch, WaitSums& sums) {
  if (epochs_ >= kMostEpochs) return sums.add_calls(epoch.rank, {.beyond_room = 1});
  ++epochs_;
  windows_[epoch.window].push_back(epoch);
}

void Locks::evaluate(WaitSums& sums) const {
  for (const auto& [id, epochs] : windows_) {
    const OfWindow window(epochs);
    for (const LockEpoch& epoch : epochs) {
      judge_one(window, epoch, sums);
      sums.count_call(epoch.rank);
    }
  }
}

}  // namespace ardoise::knowledge_sources

#include "knowledge_sources/plugins/waits/epochs.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <type_traits>

namespace ardoise::knowledge_sources {
namespace {

// Number of the rank's calls that wait for several targets. Other calls with several operations have lower ones.
constexpr std::uint32_t kCallsInWindows = 0x80000000;

// The origin waited in the call that it was in when the target arrived: some libraries wait in the start, others at the
// first operation, others at the end. The other calls waited for nothing.
void late_post(const Access& access, const Exposure& exposure, WaitSums& sums) {
  const double error = access.clock_error + exposure.clock_error;
  const std::array<const WindowCall*, 3> calls{&access.start, &access.first, &access.complete};
  bool has_waited = false;
  for (const WindowCall* const call : calls) {
    const bool waits =
        !has_waited && call->begin <= call->end && call->begin < exposure.post && exposure.post <= call->end + error;
    has_waited = has_waited || waits;
    Wait wait = wait_in(WaitPattern::kLatePost, access, *call, call->begin,
                        waits ? std::min(exposure.post, call->end) : call->begin, exposure.rank, error);
    wait.of_waiter = call == &access.start ? access.to_start : access.to_last;
    wait.of_awaited = exposure.to_post;
    if (call != &access.first && access.others > 1) {
      wait.operations = access.others;
      wait.call = kCallsInWindows | access.serial << 1 | (call == &access.start ? 0u : 1u);
    }
    if (wait.ns != 0 || wait.operations > 1) sums.add(std::span(&wait, 1));
  }
}

}  // namespace

template <class Half>
void Epochs::add_half(const Half& half, WaitSums& sums) {
  const auto other = alone_.find(half.key);
  if (other == alone_.end()) {
    if (alone_.size() >= kMostParts) return sums.add_calls(half.rank, {.beyond_room = 1});
    alone_.emplace(half.key, half);
    return;
  }
  // Invalid input may contain one half twice.
  if (std::holds_alternative<Half>(other->second)) return sums.add_calls(half.rank, {.incomplete = 1});
  if constexpr (std::is_same_v<Half, Access>) {
    join(half, std::get<Exposure>(other->second), sums);
  } else {
    join(std::get<Access>(other->second), half, sums);
  }
  alone_.erase(other);
}
template void Epochs::add_half(const Access&, WaitSums&);
template void Epochs::add_half(const Exposure&, WaitSums&);

void Epochs::add_alone(WaitSums& sums) const {
  for (const auto& [key, half] : alone_)
    std::visit([&](const auto& each) { sums.add_calls(each.rank, {.incomplete = 1}); }, half);
}

void Epochs::join(const Access& access, const Exposure& exposure, WaitSums& sums) {
  late_post(access, exposure, sums);
  end_exposure(access, exposure, sums);
  sums.count_call(access.rank);
  sums.count_call(exposure.rank);
}

void Epochs::end_exposure(const Access& access, const Exposure& exposure, WaitSums& sums) {
  Ending ending{
      access.complete.begin, access.last_end, access.clock_error, access.rank, access.to_last, access.after_last, 1};
  if (exposure.others > 1) {
    const std::pair key(exposure.rank, exposure.serial);
    auto known = endings_.find(key);
    if (known == endings_.end()) {
      if (endings_.size() >= kMostParts) return sums.add_calls(exposure.rank, {.beyond_room = 1});
      known = endings_.emplace(key, ending).first;
    } else {
      // A deterministic choice among equal ones, whatever the order of arrival.
      const auto order = [](const Ending& each) { return std::tuple(each.complete, ~each.rank); };
      ending.known = known->second.known + 1;
      if (order(ending) < order(known->second)) {
        known->second.known = ending.known;
        ending = known->second;
      }
      known->second = ending;
    }
    if (ending.known < exposure.others) return;
    endings_.erase(known);
  }
  const WindowCall& call = exposure.wait;
  const double until = std::min(ending.complete, call.end), error = exposure.clock_error + ending.clock_error;
  const double idle = std::clamp(ending.last_end, call.begin, std::max(call.begin, until));
  Wait early = wait_in(WaitPattern::kEarlyWait, exposure, call, call.begin, idle, ending.rank, error);
  early.of_waiter = exposure.to_wait;
  early.of_awaited = ending.to_last;
  Wait late = wait_in(WaitPattern::kLateComplete, exposure, call, idle, until, ending.rank, error);
  late.of_awaited = ending.after_last;
  for (const Wait& wait : {early, late}) {
    if (wait.ns != 0) sums.add(std::span(&wait, 1));
  }
}

}  // namespace ardoise::knowledge_sources

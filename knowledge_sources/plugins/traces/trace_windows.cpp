#include "knowledge_sources/plugins/traces/trace_windows.hpp"

#include <algorithm>
#include <iterator>

namespace ardoise::knowledge_sources {

TraceWindows::Window& TraceWindows::window_of(std::uint32_t number) {
  if (last_ == nullptr || last_number_ != number) {
    last_number_ = number;
    last_ = &windows_[number];  // its address is stable
  }
  return *last_;
}

std::uint64_t TraceWindows::operate(std::uint32_t window, std::uint32_t target, bool gets, std::uint32_t& next) {
  const auto [found, is_new] = window_of(window).shared.try_emplace({target, gets}, Pending{next, target, gets, false});
  if (is_new) {
    ++next;
  }
  found->second.at_origin = false;  // where MPI_Win_flush_local has completed earlier ones
  return found->second.id;
}

bool TraceWindows::start(std::uint32_t window, std::uint32_t target, bool gets, std::uint64_t id) {
  auto& requests = window_of(window).requests;
  if (requests.size() >= kMostRequests) return false;
  requests.push_back({id, target, gets, false});
  return true;
}

bool TraceWindows::end(Pending& pending, Completes how, std::vector<Ended>& ended) {
  const bool now_at_origin = !pending.at_origin;
  const bool at_target = how == Completes::kEverywhere || (pending.gets && now_at_origin);
  pending.at_origin = true;
  if (now_at_origin || at_target) ended.push_back({pending.id, now_at_origin, at_target});
  return at_target || how == Completes::kEpoch;
}

std::optional<TraceWindows::Ended> TraceWindows::end_request(std::uint32_t window, std::uint64_t id) {
  auto& requests = window_of(window).requests;
  const auto found = std::ranges::find(requests, id, &Pending::id);
  if (found == requests.end() || found->at_origin) return std::nullopt;
  std::vector<Ended> ended;
  if (end(*found, Completes::kAtOrigin, ended)) requests.erase(found);
  return ended.front();
}

std::vector<TraceWindows::Ended> TraceWindows::complete(std::uint32_t number, std::optional<std::uint32_t> target,
                                                        Completes how) {
  std::vector<Ended> ended;
  Window& window = window_of(number);
  const auto first = target ? window.shared.lower_bound({*target, false}) : window.shared.begin();
  for (auto each = first; each != window.shared.end() && (!target || each->first.first == *target);)
    each = end(each->second, how, ended) ? window.shared.erase(each) : std::next(each);
  auto kept = window.requests.begin();
  for (Pending& each : window.requests) {
    if ((!target || each.target == *target) && end(each, how, ended)) continue;
    *kept++ = each;
  }
  window.requests.erase(kept, window.requests.end());
  return ended;
}

std::uint64_t TraceWindows::open_operations() const {
  std::uint64_t open = 0;
  for (const auto& [number, window] : windows_)
    open += static_cast<std::uint64_t>(
        std::ranges::count_if(window.shared, [](const auto& each) { return !each.second.at_origin; }));
  return open;  // those with requests are counted separately
}

std::optional<std::uint32_t> TraceWindows::group(std::uint32_t comm, const std::vector<std::int32_t>& ranks) {
  const auto found = groups_.find({comm, ranks});
  if (found != groups_.end()) return found->second;
  if (groups_.size() >= kMostGroups) return std::nullopt;
  const auto number = first_group_ + static_cast<std::uint32_t>(groups_.size());
  groups_.emplace(std::pair(comm, ranks), number);
  return number;
}

void TraceWindows::open(std::uint32_t window, Side side, std::optional<std::uint32_t> group) {
  window_of(window).groups[static_cast<std::size_t>(side)] = group;
}

std::optional<std::uint32_t> TraceWindows::group_of(std::uint32_t window, Side side) const {
  const auto found = windows_.find(window);
  return found == windows_.end() ? std::nullopt : found->second.groups[static_cast<std::size_t>(side)];
}

void TraceWindows::close(std::uint32_t window, Side side) { open(window, side, std::nullopt); }

}  // namespace ardoise::knowledge_sources

// See copied_calls.hpp.
#include "knowledge_sources/traces/copied_calls.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "knowledge_sources/traces/trace_attribute.hpp"
#include "knowledge_sources/traces/trace_tables.hpp"

namespace ardoise::knowledge_sources {

CopiedCalls::CopiedCalls(std::vector<RankWait> waits) {
  const auto key = [](const RankWait& wait) {
    return TraceRegion{TraceRegion::Kind::kMpi, wait.function, wait.call_site}.key();
  };
  // Those of a call together, the longest first.
  std::ranges::sort(waits, {}, [&](const RankWait& wait) {
    return std::tuple(key(wait), wait.call_begin, ~wait.ns, wait.begin, wait.pattern);
  });
  waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
  const RankWait* last = nullptr;
  for (const RankWait& wait : waits) {
    if (last != nullptr && key(*last) == key(wait) && last->call_begin == wait.call_begin) {
      waited_.back().ns += wait.ns;
      continue;
    }
    last = &wait;
    const std::int64_t time = wait.call_begin + static_cast<std::int64_t>(kTraceLead);
    waited_.push_back({key(wait), static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0)), wait.ns, wait.function,
                       wait.pattern, false});
  }
}

void CopiedCalls::restrict_to(std::vector<Times> times) {
  is_restricted_ = true;
  times_ = std::move(times);
}

bool CopiedCalls::is_in_time(std::uint64_t time) const {
  if (!is_restricted_) return true;
  const auto after = std::ranges::upper_bound(times_, time, {}, &Times::begin);
  return after != times_.begin() && time < std::prev(after)->end;
}

const CopiedCalls::Waited* CopiedCalls::take_waited(std::uint64_t time, std::uint64_t key) {
  if (waited_.empty()) return nullptr;
  const auto place = [](const Waited& each) { return std::pair(each.key, each.time); };
  const std::pair earliest(key, time - std::min(time, kRounding));
  for (auto each = std::ranges::lower_bound(waited_, earliest, {}, place);
       each != waited_.end() && each->key == key && each->time <= time + kRounding; ++each) {
    if (!std::exchange(each->is_found, true)) return &*each;
  }
  return nullptr;
}

bool CopiedCalls::enter(std::uint64_t time, std::uint64_t key) {
  const bool is_phase = TraceRegion::of_key(key).kind == TraceRegion::Kind::kPhase;
  // What is called from within a call goes with it.
  const bool is_kept = !open_.empty() && !open_.back().is_phase ? open_.back().is_kept : is_in_time(time);
  open_.push_back({take_waited(time, key), is_kept, is_phase});
  return is_kept;
}

bool CopiedCalls::leave(OTF2_AttributeList* attributes) {
  if (open_.empty()) return !is_restricted_;
  const Open call = open_.back();
  open_.pop_back();
  if (call.is_kept && call.waited != nullptr) {
    OTF2_AttributeList_AddUint64(attributes, kWaitingAttribute, call.waited->ns);
    OTF2_AttributeList_AddStringRef(attributes, kWaitAttribute, kPatterns + call.waited->pattern);
  }
  return call.is_kept;
}

bool CopiedCalls::keeps(std::uint64_t time) const {
  if (!is_restricted_) return true;
  return !open_.empty() && !open_.back().is_phase ? open_.back().is_kept : is_in_time(time);
}

void CopiedCalls::take_clock(OTF2_AttributeList* attributes) {
  if (clocks_ == nullptr) return;
  const std::uint64_t clock = clocks_->next();
  if (attributes != nullptr) OTF2_AttributeList_AddUint64(attributes, kLamportAttribute, clock);
}

bool CopiedCalls::starts(std::uint64_t time, std::uint64_t id) {
  if (!is_restricted_) return true;
  if (!keeps(time)) return false;
  started_.insert(id);
  return true;
}

}  // namespace ardoise::knowledge_sources

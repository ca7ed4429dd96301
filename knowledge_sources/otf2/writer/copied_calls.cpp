#include "knowledge_sources/otf2/writer/copied_calls.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "knowledge_sources/otf2/contents/trace_attribute.hpp"
#include "knowledge_sources/otf2/writer/trace_tables.hpp"

namespace ardoise::knowledge_sources {

CopiedCalls::CopiedCalls(std::vector<RankWait> waits) {
  const auto key = [](const RankWait& wait) {
    return TraceRegion{TraceRegion::Kind::kMpi, wait.function, wait.call_site}.key();
  };
  // Groups those of a call, the longest first.
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

std::size_t CopiedCalls::attach(std::vector<Value> values, bool has_own) {
  const auto order = [](const Value& each) {
    return std::tuple(each.thread, each.time, each.place, each.key, each.value.uint64);
  };
  if (!std::ranges::is_sorted(values, {}, order)) std::ranges::sort(values, {}, order);  // usually they are
  const auto is_one_more = [](const Value& one, const Value& other) {
    return one.place != EventPlace::kOwn && one.place == other.place && one.key == other.key &&
           one.time == other.time && one.thread == other.thread;
  };
  const auto left_out = std::unique(values.begin(), values.end(), is_one_more);
  const auto count = static_cast<std::size_t>(values.end() - left_out);
  values.erase(left_out, values.end());
  values_ = std::move(values);
  has_own_ = has_own;
  return count;
}

void CopiedCalls::begin_location(std::uint32_t thread, ClocksOfLocation* clocks) {
  open_.clear();
  clocks_ = clocks;
  const auto begin = std::ranges::lower_bound(values_, thread, {}, &Value::thread);
  const auto end = std::ranges::upper_bound(values_, thread, {}, &Value::thread);
  next_value_ = static_cast<std::size_t>(begin - values_.begin());
  end_of_values_ = static_cast<std::size_t>(end - values_.begin());
}

const CopiedCalls::Value* CopiedCalls::next_own(std::uint64_t before) {
  while (next_value_ != end_of_values_ && values_[next_value_].time < before) {
    const Value& value = values_[next_value_++];
    const bool is_own = value.place == EventPlace::kOwn || (has_own_ && value.call == kNoCall);
    if (is_own && is_in_time(value.time)) return &value;
  }
  return nullptr;
}

void CopiedCalls::attach_to(const Open& call, EventPlace place, OTF2_AttributeList* attributes) const {
  for (std::size_t i = call.first_value; i != call.last_value; ++i) {
    const Value& value = values_[i];
    if (value.place == place && value.call == call.number)
      OTF2_AttributeList_AddAttribute(attributes, value.key, value.type, value.value);
  }
}

bool CopiedCalls::enter(std::uint64_t time, std::uint64_t key, OTF2_AttributeList* attributes) {
  const bool is_phase = TraceRegion::of_key(key).kind == TraceRegion::Kind::kPhase;
  // Calls inside a call are kept or dropped with it.
  const bool is_kept = !open_.empty() && !open_.back().is_phase ? open_.back().is_kept : is_in_time(time);
  open_.push_back({take_waited(time, key), is_kept, is_phase, calls_++, 0, 0});
  if (is_phase || next_value_ == end_of_values_ || values_[next_value_].time > time) return is_kept;
  // The first call that begins then gets them all; earlier ones are skipped when the next event is written.
  Open& call = open_.back();
  const auto rest = std::span(values_).subspan(next_value_, end_of_values_ - next_value_);
  std::size_t at =
      next_value_ + static_cast<std::size_t>(std::ranges::lower_bound(rest, time, {}, &Value::time) - rest.begin());
  call.first_value = at;
  for (; at != end_of_values_ && values_[at].time == time; ++at) {
    if (values_[at].place != EventPlace::kOwn && values_[at].call == kNoCall) values_[at].call = call.number;
  }
  call.last_value = at;
  if (is_kept) attach_to(call, EventPlace::kEnter, attributes);
  return is_kept;
}

bool CopiedCalls::leave(OTF2_AttributeList* attributes) {
  if (open_.empty()) return !is_restricted_;
  const Open call = open_.back();
  open_.pop_back();
  if (!call.is_kept) return false;
  if (call.waited != nullptr) {
    OTF2_AttributeList_AddUint64(attributes, kWaitingAttribute, call.waited->ns);
    OTF2_AttributeList_AddStringRef(attributes, kWaitAttribute, kPatterns + call.waited->pattern);
  }
  attach_to(call, EventPlace::kLeave, attributes);
  return true;
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

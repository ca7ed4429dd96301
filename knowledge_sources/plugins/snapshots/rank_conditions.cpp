#include "knowledge_sources/plugins/snapshots/rank_conditions.hpp"

#include <cmath>

#include "instrument/format/mark_name.hpp"

namespace ardoise::knowledge_sources {
namespace {

using Measure = Condition::Measure;

bool is_of_calls(const Condition::Variable& variable) { return variable.is_mpi || variable.is_posix; }

bool is_of(const Condition::Variable& variable, std::uint64_t key, bool is_in_world) {
  const bool is_posix = (key & kIsPosix) != 0;
  if (!(is_posix ? variable.is_posix : variable.is_mpi)) return false;
  if (variable.is_world && !is_in_world) return false;
  return variable.function < 0 || static_cast<std::uint32_t>(variable.function) == function_of_key(key);
}

double amount(const Condition::Variable& variable, const CallSums& sums) {
  switch (variable.measure) {
    case Measure::kCalls:
      return static_cast<double>(sums.calls);
    case Measure::kTime:
      return static_cast<double>(sums.ns) * 1e-9;
    case Measure::kBytes:
      return static_cast<double>(sums.bytes);
    case Measure::kElapsed:
    case Measure::kValue:
    case Measure::kBalance:
    case Measure::kCounter:
      break;
  }
  return 0;
}

}  // namespace

RankConditions::RankConditions(std::span<const Condition> conditions)
    : conditions_(conditions), states_(conditions.size()) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    for (const Condition::Variable& each : conditions[i].variables())
      // not reported yet: no condition holds
      states_[i].values.push_back(each.measure == Measure::kValue ? std::nan("") : 0);
  }
}

bool RankConditions::add(std::uint32_t at, std::uint64_t key, std::int64_t end, const CallSums& sums,
                         bool is_in_world) {
  const auto& variables = conditions_[at].variables();
  bool changed = false, names_calls = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    names_calls = names_calls || is_of_calls(variables[i]);
    if (!is_of(variables[i], key, is_in_world)) continue;
    states_[at].values[i] += amount(variables[i], sums);
    changed = true;
  }
  return (changed || !names_calls) && looks(at, end);
}

bool RankConditions::tell(std::uint32_t at, std::uint32_t name, double x, std::int64_t time) {
  const auto& variables = conditions_[at].variables();
  bool changed = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].measure != Measure::kValue || instrument::mark_name_id(variables[i].name) != name) continue;
    states_[at].values[i] = x;
    changed = true;
  }
  return changed && looks(at, time);
}

bool RankConditions::count(std::uint32_t at, std::uint32_t name, std::uint64_t events, std::int64_t time) {
  const auto& variables = conditions_[at].variables();
  bool changed = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].measure != Measure::kCounter || instrument::mark_name_id(variables[i].name) != name) continue;
    states_[at].values[i] += static_cast<double>(events);
    changed = true;
  }
  return changed && looks(at, time);
}

// True: it has become true.
bool RankConditions::looks(std::uint32_t at, std::int64_t time) {
  const Condition& condition = conditions_[at];
  State& state = states_[at];
  const auto& variables = condition.variables();
  const std::int64_t begin = condition.is_since_last() ? state.last : 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].measure == Measure::kElapsed) state.values[i] = static_cast<double>(time - begin) * 1e-9;
  }
  const bool holds = condition.holds(state.values), becomes = holds && !state.held;
  state.held = holds;
  if (!becomes) return false;
  ++state.times;
  if (!condition.is_since_last()) return true;
  state.last = time;
  state.held = false;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].measure != Measure::kValue) state.values[i] = 0;
  }
  return true;
}

void RankConditions::write(ByteWriter& out) const {
  out.put_count(states_.size());
  for (const State& each : states_) {
    out.put_array(std::span<const double>(each.values));
    out.put(each.last);
    out.put(each.times);
    out.put(std::uint32_t{each.held});
  }
}

void RankConditions::read(ByteReader& in) {
  in.check(in.get_count(12) == states_.size(), "has other conditions");
  for (State& each : states_) {
    const auto values = in.get_array<double>();
    in.check(values.size() == each.values.size(), "has other conditions");
    each.values = values;
    each.last = in.get<std::int64_t>();
    each.times = in.get<std::int64_t>();
    each.held = in.get<std::uint32_t>() != 0;
  }
}

}  // namespace ardoise::knowledge_sources

#include "knowledge_sources/plugins/snapshots/balances.hpp"

#include <algorithm>
#include <cmath>

#include "instrument/format/mark_name.hpp"

namespace ardoise::knowledge_sources {
namespace {

std::uint32_t mark_of(const Condition::Variable& variable) {
  return variable.name.empty() ? 0 : instrument::mark_name_id(variable.name);
}

}  // namespace

Balances::Balances(std::uint32_t ranks, std::vector<Condition> conditions, BecomesTrue becomes_true)
    : ranks_(ranks), conditions_(std::move(conditions)), becomes_true_(std::move(becomes_true)) {
  for (const Condition& condition : conditions_) {
    states_.push_back({std::vector<double>(condition.variables().size(), std::nan(""))});
    for (const Condition::Variable& variable : condition.variables()) {
      if (variable.measure == Condition::Measure::kBalance &&
          std::ranges::find(names_, mark_of(variable)) == names_.end())
        names_.push_back(mark_of(variable));
    }
  }
}

void Balances::add(const Load& load) {
  const std::pair key(load.round, load.name);
  Round& round = rounds_[key];
  if (round.own_ns.empty()) round.own_ns.assign(ranks_, kMissing);
  if (load.rank >= ranks_ || round.own_ns[load.rank] != kMissing) return;
  round.own_ns[load.rank] = load.own_ns;
  round.end = std::max(round.end, load.end);
  if (++round.known == ranks_) {
    evaluate(load.name, round);
    rounds_.erase(key);
  } else if (rounds_.size() > 1 && rounds_.size() * ranks_ > kMostLoads) {
    rounds_.erase(rounds_.begin());
  }
}

void Balances::evaluate(std::uint32_t name, const Round& round) {
  double sum = 0;
  for (const std::uint64_t ns : round.own_ns) sum += static_cast<double>(ns);
  const double mean = sum / ranks_, longest = static_cast<double>(*std::ranges::max_element(round.own_ns));
  for (std::size_t i = 0; i < conditions_.size(); ++i) {
    const auto& variables = conditions_[i].variables();
    State& state = states_[i];
    bool is_named = false;
    for (std::size_t at = 0; at < variables.size(); ++at) {
      if (variables[at].measure == Condition::Measure::kElapsed)
        state.balances[at] = static_cast<double>(round.end) * 1e-9;
      if (variables[at].measure != Condition::Measure::kBalance || mark_of(variables[at]) != name) continue;
      state.balances[at] = longest == 0 ? 1 : mean / longest;
      is_named = true;
    }
    if (!is_named || std::ranges::any_of(state.balances, [](double x) { return std::isnan(x); })) continue;
    const bool holds = conditions_[i].holds(state.balances);
    if (std::exchange(state.held, holds) || !holds) continue;
    std::vector<std::uint32_t> differing;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (std::abs(static_cast<double>(round.own_ns[rank]) - mean) > kDiffers * mean) differing.push_back(rank);
    }
    becomes_true_(i, differing);
  }
}

}  // namespace ardoise::knowledge_sources

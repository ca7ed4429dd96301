#include "analyzer/rules/rule_actions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ardoise::analyzer {
namespace {

std::map<std::uint32_t, knowledge_sources::Program> by_partition(std::vector<knowledge_sources::Program> programs) {
  std::map<std::uint32_t, knowledge_sources::Program> all;
  for (auto& each : programs) all.emplace(each.partition, std::move(each));
  return all;
}

// "0-3,8", in MPI_COMM_WORLD; the targets are sorted.
std::string ranks_of_command(const std::vector<RuleOfRank>& targets, std::uint32_t first_rank) {
  if (targets.front().rank == kAllRanks) return "*";
  std::string text;
  for (std::size_t i = 0, end = 0; i < targets.size(); i = end) {
    end = i + 1;
    while (end < targets.size() && targets[end].rank == targets[end - 1].rank + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first_rank + targets[i].rank);
    if (end - i > 1) text += fmt::format("-{}", first_rank + targets[end - 1].rank);
  }
  return text;
}

std::string settings_of_launch(std::string_view settings) {
  std::string back;
  while (!settings.empty()) {
    std::string_view setting = instrument::take_word(settings, ' ');
    const std::string_view name = instrument::take_word(setting, '=');
    if (name != instrument::kSnapshotNow)
      back += fmt::format("{}{}={}", back.empty() ? "" : " ", name, instrument::kAsLaunched);
  }
  return back;
}

}  // namespace

RuleActions::RuleActions(std::vector<Rule> rules, std::vector<knowledge_sources::Program> programs, RuleCounts& counts,
                         AppendCommand append)
    : rules_(std::move(rules)),
      programs_(by_partition(std::move(programs))),
      counts_(counts),
      append_(std::move(append)) {}

template <class Use>
void RuleActions::for_each_group(const Targets& sorted, Use&& use) {
  for (auto begin = sorted.begin(), end = begin; begin != sorted.end(); begin = end) {
    while (end != sorted.end() && end->rule == begin->rule && end->program == begin->program) ++end;
    use(Targets(begin, end));
  }
}

RuleOfRank RuleActions::target_of(const RuleOfRank& held) const {
  return {held.rule, held.program, rules_[held.rule].target == RuleTarget::kAll ? kAllRanks : held.rank};
}

void RuleActions::count(const TimesHeld& held) {
  for (const auto& [key, times] : held) {
    RuleCount& count = counts_.of(key.rule);
    count.times += times;
    if (key.rank != kAllRanks && known_.insert(key).second) ++count.ranks;
  }
}

void RuleActions::count_late(const TimesHeld& held) {
  count(held);
  for (const auto& [key, times] : held) counts_.of(key.rule).late += times;
}

void RuleActions::act(const TimesHeld& held, Time now) {
  count(held);
  std::set<RuleOfRank> starting;
  for (const auto& [key, times] : held) {
    const RuleOfRank target = target_of(key);
    const auto acts = acts_.find(target);
    const bool may_act = acts == acts_.end() || (acts->second.number < kMostActs && now - acts->second.last >= kRest);
    const bool is_new = may_act && !waiting_.contains(target);
    if (is_new) starting.insert(target);
    counts_.of(key.rule).held_back += times - (is_new ? 1 : 0);
  }
  waiting_.merge(starting);
  for_each_group(Targets(waiting_.begin(), waiting_.end()), [&](const Targets& targets) { begin(targets, now); });
  if (next_end_ <= now) end_those_over(now);
}

void RuleActions::end_those_over(Time now) {
  Targets over;
  for (const auto& [target, time] : ends_) {
    if (time <= now) over.push_back(target);
  }
  for_each_group(over, [&](const Targets& targets) { end(targets); });
  next_end_ = Time::max();
  for (const auto& [target, time] : ends_) next_end_ = std::min(next_end_, time);
}

void RuleActions::begin(const Targets& targets, Time now) {
  const Rule& rule = rules_[targets.front().rule];
  const Appended appended = append(targets, rule.settings, kMostBytes);
  if (appended.is_busy) return;
  for (const RuleOfRank& target : targets) {
    waiting_.erase(target);
    Acts& acts = acts_[target];
    ++acts.number;
    acts.last = now;
    if (rule.seconds == 0 || appended.number == 0) continue;
    ends_[target] = now + std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(rule.seconds));
    next_end_ = std::min(next_end_, ends_[target]);
  }
}

void RuleActions::end(const Targets& targets) {
  const std::string settings = settings_of_launch(rules_[targets.front().rule].settings);
  if (append(targets, settings, instrument::kMaxControlBytes).is_busy) return;
  for (const RuleOfRank& target : targets) ends_.erase(target);
}

Appended RuleActions::append(const Targets& targets, const std::string& settings, std::size_t most_bytes) {
  const RuleOfRank& first = targets.front();
  const knowledge_sources::Program& program = programs_.at(first.program);
  const std::string ranks = ranks_of_command(targets, program.place.first_rank);
  Appended appended = append_({0, ranks, program.name, settings, first.rule + 1}, most_bytes);
  if (appended.number != 0 || appended.is_busy) return appended;
  RuleCount& count = counts_.of(first.rule);
  count.unsent += targets.size();
  if (count.why.empty()) count.why = appended.why;
  return appended;
}

}  // namespace ardoise::analyzer

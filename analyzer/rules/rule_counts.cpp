#include "analyzer/rules/rule_counts.hpp"

#include <fmt/format.h>

#include "analyzer/rules/rule_actions.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"

namespace ardoise::analyzer {
RuleCounts::RuleCounts(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) counts_.push_back({.condition = rule.condition, .effect = rule.effect()});
}

std::vector<std::string> RuleCounts::notices() const {
  std::vector<std::string> notices;
  std::vector<std::size_t> never;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const RuleCount& count = counts_[i];
    if (count.times == 0) {
      never.push_back(i + 1);
      continue;
    }
    const std::string on_ranks =  // none: a rule on the program
        count.ranks == 0 ? std::string() : fmt::format("on {}, ", reports::counted(count.ranks, "rank"));
    std::string notice = fmt::format("Rule {} (when {}) held {}{}; {}.", i + 1, count.condition, on_ranks,
                                     reports::counted(count.times, "time"), count.effect);
    if (count.held_back != 0)
      notice += fmt::format(" It was suppressed {}: a rule acts on a rank at most once a second and {} times in all.",
                            reports::counted(count.held_back, "time"), RuleActions::kMostActs);
    if (count.late != 0)
      notice += fmt::format(" It was too late {}: the programs had ended.", reports::counted(count.late, "time"));
    if (count.unsent != 0)
      notice +=
          fmt::format(" Its command could not be sent {}: {}.", reports::counted(count.unsent, "time"), count.why);
    notices.push_back(std::move(notice));
  }
  if (!never.empty())
    notices.push_back(fmt::format("Rule{} {} never held.", never.size() == 1 ? "" : "s", reports::joined(never, ", ")));
  return notices;
}

void RuleCounts::write(knowledge_sources::ByteWriter& out) const {
  out.put_count(counts_.size());
  for (const RuleCount& each : counts_) {
    out.put_text(each.condition);
    out.put_text(each.effect);
    for (const std::uint64_t number : {each.ranks, each.times, each.held_back, each.late, each.unsent}) out.put(number);
    out.put_text(each.why);
  }
}

RuleCounts RuleCounts::read(knowledge_sources::ByteReader& in) {
  RuleCounts counts;
  for (auto left = in.get_count(5 * sizeof(std::uint64_t)); left != 0; --left) {
    RuleCount& each = counts.counts_.emplace_back();
    each.condition = in.get_text();
    each.effect = in.get_text();
    for (std::uint64_t* const number : {&each.ranks, &each.times, &each.held_back, &each.late, &each.unsent})
      *number = in.get<std::uint64_t>();
    each.why = in.get_text();
  }
  return counts;
}

void RuleCounts::merge(const RuleCounts& other) {
  if (counts_.size() < other.counts_.size()) counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i) {
    RuleCount& to = counts_[i];
    const RuleCount& from = other.counts_[i];
    to.condition = from.condition;
    to.effect = from.effect;
    to.ranks += from.ranks;
    to.times += from.times;
    to.held_back += from.held_back;
    to.late += from.late;
    to.unsent += from.unsent;
    if (to.why.empty()) to.why = from.why;
  }
}

}  // namespace ardoise::analyzer

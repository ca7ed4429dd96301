// Actions of rules: limits and sends commands to the processes (command_file.hpp), and resets settings with a duration.
// Clock and file are passed in, for tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/output_folder/command_file.hpp"
#include "analyzer/rules/held_rules.hpp"
#include "analyzer/rules/rule_counts.hpp"
#include "analyzer/rules/rule_file.hpp"
#include "knowledge_sources/reduction/level.hpp"

namespace ardoise::analyzer {

// Used by one thread.
class RuleActions {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Minimum interval between actions of a rule on a rank, and their maximum number.
  static constexpr std::chrono::seconds kRest{1};
  static constexpr std::uint32_t kMostActs = 64;
  // Limit of the command file for rules: the rest is reserved for resets and for the user.
  static constexpr std::size_t kMostBytes = instrument::kMaxControlBytes / 2;

  // most_bytes: limit of the file, including the command.
  using AppendCommand = std::function<Appended(const instrument::ControlCommand& command, std::size_t most_bytes)>;

  // counts outlives it.
  RuleActions(std::vector<Rule> rules, std::vector<knowledge_sources::Program> programs, RuleCounts& counts,
              AppendCommand append);

  // Called periodically with the rules that have held since the last call. Ranks with the same rule share one command.
  void act(const TimesHeld& held, Time now);
  // The programs have ended: only counts.
  void count_late(const TimesHeld& held);

 private:
  struct Acts {
    std::uint32_t number = 0;
    Time last{};
  };
  using Targets = std::vector<RuleOfRank>;
  // Calls use(targets) for the targets of each rule and program.
  template <class Use>
  static void for_each_group(const Targets& sorted, Use&& use);
  void count(const TimesHeld& held);
  [[nodiscard]] RuleOfRank target_of(const RuleOfRank& held) const;
  [[nodiscard]] Appended append(const Targets& targets, const std::string& settings, std::size_t most_bytes);
  void begin(const Targets& targets, Time now);
  void end(const Targets& targets);
  void end_those_over(Time now);

  const std::vector<Rule> rules_;
  const std::map<std::uint32_t, knowledge_sources::Program> programs_;
  RuleCounts& counts_;
  const AppendCommand append_;
  std::set<RuleOfRank> known_;    // have held before
  std::set<RuleOfRank> waiting_;  // to act on
  std::map<RuleOfRank, Acts> acts_;
  std::map<RuleOfRank, Time> ends_;  // when settings with a duration are reset
  Time next_end_ = Time::max();      // the earliest of these
};

}  // namespace ardoise::analyzer

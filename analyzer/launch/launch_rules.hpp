// The rules of a running launch: from workers that find a condition true to the command file.
//
//   workers ──▶ HeldRules (of the AnalyzerRun) ──▶ loop: RuleActions ──▶ append_command() ──▶ survivors of the
//   processes
#pragma once

#include <vector>

#include "analyzer/options/options.hpp"
#include "analyzer/rules/rule_actions.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/event_loop.hpp"

namespace ardoise::analyzer {

// Lives from before the first pack until all packs are processed.
class LaunchRules {
 public:
  LaunchRules(EventLoop& loop, AnalyzerRun& run, const Options& options,
              const std::vector<knowledge_sources::Program>& programs);
  ~LaunchRules() { actions_.count_late(run_.held_rules().take()); }
  LaunchRules(const LaunchRules&) = delete;
  LaunchRules& operator=(const LaunchRules&) = delete;

 private:
  AnalyzerRun& run_;
  RuleActions actions_;
  const EventLoop::Registration looks_;
};

}  // namespace ardoise::analyzer

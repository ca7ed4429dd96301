// The work of one analyzer rank, without MPI: the blackboard, the reductions of all programs, and complaints. A launch
// submits packs of streams, replay packs of files; both then merge runs and make the model in the same way.
//
//   submit() … submit()  →  drain()  →  partial() ──▶ absorb() on another run  →  contribute() on the last one
//
// submit() and wait_for_room() belong to one thread; the rest needs a drained run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/rules/held_rules.hpp"
#include "analyzer/rules/rule_counts.hpp"
#include "analyzer/rules/rule_file.hpp"
#include "analyzer/sources/pack_source.hpp"
#include "blackboard/blackboard.hpp"
#include "blackboard/threads/mutex.hpp"
#include "knowledge_sources/containers/sentences.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/reduction/reduction.hpp"
#include "reports/model.hpp"

namespace ardoise::analyzer {

class AnalyzerRun {
 public:
  struct Options {
    unsigned workers = 1;
    bool in_background = false;  // workers leave the processors to the programs, until hurry()
    std::size_t memory_bytes = std::size_t{256} << 20;  // limit for packs being processed
    std::vector<knowledge_sources::AnalysisFactory> analyses;
    knowledge_sources::SnapshotSettings snapshots{};
    std::vector<Rule> rules{};
    knowledge_sources::TraceSettings traces{};
  };
  explicit AnalyzerRun(Options options);
  ~AnalyzerRun() { board_.drain(); }  // no pack is in use when the reduction is destroyed
  AnalyzerRun(const AnalyzerRun&) = delete;
  AnalyzerRun& operator=(const AnalyzerRun&) = delete;

  void add_program(knowledge_sources::Program program);

  // Translates partition and world rank of the pack to the program's number and the rank in it. The pack is released
  // after its last use, on any thread.
  void submit(const SourcedPack& pack);
  // False: the memory limit was exceeded during the whole timeout.
  [[nodiscard]] bool wait_for_room(std::chrono::milliseconds timeout);
  void drain() { board_.drain(); }
  // After all packs are submitted and all other analyzers have settled.
  void finish() {
    drain();
    flush();
    drain();
    end();
    flush();
    drain();
  }

  // See Blackboard.
  void while_paused(const std::function<void()>& action) { board_.while_paused(action); }
  void hurry() { board_.hurry(); }
  void continue_without_workers() { board_.continue_without_workers(); }
  void shorten() { reduction_.shorten(); }  // see Analysis

  // Before the first program: connects the boards of the other analyzers. The transport outlives the run.
  void connect(blackboard::Transport& transport) { board_.connect(transport); }
  // An entry from another analyzer.
  void submit(blackboard::EntryRef entry) { board_.submit(std::move(entry)); }
  // Needs a drained run: sends entries held back for other analyzers.
  void flush() const { reduction_.flush(); }
  // After no entry is in flight between analyzers: completes results that need this.
  void end() const { reduction_.end(); }

  // A sentence for the report; makes the exit status non-zero.
  void complain(const std::string& sentence);
  [[nodiscard]] std::vector<std::string> complaints() const;

  // Rules that have become true.
  [[nodiscard]] HeldRules& held_rules() { return held_rules_; }
  // Statistics of their actions. For the thread of submit().
  [[nodiscard]] RuleCounts& rule_counts() { return rule_counts_; }

  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);  // malformed bytes become a complaint
  void contribute(reports::Run& run) const;         // applications and notices

 private:
  mutable Mutex complaints_mutex_;  // workers complain too, so it outlives board_
  knowledge_sources::Sentences complaints_ GUARDED_BY(complaints_mutex_);
  HeldRules held_rules_;  // outlives board_ too
  RuleCounts rule_counts_;
  std::vector<RuleTarget> targets_;  // by rule
  blackboard::Blackboard board_;
  knowledge_sources::Reduction reduction_;
  knowledge_sources::SnapshotSettings snapshots_;  // includes the conditions of rules
  knowledge_sources::TraceSettings traces_;
  std::vector<knowledge_sources::Program> programs_;
};

}  // namespace ardoise::analyzer

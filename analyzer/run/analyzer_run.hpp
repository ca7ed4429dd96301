// One analyzer rank's work without MPI: the blackboard, the reduction of every program on it, and what went wrong. A
// launch feeds it packs of streams, replay those of files; both then merge runs and make the model in the same way.
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
    std::size_t memory_bytes = std::size_t{256} << 20;  // of packs being worked on
    std::vector<knowledge_sources::AnalysisFactory> analyses;
    knowledge_sources::SnapshotSettings snapshots{};
    std::vector<Rule> rules{};
    knowledge_sources::TraceSettings traces{};
  };
  explicit AnalyzerRun(Options options);
  ~AnalyzerRun() { board_.drain(); }  // so that no pack is in use when the reduction goes
  AnalyzerRun(const AnalyzerRun&) = delete;
  AnalyzerRun& operator=(const AnalyzerRun&) = delete;

  void add_program(knowledge_sources::Program program);

  // Makes partition and rank of the pack, which are those of a world, the numbers of the program and of the rank in it.
  // The pack is released when its last user is done, on any thread.
  void submit(const SourcedPack& pack);
  // False: more than the memory limit is being worked on, and was so for the whole time.
  [[nodiscard]] bool wait_for_room(std::chrono::milliseconds timeout);
  void drain() { board_.drain(); }
  // When all has been submitted, and no other analyzer has anything for this one.
  void finish() {
    drain();
    flush();
    drain();
    end();
    flush();
    drain();
  }

  // As those of Blackboard.
  void while_paused(const std::function<void()>& action) { board_.while_paused(action); }
  void continue_without_workers() { board_.continue_without_workers(); }
  void shorten() { reduction_.shorten(); }  // as Analysis

  // Before the first program: the boards of the other analyzers. The transport outlives the run.
  void connect(blackboard::Transport& transport) { board_.connect(transport); }
  // An entry that another analyzer has sent.
  void submit(blackboard::EntryRef entry) { board_.submit(std::move(entry)); }
  // Needs a drained run: sends what is held back for other analyzers.
  void flush() const { reduction_.flush(); }
  // When nothing moves any more between the analyzers: what can only be told then.
  void end() const { reduction_.end(); }

  // A sentence for the report, and a reason for an exit status that is not 0.
  void complain(const std::string& sentence);
  [[nodiscard]] std::vector<std::string> complaints() const;

  // Those that have become true.
  [[nodiscard]] HeldRules& held_rules() { return held_rules_; }
  // What was done for them. For the thread of submit().
  [[nodiscard]] RuleCounts& rule_counts() { return rule_counts_; }

  [[nodiscard]] std::vector<std::byte> partial() const;
  void absorb(std::span<const std::byte> partial);  // malformed bytes become a complaint
  void contribute(reports::Run& run) const;         // applications and notices

 private:
  mutable Mutex complaints_mutex_;  // workers complain too, so it outlives board_
  knowledge_sources::Sentences complaints_ GUARDED_BY(complaints_mutex_);
  HeldRules held_rules_;  // likewise
  RuleCounts rule_counts_;
  std::vector<RuleTarget> targets_;  // by rule
  blackboard::Blackboard board_;
  knowledge_sources::Reduction reduction_;
  knowledge_sources::SnapshotSettings snapshots_;  // and what the rules watch
  knowledge_sources::TraceSettings traces_;
  std::vector<knowledge_sources::Program> programs_;
};

}  // namespace ardoise::analyzer

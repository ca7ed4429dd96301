// The conditions of rules (analyzer/rules/) over a program's ranks while it runs: those of one rank are looked at where
// its packs are; what ranks tell of their load meets at one analyzer (balances.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "knowledge_sources/interface/analysis.hpp"
#include "knowledge_sources/interface/keyed.hpp"
#include "knowledge_sources/plugins/snapshots/balances.hpp"
#include "knowledge_sources/plugins/snapshots/rank_series.hpp"

namespace ardoise::knowledge_sources {

class ProgramWatch {
 public:
  explicit ProgramWatch(const AnalysisContext& context);
  ProgramWatch(const ProgramWatch&) = delete;
  ProgramWatch& operator=(const ProgramWatch&) = delete;

  void attach(LevelSources& sources);
  // For the series of a rank, which this outlives.
  [[nodiscard]] Watch of_rank(std::uint32_t rank);
  // Rules wait for what was told: goes to the other analyzers, but not all the time. Called by any worker.
  void send();

 private:
  // Those that are of a program, or of a rank, with their numbers among all.
  struct Conditions {
    Conditions(const std::vector<std::string>& all, bool of_program);
    std::vector<Condition> conditions;
    std::vector<std::uint32_t> numbers;
  };
  void add(const Load& load);

  const std::string level_;
  const std::uint32_t partition_;
  const Conditions of_ranks_, of_program_;
  const std::function<void(std::uint32_t condition, std::uint32_t partition, std::uint32_t rank)> becomes_true_;
  std::mutex mutex_;  // taken after a rank's
  Balances balances_;
  const LoadWatch load_;
  const std::uint64_t key_;
  Keyed<Load> loads_;
  std::atomic<std::int64_t> sent_ = 0;  // when; ns of the steady clock, relaxed: once more does no harm
};

}  // namespace ardoise::knowledge_sources

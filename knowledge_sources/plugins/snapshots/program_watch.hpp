// The conditions of rules (analyzer/rules/) on a program's ranks during the run: conditions on one rank are evaluated
// where its packs are; loads of all ranks are collected on one analyzer (balances.hpp).
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
  // For the series of a rank, which this object outlives.
  [[nodiscard]] Watch of_rank(std::uint32_t rank);
  // Sends reported loads to the other analyzers, at a limited rate. Called by any worker.
  void send();

 private:
  // Conditions on the program, or on ranks, with their numbers among all.
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
  std::atomic<std::int64_t> sent_ = 0;  // last sending time, ns of the steady clock; relaxed: sending twice is harmless
};

}  // namespace ardoise::knowledge_sources

// Statistics on rules for the report. All analyzers have the same rules; each counts for its ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/rules/rule_file.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"

namespace ardoise::analyzer {

struct RuleCount {
  std::string condition{}, effect{};
  std::uint64_t ranks = 0, times = 0;  // how often, and on how many ranks, it held
  std::uint64_t held_back = 0;         // of these times: suppressed
  std::uint64_t late = 0;              // of these times: the programs had ended
  std::uint64_t unsent = 0;            // commands, resets included, that could not be written
  std::string why{};                   // the first reason for that
};

// Not thread safe.
class RuleCounts {
 public:
  RuleCounts() = default;
  explicit RuleCounts(const std::vector<Rule>& rules);

  [[nodiscard]] RuleCount& of(std::uint32_t rule) { return counts_[rule]; }
  [[nodiscard]] std::vector<std::string> notices() const;

  void write(knowledge_sources::ByteWriter& out) const;
  [[nodiscard]] static RuleCounts read(knowledge_sources::ByteReader& in);
  void merge(const RuleCounts& other);

 private:
  std::vector<RuleCount> counts_;  // by rule
};

}  // namespace ardoise::analyzer

// Rules: settings to change while programs run, and when (ardoise --rules FILE). One per line:
//
//   # comments and empty lines are allowed
//   when calls(MPI_Alltoall) > 1000: rate=1000 for 10 s
//   when bytes(write) > 1 GB: flush-every=0.25 snapshot=written on all
//   when balance(step) < 0.8: rate=1000 for 10 s on ranks that differ
//
//   rule  = "when" condition ":" NAME=VALUE { NAME=VALUE } { "for" number unit | "on" target }
//   target = "all" | "ranks" "that" "differ"
//   unit  = "ms" | "s" | "min" | "h"
//
// Conditions are those of knowledge_sources/plugins/snapshots/condition.hpp, settings those of `ardoise control`
// (instrument/settings/changes.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::analyzer {

enum class RuleTarget : std::uint8_t {
  kRank,      // the rank for which it holds
  kAll,       // all ranks of the program
  kDiffering  // ranks that differ from the others (knowledge_sources/plugins/snapshots/balances.hpp)
};

struct Rule {
  std::string condition, settings;
  double seconds = 0;    // after which the settings of the launch return; 0: never
  std::string duration;  // the same as text, "10 s"
  RuleTarget target = RuleTarget::kRank;

  // "set rate=1000 on all ranks for 10 s"
  [[nodiscard]] std::string effect() const;
};

// name: of the file. Both throw std::invalid_argument with a sentence that names the line, the position and what was
// expected.
[[nodiscard]] std::vector<Rule> parse_rules(std::string_view text, std::string_view name);
[[nodiscard]] std::vector<Rule> read_rules(const std::filesystem::path& file);

}  // namespace ardoise::analyzer

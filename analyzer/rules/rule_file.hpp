// Rules: what changes while programs run, and when (ardoise --rules FILE). A line each:
//
//   # comments and empty lines are allowed
//   when calls(MPI_Alltoall) > 1000: rate=1000 for 10 s
//   when bytes(write) > 1 GB: flush=0.25 on all
//
//   rule  = "when" condition ":" NAME=VALUE { NAME=VALUE } { "for" number unit | "on" "all" }
//   unit  = "ms" | "s" | "min" | "h"
//
// The condition is that of knowledge_sources/snapshots/condition.hpp, the settings are those of `ardoise control`
// (instrument/settings/changes.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::analyzer {

struct Rule {
  std::string condition, settings;
  double seconds = 0;    // after which the settings are those of the launch again; 0: never
  std::string duration;  // likewise, "10 s"
  bool on_all = false;   // ranks of the program; else on that for which it holds

  // "set rate=1000 on all ranks for 10 s"
  [[nodiscard]] std::string effect() const;
};

// name: of the file. Both throw std::invalid_argument with a sentence that names the line, the place and what was
// expected.
[[nodiscard]] std::vector<Rule> parse_rules(std::string_view text, std::string_view name);
[[nodiscard]] std::vector<Rule> read_rules(const std::filesystem::path& file);

}  // namespace ardoise::analyzer

// `ardoise show`: one table of a profile, whole, as text or as CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "reports/model.hpp"

namespace ardoise::launcher {

struct ShowRequest {
  std::string table{};                  // "calls", "sites", "edges", "functions", "files"
  std::string program{};                // "": all
  std::string sort{};                   // column, as CSV names it; "": by time, edges by bytes
  std::optional<std::uint32_t> rank{};  // of the world
  std::size_t limit = 0;                // rows; 0: all
  bool csv = false;
};

// Throws UsageError where there is no such table, program, column or rank.
[[nodiscard]] std::string shown_table(const reports::Run& run, const ShowRequest& request);

// The command; argv[0] is "show". Returns the exit status.
[[nodiscard]] int show(int argc, char** argv);

}  // namespace ardoise::launcher

// `ardoise show`: prints one complete table of a profile, as text or CSV.
#pragma once

#include <cstddef>
#include <string>

#include "reports/model.hpp"
#include "tools/ardoise/common/command_line.hpp"

namespace ardoise::launcher {

struct ShowRequest {
  std::string table{};    // "calls", "sites", "edges", "functions", "files"
  std::string program{};  // "": all
  std::string ranks{};    // of MPI_COMM_WORLD, "0-3,8"; "": all
  std::string sort{};     // column, as named in CSV; "": by time, edges by bytes
  std::size_t limit = 0;  // rows; 0: all
  bool csv = false;
};

// Throws UsageError if there is no such table, program, column or rank.
[[nodiscard]] std::string shown_table(const reports::Run& run, const ShowRequest& request);

// Returns the exit status.
[[nodiscard]] int show(const CommandLine& line);

}  // namespace ardoise::launcher

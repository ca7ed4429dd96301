// Rows that a command prints, as CSV or as a table of text.
#pragma once

#include <string>
#include <vector>

#include "tools/ardoise/show_rows.hpp"

namespace ardoise::launcher {

[[nodiscard]] std::string csv_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows);
[[nodiscard]] std::string plain_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows);

}  // namespace ardoise::launcher

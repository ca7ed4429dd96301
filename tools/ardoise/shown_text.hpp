// Rows that a command prints, as CSV or as a table of text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/ardoise/show_rows.hpp"

namespace ardoise::launcher {

// A name with a comma or a quotation mark in it is quoted (RFC 4180). Valid UTF-8, without control characters.
[[nodiscard]] std::string csv_field(std::string_view text);
[[nodiscard]] std::string csv_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows);
[[nodiscard]] std::string plain_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows);

}  // namespace ardoise::launcher

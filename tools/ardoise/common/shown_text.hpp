// Formats the rows that a command prints, as CSV or as a text table.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/document/document.hpp"

namespace ardoise::launcher {

struct ShownColumn {
  const char* name;     // in CSV, with the unit
  const char* heading;  // in text, where each number has its unit
};

// A text, with another one for CSV if they differ (a whole path), or a number.
struct ShownCell {
  std::string text{}, raw{};
  reports::Number number{};
  ShownCell(reports::Number n) : number(n) {}
  ShownCell(std::string shown, std::string whole) : text(std::move(shown)), raw(std::move(whole)) {}
  ShownCell(const std::string& both) : text(both), raw(both) {}
  [[nodiscard]] bool is_number() const { return number.unit != reports::Unit::none; }
};

using ShownRow = std::vector<ShownCell>;

// Quotes a name that contains a comma or a quotation mark (RFC 4180). Returns valid UTF-8 without control characters.
[[nodiscard]] std::string csv_field(std::string_view text);
[[nodiscard]] std::string csv_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows);
[[nodiscard]] std::string plain_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows);

}  // namespace ardoise::launcher

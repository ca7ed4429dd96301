#include "tools/ardoise/common/shown_text.hpp"

#include <fmt/format.h>

#include "reports/document/document.hpp"
#include "reports/text/text_document.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::launcher {
std::string csv_field(std::string_view text) {
  const std::string valid = reports::without_controls(text);
  if (valid.find_first_of(",\"") == std::string::npos) return valid;
  std::string out = "\"";
  for (const char c : valid) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows) {
  std::string out;
  for (const ShownColumn& c : columns) out += (out.empty() ? "" : ",") + std::string(c.name);
  out += "\n";
  for (const ShownRow& row : rows) {
    std::string line;
    for (const ShownCell& cell : row) {
      if (&cell != &row.front()) line += ",";
      line += cell.is_number() ? fmt::format("{}", cell.number.value) : csv_field(cell.raw);
    }
    out += line + "\n";
  }
  return out;
}

std::string plain_text(const std::vector<ShownColumn>& columns, const std::vector<ShownRow>& rows) {
  reports::Table table;
  for (std::size_t c = 0; c < columns.size(); ++c)
    table.columns.push_back({columns[c].heading, rows.empty() || rows[0][c].is_number(), 60});
  for (const ShownRow& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const ShownCell& cell : row)
      cells.push_back(cell.is_number() ? reports::Cell(cell.number) : reports::Cell(cell.text));
  }
  return reports::text_table(table, "");
}

}  // namespace ardoise::launcher

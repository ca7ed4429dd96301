// Tables of third-party plug-ins: a section for each. Their JSON is untrusted: entries unlike {"title", "columns",
// "rows"} appear only in profile.json. See sections.hpp.
#include "reports/extensions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kExtensionRows = 60, kColumns = 8, kSummaryRows = 4, kSummaryColumns = 6, kSummaryWidth = 24;
constexpr std::size_t kPageWidth = 108;  // characters

std::string cell_text(const Json& cell) {
  std::string text = cell.is_string()         ? cell.get<std::string>()
                     : cell.is_number_float() ? fmt::format("{:.6g}", cell.get<double>())
                     : cell.is_null()         ? ""
                                              : cell.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.substr(0, 1000);
}

// Missing cells are empty, surplus cells are dropped.
Table table_of(const Json& columns, const Json& rows, std::size_t most_columns, std::size_t most_rows) {
  Table table;
  for (const Json& column : columns) {
    if (table.columns.size() < most_columns) table.columns.push_back({cell_text(column), true});
  }
  for (const Json& row : rows) {
    if (!row.is_array()) continue;
    std::vector<Cell> cells(table.columns.size());
    for (std::size_t i = 0; i < std::min(row.size(), cells.size()); ++i) {
      cells[i] = Text(cell_text(row[i]));
      if (!row[i].is_number() && !row[i].is_null()) table.columns[i].number = false;
    }
    table.rows.push_back(std::move(cells));
  }
  table.rows.resize(std::min(most_rows, table.rows.size()));
  return table;
}

}  // namespace

Section extensions(const Application& app) {
  Section all;
  for (const auto& [plugin, content] : extensions_of(app).items()) {
    if (!content.is_object()) continue;
    const auto columns = content.find("columns"), rows = content.find("rows"), title = content.find("title");
    if (columns == content.end() || rows == content.end() || !columns->is_array() || !rows->is_array() ||
        columns->empty())
      continue;
    Section section{.title = title != content.end() && title->is_string() ? title->get<std::string>() : plugin,
                    .together = 7};
    const auto row_count = static_cast<std::size_t>(
        std::count_if(rows->begin(), rows->end(), [](const Json& row) { return row.is_array(); }));
    Table brief = table_of(*columns, *rows, kSummaryColumns, kSummaryRows);
    brief.title = section.title;
    if (row_count > kSummaryRows) brief.title += fmt::format(" ({})", counted(row_count, "row"));
    for (Column& column : brief.columns) column.width = kSummaryWidth;
    section.summary.push_back(std::move(brief));
    Table table = table_of(*columns, *rows, kColumns, kExtensionRows);
    for (Column& column : table.columns) column.width = kPageWidth / table.columns.size() - 2;
    section.blocks = {note({{"From the plug-in "}, code(plugin, 80), {"."}}), std::move(table)};
    add_rest(section.blocks, row_count, kExtensionRows, "rows");
    all.sections.push_back(std::move(section));
  }
  return all;
}

}  // namespace ardoise::reports

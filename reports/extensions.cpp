// See extensions.hpp.
#include "reports/extensions.hpp"

#include <fmt/format.h>

namespace ardoise::reports {

namespace {

using Json = nlohmann::json;

std::string cell_text(const Json& cell) {
  if (cell.is_string()) return cell.get<std::string>();
  if (cell.is_number_float()) return fmt::format("{:.6g}", cell.get<double>());
  return cell.is_null() ? "" : cell.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::vector<ExtensionTable> extension_tables(const Json& extensions) {
  std::vector<ExtensionTable> tables;
  if (!extensions.is_object()) return tables;
  for (const auto& [plugin, content] : extensions.items()) {
    if (!content.is_object()) continue;
    const auto columns = content.find("columns"), rows = content.find("rows"), title = content.find("title");
    if (columns == content.end() || rows == content.end() || !columns->is_array() || !rows->is_array() ||
        columns->empty())
      continue;
    ExtensionTable table;
    table.plugin = plugin;
    table.title = title != content.end() && title->is_string() ? title->get<std::string>() : plugin;
    for (const Json& column : *columns) table.columns.push_back(cell_text(column));
    table.numeric.assign(table.columns.size(), true);
    for (const Json& row : *rows) {
      if (!row.is_array()) continue;
      std::vector<std::string>& cells = table.rows.emplace_back(table.columns.size());
      for (std::size_t i = 0; i < std::min(row.size(), cells.size()); ++i) {
        cells[i] = cell_text(row[i]);
        if (!row[i].is_number() && !row[i].is_null()) table.numeric[i] = false;
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace ardoise::reports

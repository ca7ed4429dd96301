// What plug-ins of third parties added to an application, as tables that summary and report can show. The JSON was
// written by others: whatever does not look like {"title", "columns", "rows"} is left to profile.json.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ardoise::reports {

// Every row has as many cells as there are columns: missing ones are empty, surplus ones are cut off.
struct ExtensionTable {
  std::string plugin, title;
  std::vector<std::string> columns;
  std::vector<bool> numeric;  // for each column: all its cells are numbers
  std::vector<std::vector<std::string>> rows;
};

[[nodiscard]] std::vector<ExtensionTable> extension_tables(const nlohmann::json& extensions);

}  // namespace ardoise::reports

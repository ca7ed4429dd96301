// The rows of the tables that `ardoise show` prints, from the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/document/document.hpp"
#include "reports/model.hpp"

namespace ardoise::launcher {

struct ShownColumn {
  const char* name;     // in CSV, with its unit
  const char* heading;  // in text, where each number carries its unit
};

// Text, and what CSV says instead where that differs (a whole path); or a number.
struct ShownCell {
  std::string text{}, raw{};
  reports::Number number{};
  ShownCell(reports::Number n) : number(n) {}
  ShownCell(std::string shown, std::string whole) : text(std::move(shown)), raw(std::move(whole)) {}
  ShownCell(const std::string& both) : text(both), raw(both) {}
  [[nodiscard]] bool is_number() const { return number.unit != reports::Unit::none; }
};

using ShownRow = std::vector<ShownCell>;

struct ShownTable {
  const char* name;
  const char* sorted_by;                              // unless the user says otherwise
  bool by_rank;                                       // the model has it for each rank
  std::vector<ShownColumn> columns, columns_of_rank;  // the second: with --rank, where it differs
  std::vector<ShownRow> (*rows)(const reports::Run&, const reports::Application&, std::optional<std::uint32_t> rank);
};

[[nodiscard]] const std::vector<ShownTable>& shown_tables();

}  // namespace ardoise::launcher

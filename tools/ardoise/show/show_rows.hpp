// The rows of the tables that `ardoise show` prints, from the model.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reports/model.hpp"
#include "tools/ardoise/common/shown_text.hpp"

namespace ardoise::launcher {

struct ShownTable {
  const char* name;
  const char* sorted_by;                              // unless the user says otherwise
  bool by_rank;                                       // the model has it for each rank
  std::vector<ShownColumn> columns, columns_of_rank;  // the second: with --rank, where it differs
  std::vector<ShownRow> (*rows)(const reports::Run&, const reports::Application&, std::optional<std::uint32_t> rank);
};

[[nodiscard]] const std::vector<ShownTable>& shown_tables();

}  // namespace ardoise::launcher

// Makes the rows of the tables that `ardoise show` prints from the model.
#pragma once

#include <string>
#include <vector>

#include "reports/model.hpp"
#include "tools/ardoise/common/shown_text.hpp"

namespace ardoise::launcher {

struct ShownTable {
  const char* name;
  const char* sorted_by;                              // default order
  bool by_rank;                                       // the model has the table for each rank
  std::vector<ShownColumn> columns, columns_of_rank;  // the second: with --ranks, if they differ
  // ranks: of MPI_COMM_WORLD; "": all
  std::vector<ShownRow> (*rows)(const reports::Run&, const reports::Application&, const std::string& ranks);
};

[[nodiscard]] const std::vector<ShownTable>& shown_tables();

}  // namespace ardoise::launcher

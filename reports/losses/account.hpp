// The account of a program's time: every rank-second of the run stands in exactly one row, and the rows add up to
// ranks × run time to the nanosecond.
//
// Times of ranks in MPI, waiting and in files are exact; computing, sleeping and waiting for a processor are estimates
// (efficiency.hpp). Which loss a rank waits for is inferred: while the critical path is in a loss for C seconds, all P
// ranks together spend P × C seconds, and those that are not in it wait for it. Rows say so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/losses/loss.hpp"
#include "reports/losses/run_view.hpp"

namespace ardoise::reports {

struct AccountRow {
  std::string part;  // "work", "waiting", "mpi", "io", "processor", "asleep", "kernel", "ends"
  std::string code;  // of the loss; "": spread evenly (work), or no loss of its own
  std::int64_t nanoseconds = 0;
  bool inferred = false;
};

struct Account {
  std::int64_t nanoseconds = 0;  // ranks × run time: the sum of all rows
  std::vector<AccountRow> rows;  // none is 0
};

// Rows: those of a part together, in the order of its losses. Empty: times of ranks are unknown.
[[nodiscard]] Account account_of(const RunView& view, const std::vector<Loss>& losses);

}  // namespace ardoise::reports

// Makes the tables that `ardoise snapshots` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_table.hpp"
#include "tools/ardoise/common/shown_text.hpp"

namespace ardoise::launcher {

// Empty fields select everything.
struct SnapshotSelection {
  std::string program{}, trigger{}, name{};
  std::string ranks{};                          // of MPI_COMM_WORLD: "0-3,8"
  std::optional<std::int64_t> first{}, last{};  // numbers of snapshots
};

struct SnapshotRows {
  std::vector<ShownColumn> columns;
  std::vector<ShownRow> rows;
};

using knowledge_sources::SnapshotTable;

[[nodiscard]] bool is_selected(const SnapshotTable& table, const SnapshotSelection& selection,
                               const SnapshotTable::SeriesKey& key,
                               const knowledge_sources::SnapshotBlock::Record& record);

// A row for each series.
[[nodiscard]] SnapshotRows rows_of_series(const SnapshotTable& table, const SnapshotSelection& selection);
// A row for each snapshot, summed over the ranks. cumulative: sums of all snapshots up to it.
[[nodiscard]] SnapshotRows rows_of_snapshots(const SnapshotTable& table, const SnapshotSelection& selection,
                                             bool cumulative);
// A row for each call, or function, of each thread in each snapshot of each rank.
[[nodiscard]] SnapshotRows rows_of_calls(const SnapshotTable& table, const SnapshotSelection& selection,
                                         bool cumulative);
// A row for each value that the program reported, of each snapshot of each rank.
[[nodiscard]] SnapshotRows rows_of_values(const SnapshotTable& table, const SnapshotSelection& selection);
// A row for each counted event (--counters), of each snapshot of each rank.
[[nodiscard]] SnapshotRows rows_of_counters(const SnapshotTable& table, const SnapshotSelection& selection);
// A row for each call, or function: the sums of all selected snapshots, which must be of one series of a program.
// Throws UsageError if they are of several.
[[nodiscard]] SnapshotRows rows_of_profile(const SnapshotTable& table, const SnapshotSelection& selection);

// The call stacks of all selected snapshots, with the same condition: "solver;main;step;relax 1234", a line each, in us
// of CPU time.
[[nodiscard]] std::string folded_stacks(const SnapshotTable& table, const SnapshotSelection& selection);

// "MPI_Send", or the sampled function; and "main (solver.c:31)".
[[nodiscard]] std::string name_of(const knowledge_sources::SnapshotBlock::Call& call);
[[nodiscard]] std::string place_of(const knowledge_sources::SnapshotBlock::Call& call);

}  // namespace ardoise::launcher

#include "tools/ardoise/show/show.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "instrument/settings/number_ranges.hpp"
#include "reports/model_json.hpp"
#include "reports/text/joined.hpp"
#include "reports/text/units.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/shown_text.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/finish_report.hpp"
#include "tools/ardoise/show/show_rows.hpp"

namespace ardoise::launcher {
namespace {

using reports::Application;
using reports::Run;

template <class List>
std::string names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.emplace_back(entry.name);
  return reports::joined(names, ", ");
}

const ShownTable& table_named(const std::string& name) {
  const auto& tables = shown_tables();
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const ShownTable& t) { return t.name == name; });
  if (found == tables.end())
    throw UsageError(fmt::format("there is no table '{}'; the tables are {}.", name, names_of(tables)));
  return *found;
}

std::string tables_by_rank() {
  std::vector<std::string> names;
  for (const ShownTable& table : shown_tables())
    if (table.by_rank) names.push_back(table.name);
  return reports::joined(names, ", ");
}

bool has_some(const Application& a, const std::string& ranks) {
  bool has = false;
  (void)instrument::for_each_range(ranks, [&](const instrument::NumberRange& range) {
    has = has || (a.ranks != 0 && range.first <= a.world_rank(a.ranks - 1) && range.last >= a.first_rank);
  });
  return has;
}

std::vector<const Application*> programs_of(const Run& run, const ShowRequest& request) {
  std::vector<const Application*> programs;
  for (const Application& a : run.applications) {
    if (request.program.empty() || a.name == request.program) programs.push_back(&a);
  }
  if (programs.empty())
    throw UsageError(fmt::format("the run has no program '{}', only {}.", request.program, names_of(run.applications)));
  if (request.ranks.empty()) return programs;
  std::string ranges;
  for (const Application* a : programs) {
    if (a->ranks == 0) continue;
    ranges += fmt::format("{}{} has ranks {} to {}", ranges.empty() ? "" : ", ", a->name, a->first_rank,
                          a->world_rank(a->ranks - 1));
  }
  // Messages from other programs of the world to the ranks are in the rows of those programs.
  std::vector<std::uint32_t> worlds;
  for (const Application* a : programs) {
    if (has_some(*a, request.ranks)) worlds.push_back(a->partition);
  }
  std::erase_if(programs, [&](const Application* a) {
    return request.table == "edges" ? std::find(worlds.begin(), worlds.end(), a->partition) == worlds.end()
                                    : !has_some(*a, request.ranks);
  });
  if (programs.empty()) throw UsageError(fmt::format("there is no rank {}: {}.", request.ranks, ranges));
  return programs;
}

}  // namespace

std::string shown_table(const Run& run, const ShowRequest& request) {
  const ShownTable& table = table_named(request.table);
  if (!request.ranks.empty() && !table.by_rank) {
    throw UsageError(
        fmt::format("the profile has {} summed over all ranks; --ranks is for {}.", request.table, tables_by_rank()));
  }
  const auto programs = programs_of(run, request);
  std::vector<ShownColumn> columns =
      !request.ranks.empty() && !table.columns_of_rank.empty() ? table.columns_of_rank : table.columns;
  const bool several = request.program.empty() && run.applications.size() > 1;
  if (several) columns.insert(columns.begin(), {"program", "Program"});

  // With one program and no edges to others, the column of the target's program is constant.
  const auto target_program = std::ranges::find_if(
      columns, [](const ShownColumn& column) { return column.name == std::string_view("to_program"); });
  const auto constant =
      target_program != columns.end() && run.applications.size() == 1 && run.applications[0].edges_between.empty()
          ? target_program - columns.begin()
          : -1;
  if (constant >= 0) columns.erase(target_program);

  const std::string sort = request.sort.empty() ? table.sorted_by : request.sort;
  const auto by = std::find_if(columns.begin(), columns.end(), [&](const ShownColumn& c) { return c.name == sort; });
  if (by == columns.end())
    throw UsageError(fmt::format("{} has no column '{}'; its columns are {}.", request.table, sort, names_of(columns)));

  std::vector<ShownRow> rows;
  for (const Application* a : programs) {
    for (ShownRow& row : table.rows(run, *a, request.ranks)) {
      if (constant >= 0) row.erase(row.begin() + constant);
      if (several) row.insert(row.begin(), a->name);
      rows.push_back(std::move(row));
    }
  }
  const auto c = static_cast<std::size_t>(by - columns.begin());
  std::stable_sort(rows.begin(), rows.end(), [c](const ShownRow& x, const ShownRow& y) {
    return x[c].is_number() ? x[c].number.value > y[c].number.value : x[c].text < y[c].text;
  });
  const std::size_t all = rows.size();
  if (request.limit != 0 && all > request.limit)
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(request.limit), rows.end());
  if (request.csv) return csv_text(columns, rows);
  std::string out = plain_text(columns, rows);
  if (rows.size() < all) out += reports::with_separators(all - rows.size()) + " more\n";
  return out;
}

int show(const CommandLine& line) {
  const ShowRequest request{.table = line.words[1],
                            .program = line.text("program"),
                            .ranks = line.text("ranks"),
                            .sort = line.text("sort"),
                            .limit = line.count("limit").value_or(0),
                            .csv = line.is_on("csv")};
  (void)table_named(request.table);
  const auto run = reports::read_profile_json(profile_in(line.words.front()));
  if (!run) return say("{}", run.error), kFailedStatus;
  return print(shown_table(*run.value, request)) ? 0 : kFailedStatus;
}

}  // namespace ardoise::launcher

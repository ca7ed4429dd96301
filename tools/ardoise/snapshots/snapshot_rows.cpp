#include "tools/ardoise/snapshots/snapshot_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <tuple>

#include "instrument/settings/control_file.hpp"
#include "reports/text/utf8.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

using namespace knowledge_sources;
using Block = SnapshotBlock;
using Key = SnapshotTable::SeriesKey;
using reports::Number;
using reports::Unit;

double seconds_of(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }
double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }
Number whole(std::uint64_t count) { return {static_cast<double>(count), Unit::exact}; }
Number whole(std::int64_t count) { return {static_cast<double>(count), Unit::exact}; }
Number seconds(double s) { return {s, Unit::seconds}; }
Number bytes(std::uint64_t count) { return {static_cast<double>(count), Unit::bytes}; }

const Block::Program& program_of(const SnapshotTable& table, const Key& key) {
  return table.programs().at(key.program);
}

// Calls use(key, name of the series, record) for each selected snapshot, by series, rank and index.
void for_each(const SnapshotTable& table, const SnapshotSelection& selection,
              const std::function<void(const Key&, const std::string&, const Block::Record&)>& use) {
  for (const auto& [key, snapshots] : table.series()) {
    for (const auto& [rank, records] : snapshots.ranks) {
      for (const Block::Record& record : records) {
        if (is_selected(table, selection, key, record)) use(key, snapshots.name, record);
      }
    }
  }
}

struct Sums {
  CallSums all, mpi, io;
  double sampled = 0;
  void add(const SnapshotTable& table, const Block::Record& record) {
    for (const CallCell& cell : record.calls) {
      switch (table.calls()[cell.id].kind) {
        case Block::CallKind::kMpi:
          mpi += cell.sums;
          all += cell.sums;
          break;
        case Block::CallKind::kPosix:
          io += cell.sums;
          all += cell.sums;
          break;
        case Block::CallKind::kSampled:
          sampled += seconds_of(cell.sums.ns);
          break;
        case Block::CallKind::kCounted:
          break;
      }
    }
  }
};

const std::vector<ShownColumn> kSeriesColumns{{"program", "Program"}, {"trigger", "Trigger"}, {"name", "Name"}};

std::vector<ShownColumn> with_series(std::vector<ShownColumn> columns) {
  columns.insert(columns.begin(), kSeriesColumns.begin(), kSeriesColumns.end());
  return columns;
}

ShownRow row_of(const SnapshotTable& table, const Key& key, const std::string& name) {
  return {program_of(table, key).name, std::string(trigger_of(key.kind)), name};
}

// The first cells of each row of a rank's snapshot.
ShownRow row_of(const SnapshotTable& table, const Key& key, const std::string& name, const Block::Record& record) {
  ShownRow row = row_of(table, key, name);
  const std::uint64_t rank = std::uint64_t{program_of(table, key).first_rank} + record.rank;
  row.insert(row.end(), {whole(rank), whole(record.index), whole(record.number), whole(record.rounds),
                         seconds(seconds_of(record.begin)), seconds(seconds_of(record.ns))});
  return row;
}
const std::vector<ShownColumn> kRankColumns{{"rank", "Rank"},     {"index", "Index"},         {"number", "Number"},
                                            {"rounds", "Rounds"}, {"begin_seconds", "Begin"}, {"seconds", "Time"}};

// Key of calls and functions that are shown as one: by thread, whatever their callers.
struct OneCall {
  std::uint32_t thread;
  std::string name, place;
  friend auto operator<=>(const OneCall&, const OneCall&) = default;
};
OneCall one_of(const Block::Call& call) { return {call.thread, name_of(call), place_of(call)}; }

void put_call(const OneCall& call, const CallSums& sums, ShownRow& row) {
  row.insert(row.end(), {call.name, call.place, whole(sums.calls), seconds(seconds_of(sums.ns)),
                         seconds(seconds_of(sums.waited)), bytes(sums.bytes)});
}
const std::vector<ShownColumn> kCallColumns{
    {"function", "Function"},  {"called_from", "Called from"}, {"calls", "Calls"},
    {"call_seconds", "In it"}, {"waiting_seconds", "Waiting"}, {"bytes", "Bytes"}};

}  // namespace

std::string name_of(const Block::Call& call) {
  if (!call.function.empty()) return call.function;
  return !call.symbol.empty() ? call.symbol : !call.module.empty() ? call.module : "(unknown)";
}

std::string place_of(const Block::Call& call) {
  const std::string file = std::filesystem::path(call.source_file).filename().string();
  const std::string line = file.empty()     ? ""
                           : call.line == 0 ? fmt::format("({})", file)
                                            : fmt::format("({}:{})", file, call.line);
  if (call.kind == Block::CallKind::kSampled) return line.empty() ? "" : line.substr(1, line.size() - 2);
  if (!call.symbol.empty()) return call.symbol + (line.empty() ? "" : " " + line);
  if (call.module.empty()) return call.place == 0 ? "" : fmt::format("call site {:08x}", call.place);
  return fmt::format("{}+0x{:x}", std::filesystem::path(call.module).filename().string(), call.offset);
}

bool is_selected(const SnapshotTable& table, const SnapshotSelection& selection, const Key& key,
                 const Block::Record& record) {
  const Block::Program& program = program_of(table, key);
  const auto is = [](const std::string& wanted, const std::string& name) { return wanted.empty() || wanted == name; };
  return is(selection.program, program.name) && is(selection.trigger, trigger_of(key.kind)) &&
         is(selection.name, table.series().at(key).name) &&
         (selection.ranks.empty() || instrument::is_in_ranks(selection.ranks, program.first_rank + record.rank)) &&
         record.number >= selection.first.value_or(INT64_MIN) && record.number <= selection.last.value_or(INT64_MAX);
}

SnapshotRows rows_of_series(const SnapshotTable& table, const SnapshotSelection& selection) {
  struct Series {
    std::string name;
    std::map<std::uint32_t, std::uint64_t> snapshots;  // by rank
    std::int64_t begin = INT64_MAX, end = INT64_MIN;
    Sums sums;
  };
  std::map<Key, Series> all;
  for_each(table, selection, [&](const Key& key, const std::string& name, const Block::Record& record) {
    Series& series = all[key];
    series.name = name;
    ++series.snapshots[record.rank];
    series.begin = std::min(series.begin, record.begin);
    series.end = std::max(series.end, record.end);
    series.sums.add(table, record);
  });
  SnapshotRows rows{with_series({{"ranks", "Ranks"},
                                 {"snapshots_per_rank", "Snapshots"},
                                 {"begin_seconds", "Begin"},
                                 {"end_seconds", "End"},
                                 {"calls", "Calls"},
                                 {"mpi_seconds", "In MPI"},
                                 {"io_seconds", "In I/O"},
                                 {"bytes", "Bytes"}}),
                    {}};
  for (const auto& [key, series] : all) {
    std::uint64_t most = 0;
    for (const auto& [rank, snapshots] : series.snapshots) most = std::max(most, snapshots);
    ShownRow& row = rows.rows.emplace_back(row_of(table, key, series.name));
    row.insert(row.end(),
               {whole(std::uint64_t{series.snapshots.size()}), whole(most), seconds(seconds_of(series.begin)),
                seconds(seconds_of(series.end)), whole(series.sums.all.calls), seconds(seconds_of(series.sums.mpi.ns)),
                seconds(seconds_of(series.sums.io.ns)), bytes(series.sums.all.bytes)});
  }
  return rows;
}

SnapshotRows rows_of_snapshots(const SnapshotTable& table, const SnapshotSelection& selection, bool cumulative) {
  struct OfAll {
    std::string name;
    std::int64_t number = 0, begin = INT64_MAX;
    std::uint64_t rounds = 0, ranks = 0, ns = 0, longest = 0;
    Sums sums;
  };
  std::map<std::pair<Key, std::uint64_t>, OfAll> all;
  for_each(table, selection, [&](const Key& key, const std::string& name, const Block::Record& record) {
    OfAll& snapshot = all[{key, record.index}];
    snapshot.name = name;
    snapshot.number = record.number;
    snapshot.rounds = std::max(snapshot.rounds, record.rounds);
    snapshot.begin = std::min(snapshot.begin, record.begin);
    ++snapshot.ranks;
    snapshot.ns += record.ns;
    snapshot.longest = std::max(snapshot.longest, record.ns);
    snapshot.sums.add(table, record);
  });
  SnapshotRows rows{with_series({{"index", "Index"},
                                 {"number", "Number"},
                                 {"rounds", "Rounds"},
                                 {"ranks", "Ranks"},
                                 {"begin_seconds", "Begin"},
                                 {"mean_seconds", "Mean time"},
                                 {"longest_seconds", "Longest"},
                                 {"calls", "Calls"},
                                 {"mpi_seconds", "In MPI"},
                                 {"waiting_seconds", "Waiting"},
                                 {"io_seconds", "In I/O"},
                                 {"sampled_seconds", "Sampled"},
                                 {"bytes", "Bytes"}}),
                    {}};
  std::map<Key, Sums> before;
  for (const auto& [key, snapshot] : all) {
    Sums sums = snapshot.sums;
    if (cumulative) {
      Sums& sum = before[key.first];
      for (const auto part : {&Sums::all, &Sums::mpi, &Sums::io}) sum.*part += sums.*part;
      sum.sampled += sums.sampled;
      sums = sum;
    }
    ShownRow& row = rows.rows.emplace_back(row_of(table, key.first, snapshot.name));
    row.insert(row.end(), {whole(key.second), whole(snapshot.number), whole(snapshot.rounds), whole(snapshot.ranks),
                           seconds(seconds_of(snapshot.begin)),
                           seconds(seconds_of(snapshot.ns) / static_cast<double>(snapshot.ranks)),
                           seconds(seconds_of(snapshot.longest)), whole(sums.all.calls),
                           seconds(seconds_of(sums.mpi.ns)), seconds(seconds_of(sums.mpi.waited)),
                           seconds(seconds_of(sums.io.ns)), seconds(sums.sampled), bytes(sums.all.bytes)});
  }
  return rows;
}

SnapshotRows rows_of_calls(const SnapshotTable& table, const SnapshotSelection& selection, bool cumulative) {
  SnapshotRows rows{with_series(kRankColumns), {}};
  rows.columns.push_back({"thread", "Thread"});
  rows.columns.insert(rows.columns.end(), kCallColumns.begin(), kCallColumns.end());
  std::map<OneCall, CallSums> sums;  // of one series and rank
  std::optional<std::pair<Key, std::uint32_t>> of;
  for_each(table, selection, [&](const Key& key, const std::string& name, const Block::Record& record) {
    if (!cumulative || of != std::pair(key, record.rank)) sums.clear();
    of = {key, record.rank};
    for (const CallCell& cell : record.calls) {
      const Block::Call& call = table.calls()[cell.id];
      if (call.kind != Block::CallKind::kCounted) sums[one_of(call)] += cell.sums;
    }
    for (const auto& [call, sum] : sums) {
      ShownRow& row = rows.rows.emplace_back(row_of(table, key, name, record));
      row.push_back(whole(std::uint64_t{call.thread}));
      put_call(call, sum, row);
    }
  });
  return rows;
}

SnapshotRows rows_of_values(const SnapshotTable& table, const SnapshotSelection& selection) {
  SnapshotRows rows{with_series(kRankColumns), {}};
  const std::vector<ShownColumn> columns{
      {"value", "Value"}, {"count", "Count"}, {"mean", "Mean"}, {"least", "Least"}, {"most", "Most"}};
  rows.columns.insert(rows.columns.end(), columns.begin(), columns.end());
  for_each(table, selection, [&](const Key& key, const std::string& name, const Block::Record& record) {
    for (const ValueCell& cell : record.values) {
      ShownRow& row = rows.rows.emplace_back(row_of(table, key, name, record));
      const auto mean = cell.sums.sum / static_cast<double>(std::max<std::uint64_t>(cell.sums.count, 1));
      // Numbers without a unit are text.
      row.insert(row.end(), {table.values()[cell.id].name, whole(cell.sums.count), fmt::format("{}", mean),
                             fmt::format("{}", cell.sums.least), fmt::format("{}", cell.sums.most)});
    }
  });
  return rows;
}

SnapshotRows rows_of_counters(const SnapshotTable& table, const SnapshotSelection& selection) {
  SnapshotRows rows{with_series(kRankColumns), {}};
  rows.columns.insert(rows.columns.end(), {{"counter", "Counter"}, {"count", "Count"}});
  for_each(table, selection, [&](const Key& key, const std::string& name, const Block::Record& record) {
    for (const CallCell& cell : record.calls) {
      const Block::Call& call = table.calls()[cell.id];
      if (call.kind != Block::CallKind::kCounted) continue;
      ShownRow& row = rows.rows.emplace_back(row_of(table, key, name, record));
      row.insert(row.end(), {call.function, whole(cell.sums.bytes)});
    }
  });
  return rows;
}

void be_of_one_series(const SnapshotTable& table, const SnapshotSelection& selection) {
  std::map<std::uint32_t, std::map<Key, std::string>> series;  // by program
  for_each(table, selection,
           [&](const Key& key, const std::string& name, const Block::Record&) { series[key.program][key] = name; });
  for (const auto& [program, list] : series) {
    if (list.size() < 2) continue;
    std::string names;
    for (const auto& [key, name] : list) {
      names += fmt::format("{}--trigger {}", names.empty() ? "" : ", ", trigger_of(key.kind));
      if (!name.empty()) names += fmt::format(" --name '{}'", name);
    }
    throw UsageError(fmt::format("these snapshots are of several series, which overlap; choose one: {}.", names));
  }
}

SnapshotRows rows_of_profile(const SnapshotTable& table, const SnapshotSelection& selection) {
  be_of_one_series(table, selection);
  std::map<std::pair<std::uint32_t, OneCall>, CallSums> all;  // by program; sums of all threads
  for_each(table, selection, [&](const Key& key, const std::string&, const Block::Record& record) {
    for (const CallCell& cell : record.calls) {
      if (table.calls()[cell.id].kind == Block::CallKind::kCounted) continue;
      OneCall call = one_of(table.calls()[cell.id]);
      call.thread = 0;
      all[{key.program, call}] += cell.sums;
    }
  });
  using Entry = decltype(all)::value_type;
  std::vector<const Entry*> order;
  for (const Entry& entry : all) order.push_back(&entry);
  std::ranges::stable_sort(order, std::ranges::greater{}, [](const Entry* entry) { return entry->second.ns; });
  SnapshotRows rows{kCallColumns, {}};
  rows.columns.insert(rows.columns.begin(), {"program", "Program"});
  for (const Entry* const entry : order) {
    const auto& [program, call] = entry->first;
    put_call(call, entry->second, rows.rows.emplace_back(ShownRow{table.programs().at(program).name}));
  }
  return rows;
}

std::string folded_stacks(const SnapshotTable& table, const SnapshotSelection& selection) {
  be_of_one_series(table, selection);
  std::map<std::string, std::uint64_t> all;  // ns
  for_each(table, selection, [&](const Key& key, const std::string&, const Block::Record& record) {
    for (const CallCell& cell : record.calls) {
      const Block::Call& call = table.calls()[cell.id];
      if (call.kind != Block::CallKind::kSampled) continue;
      const std::string stack = call.stack.empty() ? name_of(call) : call.stack;
      all[fmt::format("{};{}", program_of(table, key).name, stack)] += cell.sums.ns;
    }
  });
  std::string text;
  for (const auto& [stack, ns] : all) {
    if (const std::uint64_t us = (ns + 500) / 1000; us != 0)
      text += fmt::format("{} {}\n", reports::printable(stack), us);
  }
  return text;
}

}  // namespace ardoise::launcher

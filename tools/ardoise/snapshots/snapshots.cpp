#include "tools/ardoise/snapshots/snapshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "knowledge_sources/snapshot_files/snapshot_reader.hpp"
#include "reports/atomic_file.hpp"
#include "reports/text/units.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/shown_text.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/snapshots/snapshot_rows.hpp"
#include "tools/ardoise/snapshots/tau_profile.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using namespace knowledge_sources;

constexpr std::string_view kEnding = ".ards";

struct Request {
  std::string action, output;
  std::vector<std::string> files;
  SnapshotSelection selection;
  bool csv = false, cumulative = false;
};

// Replaces folders by the files in them.
std::vector<std::string> files_of(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().filename().string().ends_with(kEnding)) files.push_back(entry.path().string());
    }
    if (files.size() == before)
      throw UsageError(
          fmt::format("there is no file of snapshots (*{}) in '{}'; a run writes them with "
                      "--snapshot-every.",
                      kEnding, path));
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
  }
  return files;
}

// Calls use(block, bytes) for all blocks of the files. Prints a message for a partly usable file. Throws UsageError for
// an unusable one.
template <class Use>
void read_files(const std::vector<std::string>& files, Use&& use) {
  for (const std::string& file : files) {
    ReadSnapshots read;
    try {
      read = for_each_block(file, use);
    } catch (const std::system_error& error) {
      throw UsageError(fmt::format("'{}' cannot be read: {}.", file, error.code().message()));
    } catch (const SnapshotsOfOtherRun&) {
      throw UsageError(
          fmt::format("'{}' is of another run than '{}', and they cannot be put together.", file, files.front()));
    }
    if (read.is_of_older_version)
      throw UsageError(
          fmt::format("'{}' was written by an older version of Ardoise, whose format this one does not read; use the "
                      "ardoise that wrote it.",
                      file));
    if (read.blocks == 0 && read.skipped_bytes != 0)
      throw UsageError(fmt::format("'{}' is no file of snapshots{}.", file,
                                   read.damage.empty() ? "" : ", or a damaged one: " + read.damage));
    if (read.skipped_bytes != 0)
      say("'{}': {} were passed over: {}.", file, reports::human_bytes(static_cast<double>(read.skipped_bytes)),
          read.damage.empty() ? "they are no snapshots" : read.damage);
    if (read.unfinished_bytes != 0)
      say("'{}' ends within a block: it is being written or was cut off; the part before it is used.", file);
  }
}

SnapshotTable table_of(const std::vector<std::string>& files) {
  SnapshotTable table;
  read_files(files, [&](SnapshotBlock&& block, std::span<const std::byte>) { table.add(block); });
  if (const std::uint64_t late = table.finish(); late != 0)
    say("{} to snapshots that are not in these files: left out.", reports::counted(late, "call", "belongs", "belong"));
  std::set<std::pair<std::uint32_t, std::uint32_t>> lacking, spread;  // program, rank
  for (const auto& [key, snapshots] : table.series()) {
    for (const auto& [rank, records] : snapshots.ranks) {
      if (records.empty()) continue;
      if (records.back().lacks_calls) lacking.emplace(key.program, rank);
      if (records.back().has_spread) spread.emplace(key.program, rank);
    }
  }
  if (!lacking.empty())
    say("calls of {} did not arrive: they are in no snapshot.", reports::counted(lacking.size(), "rank"));
  if (!spread.empty())
    say("calls of {} became sums (memory was short, or --record sums): they are spread evenly over the time in which "
        "they were "
        "made.",
        reports::counted(spread.size(), "rank"));
  return table;
}

int finish(reports::AtomicFile& out, const std::string& path, std::uint64_t blocks, std::uint64_t bytes) {
  if (const auto written = out.commit(); !written) return say("{}", written.error), kFailedStatus;
  say("'{}' has {}, {}.", path, reports::counted(blocks, "block"), reports::human_bytes(static_cast<double>(bytes)));
  return 0;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int merge(const Request& request) {
  reports::AtomicFile out(request.output, reports::Special::kUsed);
  SnapshotTable run;  // checks that the files are of one run
  std::uint64_t blocks = 0, bytes = 0;
  read_files(request.files, [&](SnapshotBlock&& block, std::span<const std::byte> raw) {
    block.records.clear();
    run.add(block);
    out.append(text_of(raw));
    ++blocks;
    bytes += raw.size();
  });
  return finish(out, request.output, blocks, bytes);
}

int extract(const Request& request) {
  const SnapshotTable table = table_of(request.files);
  reports::AtomicFile out(request.output, reports::Special::kUsed);
  std::uint64_t blocks = 0, bytes = 0;
  const auto wanted = [&](const SnapshotTable::SeriesKey& key, const SnapshotBlock::Record& record) {
    return is_selected(table, request.selection, key, record);
  };
  for_each_block_of(table, wanted, [&](const SnapshotBlock& block) {
    const auto encoded = encode(block);
    out.append(text_of(encoded));
    ++blocks;
    bytes += encoded.size();
  });
  if (blocks == 0) throw UsageError("there are no such snapshots; ardoise snapshots list prints all.");
  return finish(out, request.output, blocks, bytes);
}

std::string why_empty(const std::string& action) {
  if (action == "counters") return "these snapshots have no counters: a run counts the events that --counters names.";
  if (action == "values") return "these snapshots have no values: a program tells them with ardoise_value().";
  return "there are no such snapshots; ardoise snapshots list prints all.";
}

int act(const Request& request) {
  if (request.action == "merge") return merge(request);
  if (request.action == "extract") return extract(request);
  const SnapshotTable table = table_of(request.files);
  const SnapshotSelection& selection = request.selection;
  if (request.action == "stacks") {
    const std::string stacks = folded_stacks(table, selection);
    if (stacks.empty()) say("these snapshots have no call stacks: none was sampled in them.");
    return print(stacks) ? 0 : kFailedStatus;
  }
  if (request.action == "tau") return write_tau_profiles(table, selection, request.output);
  SnapshotRows rows;
  if (request.action == "list") rows = rows_of_series(table, selection);
  if (request.action == "each") rows = rows_of_snapshots(table, selection, request.cumulative);
  if (request.action == "calls") rows = rows_of_calls(table, selection, request.cumulative);
  if (request.action == "values") rows = rows_of_values(table, selection);
  if (request.action == "counters") rows = rows_of_counters(table, selection);
  if (request.action == "profile") rows = rows_of_profile(table, selection);
  if (rows.rows.empty() && !request.csv) return say("{}", why_empty(request.action)), 0;
  return print(request.csv ? csv_text(rows.columns, rows.rows) : plain_text(rows.columns, rows.rows)) ? 0
                                                                                                      : kFailedStatus;
}

}  // namespace

int snapshots(const CommandLine& line) {
  constexpr std::string_view kActions = "list|each|calls|values|counters|profile|stacks|merge|extract|tau";
  Request request{.action = line.word_of("ACTION", kActions),
                  .output = line.text("output"),
                  .files = files_of({line.words.begin() + 1, line.words.end()}),
                  .selection = {.program = line.text("program"),
                                .trigger = line.text("trigger"),
                                .name = line.text("name"),
                                .ranks = line.text("ranks"),
                                .first = line.count("from"),
                                .last = line.count("to")},
                  .csv = line.is_on("csv"),
                  .cumulative = line.is_on("cumulative")};
  const bool writes = request.action == "merge" || request.action == "extract" || request.action == "tau";
  if (writes && request.output.empty())
    throw UsageError(fmt::format("ardoise snapshots {} writes what --output names.", request.action));
  return act(request);
}

}  // namespace ardoise::launcher

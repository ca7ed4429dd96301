#include "tools/replay/replay_report.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>

#include "reports/text/units.hpp"

namespace ardoise::replay {
namespace {

constexpr std::size_t kMostRows = 20, kMostRanks = 16;

double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }
std::string ratio(std::uint64_t replayed, std::uint64_t recorded) {
  return recorded == 0 ? "-" : fmt::format("{:.2f}", static_cast<double>(replayed) / static_cast<double>(recorded));
}

std::string_view name_of(std::size_t function) {
  if (function == kFileReadCall) return "read from files";
  if (function == kFileWriteCall) return "write to files";
  if (function == kFileFlushCall) return "flush files";
  return vmpi::kFunctionTraits[function].name;
}

enum Column { kMpiRecorded, kMpiReplayed, kPausesAsked, kPausesTaken, kRunRecorded, kRunReplayed, kColumns };
using Row = std::array<std::uint64_t, kColumns>;

void add_functions(std::string& text, const std::vector<FunctionTimes>& functions, int ranks) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].calls != 0) order.push_back(i);
  }
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const auto most = [&](std::size_t i) { return std::max(functions[i].recorded, functions[i].replayed); };
    return most(a) != most(b) ? most(a) > most(b) : a < b;
  });
  text += fmt::format("\n{:<28}{:>12}{:>14}{:>14}{:>9}\n", "function", "calls", "recorded s", "replayed s", "ratio");
  for (std::size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const FunctionTimes& times = functions[order[i]];
    text += fmt::format("{:<28}{:>12}{:>14.4f}{:>14.4f}{:>9}\n", name_of(order[i]), times.calls,
                        seconds(times.recorded) / ranks, seconds(times.replayed) / ranks,
                        ratio(times.replayed, times.recorded));
  }
  if (order.size() > kMostRows)
    text += fmt::format("and {}\n", reports::counted(order.size() - kMostRows, "more function"));
  text += "(times: mean of the ranks)\n";
}

void add_ranks(std::string& text, const std::vector<Row>& rows) {
  text += fmt::format("\n{:<10}{:>14}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "rank", "run, recorded", "replayed s",
                      "calls, rec. s", "replayed s", "pauses req.", "taken s");
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRanks); ++i) {
    const Row& row = rows[i];
    text += fmt::format("{:<10}{:>14.4f}{:>14.4f}{:>14.4f}{:>14.4f}{:>14.4f}{:>14.4f}\n", i, seconds(row[kRunRecorded]),
                        seconds(row[kRunReplayed]), seconds(row[kMpiRecorded]), seconds(row[kMpiReplayed]),
                        seconds(row[kPausesAsked]), seconds(row[kPausesTaken]));
  }
  if (rows.size() > kMostRanks)
    text += fmt::format("and {}\n", reports::counted(rows.size() - kMostRanks, "more rank"));
}

// Splits the difference of the whole run by cause.
void add_reasons(std::string& text, const std::vector<Row>& rows) {
  Row sum{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) sum[i] += row[i];
  }
  const auto ranks = static_cast<double>(rows.size());
  const auto mean = [&](Column column) { return seconds(sum[column]) / ranks; };
  const double run = mean(kRunReplayed) - mean(kRunRecorded), calls = mean(kMpiReplayed) - mean(kMpiRecorded);
  const double recorded_pauses = mean(kRunRecorded) - mean(kMpiRecorded);
  const double asked = mean(kPausesAsked) - recorded_pauses, late = mean(kPausesTaken) - mean(kPausesAsked);
  text += fmt::format("\nThe run took {:.4f} s, recorded {:.4f} s ({:+.1f} %). Of the difference of {:+.4f} s\n",
                      mean(kRunReplayed), mean(kRunRecorded),
                      mean(kRunRecorded) > 0 ? 100 * run / mean(kRunRecorded) : 0.0, run);
  text += fmt::format("  {:+.4f} s are calls: communication, waiting for others, I/O\n", calls);
  text += fmt::format(
      "  {:+.4f} s are pauses requested to differ from the recorded ones (--compute, --slow, --noise, --pause)\n",
      asked);
  text += fmt::format(
      "  {:+.4f} s are pauses that took longer than requested: the processes had no core of their own\n", late);
  text += fmt::format("  {:+.4f} s are the overhead of the replay itself\n", run - calls - asked - late);
}

}  // namespace

std::string replay_report(const ReplayTimes& own) {
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<FunctionTimes> functions(own.functions.size());
  static_assert(sizeof(FunctionTimes) == 3 * sizeof(std::uint64_t));
  PMPI_Reduce(own.functions.data(), functions.data(), static_cast<int>(3 * functions.size()), MPI_UINT64_T, MPI_SUM, 0,
              MPI_COMM_WORLD);
  Row row{};
  for (const FunctionTimes& times : own.functions) {
    row[kMpiRecorded] += times.recorded;
    row[kMpiReplayed] += times.replayed;
  }
  row[kPausesAsked] = own.pauses_asked;
  row[kPausesTaken] = own.pauses_taken;
  row[kRunRecorded] = own.recorded;
  row[kRunReplayed] = own.replayed;
  std::vector<Row> rows(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  PMPI_Gather(row.data(), kColumns, MPI_UINT64_T, rows.data(), kColumns, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank != 0) return "";
  std::string text;
  add_functions(text, functions, ranks);
  add_ranks(text, rows);
  add_reasons(text, rows);
  return text;
}

}  // namespace ardoise::replay

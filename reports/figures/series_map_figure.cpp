// Time by rank and round of a series; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/series_view.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kFewestColumns = 8, kMostCellsOfMap = 512;
constexpr double kLeastSpreadOfMap = 0.2;  // of the median: a smaller spread may be chance
constexpr double kShownOfMap = 0.95;       // quantile at which the scale ends, so that outliers do not set it

constexpr double kLeastWaiting = 0.05;  // of the time of the series: less has no map

// Values of a round, a row for each group of ranks. sums: [group * snapshots + snapshot].
Grid grid_of_series(const SnapshotSeries& s, const std::vector<double>& sums) {
  Grid grid(s.seconds.size(), s.groups);
  for (std::uint32_t group = 0; group < s.groups; ++group) {
    for (std::size_t i = 0; i < s.seconds.size(); ++i)
      grid.at(i, group) = sums[group * s.seconds.size() + i] / static_cast<double>(s.rounds[i]);
  }
  return grid;
}

// what: "Time outside MPI and I/O".
Figure map_figure(const Application& app, const SnapshotSeries& s, const std::vector<double>& sums, std::string name,
                  const char* what) {
  if (s.groups < 2 || s.seconds.size() < kFewestColumns) return {};
  const auto [begin, end] = comparable(s);
  std::vector<double> values;
  for (std::uint32_t group = 0; group < s.groups; ++group) {
    for (std::size_t i = begin; i < end; ++i)
      values.push_back(sums[group * s.seconds.size() + i] / static_cast<double>(s.rounds[i]));
  }
  std::ranges::sort(values);
  const double low = values[static_cast<std::size_t>((1 - kShownOfMap) * static_cast<double>(values.size()))],
               high = values[static_cast<std::size_t>(kShownOfMap * static_cast<double>(values.size() - 1))];
  if (!(high > 0) || high - low < kLeastSpreadOfMap * values[values.size() / 2]) return {};
  const double h = std::clamp(8.0 * s.groups, 24.0, 120.0), y0 = 4;
  const auto draw = [=, &app, &s, &sums](Canvas& canvas, FigureFolder&) {
    const Scale scale(low, high, false);
    canvas.cells(kTimeLeft, y0, kTimePlot, h, reduced(grid_of_series(s, sums), kMostCellsOfMap), scale);
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    for (const double tick : round_ticks(static_cast<double>(s.groups), 4)) {
      if (tick >= s.groups || tick != std::floor(tick)) continue;
      const double rank = tick * s.ranks_per_group;
      canvas.text(kTimeLeft - 5, y0 + h * (tick + 0.5) / s.groups + 2.5, world_label(app, rank), Align::right, 7);
    }
    round_axis(canvas, y0 + h, s);
    canvas.flat_legend(kTimeLeft, y0 + h + 28, 160, scale, human_seconds);
  };
  return {std::move(name),
          fmt::format("{} by rank (rows{}) and {} (columns). Values beyond the scale have the colour of its end.", what,
                      s.ranks_per_group > 1 ? fmt::format(", {} each", s.ranks_per_group) : "", round_word(s, true)),
          1.0,
          kTimeWidth,
          y0 + h + 46,
          draw};
}

}  // namespace

Figure series_map_figure(const Application& app, std::size_t series) {
  const SnapshotSeries& s = app.snapshots.series[series];
  return map_figure(app, s, s.own_seconds, fmt::format("snapshots_{}_map", series), "Time outside MPI and I/O");
}

Figure series_waiting_map_figure(const Application& app, std::size_t series) {
  const SnapshotSeries& s = app.snapshots.series[series];
  if (waiting_share(s) < kLeastWaiting) return {};
  return map_figure(app, s, s.group_waiting_seconds, fmt::format("snapshots_{}_waiting_map", series), "Waiting in MPI");
}

}  // namespace ardoise::reports

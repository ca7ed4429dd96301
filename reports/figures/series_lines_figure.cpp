// The most expensive calls of a series by round: time and bytes of a call, number of calls, cumulative part of all
// time; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kLinesShown = 4, kFewestRounds = 8;
constexpr double kLeastShown = 0.02;  // of the time of the series
constexpr double kChanges = 1.5;  // ratio of a line's 90 % and 10 % quantiles: a line that changes less is not shown
constexpr double kPanelHeight = 52, kBetweenPanels = 10;
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// One quantity of several calls; NaN: no value.
struct LinesPanel {
  std::string title;
  std::string (*format)(double);
  double base;  // of the logarithms: ticks are its powers
  std::vector<std::vector<double>> lines;
};

std::vector<const SnapshotCalls*> shown_calls(const SnapshotSeries& s) {
  const auto sum = [](const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); };
  const double least = kLeastShown * sum(s.seconds) * static_cast<double>(s.ranks);
  std::vector<const SnapshotCalls*> shown;
  for (const SnapshotCalls& calls : s.calls) {
    if (!calls.function.empty() && sum(calls.seconds) >= least && shown.size() < kLinesShown) shown.push_back(&calls);
  }
  return shown;
}

bool has_changes(const LinesPanel& panel, SnapshotRange range) {
  return std::ranges::any_of(panel.lines, [&](const std::vector<double>& line) {
    std::vector<double> values;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      if (line[i] > 0) values.push_back(line[i]);
    }
    if (values.size() < kFewestRounds) return false;
    std::ranges::sort(values);
    const std::size_t tenth = values.size() / 10;
    return values[values.size() - 1 - tenth] >= kChanges * values[tenth];
  });
}

// The panels with changes.
std::vector<LinesPanel> panels_of(const SnapshotSeries& s, const std::vector<const SnapshotCalls*>& shown) {
  LinesPanel time{"time of a call", human_seconds, 10, {}}, bytes{"bytes of a call", human_bytes, 2, {}},
      calls{"calls by rank", human_count, 10, {}}, share{"part of all time so far", human_share, 2, {}};
  const auto ranks = static_cast<double>(std::max(s.ranks, 1u));
  for (const SnapshotCalls* const each : shown) {
    std::vector<double> of_time, of_bytes, of_calls, of_all;
    double in_call = 0, all = 0;
    for (std::size_t i = 0; i < s.seconds.size(); ++i) {
      const auto count = static_cast<double>(each->calls[i]);
      of_time.push_back(count > 0 ? each->seconds[i] / count : kMissing);
      of_bytes.push_back(count > 0 && each->bytes[i] > 0 ? static_cast<double>(each->bytes[i]) / count : kMissing);
      in_call += each->seconds[i];
      all += s.seconds[i] * ranks;
      of_all.push_back(all > 0 ? in_call / all : kMissing);
      of_calls.push_back(count > 0 ? count / ranks / static_cast<double>(s.rounds[i]) : kMissing);
    }
    time.lines.push_back(std::move(of_time));
    bytes.lines.push_back(std::move(of_bytes));
    calls.lines.push_back(std::move(of_calls));
    share.lines.push_back(std::move(of_all));
  }
  std::vector<LinesPanel> panels;
  for (LinesPanel* const panel : {&time, &bytes, &calls, &share}) {
    if (has_changes(*panel, comparable(s))) panels.push_back(std::move(*panel));
  }
  return panels;
}

// A logarithmic axis from one power of the base to another.
struct LogAxis {
  double base, least = 0, most = 1;  // exponents
  explicit LogAxis(const LinesPanel& panel) : base(panel.base) {
    double low = std::numeric_limits<double>::max(), high = 0;
    for (const auto& line : panel.lines) {
      for (const double value : line) {
        if (!(value > 0)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
    least = std::floor(exponent(low));
    most = std::max(std::ceil(exponent(high)), least + 1);
  }
  [[nodiscard]] double exponent(double value) const { return std::log(value) / std::log(base); }
  [[nodiscard]] double share(double value) const { return (exponent(value) - least) / (most - least); }
};

void draw_panel(Canvas& canvas, double y0, const LinesPanel& panel) {
  const LogAxis axis(panel);
  canvas.box(kTimeLeft, y0, kTimePlot, kPanelHeight);
  const double step = std::max(1.0, std::ceil((axis.most - axis.least) / 4));
  for (double exponent = axis.least; exponent <= axis.most; exponent += step) {
    const double value = std::pow(axis.base, exponent), y = y0 + kPanelHeight * (1 - axis.share(value));
    canvas.line(kTimeLeft - 3, y, kTimeLeft, y);
    canvas.text(kTimeLeft - 5, y + 2.5, panel.format(value), Align::right, 7);
  }
  canvas.text(kTimeLeft + kTimePlot - 4, y0 + 9, panel.title, Align::right, 7);
  for (std::size_t number = panel.lines.size(); number-- > 0;) {
    const std::vector<double>& line = panel.lines[number];
    const auto x = [&](std::size_t i) {
      return kTimeLeft + kTimePlot * static_cast<double>(i) / static_cast<double>(line.size());
    };
    double before = kMissing;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const double y = line[i] > 0 ? y0 + kPanelHeight * (1 - axis.share(line[i])) : kMissing;
      if (!std::isnan(y)) {
        canvas.line(x(i), y, x(i + 1), y, 0.8, kClassColours[number]);
        if (!std::isnan(before)) canvas.line(x(i), before, x(i), y, 0.8, kClassColours[number]);
      }
      before = y;
    }
  }
}

}  // namespace

Figure series_lines_figure(const Application& app, std::size_t series) {
  const SnapshotSeries& s = app.snapshots.series[series];
  const auto shown = shown_calls(s);
  if (s.seconds.size() < kFewestRounds || shown.empty()) return {};
  const auto panels = panels_of(s, shown);
  if (panels.empty()) return {};
  std::vector<std::string> names;
  for (const SnapshotCalls* const each : shown)
    names.push_back(each->source_file.empty() ? each->function : fmt::format("{} :{}", each->function, each->line));
  const double y0 = 18;
  const double end = y0 + static_cast<double>(panels.size()) * (kPanelHeight + kBetweenPanels) - kBetweenPanels;
  const auto draw = [=, &s](Canvas& canvas, FigureFolder&) {
    double x = kTimeLeft;
    for (std::size_t i = 0; i < names.size(); ++i) x = legend_entry(canvas, x, 8, kClassColours[i], names[i]);
    for (std::size_t i = 0; i < panels.size(); ++i)
      draw_panel(canvas, y0 + static_cast<double>(i) * (kPanelHeight + kBetweenPanels), panels[i]);
    round_axis(canvas, end, s);
  };
  return {
      fmt::format("snapshot_lines_{}", series),
      fmt::format("The most expensive calls, means of each {}, on logarithmic axes. Time, bytes, number of calls and "
                  "cumulative part of all time are shown if they change.",
                  round_word(s, true)),
      1.0,
      kTimeWidth,
      end + 26,
      draw};
}

}  // namespace ardoise::reports

// The time of each round of a series by activity; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/series_view.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kCallsShown = 4, kFunctionsShown = 3, kFewestShown = 8;
constexpr double kMostTimesMedian = 5;  // higher values are cut off
constexpr double kLegendRow = 11;

struct Band {
  std::string name;
  Rgb colour;
  std::vector<double> seconds;  // of a round
};

void subtract(std::vector<double>& rest, const std::vector<double>& part) {
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = std::max(0.0, rest[i] - part[i]);
}

// From the bottom up: functions, other time outside MPI and I/O, calls.
std::vector<Band> bands_of(const SampleProfile& samples, const SnapshotSeries& s) {
  std::vector<Band> bands;
  std::size_t colour = 0;
  std::vector<double> own = round_means(s, own_seconds(s));
  for (std::size_t i = 0; i < std::min(kFunctionsShown, s.functions.size()); ++i) {
    std::vector<double> mean = rank_means(s, s.functions[i].seconds);
    for (std::size_t at = 0; at < mean.size(); ++at) mean[at] = std::min(mean[at], own[at]);
    subtract(own, mean);
    const SnapshotFunction& f = s.functions[i];
    bands.push_back({name_as_sampled(samples, f.symbol, f.source_file, f.line),
                     kClassColours[kClassColours.size() - 1 - i], std::move(mean)});
  }
  bands.push_back({bands.empty() ? "outside MPI and I/O" : "others outside MPI and I/O", kComputation, std::move(own)});
  std::vector<double> rest = round_means(s, s.mpi_seconds);
  const std::vector<double> io = round_means(s, s.io_seconds);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] += io[i];
  for (const SnapshotCalls& calls : s.calls) {
    if (calls.function.empty() || colour == kCallsShown) continue;
    std::vector<double> mean = rank_means(s, calls.seconds);
    subtract(rest, mean);
    bands.push_back({calls.function, kClassColours[colour++], std::move(mean)});
  }
  if (s.calls.size() > colour) bands.push_back({"other calls", kClassColours[4], std::move(rest)});
  return bands;
}

std::string caption_of(const SnapshotSeries& s) {
  if (s.trigger == "timer")
    return fmt::format("Calls in intervals of {} since MPI_Init, mean over ranks.", human_seconds(s.interval_seconds));
  const std::string what = s.trigger != "iteration" ? "each " + round_word(s, true)
                           : s.name.empty()         ? "an iteration of the main loop"
                                                    : fmt::format("an iteration of the {} loop", s.name);
  std::string caption = fmt::format("Time of {} by activity, mean over ranks{}; the line is the slowest rank.", what,
                                    s.functions.empty() ? "" : " (functions: estimates from samples)");
  if (most_rounds(s) > 1) caption += fmt::format(" Each step is the mean of {}.", most_rounds(s));
  return caption + " Values above five times the median are cut off.";
}

void longest_line(Canvas& canvas, double y0, double h, double top, const std::vector<double>& longest) {
  const auto count = static_cast<double>(longest.size());
  const auto height = [&](std::size_t i) { return y0 + h * (1 - std::min(1.0, longest[i] / top)); };
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const double left = kTimeLeft + kTimePlot * static_cast<double>(i) / count,
                 right = kTimeLeft + kTimePlot * static_cast<double>(i + 1) / count;
    canvas.line(left, height(i), right, height(i), 0.5, {0.75, 0.2, 0.15});
    if (i != 0) canvas.line(left, height(i - 1), left, height(i), 0.5, {0.75, 0.2, 0.15});
  }
}

void axes(Canvas& canvas, double y0, double h, double top, const SnapshotSeries& s) {
  canvas.box(kTimeLeft, y0, kTimePlot, h);
  for (const double tick : round_ticks(top, 4)) {
    canvas.line(kTimeLeft - 3, y0 + h * (1 - tick / top), kTimeLeft, y0 + h * (1 - tick / top));
    canvas.text(kTimeLeft - 5, y0 + h * (1 - tick / top) + 2.5, human_seconds(tick), Align::right, 7);
  }
  round_axis(canvas, y0 + h, s);
}

}  // namespace

void round_axis(Canvas& canvas, double y, const SnapshotSeries& s) {
  const auto all = static_cast<double>(s.seconds.size() * most_rounds(s));
  if (s.trigger == "timer") return time_axis(canvas, y, all * s.interval_seconds);
  for (const double tick : round_ticks(all, 8)) {
    const double place = kTimeLeft + kTimePlot * tick / all;
    canvas.line(place, y, place, y + 3);
    canvas.text(place, y + 10, with_separators(static_cast<std::uint64_t>(tick)), Align::centre, 7);
  }
  canvas.text(kTimeLeft + kTimePlot / 2, y + 21, round_word(s, true), Align::centre);
}

Figure series_figure(const Application& app, std::size_t series) {
  const SnapshotSeries& s = app.snapshots.series[series];
  const std::size_t count = s.seconds.size();
  if (count < kFewestShown) return {};
  const double h = 90, y0 = 18 + kLegendRow;
  const auto draw = [=, &s](Canvas& canvas, FigureFolder&) {
    const auto seconds = round_means(s, s.seconds), longest = round_means(s, s.longest_seconds);
    const double top = s.trigger == "timer"
                           ? std::max(1e-12, s.interval_seconds)
                           : std::max(1e-12, std::min(std::ranges::max(longest),
                                                      kMostTimesMedian * std::max(median(seconds), median(longest))));
    double x = kTimeLeft, row = 8;
    std::vector<double> below(count, 0.0);
    const auto begin = [&](std::size_t i) { return static_cast<double>(i) / static_cast<double>(count); };
    for (const Band& band : bands_of(app.samples, s)) {
      if (x + 22 + canvas.text_width(shortened(band.name, 24)) > kTimeWidth && row < kLegendRow) {
        x = kTimeLeft;
        row += kLegendRow;
      }
      x = legend_entry(canvas, x, row, band.colour, band.name);
      const auto share = [&](std::size_t i) { return band.seconds[i] / top; };
      stacked_band(canvas, y0, h, below, begin, share, band.colour);
    }
    if (s.trigger != "timer") longest_line(canvas, y0, h, top, longest);
    axes(canvas, y0, h, top, s);
  };
  return {fmt::format("snapshots_{}", series), caption_of(s), 1.0, kTimeWidth, y0 + h + 26, draw};
}

}  // namespace ardoise::reports

// The time of each iteration of the main loop, and what it was spent on; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/iteration_view.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kCallsShown = 4, kFewestShown = 8;
constexpr double kMostTimesMedian = 5;  // what is higher goes out of the plot

struct Band {
  std::string name;
  Rgb colour;
  std::vector<double> seconds;  // of an iteration
};

// From the bottom up.
std::vector<Band> bands_of(const Snapshots& s) {
  std::vector<Band> bands;
  bands.push_back({"outside of MPI and I/O", kComputation, of_an_iteration(s, own_seconds(s))});
  std::vector<double> rest = s.mpi_seconds;
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] += s.io_seconds[i];
  for (std::size_t call = 0; call < std::min(kCallsShown, s.calls.size()); ++call) {
    std::vector<double> mean = s.calls[call].seconds;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] /= std::max(s.ranks, 1u);
      rest[i] = std::max(0.0, rest[i] - mean[i]);
    }
    bands.push_back({s.calls[call].function, kClassColours[call], of_an_iteration(s, mean)});
  }
  if (s.calls.size() > kCallsShown) bands.push_back({"other calls", kClassColours[7], of_an_iteration(s, rest)});
  return bands;
}

}  // namespace

Figure iterations_figure(const Application& app) {
  const Snapshots& s = app.snapshots;
  const std::size_t count = s.seconds.size();
  if (count < kFewestShown) return {};
  const double h = 90, y0 = 18;
  const auto draw = [=, &s](Canvas& canvas, FigureFolder&) {
    const auto seconds = of_an_iteration(s, s.seconds), longest = of_an_iteration(s, s.longest_seconds);
    const double top = std::max(
        1e-12, std::min(std::ranges::max(longest), kMostTimesMedian * std::max(median(seconds), median(longest))));
    double x = kTimeLeft;
    std::vector<double> below(count, 0.0);
    const auto begin = [&](std::size_t i) { return static_cast<double>(i) / static_cast<double>(count); };
    for (const Band& band : bands_of(s)) {
      x = legend_entry(canvas, x, 8, band.colour, band.name);
      const auto share = [&](std::size_t i) { return band.seconds[i] / top; };
      stacked_band(canvas, y0, h, below, begin, share, band.colour);
    }
    const auto height = [&](std::size_t i) { return y0 + h * (1 - std::min(1.0, longest[i] / top)); };
    for (std::size_t i = 0; i < count; ++i) {
      const double left = kTimeLeft + kTimePlot * begin(i), right = kTimeLeft + kTimePlot * begin(i + 1);
      canvas.line(left, height(i), right, height(i), 0.5, {0.75, 0.2, 0.15});
      if (i != 0) canvas.line(left, height(i - 1), left, height(i), 0.5, {0.75, 0.2, 0.15});
    }
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    for (const double tick : round_ticks(top, 4)) {
      canvas.line(kTimeLeft - 3, y0 + h * (1 - tick / top), kTimeLeft, y0 + h * (1 - tick / top));
      canvas.text(kTimeLeft - 5, y0 + h * (1 - tick / top) + 2.5, human_seconds(tick), Align::right, 7);
    }
    const auto all = static_cast<double>(count * s.per_snapshot);
    for (const double tick : round_ticks(all, 8)) {
      const double place = kTimeLeft + kTimePlot * tick / all;
      canvas.line(place, y0 + h, place, y0 + h + 3);
      canvas.text(place, y0 + h + 10, with_separators(static_cast<std::uint64_t>(tick)), Align::centre, 7);
    }
    canvas.text(kTimeLeft + kTimePlot / 2, y0 + h + 21, "iteration", Align::centre);
  };
  std::string caption =
      "Time of an iteration of the main loop by what it was spent on, mean of the ranks; the line is "
      "the rank that took longest.";
  if (s.per_snapshot > 1) caption += fmt::format(" Each step is the mean of {} iterations.", s.per_snapshot);
  caption += " What takes more than five times the median goes out of the plot.";
  return {"iterations", caption, 1.0, kTimeWidth, y0 + h + 26, draw};
}

}  // namespace ardoise::reports

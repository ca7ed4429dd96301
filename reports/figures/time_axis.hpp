// Common parts of the figures over time: width, colours, legend and axes.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/snapshots.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

inline constexpr double kTimeWidth = 460, kTimeLeft = 42, kTimePlot = kTimeWidth - kTimeLeft - 8;
// Neighbours differ in lightness, so also in grey.
inline constexpr std::array<Rgb, 8> kClassColours{{{0.16, 0.23, 0.36},
                                                   {0.85, 0.55, 0.24},
                                                   {0.27, 0.52, 0.58},
                                                   {0.94, 0.78, 0.47},
                                                   {0.42, 0.24, 0.42},
                                                   {0.60, 0.75, 0.62},
                                                   {0.55, 0.27, 0.22},
                                                   {0.78, 0.80, 0.86}}};
inline constexpr Rgb kComputation{0.91, 0.92, 0.93};

// Returns the x of the next entry.
inline double legend_entry(Canvas& canvas, double x, double y, Rgb colour, const std::string& name) {
  const std::string text = shortened(name, 24);
  canvas.fill(x, y - 6, 8, 7, colour);
  canvas.box(x, y - 6, 8, 7, 0.3);
  canvas.text(x + 11, y, text);
  return x + 22 + canvas.text_width(text);
}

// 0 to 100 %, at the left of a plot of height `h`.
inline void percent_axis(Canvas& canvas, double y0, double h) {
  for (int percent = 0; percent <= 100; percent += 25) {
    const double y = y0 + h * (1 - percent / 100.0);
    canvas.line(kTimeLeft - 3, y, kTimeLeft, y);
    canvas.text(kTimeLeft - 5, y + 2.5, std::to_string(percent) + " %", Align::right, 7);
  }
}

// A band of a stacked plot over time, from below[i] to below[i] + share(i), at most 1; updates below[i]. Column i
// covers begin(i) to begin(i + 1) of the time.
inline void stacked_band(Canvas& canvas, double y0, double h, std::vector<double>& below, const auto& begin,
                         const auto& share, Rgb colour) {
  std::vector<std::pair<double, double>> upper, lower;
  for (std::size_t i = 0; i < below.size(); ++i) {
    const double left = kTimeLeft + kTimePlot * begin(i), right = kTimeLeft + kTimePlot * begin(i + 1), from = below[i];
    below[i] = std::min(1.0, from + share(i));
    lower.insert(lower.end(), {{left, y0 + h * (1 - from)}, {right, y0 + h * (1 - from)}});
    upper.insert(upper.end(), {{left, y0 + h * (1 - below[i])}, {right, y0 + h * (1 - below[i])}});
  }
  upper.insert(upper.end(), lower.rbegin(), lower.rend());
  canvas.polygon(upper, colour);
}

inline void time_axis(Canvas& canvas, double y, double seconds) {
  for (const double tick : round_ticks(seconds, 8)) {
    const double x = kTimeLeft + kTimePlot * tick / std::max(seconds, 1e-12);
    canvas.line(x, y, x, y + 3);
    canvas.text(x, y + 10, human_seconds(tick), Align::centre, 7);
  }
}

// Axis below a plot by snapshots of a series: rounds, or time.
void round_axis(Canvas& canvas, double y, const SnapshotSeries& series);

}  // namespace ardoise::reports

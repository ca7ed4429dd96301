// What the figures of time share: their width, colours, legend and axis. See time_figures.cpp and sample_figures.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "reports/figures/canvas.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

inline constexpr double kTimeWidth = 460, kTimeLeft = 42, kTimePlot = kTimeWidth - kTimeLeft - 8;
// Ordered by lightness, so that neighbours differ in grey too.
inline constexpr std::array<Rgb, 8> kClassColours{{{0.16, 0.23, 0.36},
                                                   {0.85, 0.55, 0.24},
                                                   {0.27, 0.52, 0.58},
                                                   {0.94, 0.78, 0.47},
                                                   {0.42, 0.24, 0.42},
                                                   {0.60, 0.75, 0.62},
                                                   {0.55, 0.27, 0.22},
                                                   {0.78, 0.80, 0.86}}};
inline constexpr Rgb kComputation{0.91, 0.92, 0.93};

// Returns where the next entry begins.
inline double legend_entry(Canvas& canvas, double x, double y, Rgb colour, const std::string& name) {
  const std::string text = shortened(name, 24);
  canvas.fill(x, y - 6, 8, 7, colour);
  canvas.box(x, y - 6, 8, 7, 0.3);
  canvas.text(x + 11, y, text);
  return x + 22 + canvas.text_width(text);
}

inline void time_axis(Canvas& canvas, double y, double seconds) {
  for (const double tick : round_ticks(seconds, 8)) {
    const double x = kTimeLeft + kTimePlot * tick / std::max(seconds, 1e-12);
    canvas.line(x, y, x, y + 3);
    canvas.text(x, y + 10, human_seconds(tick), Align::centre, 7);
  }
}

}  // namespace ardoise::reports

// Parallel efficiency and losses over time; see figures.hpp.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"

namespace ardoise::reports {

Figure waiting_over_time_figure(const Application& app) {
  const EfficiencyOverTime& e = app.waiting.efficiency_over_time;
  const std::size_t bins = e.parallel.size();
  if (bins < 8) return {};
  const double h = 70, y0 = 18, seconds = app.wall_seconds;
  const auto draw = [=, &e](Canvas& canvas, FigureFolder&) {
    struct Band {
      const char* name;
      Rgb colour;
    };
    constexpr std::array<Band, 4> kEfficiencyBands{{{"useful", kComputation},
                                                    {"lost to load imbalance", kClassColours[1]},
                                                    {"to serialisation", kClassColours[0]},
                                                    {"to transfer", kClassColours[2]}}};
    double x = kTimeLeft;
    for (const Band& band : kEfficiencyBands) x = legend_entry(canvas, x, 8, band.colour, band.name);
    const auto begin = [&](std::size_t i) {
      return std::min(1.0, static_cast<double>(i) * e.bin_seconds / std::max(seconds, 1e-12));
    };
    // The upper end of each band.
    const auto top = [&](std::size_t band, std::size_t i) {
      return band == 0   ? e.parallel[i]
             : band == 1 ? e.serialisation[i] * e.transfer[i]
             : band == 2 ? e.transfer[i]
                         : 1.0;
    };
    std::vector<double> below(bins, 0.0);
    for (std::size_t band = 0; band < kEfficiencyBands.size(); ++band) {
      const auto share = [&](std::size_t i) { return std::max(0.0, top(band, i) - below[i]); };
      stacked_band(canvas, y0, h, below, begin, share, kEfficiencyBands[band].colour);
    }
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    percent_axis(canvas, y0, h);
    time_axis(canvas, y0 + h, seconds);
  };
  return {"waiting", "Parallel efficiency and its losses over time (estimates).", 1.0, kTimeWidth, y0 + h + 16, draw};
}

}  // namespace ardoise::reports

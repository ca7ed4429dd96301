// Memory of ranks over the run; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {
constexpr double kLeastShownGrowth = 16e6, kFlat = 1.2;  // bytes, and as a ratio: smaller growth is not shown
}  // namespace

Figure memory_figure(const Application& app) {
  const MemoryProfile& memory = app.memory;
  const std::size_t bins = memory.bins;
  if (bins == 0 || app.ranks == 0 || memory.peak_bytes.size() != bins * app.ranks) return {};
  struct Band {
    double least, median, most;
  };
  std::vector<Band> bands;
  std::vector<double> of_ranks(app.ranks);
  for (std::size_t bin = 0; bin < bins; ++bin) {
    for (std::size_t rank = 0; rank < app.ranks; ++rank)
      of_ranks[rank] = static_cast<double>(memory.peak_bytes[rank * bins + bin]);
    std::sort(of_ranks.begin(), of_ranks.end());
    bands.push_back({of_ranks.front(), of_ranks[of_ranks.size() / 2], of_ranks.back()});
  }
  const double top = bands.back().most;
  if (top < kFlat * bands.front().most || top < bands.front().most + kLeastShownGrowth) return {};
  const double h = 90, y0 = 18, seconds = memory.bin_seconds * static_cast<double>(bins);
  const auto draw = [=](Canvas& canvas, FigureFolder&) {
    const Rgb line{0.15, 0.35, 0.6}, band{0.78, 0.85, 0.93};
    double x = legend_entry(canvas, kTimeLeft, 8, band, "minimum to maximum of ranks");
    (void)legend_entry(canvas, x, 8, line, "median of ranks");
    const double width = kTimePlot / static_cast<double>(bins);
    const auto y = [&](double bytes) { return y0 + h * (1 - bytes / (1.05 * top)); };
    for (std::size_t i = 0; i < bins; ++i) {
      const double left = kTimeLeft + width * static_cast<double>(i);
      canvas.fill(left, y(bands[i].most), width + 0.2, std::max(0.8, y(bands[i].least) - y(bands[i].most)), band);
      canvas.line(left, y(bands[i].median), left + width, y(bands[i].median), 1.2, line);
    }
    canvas.box(kTimeLeft, y0, kTimePlot, h);
    for (const double tick : round_ticks(1.05 * top, 4)) {
      canvas.line(kTimeLeft - 3, y(tick), kTimeLeft, y(tick));
      canvas.text(kTimeLeft - 5, y(tick) + 2.5, human_bytes(tick), Align::right, 7);
    }
    for (const double tick : round_ticks(seconds, 8)) {
      const double at = kTimeLeft + kTimePlot * tick / seconds;
      canvas.line(at, y0 + h, at, y0 + h + 3);
      canvas.text(at, y0 + h + 10, human_seconds(tick), Align::centre, 7);
    }
    canvas.text(kTimeLeft + kTimePlot / 2, y0 + h + 21, "time since MPI_Init", Align::centre);
  };
  return {"memory", "Peak resident memory of ranks over time.", 1.0, kTimeWidth, y0 + h + 26, draw};
}

}  // namespace ardoise::reports

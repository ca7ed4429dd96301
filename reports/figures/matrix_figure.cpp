// The communication matrix; see figures.hpp.
#include <fmt/format.h>

#include <cmath>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

const WeightStyle& style_of(Weight weight) {
  static const WeightStyle calls{"messages", "Messages", "messages", human_count,
                                 [](const Edge&e) { return static_cast<double>(e.messages); }},
      bytes{"bytes", "Bytes", "bytes", human_bytes, [](const Edge&e) { return static_cast<double>(e.bytes); }},
      time{"seconds", "Time", "time in the sending calls", human_seconds, [](const Edge&e) { return e.seconds; }};
  return weight == Weight::calls ? calls : weight == Weight::bytes ? bytes : time;
}

Figure matrix_figure(const Application& app, Weight weight, bool small) {
  if (app.edges.empty()) return {};
  const std::uint32_t block = (app.ranks + kMaxMatrixCells - 1) / kMaxMatrixCells;
  const std::uint32_t side = (app.ranks + block - 1) / block;
  const WeightStyle& style = style_of(weight);
  const double size = small ? 150 : 300, x0 = 36, y0 = 24;
  const auto draw = [=, &app, &style](Canvas& canvas, FigureFolder&) {
    Grid grid(side, side);
    for (const Edge& e : app.edges) {
      double& cell = grid.at(e.target / block, e.source / block);
      const double v = style.of(e);
      cell = std::isnan(cell) ? v : cell + v;
    }
    const Scale scale = Scale::over(grid.values, true);
    canvas.cells(x0, y0, size, size, grid, scale);
    canvas.box(x0, y0, size, size);
    const double cell = size / side;
    for (const double tick : round_ticks(app.ranks - 1, small ? 4 : 8)) {
      if (tick != std::floor(tick)) continue;
      const double at = (std::floor(tick / block) + 0.5) * cell;
      canvas.line(x0 + at, y0 - 3, x0 + at, y0);
      canvas.text(x0 + at, y0 - 5, world_label(app, tick), Align::centre, 7);
      canvas.line(x0 - 3, y0 + at, x0, y0 + at);
      canvas.text(x0 - 5, y0 + at + 2.5, world_label(app, tick), Align::right, 7);
    }
    canvas.text(x0 + size / 2, 8, "receiving rank", Align::centre);
    canvas.text_upwards(9, y0 + size / 2, "sending rank");
    canvas.legend(x0 + size + 12, y0 + 12, size * (small ? 0.75 : 0.6), scale, style.title, style.format);
  };

  std::string caption =
      fmt::format("Communication matrix: {} from each rank (row) to each (column); white: none.", style.what);
  if (block > 1) caption += fmt::format(" Each cell is the sum over a block of {0} x {0} ranks.", block);
  return {std::string("matrix_") + style.file_name, caption, small ? 0.49 : 0.86, x0 + size + 76, y0 + size + 14, draw};
}

}  // namespace ardoise::reports

// Ranks in two metrics in some parts of a series, their clusters and moves; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/figures/time_axis.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/series_view.hpp"

namespace ardoise::reports {
namespace {

constexpr double kLeft = 52, kPanelGap = 9, kPlotHeight = 96, kLegendHeight = 11;
constexpr double kMark = 2.4, kLeastArrow = 8, kLetter = 9;
constexpr double kInk = 0.7;         // letters are darker than marks
constexpr std::size_t kColours = 7;  // the last one is too light for points

Rgb colour_of(std::uint32_t cluster) { return kClassColours[cluster % kColours]; }
Rgb ink_of(std::uint32_t cluster) {
  const Rgb c = colour_of(cluster);
  return {kInk * c.r, kInk * c.g, kInk * c.b};
}

// Clusters differ in colour and shape, so also in grey.
void draw_mark(Canvas& canvas, double x, double y, std::uint32_t cluster) {
  const double r = kMark;
  switch (cluster % 4) {
    case 0:
      return canvas.circle(x, y, r, colour_of(cluster));
    case 1:
      return canvas.polygon({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, colour_of(cluster));
    case 2:
      return canvas.polygon({{x, y - 1.3 * r}, {x + 1.2 * r, y + r}, {x - 1.2 * r, y + r}}, colour_of(cluster));
    default:
      return canvas.polygon({{x, y - 1.4 * r}, {x + 1.4 * r, y}, {x, y + 1.4 * r}, {x - 1.4 * r, y}},
                            colour_of(cluster));
  }
}

// One axis of all panels, from 0 on.
struct PlaneAxis {
  double high = 1;
  std::vector<double> ticks{};
};

PlaneAxis axis_of(const RankMoves& moves, double PlanePoint::*coordinate, MoveMetric metric, int most_ticks) {
  PlaneAxis axis{0, {}};
  for (const RankMoves::Part& part : moves.parts) {
    for (const PlanePoint& point : part.points) axis.high = std::max(axis.high, point.*coordinate);
  }
  axis.high = axis.high > 0 ? 1.15 * axis.high : 1;
  double unit = 1;
  while (metric == MoveMetric::bytes && axis.high / unit >= 1024) unit *= 1024;
  for (const double tick : round_ticks(axis.high / unit, most_ticks)) {
    if (metric == MoveMetric::io || tick * unit == std::floor(tick * unit)) axis.ticks.push_back(tick * unit);
  }
  return axis;
}

// Legend text of a cluster: its ranks in the last part with this cluster.
std::string legend_of(const Application& app, const SnapshotSeries& s, const RankMoves& moves, std::uint32_t cluster) {
  for (std::size_t part = moves.parts.size(); part-- > 0;) {
    const auto points = moves.points_of(part, cluster);
    if (points.empty()) continue;
    return fmt::format("{}: {}{}", letter_of(cluster), ranks_of_points(app, s, moves, points),
                       part + 1 == moves.parts.size() ? "" : fmt::format(" in the {} tenth", moves.parts[part].name));
  }
  return letter_of(cluster);
}

// The panel of one tenth.
class Panel {
 public:
  Panel(Canvas& canvas, double left, double top, double width, const PlaneAxis& x, const PlaneAxis& y)
      : canvas_(canvas), left_(left), top_(top), width_(width), x_(x), y_(y) {}

  void draw_frame(const std::string& title, bool is_first, MoveMetric metric) const {
    canvas_.box(left_, top_, width_, kPlotHeight);
    canvas_.text(left_ + width_ / 2, top_ - 4, title, Align::centre, 7, true);
    const double bottom = top_ + kPlotHeight;
    for (const double tick : x_.ticks) {
      canvas_.line(x_of(tick), bottom, x_of(tick), bottom + 3);
      canvas_.text(x_of(tick), bottom + 10, tick == 0 ? "0" : human_seconds(tick), Align::centre, 6.5);
    }
    for (const double tick : y_.ticks) {
      if (is_first) canvas_.line(left_ - 3, y_of(tick), left_, y_of(tick));
      if (is_first) canvas_.text(left_ - 5, y_of(tick) + 2.5, in_axis(metric, tick), Align::right, 6.5);
      if (tick != 0) canvas_.line(left_, y_of(tick), left_ + width_, y_of(tick), 0.25, {0.85, 0.86, 0.88});
    }
  }
  void draw_points(const RankMoves& moves, std::size_t at) const {
    const RankMoves::Part& part = moves.parts[at];
    for (std::size_t i = 0; i < part.points.size(); ++i)
      draw_mark(canvas_, x_of(part.points[i].x), y_of(part.points[i].y), part.cluster[i]);
    for (const auto& path : moves.paths) {
      if (at != 0) draw_arrow(moves.centre(path, at - 1), moves.centre(path, at), part.cluster[path[0]]);
    }
    std::vector<PlanePoint> letters;
    for (const std::uint32_t cluster : moves.clusters(at)) {
      const PlanePoint now = moves.centre(moves.points_of(at, cluster), at);
      letters.push_back(place_of_letter({x_of(now.x), y_of(now.y)}, letters));
      canvas_.text(letters.back().x, letters.back().y, letter_of(cluster), Align::centre, 8, true, ink_of(cluster));
    }
  }

 private:
  [[nodiscard]] double x_of(double value) const { return left_ + width_ * value / x_.high; }
  [[nodiscard]] double y_of(double value) const { return top_ + kPlotHeight * (1 - value / y_.high); }
  [[nodiscard]] static std::string in_axis(MoveMetric metric, double value) {
    return value == 0 ? "0" : metric == MoveMetric::calls ? human_count(value) : in_metric(metric, value);
  }
  // Beside a point, inside the panel and off other letters; if impossible, at the upper right.
  [[nodiscard]] PlanePoint place_of_letter(const PlanePoint& at, const std::vector<PlanePoint>& letters) const {
    for (const PlanePoint& off : {PlanePoint{7, -4}, PlanePoint{-7, -4}, PlanePoint{7, 10}, PlanePoint{-7, 10}}) {
      const PlanePoint place{at.x + off.x, at.y + off.y};
      const bool is_within = place.x > left_ + kLetter / 2 && place.x < left_ + width_ - kLetter / 2 &&
                             place.y > top_ + kLetter && place.y < top_ + kPlotHeight - 1;
      const bool is_free = std::ranges::none_of(letters, [&](const PlanePoint& each) {
        return std::abs(each.x - place.x) < kLetter && std::abs(each.y - place.y) < kLetter;
      });
      if (is_within && is_free) return place;
    }
    return {at.x + 7, at.y - 4};
  }
  void draw_arrow(const PlanePoint& before, const PlanePoint& now, std::uint32_t cluster) const {
    const double from_x = x_of(before.x), from_y = y_of(before.y), x = x_of(now.x), y = y_of(now.y);
    if (std::hypot(x - from_x, y - from_y) < kLeastArrow) return;
    canvas_.arrow(from_x, from_y, x, y, kMark + 0.6, 0.9, colour_of(cluster));
  }

  Canvas& canvas_;
  double left_, top_, width_;
  const PlaneAxis &x_, &y_;
};

// "an iteration", "a phase solve"
std::string of_a(const SnapshotSeries& s) {
  if (s.trigger == "condition") return "a snapshot";
  return (s.trigger == "iteration" ? "an " : "a ") + round_word(s, true);
}

std::string caption_of_moves(const SnapshotSeries& s, const RankMoves& moves) {
  return fmt::format(
      "Ranks in {} tenth of the {}: a point is {}, with the mean of {}. Letters name clusters of ranks; "
      "arrows show their moves since the previous panel.",
      moves.parts.size() > 3 ? "the first, the middle, the last and the most different"
                             : "the first, the middle and the last",
      s.trigger == "condition" ? "snapshots" : round_word(s, false),
      s.ranks_per_group == 1 ? "a rank" : fmt::format("{} ranks", s.ranks_per_group), of_a(s));
}

}  // namespace

Figure rank_moves_figure(const Application& app, std::size_t series) {
  const SnapshotSeries& s = app.snapshots.series[series];
  const RankMoves moves = rank_moves(s);
  if (moves.parts.empty()) return {};
  std::uint32_t clusters = 0;
  for (const RankMoves::Part& part : moves.parts) clusters = std::max(clusters, std::ranges::max(part.cluster) + 1);
  constexpr std::uint32_t kInARow = 2;
  const double top = 10 + kLegendHeight * ((clusters + kInARow - 1) / kInARow) + 10;
  const auto draw = [=, &app, &s](Canvas& canvas, FigureFolder&) {
    for (std::uint32_t cluster = 0; cluster < clusters; ++cluster) {
      const double x = kLeft + (kTimeWidth - kLeft) / kInARow * (cluster % kInARow),
                   y = 8 + kLegendHeight * (cluster / kInARow);
      draw_mark(canvas, x + 3, y - 2.5, cluster);
      canvas.text(x + 10, y, shortened(legend_of(app, s, moves, cluster), 44));
    }
    const PlaneAxis x = axis_of(moves, &PlanePoint::x, MoveMetric::io, moves.parts.size() > 3 ? 3 : 4),
                    y = axis_of(moves, &PlanePoint::y, moves.metric, 5);
    const auto count = static_cast<double>(moves.parts.size());
    const double width = (kTimeWidth - kLeft - 12 - kPanelGap * (count - 1)) / count;
    for (std::size_t at = 0; at < moves.parts.size(); ++at) {
      const RankMoves::Part& part = moves.parts[at];
      const Panel panel(canvas, kLeft + static_cast<double>(at) * (width + kPanelGap), top, width, x, y);
      panel.draw_frame(
          fmt::format("{} tenth, {}–{}", part.name, first_number(s, part.begin), last_number(s, part.end - 1)), at == 0,
          moves.metric);
      panel.draw_points(moves, at);
    }
    canvas.text_upwards(8, top + kPlotHeight / 2, name_of_metric(moves.metric));
    canvas.text(kLeft + (kTimeWidth - kLeft - 12) / 2, top + kPlotHeight + 21,
                fmt::format("time outside MPI and I/O in {}", of_a(s)), Align::centre);
  };
  return {fmt::format("snapshots_{}_ranks", series),
          caption_of_moves(s, moves),
          1.0,
          kTimeWidth,
          top + kPlotHeight + 26,
          draw};
}

}  // namespace ardoise::reports

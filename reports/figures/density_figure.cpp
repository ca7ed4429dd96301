// Density maps: three maps for each function (calls, time, bytes) with a cell for each rank; see figures.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/figures/canvas.hpp"
#include "reports/figures/figures.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr double kMapWidth = 140, kColumn = 158, kAround = 46;  // points; kAround: title and legend of a map

double map_height(const Application& app) { return app.ranks <= 8 ? 16 : app.ranks <= 36 ? 40 : 66; }
constexpr std::size_t kMapsPerFigure = 6;
constexpr double kMappedShare = 0.95;
constexpr double kAlike = 0.05;  // ranks that differ by less look equal
constexpr std::size_t kMostMaps = 12;
constexpr std::size_t kMostCells = 1024;  // on a side; beyond, cells are means of blocks

// Positions of ranks: planes of the last two dimensions, side by side with a gap of one cell.
class Places {
 public:
  explicit Places(const Application& app) : ranks_(app.ranks), layout_(app.layout) {
    if (layout_.extents.size() >= 2) {
      width_ = layout_.extents.back();
      height_ = layout_.extents[layout_.extents.size() - 2];
    } else {
      width_ = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(ranks_))));
      height_ = (ranks_ + width_ - 1) / width_;
    }
    const std::size_t cells = layout_.rank_of_cell.empty() ? ranks_ : layout_.rank_of_cell.size();
    planes_ = (cells + width_ * height_ - 1) / (width_ * height_);
    // Planes in a row, so that the map fits its space on the page.
    const double ideal = std::sqrt(static_cast<double>(planes_ * (height_ + 1)) / static_cast<double>(width_ + 1) *
                                   kMapWidth / map_height(app));
    across_ = std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(ideal)), 1, planes_);
  }

  template <class T>
  [[nodiscard]] Grid grid(const std::vector<T>& of_rank) const {
    const std::size_t down = (planes_ + across_ - 1) / across_, gap = planes_ > 1 ? 1 : 0;
    Grid out(across_ * (width_ + gap) - gap, down * (height_ + gap) - gap);
    const std::size_t cells = layout_.rank_of_cell.empty() ? ranks_ : layout_.rank_of_cell.size();
    for (std::size_t cell = 0; cell < cells; ++cell) {
      const std::size_t rank = layout_.rank_of_cell.empty() ? cell : layout_.rank_of_cell[cell];
      if (rank >= of_rank.size()) continue;
      const std::size_t plane = cell / (width_ * height_), in_plane = cell % (width_ * height_);
      if (!(of_rank[rank] > 0)) continue;
      out.at((plane % across_) * (width_ + gap) + in_plane % width_,
             (plane / across_) * (height_ + gap) + in_plane / width_) = static_cast<double>(of_rank[rank]);
    }
    return out;
  }

 private:
  std::size_t ranks_;
  const Layout& layout_;
  std::size_t width_ = 1, height_ = 1, planes_ = 1, across_ = 1;
};

template <class T>
void draw_map(Canvas& canvas, double x, double y, double height, const Places& places, const std::vector<T>& of_rank,
              std::string (*format)(double)) {
  const bool nothing = std::all_of(of_rank.begin(), of_rank.end(), [](T v) { return !(v > 0); });
  if (nothing) {
    canvas.text(x, y + height / 2 + 2.5, "none");
    return;
  }
  const Grid whole = places.grid(of_rank);
  const Scale scale = Scale::over(whole.values, false);
  const Grid grid = reduced(whole, kMostCells);
  const double cell = std::min(kMapWidth / static_cast<double>(grid.columns), height / static_cast<double>(grid.rows));
  // Minimum size of a long strip, whose cells may be higher than wide.
  const double w = std::max(cell * static_cast<double>(grid.columns), 8.0),
               h = std::max(cell * static_cast<double>(grid.rows), 8.0);
  const bool uniform =
      scale.high() <= scale.low() && std::all_of(of_rank.begin(), of_rank.end(), [](T v) { return v > 0; });
  if (uniform) {
    canvas.fill(x, y, w, h, {0.92, 0.93, 0.94});
    canvas.box(x, y, w, h);
    const std::string text = "all " + format(scale.low());
    const bool fits = canvas.text_width(text) + 4 <= w;
    canvas.text(fits ? x + w / 2 : x + w + 4, y + h / 2 + 2.5, text, fits ? Align::centre : Align::left);
    return;
  }
  canvas.cells(x, y, w, h, grid, scale);
  canvas.box(x, y, w, h);
  canvas.flat_legend(x, y + height + 6, kMapWidth, scale, format);
}

std::string layout_sentence(const Application& app) {
  const Layout& layout = app.layout;
  const std::string first = app.first_rank == 0 ? "" : fmt::format(", the first is rank {}", app.first_rank);
  if (layout.extents.size() < 2) return "ranks row by row" + first;
  std::string text;
  for (const std::uint32_t e : layout.extents) text += (text.empty() ? "" : " x ") + std::to_string(e);
  text = (layout.cartesian ? "the program's own Cartesian topology, " : "ranks row by row, ") + text + first;
  return layout.extents.size() > 2 ? text + ", planes of the last two dimensions side by side" : text;
}

template <class T>
bool is_uniform(const std::vector<T>& of_rank) {
  const auto [least, most] = std::minmax_element(of_rank.begin(), of_rank.end());
  return of_rank.empty() ||
         static_cast<double>(*most) - static_cast<double>(*least) <= kAlike * static_cast<double>(*most);
}

// Sums of MPI and POSIX, and the functions with kMappedShare of their time. left: the number of other functions.
std::vector<const DensityMap*> shown_maps(const Application& app, std::size_t& left) {
  std::vector<std::pair<double, const DensityMap*>> functions;
  std::vector<const DensityMap*> shown;
  double all = 0, sum = 0;
  for (const DensityMap& map : app.density) {
    if (map.function == "MPI" || map.function == "POSIX") {
      shown.push_back(&map);
      continue;
    }
    functions.emplace_back(std::accumulate(map.seconds.begin(), map.seconds.end(), 0.0), &map);
    all += functions.back().first;
  }
  std::stable_sort(functions.begin(), functions.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  left = functions.size();
  for (const auto& [seconds, map] : functions) {
    if (sum >= kMappedShare * all || shown.size() >= kMostMaps) break;
    shown.push_back(map);
    sum += seconds;
    --left;
  }
  std::erase_if(shown, [](const DensityMap* map) {
    return is_uniform(map->calls) && is_uniform(map->seconds) && is_uniform(map->bytes);
  });
  return shown;
}

}  // namespace

std::vector<Figure> density_figures(const Application& app) {
  std::vector<Figure> figures;
  if (app.ranks < 2) return figures;  // the tables are enough
  std::size_t left = 0;
  const std::vector<const DensityMap*> maps = shown_maps(app, left);
  const double height = map_height(app), row = height + kAround;
  for (std::size_t first = 0; first < maps.size(); first += kMapsPerFigure) {
    const std::size_t count = std::min(kMapsPerFigure, maps.size() - first);
    const auto draw = [=, &app](Canvas& canvas, FigureFolder&) {
      const Places places(app);
      canvas.text(0, 8, "Calls", Align::left, 8, true);
      canvas.text(kColumn, 8, "Time", Align::left, 8, true);
      canvas.text(2 * kColumn, 8, "Bytes", Align::left, 8, true);
      for (std::size_t i = 0; i < count; ++i) {
        const DensityMap& map = *maps[first + i];
        const double y = 14 + static_cast<double>(i) * row;
        canvas.line(0, y, 3 * kColumn - 12, y, 0.4, {0.7, 0.7, 0.7});
        canvas.text(0, y + 9.5, shortened(map.function, 70), Align::left, 8, true);
        draw_map(canvas, 0.5, y + 15, height, places, map.calls, human_count);
        draw_map(canvas, kColumn, y + 15, height, places, map.seconds, human_seconds);
        draw_map(canvas, 2 * kColumn, y + 15, height, places, map.bytes, human_bytes);
      }
    };
    std::string caption = fmt::format("Density maps ({}–{} of {}): a cell for each rank, {}; white: none.", first + 1,
                                      first + count, maps.size(), layout_sentence(app));
    if (left != 0 && first + count == maps.size()) {
      caption += fmt::format(" Maps of {} (at most {} of the time) are in profile.json.",
                             counted(left, "more function"), human_share(1 - kMappedShare));
    }
    figures.push_back({fmt::format("density_{}", figures.size()), caption, 1.0, 3 * kColumn - 12,
                       14 + static_cast<double>(count) * row, draw});
  }
  return figures;
}

}  // namespace ardoise::reports

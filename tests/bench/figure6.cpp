// See figure6.hpp.
#include "tests/bench/figure6.hpp"

#include <cairo-svg.h>
#include <fmt/core.h>

#include <cmath>
#include <memory>

namespace ardoise::bench {
namespace {

constexpr double kWidth = 640, kPanel = 170, kLeft = 48, kRight = 56, kTop = 26, kBottom = 30;
constexpr double kLowestHertz = 10, kHighestHertz = instrument::kModelHertz;

struct Rgb {
  double red, green, blue;
};
constexpr Rgb kMpi{0.84, 0.37, 0.0}, kSamples{0.34, 0.71, 0.91}, kRate{0.0, 0.0, 0.0}, kGrid{0.8, 0.8, 0.8};

// One panel's place on the page and its axes.
class Axes {
 public:
  Axes(cairo_t* cairo, double top) : cairo_(cairo), top_(top + kTop), bottom_(top + kPanel - kBottom) {}

  [[nodiscard]] static double x(double seconds) {
    return kLeft + seconds / instrument::kModelSeconds * (kWidth - kLeft - kRight);
  }
  [[nodiscard]] double share(double share) const { return bottom_ - share * (bottom_ - top_); }
  [[nodiscard]] double hertz(double hertz) const {
    return share(std::log(hertz / kLowestHertz) / std::log(kHighestHertz / kLowestHertz));
  }
  void colour(Rgb rgb) const { cairo_set_source_rgb(cairo_, rgb.red, rgb.green, rgb.blue); }
  void text(double x, double y, const std::string& text, double align) const {
    cairo_text_extents_t extents;
    cairo_text_extents(cairo_, text.c_str(), &extents);
    cairo_move_to(cairo_, x - align * extents.width, y);
    cairo_show_text(cairo_, text.c_str());
  }

  void draw_frame(const Panel& panel) const {
    cairo_set_line_width(cairo_, 0.5);
    for (int hour = 0; hour <= 4; ++hour) {
      colour(kGrid);
      cairo_move_to(cairo_, x(3600.0 * hour), top_);
      cairo_line_to(cairo_, x(3600.0 * hour), bottom_);
      cairo_stroke(cairo_);
      colour(kRate);
      text(x(3600.0 * hour), bottom_ + 12, fmt::format("{}:00", hour), 0.5);
    }
    for (const double percent : {0.0, 50.0, 100.0}) {
      colour(kRate);
      text(kLeft - 4, share(percent / 100) + 3, fmt::format("{:.0f} %", percent), 1);
    }
    for (double rate = 10; rate <= kHighestHertz; rate *= 10) {
      text(kWidth - kRight + 4, hertz(rate) + 3, fmt::format("{:.0f} Hz", rate), 0);
    }
    const auto& [scenario, result] = panel;
    std::string title =
        fmt::format("Scenario {}: {} B a sample, {} kB/s of MPI events: {} halvings, {} Hz at the end", scenario.name,
                    scenario.sample_bytes, scenario.mpi_bytes_per_second / 1000, result.halvings, result.hertz);
    if (result.mpi_removed != 0) {
      const int minutes = static_cast<int>(result.mpi_removed / 60);
      title += fmt::format(", MPI events aggregated at {}:{:02} h", minutes / 60, minutes % 60);
    }
    text(kLeft, top_ - 6, title, 0);
  }

  // The area between two shares of the buffer.
  template <class Low, class High>
  void draw_area(const Panel& panel, Rgb rgb, Low low, High high) const {
    colour(rgb);
    const auto& points = panel.result.points;
    for (std::size_t i = 0; i < points.size(); ++i) cairo_line_to(cairo_, x(points[i].seconds), share(high(points[i])));
    for (std::size_t i = points.size(); i-- > 0;) cairo_line_to(cairo_, x(points[i].seconds), share(low(points[i])));
    cairo_close_path(cairo_);
    cairo_fill(cairo_);
  }

  void draw_rate(const Panel& panel) const {
    colour(kRate);
    cairo_set_line_width(cairo_, 1.2);
    for (const auto& point : panel.result.points) cairo_line_to(cairo_, x(point.seconds), hertz(point.hertz));
    cairo_stroke(cairo_);
  }

 private:
  cairo_t* cairo_;
  double top_, bottom_;
};

}  // namespace

bool draw_figure6(const std::string& path, const std::vector<Panel>& panels) {
  const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface(
      cairo_svg_surface_create(path.c_str(), kWidth, kPanel * static_cast<double>(panels.size()) + 16),
      cairo_surface_destroy);
  const std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo(cairo_create(surface.get()), cairo_destroy);
  cairo_select_font_face(cairo.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cairo.get(), 9);
  double top = 0;
  for (const Panel& panel : panels) {
    const Axes axes(cairo.get(), top);
    const auto nothing = [](const auto&) { return 0.0; };
    const auto mpi = [](const auto& point) { return point.mpi_share; };
    const auto all = [](const auto& point) { return point.mpi_share + point.sample_share; };
    axes.draw_area(panel, kMpi, nothing, mpi);
    axes.draw_area(panel, kSamples, mpi, all);
    axes.draw_frame(panel);
    axes.draw_rate(panel);
    top += kPanel;
  }
  const Axes legend(cairo.get(), top);
  legend.colour(kMpi);
  legend.text(kLeft, top + 8, "MPI events", 0);
  legend.colour(kSamples);
  legend.text(kLeft + 80, top + 8, "samples (share of the buffer)", 0);
  legend.colour(kRate);
  legend.text(kLeft + 240, top + 8, "sampling rate (line, logarithmic); time in hours", 0);
  cairo_show_page(cairo.get());
  cairo_surface_finish(surface.get());
  return cairo_surface_status(surface.get()) == CAIRO_STATUS_SUCCESS &&
         cairo_status(cairo.get()) == CAIRO_STATUS_SUCCESS;
}

}  // namespace ardoise::bench

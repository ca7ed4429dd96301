// A PDF page to draw on, in points (1/72 inch), y downwards. The only user of Cairo.
#pragma once

#include <cairo.h>

#include <memory>
#include <string>
#include <vector>

#include "reports/figures/colour_scale.hpp"
#include "reports/result.hpp"

namespace ardoise::reports {

// Values in cells, row by row; NaN is an empty cell.
struct Grid {
  std::size_t columns = 0, rows = 0;
  std::vector<double> values;
  Grid() = default;
  Grid(std::size_t c, std::size_t r);
  double& at(std::size_t column, std::size_t row) { return values[row * columns + column]; }
};

// The grid reduced to at most `most` cells on each side; each new cell is a mean.
[[nodiscard]] Grid reduced(const Grid& grid, std::size_t most);

enum class Align { left, centre, right };

// One figure in one file. Draw, then call finish(), which reports errors.
class Canvas {
 public:
  Canvas(const std::string& path, double width, double height);

  void text(double x, double y, const std::string& text, Align align = Align::left, double size = 7.5,
            bool bold = false, Rgb ink = {0.13, 0.15, 0.18});
  void text_upwards(double x, double y, const std::string& text);  // centred on y
  void line(double x1, double y1, double x2, double y2, double width = 0.5, Rgb colour = {0.3, 0.3, 0.3});
  void box(double x, double y, double w, double h, double line = 0.5);
  void fill(double x, double y, double w, double h, Rgb colour);
  void polygon(const std::vector<std::pair<double, double>>& points, Rgb colour);
  void circle(double x, double y, double radius, Rgb inside);
  // A curved arrow between two circles.
  void arrow(double x1, double y1, double x2, double y2, double gap, double width, Rgb colour);
  // Cells as one image that stays sharp in all viewers.
  void cells(double x, double y, double w, double h, const Grid& grid, const Scale& scale);
  // An upright colour bar with its numbers; `format` writes a number with its unit.
  void legend(double x, double y, double h, const Scale& scale, const std::string& title,
              std::string (*format)(double));
  // A horizontal colour bar, `w` wide, with numbers at its ends.
  void flat_legend(double x, double y, double w, const Scale& scale, std::string (*format)(double));
  [[nodiscard]] double text_width(const std::string& text, double size = 7.5);
  [[nodiscard]] Outcome finish();

 private:
  void colour(Rgb c) { cairo_set_source_rgb(cr_.get(), c.r, c.g, c.b); }
  void font(double size, bool bold);

  std::string path_;
  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_;
  std::unique_ptr<cairo_t, void (*)(cairo_t*)> cr_;
};

}  // namespace ardoise::reports

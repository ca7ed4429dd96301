#include "reports/figures/canvas.hpp"

#include <cairo-pdf.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reports/private_folder.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr const char* kFont = "Latin Modern Sans";  // as in the report; fontconfig substitutes a missing font
constexpr std::size_t kSharpPixels = 400;  // image size at which smoothing by viewers blurs less than one pixel

std::uint32_t pixel(Rgb c) {
  const auto byte = [](double v) { return static_cast<std::uint32_t>(std::lround(v * 255)); };
  return byte(c.r) << 16 | byte(c.g) << 8 | byte(c.b);
}

}  // namespace

Grid::Grid(std::size_t c, std::size_t r)
    : columns(c), rows(r), values(c * r, std::numeric_limits<double>::quiet_NaN()) {}

Grid reduced(const Grid& grid, std::size_t most) {
  const std::size_t bx = (grid.columns + most - 1) / most, by = (grid.rows + most - 1) / most;
  if (bx <= 1 && by <= 1) return grid;
  Grid out((grid.columns + bx - 1) / bx, (grid.rows + by - 1) / by);
  std::vector<std::uint32_t> count(out.values.size(), 0);
  for (std::size_t y = 0; y < grid.rows; ++y) {
    for (std::size_t x = 0; x < grid.columns; ++x) {
      const double v = grid.values[y * grid.columns + x];
      if (std::isnan(v)) continue;
      const std::size_t to = (y / by) * out.columns + x / bx;
      out.values[to] = (count[to] == 0 ? 0 : out.values[to]) + v;
      ++count[to];
    }
  }
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] != 0) out.values[i] /= count[i];
  }
  return out;
}

Canvas::Canvas(const std::string& path, double width, double height)
    : path_(path),
      surface_(cairo_pdf_surface_create(path.c_str(), width, height), &cairo_surface_destroy),
      cr_(cairo_create(surface_.get()), &cairo_destroy) {
  cairo_pdf_surface_restrict_to_version(surface_.get(), CAIRO_PDF_VERSION_1_5);
}

void Canvas::font(double size, bool bold) {
  cairo_select_font_face(cr_.get(), kFont, CAIRO_FONT_SLANT_NORMAL,
                         bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr_.get(), size);
}

double Canvas::text_width(const std::string& text, double size) {
  font(size, false);
  cairo_text_extents_t extents;
  cairo_text_extents(cr_.get(), printable(text).c_str(), &extents);
  return extents.x_advance;
}

void Canvas::text(double x, double y, const std::string& text, Align align, double size, bool bold, Rgb ink) {
  const std::string clean = printable(text);
  font(size, bold);
  cairo_text_extents_t extents;
  cairo_text_extents(cr_.get(), clean.c_str(), &extents);
  if (align == Align::centre) x -= extents.x_advance / 2;
  if (align == Align::right) x -= extents.x_advance;
  colour(ink);
  cairo_move_to(cr_.get(), x, y);
  cairo_show_text(cr_.get(), clean.c_str());
}

void Canvas::text_upwards(double x, double y, const std::string& label) {
  cairo_save(cr_.get());
  cairo_translate(cr_.get(), x, y);
  cairo_rotate(cr_.get(), -M_PI / 2);
  text(0, 0, label, Align::centre);
  cairo_restore(cr_.get());
}

void Canvas::line(double x1, double y1, double x2, double y2, double width, Rgb c) {
  colour(c);
  cairo_set_line_width(cr_.get(), width);
  cairo_move_to(cr_.get(), x1, y1);
  cairo_line_to(cr_.get(), x2, y2);
  cairo_stroke(cr_.get());
}

void Canvas::box(double x, double y, double w, double h, double width) {
  colour({0.3, 0.3, 0.3});
  cairo_set_line_width(cr_.get(), width);
  cairo_rectangle(cr_.get(), x, y, w, h);
  cairo_stroke(cr_.get());
}

void Canvas::fill(double x, double y, double w, double h, Rgb c) {
  colour(c);
  cairo_rectangle(cr_.get(), x, y, w, h);
  cairo_fill(cr_.get());
}

void Canvas::polygon(const std::vector<std::pair<double, double>>& points, Rgb c) {
  colour(c);
  cairo_new_path(cr_.get());  // text leaves a current point
  for (const auto& [x, y] : points) cairo_line_to(cr_.get(), x, y);
  cairo_close_path(cr_.get());
  cairo_fill(cr_.get());
}

void Canvas::circle(double x, double y, double radius, Rgb inside) {
  cairo_new_path(cr_.get());
  cairo_arc(cr_.get(), x, y, radius, 0, 2 * M_PI);
  colour(inside);
  cairo_fill_preserve(cr_.get());
  colour({0.2, 0.25, 0.3});
  cairo_set_line_width(cr_.get(), 0.6);
  cairo_stroke(cr_.get());
}

void Canvas::arrow(double x1, double y1, double x2, double y2, double gap, double width, Rgb c) {
  const double length = std::hypot(x2 - x1, y2 - y1);
  if (length <= 2 * gap) return;
  const double ux = (x2 - x1) / length, uy = (y2 - y1) / length;
  const double bend = std::min(0.12 * length, 14.0);  // the way back bends to the other side
  const double mx = (x1 + x2) / 2 - uy * bend, my = (y1 + y2) / 2 + ux * bend;
  const double tx0 = x2 - mx, ty0 = y2 - my, tl = std::hypot(tx0, ty0), tx = tx0 / tl, ty = ty0 / tl;
  const double head = 2.2 + 1.6 * width, ex = x2 - tx * gap, ey = y2 - ty * gap;
  colour(c);
  cairo_set_line_width(cr_.get(), width);
  cairo_move_to(cr_.get(), x1 + ux * gap, y1 + uy * gap);
  const double sx = ex - tx * head * 0.8, sy = ey - ty * head * 0.8;
  cairo_curve_to(cr_.get(), x1 + (mx - x1) * 0.67, y1 + (my - y1) * 0.67, sx + (mx - sx) * 0.67, sy + (my - sy) * 0.67,
                 sx, sy);
  cairo_stroke(cr_.get());
  polygon({{ex, ey},
           {ex - tx * head - ty * head * 0.4, ey - ty * head + tx * head * 0.4},
           {ex - tx * head + ty * head * 0.4, ey - ty * head - tx * head * 0.4}},
          c);
}

void Canvas::cells(double x, double y, double w, double h, const Grid& grid, const Scale& scale) {
  if (grid.values.empty()) return;
  const std::size_t zoom_x = std::max<std::size_t>(1, kSharpPixels / grid.columns),
                    zoom_y = std::max<std::size_t>(1, kSharpPixels / grid.rows);
  const auto width = static_cast<int>(grid.columns * zoom_x), height = static_cast<int>(grid.rows * zoom_y);
  const std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), &cairo_surface_destroy);
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) return;
  cairo_surface_flush(image.get());
  unsigned char* data = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  for (std::size_t row = 0; row < static_cast<std::size_t>(height); ++row) {
    auto* out = reinterpret_cast<std::uint32_t*>(data + row * stride);
    for (std::size_t column = 0; column < grid.columns; ++column) {
      const double v = grid.values[row / zoom_y * grid.columns + column];
      std::fill_n(out + column * zoom_x, zoom_x, std::isnan(v) ? 0xFFFFFF : pixel(scale_colour(scale.at(v))));
    }
  }
  cairo_surface_mark_dirty(image.get());
  cairo_save(cr_.get());
  cairo_translate(cr_.get(), x, y);
  cairo_scale(cr_.get(), w / width, h / height);
  cairo_set_source_surface(cr_.get(), image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cr_.get()), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cr_.get(), 0, 0, width, height);
  cairo_fill(cr_.get());
  cairo_restore(cr_.get());
}

void Canvas::legend(double x, double y, double h, const Scale& scale, const std::string& title,
                    std::string (*format)(double)) {
  text(x, y - 5, title, Align::left, 7.5, true);
  constexpr int kBands = 64;
  for (int i = 0; i < kBands; ++i)
    fill(x, y + h * (kBands - 1 - i) / kBands, 9, h / kBands + 0.3, scale_colour((i + 0.5) / kBands));
  box(x, y, 9, h);
  for (const double tick : scale.ticks()) {
    const double at = y + h * (1 - scale.at(tick));
    line(x + 9, at, x + 11.5, at);
    text(x + 13.5, at + 2.5, format(tick), Align::left, 7);
  }
  if (scale.log()) text(x, y + h + 10, "logarithmic", Align::left, 6.5);
}

void Canvas::flat_legend(double x, double y, double w, const Scale& scale, std::string (*format)(double)) {
  if (scale.high() <= scale.low()) {
    fill(x, y, 8, 5, scale_colour(scale.at(scale.low())));
    text(x + 11, y + 5, format(scale.low()), Align::left, 6.5);
    return;
  }
  constexpr int kBands = 64;
  for (int i = 0; i < kBands; ++i) fill(x + w * i / kBands, y, w / kBands + 0.3, 5, scale_colour((i + 0.5) / kBands));
  box(x, y, w, 5, 0.4);
  text(x, y + 12, format(scale.low()), Align::left, 6.5);
  text(x + w, y + 12, format(scale.high()) + (scale.log() ? " (log)" : ""), Align::right, 6.5);
}

Outcome Canvas::finish() {
  cairo_show_page(cr_.get());
  const cairo_status_t drawn = cairo_status(cr_.get());
  cairo_surface_finish(surface_.get());
  const cairo_status_t written = cairo_surface_status(surface_.get());
  const cairo_status_t status = drawn != CAIRO_STATUS_SUCCESS ? drawn : written;
  if (status == CAIRO_STATUS_SUCCESS) return {};
  return {cannot_make(path_, cairo_status_to_string(status))};
}

}  // namespace ardoise::reports

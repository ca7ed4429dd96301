#include "reports/figures/figure.hpp"

#include "reports/figures/canvas.hpp"

namespace ardoise::reports {

std::string draw_pdf(const Figure& figure, FigureFolder& folder) {
  const std::string file = figure.id + ".pdf";
  Canvas canvas(folder.file(file), figure.width, figure.height);
  figure.draw(canvas, folder);
  if (const Outcome done = canvas.finish(); !done && folder.error.empty()) folder.error = done.error;
  return folder.name(file);
}

}  // namespace ardoise::reports

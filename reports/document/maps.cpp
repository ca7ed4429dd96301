// Sections that are figures: by rank, and over time. See sections.hpp.
#include "reports/document/sections.hpp"

namespace ardoise::reports {

Section density_maps(const Application& a) {
  Section section{.title = "Density maps", .together = 46};
  for (Figure& page : density_figures(a)) {
    if (section.blocks.empty()) {
      section.blocks.push_back(
          Paragraph{"Each map has one cell a rank; where a map is not of one colour, ranks do different things."});
    }
    add_figure(section.blocks, std::move(page));
  }
  return section;
}

Section over_time(const Application& a) {
  Section section{.title = "Over time", .together = 44};
  add_figure(section.blocks, temporal_figure(a));
  return section;
}

Section functions_over_time(const Application& a) {
  Section section{.title = "Functions over time", .together = 16};
  if (a.samples.self > 0) add_figure(section.blocks, functions_over_time_figure(a));
  return section;
}

}  // namespace ardoise::reports

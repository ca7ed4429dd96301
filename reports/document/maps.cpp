// Sections with figures only: by rank and over time. See sections.hpp.
#include <fmt/format.h>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::uint32_t kLeastMappedRanks = 4;
constexpr std::uint64_t kLeastSamplesInBin = 5;

}  // namespace

Section density_maps(const Application& a) {
  Section section{.title = "Density maps"};
  if (a.ranks < kLeastMappedRanks) {
    section.left_out.push_back(fmt::format("density maps ({})", counted(a.ranks, "rank")));
    return section;
  }
  for (Figure& page : density_figures(a)) add_figure(section.blocks, std::move(page));
  if (section.blocks.empty()) section.left_out.push_back("density maps (all ranks are alike)");
  return section;
}

Section over_time(const Application& a) {
  Section section{.title = "Over time"};
  add_figure(section, temporal_figure(a), "shares of time over the run (nothing recorded)");
  return section;
}

Section functions_over_time(const Application& a) {
  Section section{.title = "Functions over time"};
  const SampleProfile& s = a.samples;
  if (!(s.self > 0)) return section;
  if (s.samples < kLeastSamplesInBin * s.timeline.bins) {
    section.left_out.push_back(fmt::format("functions over time (only {})", counted(s.samples, "sample")));
    return section;
  }
  add_figure(section, functions_over_time_figure(a), "functions over time (the run was too short)");
  return section;
}

}  // namespace ardoise::reports

// Callers and callees of the hot functions. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kFunctionsWithCallers = 6, kPartners = 4;
constexpr double kLeastShareOfCaller = 0.01;

Cell partners(const SampleProfile& s, const std::vector<CallShare>& list, double all) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < std::min(kPartners, list.size()); ++i) {
    const std::string name =
        list[i].function == kNoParent ? "(none: outermost)" : short_name(s.functions[list[i].function]);
    lines.push_back({symbol(name, 60), human_share(all > 0 ? list[i].total / all : 0)});
  }
  if (list.size() > kPartners) lines.push_back({fmt::format("{} more", list.size() - kPartners), {}});
  return lines;
}

}  // namespace

Section callers_and_callees(const Application& a) {
  const SampleProfile& s = a.samples;
  Section section{.title = "Callers and callees"};
  const std::vector<double> totals = node_totals(s.tree, s.tree.self);
  Table table{"", {left("Function", 28), left("is called from", 37), left("and calls", 37)}, {}};
  for (std::uint32_t f = 0; f < s.functions.size() && table.rows.size() < kFunctionsWithCallers; ++f) {
    const SampledFunction& function = s.functions[f];
    if (function.symbol.empty() || function.symbol[0] == '(' || function.kind == "tool" ||
        function.self < kLeastShareOfCaller * s.self || !(s.self > 0))
      continue;
    const auto callers = callers_of(s, totals, f), callees = callees_of(s, totals, f);
    double all = 0;
    for (const CallShare& c : callers) all += c.total;
    table.rows.push_back({symbol(short_name(function), 80), partners(s, callers, all), partners(s, callees, all)});
  }
  if (table.rows.empty()) return section;
  section.blocks = {note("Shares refer to the function's total time."), std::move(table)};
  return section;
}

}  // namespace ardoise::reports

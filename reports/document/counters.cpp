// Hardware counters by function, read with every sample. See sections.hpp.
#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/findings/sample_view.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kFunctionsWithCounters = 12, kCounters = 6, kCountersWithRate = 3;

}  // namespace

Section counters(const Application& a) {
  const SampleProfile& s = a.samples;
  Section section{.title = "Counters"};
  if (s.counters.empty() || !(s.self > 0)) return section;
  const std::size_t shown = std::min(kCounters, s.counters.size()),
                    cycles = counter(s, {"cycles", "cpu-cycles", "PAPI_TOT_CYC"}),
                    instructions = counter(s, {"instructions", "PAPI_TOT_INS"});
  const bool ipc = cycles < s.counters.size() && instructions < s.counters.size(),
             rates = s.unit == "seconds" && s.counters.size() <= kCountersWithRate;
  Table table{"", {left("Function", 29)}, {}};
  for (std::size_t c = 0; c < shown; ++c) {
    table.columns.push_back({code(s.counters[c], 24), true});
    if (rates) table.columns.push_back("per s");
  }
  if (ipc) table.columns.push_back("IPC");
  for (std::size_t i = 0; i < std::min(kFunctionsWithCounters, s.functions.size()); ++i) {
    const SampledFunction& f = s.functions[i];
    if (!(f.self > 0)) break;
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(symbol(short_name(f), 70));
    for (std::size_t c = 0; c < shown; ++c) {
      row.emplace_back(count(f.counters[c]));
      if (rates) row.emplace_back(count(f.counters[c] / f.self));
    }
    if (ipc)
      row.push_back(f.counters[cycles] > 0 ? Cell{ratio(f.counters[instructions] / f.counters[cycles])} : Cell{});
  }
  section.blocks = {note("Counters are read with every sample and summed by sampled function: estimates."),
                    std::move(table)};
  return section;
}

}  // namespace ardoise::reports

// The main loop: its iterations side by side. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/document/sections.hpp"
#include "reports/findings/iteration_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kRows = 8;

FactList facts_of(const Application& a) {
  const Snapshots& s = a.snapshots;
  FactList list;
  const double inside = std::accumulate(s.seconds.begin(), s.seconds.end(), 0.0);
  list.facts.emplace_back("Each begins with", Text{{s.function, Span::Look::code}, {" in "}, symbol(name_of(s), 80)});
  list.facts.emplace_back(
      "Iterations", fmt::format("{} on each of {} of {} ranks, {} of the run{}", with_separators(s.iterations), s.ranks,
                                a.ranks, human_share(inside / std::max(a.wall_seconds, 1e-12)),
                                s.per_snapshot > 1 ? fmt::format("; kept in steps of {}", s.per_snapshot) : ""));
  list.facts.emplace_back(
      "How sure", s.call_sites == 1
                      ? fmt::format("one call site; {} of the steps have as many calls as most", human_share(s.regular))
                      : fmt::format("{} call sites are called as often; {} of the steps have nearly all of them",
                                    s.call_sites, human_share(s.regular)));
  return list;
}

struct Chosen {
  std::string heading;
  std::size_t snapshot;
};

// The slowest, the median, the first and the last.
std::vector<Chosen> chosen_of(const Snapshots& s) {
  const auto seconds = of_an_iteration(s, s.seconds);
  std::vector<std::size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t each) { return seconds[each]; });
  const auto numbered = [&](const char* name, std::size_t snapshot) {
    return Chosen{fmt::format("{} ({})", name, snapshot * s.per_snapshot + 1), snapshot};
  };
  return {numbered("slowest", order.back()), numbered("median", order[order.size() / 2]), numbered("first", 0),
          numbered("last", seconds.size() - 1)};
}

Table side_by_side(const Application& a) {
  const Snapshots& s = a.snapshots;
  const auto chosen = chosen_of(s);
  Table table{"Iterations side by side, time of an iteration, mean of the ranks",
              {left("Call", 16), left("called from", 36)},
              {}};
  for (const Chosen& each : chosen) table.columns.emplace_back(Text(each.heading));
  const auto row = [&](Cell name, Cell where, const std::vector<double>& of_iteration) {
    std::vector<Cell> cells{std::move(name), std::move(where)};
    for (const Chosen& each : chosen) cells.emplace_back(seconds(of_iteration[each.snapshot]));
    table.rows.push_back(std::move(cells));
  };
  row("", "all", of_an_iteration(s, s.seconds));
  row("", "outside of MPI and I/O", of_an_iteration(s, own_seconds(s)));
  for (std::size_t call = 0; call < std::min(kRows, s.calls.size()); ++call) {
    std::vector<double> mean = of_an_iteration(s, s.calls[call].seconds);
    for (double& each : mean) each /= std::max(s.ranks, 1u);
    row(code(s.calls[call].function), symbol(name_of(s.calls[call]), 36), mean);
  }
  return table;
}

}  // namespace

Section iterations(const Application& a) {
  Section section{.title = "Iterations of the main loop"};
  if (a.snapshots.seconds.empty()) {
    section.left_out.push_back("iterations (no main loop was found)");
    return section;
  }
  section.blocks.push_back(facts_of(a));
  if (Figure figure = iterations_figure(a); figure) section.blocks.push_back(std::vector<Figure>{std::move(figure)});
  section.blocks.push_back(side_by_side(a));
  return section;
}

}  // namespace ardoise::reports

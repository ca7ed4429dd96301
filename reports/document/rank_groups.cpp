// Groups of ranks that spend their time differently, from samples. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/document/sections.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kGroups = 8, kFunctionsOfGroup = 3;
constexpr double kLeastShareInGroup = 0.01;

// The functions in which a group differs most from the largest group; for the largest group its largest functions.
Cell where_time_goes(const SampleProfile& s, std::size_t group) {
  const std::vector<double>&share = s.clusters[group].mean_share, &of_greatest = s.clusters[0].mean_share;
  std::vector<std::size_t> order(share.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto weight = [&](std::size_t i) { return group == 0 ? share[i] : std::abs(share[i] - of_greatest[i]); };
  std::stable_sort(order.begin(), order.end(), [&](auto i, auto j) { return weight(i) > weight(j); });
  std::vector<Line> lines;
  for (std::size_t k = 0; k < std::min(kFunctionsOfGroup, order.size()) && weight(order[k]) >= kLeastShareInGroup;
       ++k) {
    const std::size_t i = order[k];
    lines.push_back(
        {symbol(short_name(s.functions[s.per_rank.functions[i]]), 60),
         human_share(share[i]) + (group == 0 ? "" : fmt::format(" (largest group: {})", human_share(of_greatest[i])))});
  }
  return lines;
}

}  // namespace

Section rank_groups(const Application& a) {
  const SampleProfile& s = a.samples;
  Section section{.title = "Differences between ranks", .together = 8};
  if (s.clusters.empty() || !(s.self > 0)) return section;
  const std::string distance = human_share(s.cluster_distance);
  if (s.clusters.size() == 1) {
    section.left_out.push_back(fmt::format("groups of ranks (all ranks differ in at most {} of their time)", distance));
    return section;
  }
  section.blocks.push_back(note(fmt::format(
      "A group contains the ranks whose time shares by function differ from its leader's by at most {} (leader "
      "clustering; distance: half the sum of the differences).",
      distance)));
  std::vector<std::vector<std::uint32_t>> members(s.clusters.size());
  for (std::uint32_t rank = 0; rank < s.cluster_of_rank.size(); ++rank)
    members[s.cluster_of_rank[rank]].push_back(a.world_rank(rank));
  Table table{"", {"Ranks", left("which", 34), left("Functions with most time", 61)}, {}};
  for (std::size_t c = 0; c < std::min(kGroups, s.clusters.size()); ++c)
    table.rows.push_back({exact(s.clusters[c].ranks), Text(rank_ranges(members[c], 8)), where_time_goes(s, c)});
  section.blocks.push_back(std::move(table));
  add_rest(section.blocks, s.clusters.size(), kGroups, "groups");
  return section;
}

}  // namespace ardoise::reports

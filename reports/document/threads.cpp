// OpenMP regions, and CPU time by thread number. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/document/sections.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kThreads = 16, kRegions = 12, kRegionWidth = 40;

std::string range(std::uint32_t least, std::uint32_t most) {
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::string processors(const RankSummary& r) {
  if (r.processors.empty() || r.host_processors.empty()) return "";
  const auto [least, most] = std::minmax_element(r.processors.begin(), r.processors.end());
  const auto [host_least, host_most] = std::minmax_element(r.host_processors.begin(), r.host_processors.end());
  if (*least == 0) return "";
  return fmt::format("; a rank may run on {} of its host's {} processors", range(*least, *most),
                     range(*host_least, *host_most));
}

void add_regions(const SampleProfile& s, const ThreadWork& work, std::vector<Block>& to) {
  if (work.regions.empty()) return;
  const double all = work.in_regions + work.in_library + work.outside;
  to.push_back(note(fmt::format(
      "OpenMP regions take {} of the program's CPU time (sampled). The OpenMP library, in which threads wait for work "
      "and for each other, takes {}, other code {}. Balance is mean ÷ maximum of the CPU times of a rank's threads.",
      human_share(work.in_regions / all), human_share(work.in_library / all), human_share(work.outside / all))));
  Table table{"", {left("OpenMP region", kRegionWidth), "Threads", "Time", "Share", "Busiest", "Mean", "Balance"}, {}};
  for (const RegionWork& region : work.regions) {
    if (table.rows.size() == kRegions) break;
    const double threads = region.busiest > 0 ? region.possible / region.busiest : 1;
    table.rows.push_back(
        {name_over_place(short_name(s.functions[region.function]), place_of(s, region.function), kRegionWidth, 110),
         exact(region.threads), amount(s, region.total), share_of(s, region.total), amount(s, region.busiest),
         amount(s, region.total / threads), ratio(region.balance())});
  }
  to.push_back(std::move(table));
  add_rest(to, work.regions.size(), kRegions, "regions");
}

}  // namespace

Section threads(const Application& a) {
  const SampleProfile& s = a.samples;
  struct Sum {
    double least = HUGE_VAL, all = 0, most = 0;
    std::uint32_t ranks = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  for (std::size_t i = 0; i < s.threads.rank.size(); ++i) {
    Sum& sum = sums[s.threads.thread[i]];
    const double v = s.threads.self[i];
    sum.least = std::min(sum.least, v);
    sum.most = std::max(sum.most, v);
    sum.all += v;
    ++sum.ranks;
  }
  Section section{.title = "Threads", .together = 8};
  if (sums.size() < 2 || !(s.self > 0)) return section;
  const ThreadWork work = thread_work(a);
  section.blocks.push_back(Paragraph{fmt::format(
      "Working threads in a rank: {}{}.", range(work.least_working, work.most_working), processors(a.per_rank))});
  add_regions(s, work, section.blocks);
  Table table{"", {"Thread", "in ranks", "Sampled", "Least", "Mean", "Most"}, {}};
  for (const auto& [thread, sum] : sums) {
    if (table.rows.size() == kThreads) break;
    table.rows.push_back({exact(thread), exact(sum.ranks), amount(s, sum.all), amount(s, sum.least),
                          amount(s, sum.all / sum.ranks), amount(s, sum.most)});
  }
  section.blocks.push_back(std::move(table));
  add_rest(section.blocks, sums.size(), kThreads, "threads");
  return section;
}

}  // namespace ardoise::reports

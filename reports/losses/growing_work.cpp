// Work of all ranks that grows from iteration to iteration: data that each step searches or copies as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/findings/rank_moves.hpp"
#include "reports/findings/round_noise.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

// Mean over the groups of ranks, by snapshot.
std::vector<double> mean_of_groups(const SnapshotSeries& s, const std::vector<double>& of_groups) {
  std::vector<double> means(s.seconds.size());
  for (std::size_t i = 0; i < of_groups.size(); ++i) means[i % means.size()] += of_groups[i] / s.groups;
  return means;
}

// Mean of a round in the last part ÷ in the first; 0: not known.
double ratio_of_parts(const SnapshotSeries& s, const std::vector<double>& of_groups,
                      const std::vector<std::size_t>& first, const std::vector<std::size_t>& last) {
  if (of_groups.size() != s.groups * s.seconds.size()) return 0;
  const std::vector<double> sums = mean_of_groups(s, of_groups);
  const double before = round_mean(s, sums, first);
  return before > 0 ? round_mean(s, sums, last) / before : 0;
}

}  // namespace

void find_growing_work(const RunView& view, std::vector<Loss>& out) {
  constexpr std::size_t kParts = 5;     // of the series; the first is compared with the last
  constexpr std::size_t kFewest = 20;   // snapshots
  constexpr double kGrowth = 1.3;       // last part ÷ first
  constexpr double kAlike = 0.5;        // growth of a rank ÷ mean
  constexpr double kOfProcessor = 0.5;  // of the growth is CPU time: the rest may be other load
  constexpr double kMoreBytes = 1.15;   // last part ÷ first
  const SnapshotSeries* const s = main_series(view.app.snapshots);
  if (s == nullptr || s->groups == 0 || s->own_seconds.empty()) return;
  if (std::ranges::find(out, "late.growing", &Loss::code) != out.end()) return;
  const auto [begin, end] = comparable(*s);
  const std::size_t part = (end - begin) / kParts;
  if (end - begin < kFewest) return;
  std::vector<std::size_t> first(part), last(part);
  std::iota(first.begin(), first.end(), begin);
  std::iota(last.begin(), last.end(), end - part);
  const std::vector<double> sums = mean_of_groups(*s, s->own_seconds), own = round_means(*s, sums);
  const double before = round_mean(*s, sums, first), after = round_mean(*s, sums, last);
  if (!(before > 0) || after < kGrowth * before) return;
  if (!trend_exceeds_noise({own.begin() + static_cast<std::ptrdiff_t>(begin), end - begin})) return;
  if (!s->group_cpu_seconds.empty()) {
    const std::vector<double> cpu = mean_of_groups(*s, s->group_cpu_seconds);
    if (round_mean(*s, cpu, last) - round_mean(*s, cpu, first) < kOfProcessor * (after - before)) return;
  }
  for (std::uint32_t group = 0; group < s->groups; ++group) {
    const auto of_group = s->own_seconds.begin() + static_cast<std::ptrdiff_t>(group * s->seconds.size());
    const std::vector<double> each(of_group, of_group + static_cast<std::ptrdiff_t>(s->seconds.size()));
    if (round_mean(*s, each, last) - round_mean(*s, each, first) < kAlike * (after - before)) return;
  }
  double cost = 0;
  for (std::size_t i = begin; i < end; ++i) cost += std::max(0.0, own[i] - before) * static_cast<double>(s->rounds[i]);
  const double ceiling = std::min(cost, view.path_work);
  if (view.share(ceiling) < kMentionedLoss) return;
  const std::string why = main_difference(view.app, *s, last, first);
  out.push_back({.code = "cpu.growing",
                 .ceiling = ceiling,
                 .own_seconds = cost * view.app.ranks,
                 .text = fmt::format("All ranks work longer from {} to {}: in the last fifth of the {} {} {}",
                                     round_word(*s, true), round_word(*s, true), with_separators(rounds_in(*s)),
                                     round_word(*s, false),
                                     why.empty() ? fmt::format("they are outside MPI and I/O for {} instead of {}",
                                                               human_seconds(after), human_seconds(before))
                                                 : why),
                 // Meant to grow: more is exchanged, too.
                 .is_usual = ratio_of_parts(*s, s->group_bytes, first, last) > kMoreBytes});
}

}  // namespace ardoise::reports

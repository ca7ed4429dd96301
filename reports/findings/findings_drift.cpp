// Ranks that drift away from the others over the rounds of a series: what a trend of the rounds does not show where
// others do as much less.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kDriftsAway = 1.25, kClearDrift = 1.5;  // times what the others grew
constexpr double kLeastCost = 0.02;                      // of the run
constexpr double kPairsInOrder = 0.6;

// How much longer the ranks of a cluster of the last part are outside of MPI and I/O than the others, by snapshot.
std::vector<double> ahead_of_others(const SnapshotSeries& s, const RankMoves& moves, std::uint32_t cluster) {
  std::vector<double> ahead(s.seconds.size(), 0.0);
  const std::vector<std::uint32_t>& clusters = moves.parts.back().cluster;
  const auto in_cluster = static_cast<double>(std::ranges::count(clusters, cluster));
  const double others = static_cast<double>(clusters.size()) - in_cluster;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const double weight = clusters[i] == cluster ? 1 / in_cluster : -1 / others;
    for (std::size_t at = 0; at < ahead.size(); ++at)
      ahead[at] += weight * s.own_seconds[moves.groups[i] * s.seconds.size() + at];
  }
  return ahead;
}

// Whether it grows from tenth to tenth, by most pairs of them.
bool grows(const std::vector<double>& values, SnapshotRange range) {
  constexpr std::size_t kParts = 10;
  std::vector<double> medians;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto at = [&, range](std::size_t i) {
      return values.begin() + static_cast<std::ptrdiff_t>(range.begin + (range.end - range.begin) * i / kParts);
    };
    medians.push_back(median({at(part), at(part + 1)}));
  }
  std::size_t in_order = 0, pairs = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    for (std::size_t later = i + 1; later < kParts; ++later, ++pairs) in_order += medians[later] > medians[i] ? 1 : 0;
  }
  return static_cast<double>(in_order) >= kPairsInOrder * static_cast<double>(pairs);
}

}  // namespace

void find_rank_drift(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const RankMoves moves = rank_moves(s);
  if (moves.parts.empty()) return;
  const std::size_t last = moves.parts.size() - 1;
  const auto [begin, end] = alike(s);
  for (const std::uint32_t cluster : moves.clusters(last)) {
    const PlanePoint before = moves.centre(last, cluster, 0), now = moves.centre(last, cluster, last);
    const GrowthOfOthers others = growth_of_others(moves, last, cluster);
    if (!others.is_known || !(before.x > 0) || now.x - before.x <= RankMoves::kReach * moves.scale.x) continue;
    const double ratio = now.x / before.x;
    if (ratio < kDriftsAway * std::max(1.0, others.most)) continue;
    const std::vector<double> ahead = ahead_of_others(s, moves, cluster);
    const auto& first_part = moves.parts.front();
    const double at_first = std::accumulate(ahead.begin() + static_cast<std::ptrdiff_t>(first_part.begin),
                                            ahead.begin() + static_cast<std::ptrdiff_t>(first_part.end), 0.0) /
                            static_cast<double>(first_part.end - first_part.begin);
    double cost = 0;  // what the others wait more than at first
    for (std::size_t i = begin; i < end; ++i) cost += std::max(0.0, ahead[i] - std::max(0.0, at_first));
    const double share = cost / std::max(facts.app.wall_seconds, 1e-12);
    if (share < kLeastCost || !grows(ahead, {begin, end})) continue;
    const std::string ranks = ranks_of_cluster(facts.app, s, moves, last, cluster);
    out.push_back(
        {"rank_drift",
         facts.crowded() || ratio < kClearDrift * std::max(1.0, others.most) ? Severity::note : Severity::medium,
         share,
         fmt::format("{} {} longer and longer outside of MPI and I/O: {} in each {} of the last tenth, {} in the "
                     "first, {} times as long{}.",
                     capitalised(ranks), ranks.starts_with("ranks ") ? "are" : "is", human_seconds(now.x),
                     round_word(s, true), human_seconds(before.x), times_in_words(ratio), others_in_words(others)),
         "The others wait for these ranks more and more: what grows there, and can the work be divided anew while the "
         "program runs?",
         {{"first_seconds", before.x}, {"last_seconds", now.x}, {"ratio", ratio}, {"share", share}}});
  }
}

}  // namespace ardoise::reports

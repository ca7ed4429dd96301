// Ranks whose work grows over the rounds of a series while that of others does not. The time of a round may hide this.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "reports/findings/round_noise.hpp"
#include "reports/findings/series_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kDriftsAway = 1.25;  // times the growth of the others
constexpr double kLeastCost = 0.02;   // of the run

// By snapshot: mean time outside MPI and I/O of some points minus that of the others.
std::vector<double> ahead_of_others(const SnapshotSeries& s, const RankMoves& moves,
                                    const std::vector<std::uint32_t>& some) {
  std::vector<double> ahead(s.seconds.size(), 0.0);
  const auto in_some = static_cast<double>(some.size());
  const double others = static_cast<double>(moves.groups.size()) - in_some;
  for (std::uint32_t point = 0; point < moves.groups.size(); ++point) {
    const double weight = std::ranges::binary_search(some, point) ? 1 / in_some : -1 / others;
    for (std::size_t at = 0; at < ahead.size(); ++at)
      ahead[at] += weight * s.own_seconds[moves.groups[point] * s.seconds.size() + at];
  }
  return ahead;
}

double growth_of(const RankMoves& moves, std::span<const std::uint32_t> some) {
  const double before = moves.centre(some, 0).x;
  return before > 0 ? moves.centre(some, moves.parts.size() - 1).x / before : 0;
}

double usual_growth(const RankMoves& moves) {
  std::vector<double> all;
  for (std::uint32_t point = 0; point < moves.groups.size(); ++point)
    all.push_back(growth_of(moves, std::span(&point, 1)));
  return std::max(1.0, median(std::move(all)));
}

// Points whose time grew clearly, in ascending order.
std::vector<std::uint32_t> drifting_points(const RankMoves& moves, double usual) {
  std::vector<std::uint32_t> points;
  const std::size_t last = moves.parts.size() - 1;
  for (const auto& path : moves.paths) {
    const double longer = moves.centre(path, last).x - moves.centre(path, 0).x;
    if (longer > RankMoves::kReach * moves.scale.x && growth_of(moves, path) >= kDriftsAway * usual)
      points.insert(points.end(), path.begin(), path.end());
  }
  std::ranges::sort(points);
  return points;
}

}  // namespace

void find_rank_drift(const Facts& facts, const SnapshotSeries& s, std::vector<Finding>& out) {
  const RankMoves moves = rank_moves(s);
  if (moves.parts.empty()) return;
  const double usual = usual_growth(moves);
  const std::vector<std::uint32_t> drifting = drifting_points(moves, usual);
  if (drifting.empty() || drifting.size() == moves.groups.size()) return;
  const std::vector<double> ahead = ahead_of_others(s, moves, drifting);
  const RankMoves::Part& first = moves.parts.front();
  const double at_first = std::accumulate(ahead.begin() + static_cast<std::ptrdiff_t>(first.begin),
                                          ahead.begin() + static_cast<std::ptrdiff_t>(first.end), 0.0) /
                          static_cast<double>(first.end - first.begin);
  const SnapshotRange range = comparable(s);
  double cost = 0;  // additional waiting of the others compared with the first part
  for (std::size_t i = range.begin; i < range.end; ++i) cost += std::max(0.0, ahead[i] - std::max(0.0, at_first));
  const double share = cost / std::max(facts.app.wall_seconds, 1e-12);
  if (share < kLeastCost || !trend_exceeds_noise(std::span(ahead).subspan(range.begin, range.end - range.begin)))
    return;
  const std::size_t last = moves.parts.size() - 1;
  const double before = moves.centre(drifting, 0).x, now = moves.centre(drifting, last).x;
  const std::string ranks = ranks_of_points(facts.app, s, moves, drifting);
  out.push_back(
      {"rank_drift",
       Severity::note,
       share,
       fmt::format("{} {} more and more time outside MPI and I/O: {} in each {} of the last tenth, {} in the first, "
                   "{} times as long{}.",
                   capitalised(ranks), ranks.starts_with("ranks ") ? "spend" : "spends", human_seconds(now),
                   round_word(s, true), human_seconds(before), times_in_words(now / before),
                   others_in_words(growth_of_others(moves, last, drifting))),
       "The other ranks wait longer and longer for them: find the growing work, or redistribute work during the run.",
       {{"first_seconds", before}, {"last_seconds", now}, {"ratio", now / before}, {"share", share}}});
}

}  // namespace ardoise::reports

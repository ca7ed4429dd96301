#include "reports/findings/rank_moves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "reports/findings/series_view.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kTenths = 10, kMiddle = 5, kMostClusters = 6;
constexpr std::uint32_t kFewestPoints = 3;
constexpr double kDiffer = 0.1;      // of the maximum: ranks differ
constexpr double kIoOfRound = 0.05;  // less is not worth an axis
constexpr double kLeastOfRound = 0.5, kOfMedian = 2;
constexpr std::array<const char*, kTenths> kNames{"first", "second",  "third",  "fourth", "fifth",
                                                  "sixth", "seventh", "eighth", "ninth",  "last"};

double mean_of_middle_half(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t left_out = values.size() / 4;
  double sum = 0;
  for (std::size_t i = left_out; i < values.size() - left_out; ++i) sum += values[i];
  return sum / static_cast<double>(values.size() - 2 * left_out);
}

// By tenth and point.
using Values = std::vector<std::vector<double>>;

class Tenths {
 public:
  Tenths(const SnapshotSeries& s, const std::vector<std::uint32_t>& groups) : s_(s), groups_(groups) {}
  [[nodiscard]] SnapshotRange range(std::size_t tenth) const {
    const auto [begin, end] = comparable(s_);
    return {begin + (end - begin) * tenth / kTenths, begin + (end - begin) * (tenth + 1) / kTenths};
  }
  [[nodiscard]] Values usual(const std::vector<double>& list) const {
    return each([&](SnapshotRange range, std::size_t row) {
      std::vector<double> rounds;
      for (std::size_t i = range.begin; i < range.end; ++i)
        rounds.push_back(list[row + i] / static_cast<double>(s_.rounds[i]));
      return mean_of_middle_half(std::move(rounds));
    });
  }
  // An empty list stands for zeros.
  [[nodiscard]] Values mean(const std::vector<double>& list) const {
    return each([&](SnapshotRange range, std::size_t row) {
      double sum = 0, rounds = 0;
      for (std::size_t i = range.begin; i < range.end && !list.empty(); ++i) {
        sum += list[row + i];
        rounds += static_cast<double>(s_.rounds[i]);
      }
      return rounds > 0 ? sum / rounds : 0.0;
    });
  }

 private:
  [[nodiscard]] Values each(const auto& value) const {
    Values values(kTenths);
    for (std::size_t tenth = 0; tenth < kTenths; ++tenth) {
      for (const std::uint32_t group : groups_) values[tenth].push_back(value(range(tenth), group * s_.seconds.size()));
    }
    return values;
  }
  const SnapshotSeries& s_;
  const std::vector<std::uint32_t>& groups_;
};

std::vector<double> flat(const Values& values) {
  std::vector<double> all;
  for (const auto& each : values) all.insert(all.end(), each.begin(), each.end());
  return all;
}

bool ranks_differ(const Values& values) {
  return std::ranges::any_of(values, [](const std::vector<double>& of_tenth) {
    const auto [least, most] = std::ranges::minmax_element(of_tenth);
    return *most - *least > kDiffer * *most;
  });
}

double scale_of(const Values& values, double least) {
  const std::vector<double> all = flat(values);
  const auto [low, high] = std::ranges::minmax_element(all);
  const double scale = std::max({*high - *low, kOfMedian * median(all), least});
  return scale > 0 ? scale : 1;
}

// Groups with a rank in step: it spends time outside MPI and I/O.
std::vector<std::uint32_t> groups_in_step(const SnapshotSeries& s) {
  std::vector<std::uint32_t> groups;
  for (std::uint32_t group = 0; group < s.groups; ++group) {
    const auto begin = s.own_seconds.begin() + static_cast<std::ptrdiff_t>(group * s.seconds.size());
    if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(s.seconds.size()), [](double each) { return each > 0; }))
      groups.push_back(group);
  }
  return groups;
}

// First, middle, last, and the tenth farthest from the line between its neighbours.
std::vector<std::size_t> chosen_tenths(const Values& x, const Values& y, PlanePoint scale) {
  std::vector<std::size_t> chosen{0, kMiddle, kTenths - 1};
  std::size_t farthest_tenth = 0;
  double farthest = 2 * RankMoves::kReach;
  for (std::size_t tenth = 1; tenth + 1 < kTenths; ++tenth) {
    const std::size_t from = tenth < kMiddle ? 0 : kMiddle, to = tenth < kMiddle ? kMiddle : kTenths - 1;
    const double part = static_cast<double>(tenth - from) / static_cast<double>(to - from);
    for (std::size_t i = 0; i < x[tenth].size(); ++i) {
      const auto beside = [&](const Values& values) {
        return values[tenth][i] - std::lerp(values[from][i], values[to][i], part);
      };
      const double distance = std::hypot(beside(x) / scale.x, beside(y) / scale.y);
      if (distance <= farthest) continue;
      farthest = distance;
      farthest_tenth = tenth;
    }
  }
  if (farthest_tenth != 0) chosen.push_back(farthest_tenth);
  std::ranges::sort(chosen);
  return chosen;
}

std::vector<std::vector<std::uint32_t>> paths_of(const RankMoves& moves) {
  std::map<std::vector<std::uint32_t>, std::size_t> number_of;  // by the clusters of all parts
  std::vector<std::vector<std::uint32_t>> paths;
  for (std::uint32_t point = 0; point < moves.groups.size(); ++point) {
    std::vector<std::uint32_t> path;
    for (const RankMoves::Part& part : moves.parts) path.push_back(part.cluster[point]);
    const auto [found, is_new] = number_of.try_emplace(std::move(path), paths.size());
    if (is_new) paths.emplace_back();
    paths[found->second].push_back(point);
  }
  return paths;
}

bool shows_anything(const RankMoves& moves) {
  if (moves.paths.size() > 1) return true;
  for (std::size_t part = 0; part < moves.parts.size(); ++part) {
    if (moves.way(moves.paths[0], 0, part) > RankMoves::kReach) return true;
  }
  return false;
}

}  // namespace

PlanePoint RankMoves::centre(std::span<const std::uint32_t> some, std::size_t part) const {
  PlanePoint sum;
  for (const std::uint32_t each : some) {
    sum.x += parts[part].points[each].x;
    sum.y += parts[part].points[each].y;
  }
  const auto count = static_cast<double>(std::max<std::size_t>(some.size(), 1));
  return {sum.x / count, sum.y / count};
}

double RankMoves::way(std::span<const std::uint32_t> some, std::size_t from, std::size_t to) const {
  const PlanePoint before = centre(some, from), now = centre(some, to);
  return std::hypot((now.x - before.x) / scale.x, (now.y - before.y) / scale.y);
}

std::vector<std::uint32_t> RankMoves::points_of(std::size_t part, std::uint32_t cluster) const {
  std::vector<std::uint32_t> some;
  for (std::uint32_t point = 0; point < groups.size(); ++point) {
    if (parts[part].cluster[point] == cluster) some.push_back(point);
  }
  return some;
}

std::vector<std::uint32_t> RankMoves::clusters(std::size_t part) const {
  std::vector<std::uint32_t> numbers = parts[part].cluster;
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

RankMoves rank_moves(const SnapshotSeries& s) {
  const auto [begin, end] = comparable(s);
  RankMoves moves;
  const bool has_calls = std::ranges::any_of(s.mpi_seconds, [](double each) { return each > 0; });
  if (end - begin < kTenths || (has_calls && s.group_calls.empty())) return moves;
  moves.groups = groups_in_step(s);
  if (moves.groups.size() < kFewestPoints) return moves;
  const Tenths tenths(s, moves.groups);
  const double round = median(round_means(s, s.seconds));
  const Values x = tenths.usual(s.own_seconds);
  const Values bytes = tenths.mean(s.group_bytes), io = tenths.mean(s.group_io_seconds),
               calls = tenths.mean(s.group_calls);
  const bool has_io = std::ranges::max(flat(io)) >= kIoOfRound * round;
  const Values* y = s.group_bytes.empty() ? &calls : &bytes;
  if (!ranks_differ(*y)) y = has_io && ranks_differ(io) ? &io : ranks_differ(calls) ? &calls : y;
  moves.metric = y == &bytes ? MoveMetric::bytes : y == &io ? MoveMetric::io : MoveMetric::calls;
  moves.scale = {scale_of(x, kLeastOfRound * round), scale_of(*y, y == &io ? kLeastOfRound * round : 0)};

  std::vector<std::vector<std::uint32_t>> clusters;
  for (const std::size_t tenth : chosen_tenths(x, *y, moves.scale)) {
    const auto [from, to] = tenths.range(tenth);
    RankMoves::Part& part = moves.parts.emplace_back();
    part.begin = from;
    part.end = to;
    part.name = kNames[tenth];
    std::vector<PlanePoint> scaled;
    for (std::size_t i = 0; i < moves.groups.size(); ++i) {
      part.points.push_back({x[tenth][i], (*y)[tenth][i]});
      scaled.push_back({x[tenth][i] / moves.scale.x, (*y)[tenth][i] / moves.scale.y});
    }
    clusters.push_back(clusters_of(scaled, RankMoves::kReach, kMostClusters));
  }
  clusters = tracked_clusters(clusters);
  for (std::size_t i = 0; i < moves.parts.size(); ++i) moves.parts[i].cluster = std::move(clusters[i]);
  moves.paths = paths_of(moves);
  if (!shows_anything(moves)) moves.parts.clear();
  return moves;
}

const SnapshotSeries* main_series(const Snapshots& snapshots) {
  if (const SnapshotSeries* const loop = find_series(snapshots, "iteration"); loop != nullptr) return loop;
  return snapshots.series.empty() || snapshots.series[0].trigger == "timer" ? nullptr : snapshots.series.data();
}

}  // namespace ardoise::reports

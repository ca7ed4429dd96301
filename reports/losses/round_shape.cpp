#include "reports/losses/round_shape.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "reports/findings/series_view.hpp"

namespace ardoise::reports {
namespace {

constexpr std::size_t kFewestSnapshots = 6;
constexpr std::size_t kFewestForTrend = 12;
constexpr double kLeastOfRun = 0.5;
constexpr double kSameRanks = 0.5;      // of the imbalance is that of one rank's sum
constexpr double kLateInRounds = 0.5;   // of the latest rank's excess
constexpr double kShapeExplains = 0.6;  // of the variance over rounds
constexpr double kGrows = 2;            // last third ÷ first third
constexpr double kStepRatio = 2.5;      // one side of a change ÷ the other
constexpr double kRampRatio = 3;        // last tenth ÷ first tenth
constexpr double kHighRound = 0.3;      // of the greatest excess
constexpr double kInHighRounds = 0.7;   // of the excess
constexpr double kRegular = 0.7;        // of the distances
constexpr double kOutliers = 0.03;      // of the rounds, at each end
constexpr double kReturns = 0.5;        // correlation of the ranks' times of two rounds

// Work of a rank: rows are ranks, columns snapshots or blocks of them. Of many ranks, rows are the slowest ones of
// groups.
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> cells, means;     // means: over rows, of columns
  std::vector<double> rank_means;       // over all ranks
  std::vector<std::uint32_t> group_of;  // by row
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return cells[row * columns + column]; }
  [[nodiscard]] double excess(std::size_t row, std::size_t column) const { return at(row, column) - means[column]; }
};

std::optional<Matrix> matrix_of(const Application& a, const SnapshotSeries& s, RoundTime time) {
  const SnapshotRange range = comparable(s);
  Matrix m;
  m.columns = range.end - range.begin;
  if (m.columns < kFewestSnapshots || s.own_seconds.size() != s.groups * s.seconds.size()) return {};
  const bool by_cpu = time == RoundTime::cpu;
  if (by_cpu && (s.group_cpu_seconds.size() != s.own_seconds.size() || s.ranks_per_group > 1)) return {};
  const bool has_longest = s.group_longest_seconds.size() == s.own_seconds.size();
  const std::vector<double>& means = by_cpu ? s.group_cpu_seconds : s.own_seconds;
  const std::vector<double>& cells = has_longest && !by_cpu ? s.group_longest_seconds : means;
  m.rank_means.resize(m.columns);
  double all_ranks = 0;
  for (std::uint32_t group = 0; group < s.groups && group * s.ranks_per_group < a.ranks; ++group) {
    const std::size_t begin = group * s.seconds.size() + range.begin;
    const std::span<const double> own(s.own_seconds.data() + begin, m.columns);
    // A group without ranks in step.
    if (std::ranges::all_of(own, [](double each) { return each == 0; })) continue;
    const double ranks = std::min(s.ranks_per_group, a.ranks - group * s.ranks_per_group);
    all_ranks += ranks;
    for (std::size_t column = 0; column < m.columns; ++column) {
      m.cells.push_back(cells[begin + column]);
      m.rank_means[column] += means[begin + column] * ranks;
    }
    m.group_of.push_back(group);
  }
  m.rows = m.group_of.size();
  if (m.rows < 2) return {};
  for (double& each : m.rank_means) each /= all_ranks;
  m.means.resize(m.columns);
  for (std::size_t row = 0; row < m.rows; ++row) {
    for (std::size_t column = 0; column < m.columns; ++column)
      m.means[column] += m.at(row, column) / static_cast<double>(m.rows);
  }
  return m;
}

double mean(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(begin),
                         values.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
         static_cast<double>(end - begin);
}

// Squares of the differences to the mean.
double spread(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  const double middle = mean(values, begin, end);
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += (values[i] - middle) * (values[i] - middle);
  return sum;
}

// Part of the spread that a straight line explains; negative: it falls.
double line_explains(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double middle = mean(values, 0, values.size()), all = spread(values, 0, values.size());
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2;
    product += x * (values[i] - middle);
    squares += x * x;
  }
  if (!(all > 0)) return 0;
  const double part = product * product / squares / all;
  return product > 0 ? part : -part;
}

struct Split {
  std::size_t at = 0;
  double explains = 0;
};
// The part that a split explains is the spread between the means of both sides.
Split best_split(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double all = spread(values, 0, values.size()), total = std::accumulate(values.begin(), values.end(), 0.0);
  Split best;
  double sum = 0;
  for (std::size_t at = 0; all > 0 && at + 2 <= values.size(); sum += values[at++]) {
    if (at < 2) continue;
    const double left = static_cast<double>(at), right = count - left;
    const double difference = sum / left - (total - sum) / right;
    const double explains = left * right / count * difference * difference / all;
    if (explains > best.explains) best = {at, explains};
  }
  return best;
}

// The rounds with most of the excess, if they follow each other at one distance of two or more.
struct RegularRounds {
  std::vector<std::size_t> rounds;  // empty: they do not
  std::size_t distance = 1;
};
RegularRounds regular_rounds(const std::vector<double>& excess) {
  const double most = std::ranges::max(excess);
  RegularRounds high;
  double in_high = 0, all = 0;
  const double usual_excess = median(excess);  // by noise
  for (std::size_t i = 0; i < excess.size(); ++i) {
    all += std::max(0.0, excess[i] - usual_excess);
    if (excess[i] < kHighRound * most) continue;
    high.rounds.push_back(i);
    in_high += excess[i] - usual_excess;
  }
  if (high.rounds.size() < 3 || 2 * high.rounds.size() > excess.size() || in_high < kInHighRounds * all) return {};
  std::map<std::size_t, std::size_t> distances;
  for (std::size_t i = 1; i < high.rounds.size(); ++i) ++distances[high.rounds[i] - high.rounds[i - 1]];
  const auto usual = std::ranges::max_element(distances, {}, [](const auto& each) { return each.second; });
  const bool regular = static_cast<double>(usual->second) >= kRegular * static_cast<double>(high.rounds.size() - 1);
  if (!regular || usual->first < 2) return {};
  high.distance = usual->first;
  return high;
}

// Standard deviation of a rank's rounds ÷ their mean; without the first and the last one, which may be cut.
double relative_spread(const Matrix& m) {
  double squares = 0, sum = 0;
  for (std::size_t row = 0; row < m.rows; ++row) {
    const std::vector<double> own(m.cells.begin() + static_cast<std::ptrdiff_t>(row * m.columns),
                                  m.cells.begin() + static_cast<std::ptrdiff_t>((row + 1) * m.columns));
    squares += spread(own, 1, m.columns - 1);
    sum += mean(own, 1, m.columns - 1);
  }
  const auto rows = static_cast<double>(m.rows), columns = static_cast<double>(m.columns - 2);
  return sum > 0 ? std::sqrt(squares / rows / columns) / (sum / rows) : 0;
}

// Correlation of the ranks' excess in rounds that are `lag` apart; what a rank always has more or less does not count.
double correlation(const Matrix& m, std::size_t lag) {
  double both = 0, first = 0, second = 0;
  for (std::size_t row = 0; row < m.rows; ++row) {
    double usual = 0;
    for (std::size_t k = 0; k < m.columns; ++k) usual += m.excess(row, k) / static_cast<double>(m.columns);
    for (std::size_t k = 0; k + lag < m.columns; ++k) {
      const double now = m.excess(row, k) - usual, later = m.excess(row, k + lag) - usual;
      both += now * later;
      first += now * now;
      second += later * later;
    }
  }
  return first > 0 && second > 0 ? both / std::sqrt(first * second) : 0;
}

std::size_t slowest(const Matrix& m, std::size_t column) {
  std::size_t best = 0;
  for (std::size_t row = 1; row < m.rows; ++row) {
    if (m.at(row, column) > m.at(best, column)) best = row;
  }
  return best;
}

// Sums of `length` rounds from `first` on; rounds at both ends that fill no sum are left out.
Matrix folded(const Matrix& m, std::size_t first, std::size_t length) {
  Matrix sums;
  sums.rows = m.rows;
  sums.columns = (m.columns - first) / length;
  sums.group_of = m.group_of;
  sums.means.resize(sums.columns);
  sums.rank_means.resize(sums.columns);
  sums.cells.resize(sums.rows * sums.columns);
  for (std::size_t column = 0; column < sums.columns; ++column) {
    for (std::size_t i = 0; i < length; ++i) {
      const std::size_t of = first + column * length + i;
      sums.means[column] += m.means[of];
      sums.rank_means[column] += m.rank_means[of];
      for (std::size_t row = 0; row < m.rows; ++row) sums.cells[row * sums.columns + column] += m.at(row, of);
    }
  }
  return sums;
}

// Blocks of rounds in which a rank has some samples: a sample has the CPU time since the one before, which may be of
// the block before. Nothing: there are too few such blocks.
struct Blocks {
  Matrix matrix;
  std::size_t rounds = 1;  // snapshots of each
};
std::optional<Blocks> with_enough_samples(const Application& a, Matrix m) {
  constexpr double kEnoughSamples = 16;
  const double all = std::accumulate(m.means.begin(), m.means.end(), 0.0);
  if (a.samples.unit != "seconds" || a.samples.samples == 0 || !(all > 0)) return {};
  const double of_sample = a.samples.self / static_cast<double>(a.samples.samples);
  const double rounds = std::ceil(kEnoughSamples * of_sample / (all / static_cast<double>(m.columns)));
  if (!(rounds * kFewestSnapshots <= static_cast<double>(m.columns))) return {};
  const auto length = static_cast<std::size_t>(rounds);
  return Blocks{length > 1 ? folded(m, 0, length) : std::move(m), length};
}

// Late ranks come back, or the lateness goes on by the same distance; of groups of ranks, by one group more or less.
bool is_moving(const Matrix& m, bool of_groups) {
  for (std::size_t lag = 1; lag <= m.columns / 2; ++lag) {
    if (correlation(m, lag) >= kReturns) return true;
  }
  std::map<std::size_t, std::size_t> steps;
  for (std::size_t k = 1; k < m.columns; ++k) ++steps[(slowest(m, k) + m.rows - slowest(m, k - 1)) % m.rows];
  std::size_t usual = 0;
  for (const auto& [step, count] : steps) {
    const auto next = steps.find((step + 1) % m.rows);
    usual = std::max(usual, count + (of_groups && next != steps.end() ? next->second : 0));
  }
  return static_cast<double>(usual) >= kRegular * static_cast<double>(m.columns - 1);
}

// Without outliers: the lowest and the highest values are as low and as high as the next ones.
std::vector<double> clipped(std::vector<double> values) {
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  const auto outliers = static_cast<std::size_t>(kOutliers * static_cast<double>(values.size()));
  for (double& each : values) each = std::clamp(each, sorted[outliers], sorted[sorted.size() - 1 - outliers]);
  return values;
}

// Means of at most about so many blocks of equal length: random delays of single rounds cancel out.
std::vector<double> in_blocks(const std::vector<double>& values, std::size_t blocks) {
  const std::size_t length = std::max<std::size_t>(1, values.size() / blocks);
  std::vector<double> means;
  for (std::size_t begin = 0; begin + length <= values.size(); begin += length)
    means.push_back(mean(values, begin, begin + length));
  return means;
}

// The values rise for a good part of the rounds between two levels, and not at once.
bool is_ramp(const std::vector<double>& values, double low, double high) {
  constexpr double kFrom = 0.25, kTo = 0.75;  // of the way between the levels
  constexpr std::size_t kBlocks = 40, kFewest = 4;
  std::size_t between = 0, most = 0;  // blocks in a row
  for (const double each : in_blocks(values, kBlocks)) {
    const double part = (each - low) / (high - low);
    between = part > kFrom && part < kTo ? between + 1 : 0;
    most = std::max(most, between);
  }
  return high > low && most >= kFewest;
}

// The ranks are the same in all rounds: how does their excess change?
void judge_time(std::vector<double> measured, RoundShape& shape) {
  measured.pop_back();  // the last round may be cut
  const std::vector<double> excess = clipped(std::move(measured));
  const std::size_t third = excess.size() / 3, count = excess.size();
  const std::vector<double> blocks = in_blocks(excess, 10);
  const double line = line_explains(blocks);
  const Split split{best_split(excess).at, best_split(blocks).explains};
  const std::size_t tenth = std::max<std::size_t>(1, count / 10);
  const auto grows = [&](std::size_t part, double times) {
    return mean(excess, count - part, count) > times * std::max(0.0, mean(excess, 0, part));
  };
  const bool is_line = line >= kShapeExplains && line >= split.explains && grows(third, kGrows);
  const bool is_gradual = split.explains >= kShapeExplains && grows(tenth, kRampRatio) &&
                          is_ramp(excess, mean(excess, 0, tenth), mean(excess, count - tenth, count));
  if (is_line || is_gradual) {
    shape.shape = Shape::growing;
    shape.before = mean(excess, 0, tenth);
    shape.after = mean(excess, count - tenth, count);
  } else if (split.explains >= kShapeExplains) {
    shape.before = mean(excess, 0, split.at);
    shape.after = mean(excess, split.at, count);
    const double low = std::max(0.0, std::min(shape.before, shape.after)), high = std::max(shape.before, shape.after);
    if (high > kStepRatio * low) {
      shape.shape = Shape::changed;
      shape.from = split.at;
    }
  }
}

}  // namespace

std::optional<RoundShape> round_shape(const Application& a, RoundTime time) {
  const SnapshotSeries* const series = find_series(a.snapshots, "iteration");
  if (series == nullptr || a.ranks < 2) return {};
  const double covered = std::accumulate(series->seconds.begin(), series->seconds.end(), 0.0);
  if (covered < kLeastOfRun * a.wall_seconds) return {};
  std::optional<Matrix> of_rounds = matrix_of(a, *series, time);
  if (!of_rounds) return {};
  std::optional<Blocks> blocks = time == RoundTime::cpu ? with_enough_samples(a, std::move(*of_rounds))
                                                        : std::optional(Blocks{std::move(*of_rounds)});
  if (!blocks) return {};
  const Matrix* const matrix = &blocks->matrix;
  // Lateness in every n-th round is judged by sums of n rounds.
  std::vector<double> most(matrix->columns);
  for (std::size_t column = 0; column < most.size(); ++column)
    most[column] = matrix->excess(slowest(*matrix, column), column);
  const RegularRounds regular = regular_rounds(most);
  const bool fold =
      blocks->rounds == 1 && !regular.rounds.empty() && most.size() / regular.distance >= kFewestSnapshots - 1;
  const Matrix m = fold ? folded(*matrix, regular.rounds[0] % regular.distance, regular.distance) : *matrix;
  RoundShape shape;
  shape.series = series;
  shape.spread = relative_spread(m);
  for (const std::uint32_t group : m.group_of) {
    for (std::uint32_t i = 0; i < series->ranks_per_group && group * series->ranks_per_group + i < a.ranks; ++i)
      shape.in_step.push_back(group * series->ranks_per_group + i);
  }
  std::vector<double> sums(m.rows);
  double most_sum = 0;
  for (std::size_t column = 0; column < m.columns; ++column) {
    const std::size_t late = slowest(m, column);
    shape.imbalance += m.at(late, column) - m.rank_means[column];
    most_sum += m.excess(late, column);
    for (std::size_t row = 0; row < m.rows; ++row) sums[row] += m.excess(row, column);
  }
  const double latest = std::ranges::max(sums);
  if (latest < kSameRanks * most_sum) {
    shape.shape = is_moving(m, series->ranks_per_group > 1) ? Shape::moving : Shape::random;
    return shape;
  }
  std::vector<double> excess(m.columns);
  double late = 0;
  for (std::size_t row = 0; row < m.rows; ++row) {
    if (sums[row] < kLateInRounds * latest) continue;
    ++late;
    for (std::uint32_t i = 0; i < series->ranks_per_group; ++i) {
      const std::uint32_t rank = m.group_of[row] * series->ranks_per_group + i;
      if (rank < a.ranks) shape.ranks.push_back(rank);
    }
    for (std::size_t column = 0; column < m.columns; ++column) excess[column] += m.excess(row, column);
  }
  for (double& each : excess) each /= late;
  if (m.columns >= kFewestForTrend) judge_time(excess, shape);
  const std::size_t begin = comparable(*series).begin;
  if (shape.shape == Shape::steady && fold) {
    shape.shape = Shape::periodic;
    shape.rounds = regular.rounds;
    for (std::size_t& each : shape.rounds) each += begin;
  }
  shape.from = begin + (fold ? regular.rounds[0] % regular.distance + shape.from * regular.distance
                             : shape.from * blocks->rounds);
  // From columns to rounds.
  const SnapshotRange range = comparable(*series);
  const double rounds = std::accumulate(series->rounds.begin() + static_cast<std::ptrdiff_t>(range.begin),
                                        series->rounds.begin() + static_cast<std::ptrdiff_t>(range.end), 0.0);
  const double of_column = rounds / static_cast<double>(range.end - range.begin) *
                           static_cast<double>(blocks->rounds * (fold ? regular.distance : 1));
  shape.before /= std::max(of_column, 1.0);
  shape.after /= std::max(of_column, 1.0);
  return shape;
}

}  // namespace ardoise::reports

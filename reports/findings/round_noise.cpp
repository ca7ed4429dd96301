#include "reports/findings/round_noise.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "reports/findings/series_view.hpp"

namespace ardoise::reports {
namespace {

// Times the standard error. Stationary runs of many kinds of noise reach these in at most 2 % (round_noise_test).
constexpr double kTrendErrors = 4, kChangeErrors = 7;
constexpr double kFarFromUsual = 5;  // times the median: outliers are clamped to this

// By how much residuals that depend on their neighbours raise the variance of a mean.
double inflation(std::span<const double> residuals, double squares) {
  constexpr double kMostAlike = 0.95;
  if (!(squares > 0)) return 1;
  double products = 0;
  for (std::size_t i = 1; i < residuals.size(); ++i) products += residuals[i] * residuals[i - 1];
  const double r = std::clamp(products / squares, 0.0, kMostAlike);
  return (1 + r) / (1 - r);
}

}  // namespace

bool trend_exceeds_noise(std::span<const double> rounds) {
  constexpr std::size_t kMostParts = 20, kFewest = 5;
  const std::size_t parts = std::min(kMostParts, rounds.size() / 2);
  if (parts < kFewest) return false;
  const auto count = static_cast<double>(parts);
  std::vector<double> medians;
  double mean = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto begin = rounds.begin() + static_cast<std::ptrdiff_t>(part * rounds.size() / parts),
               end = rounds.begin() + static_cast<std::ptrdiff_t>((part + 1) * rounds.size() / parts);
    medians.push_back(median({begin, end}));
    mean += medians.back() / count;
  }
  const double centre = (count - 1) / 2, spread = count * (count * count - 1) / 12;
  double slope = 0, squares = 0;
  for (std::size_t i = 0; i < parts; ++i) slope += (static_cast<double>(i) - centre) * (medians[i] - mean) / spread;
  std::vector<double> residuals;
  for (std::size_t i = 0; i < parts; ++i) {
    residuals.push_back(medians[i] - mean - slope * (static_cast<double>(i) - centre));
    squares += residuals.back() * residuals.back();
  }
  const double error = std::sqrt(squares / (count - 2) / spread * inflation(residuals, squares));
  return std::abs(slope) > kTrendErrors * error;
}

bool change_exceeds_noise(std::span<const double> rounds, std::size_t at) {
  if (at < 2 || at + 2 > rounds.size()) return false;
  const double usual = median({rounds.begin(), rounds.end()});
  if (!(usual > 0)) return false;
  std::vector<double> logarithms;
  for (const double each : rounds)
    logarithms.push_back(std::log(std::clamp(each / usual, 1 / kFarFromUsual, kFarFromUsual)));
  const auto before = static_cast<double>(at), after = static_cast<double>(rounds.size() - at);
  double first = 0, second = 0, squares = 0;
  for (std::size_t i = 0; i < logarithms.size(); ++i) (i < at ? first : second) += logarithms[i];
  first /= before;
  second /= after;
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    logarithms[i] -= i < at ? first : second;
    squares += logarithms[i] * logarithms[i];
  }
  const double variance = squares / (before + after - 2) * inflation(logarithms, squares);
  return std::abs(second - first) > kChangeErrors * std::sqrt(variance * (1 / before + 1 / after));
}

}  // namespace ardoise::reports

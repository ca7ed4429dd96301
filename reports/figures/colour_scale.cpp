#include "reports/figures/colour_scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ardoise::reports {

namespace {

constexpr std::array<std::array<double, 3>, 9> kViridis{{{253, 231, 37},
                                                         {170, 220, 50},
                                                         {92, 200, 99},
                                                         {39, 173, 129},
                                                         {33, 144, 141},
                                                         {44, 113, 142},
                                                         {59, 81, 139},
                                                         {71, 44, 122},
                                                         {68, 1, 84}}};
constexpr double kSteps = 31;

}  // namespace

Rgb scale_colour(double t) {
  t = std::round(std::clamp(std::isfinite(t) ? t : 0.0, 0.0, 1.0) * kSteps) / kSteps;
  // The lightest yellow is hard to tell from white on paper.
  const double position = 0.35 + t * (static_cast<double>(kViridis.size()) - 1.35);
  const auto at = std::min(static_cast<std::size_t>(position), kViridis.size() - 2);
  const double part = position - static_cast<double>(at);
  const auto mix = [&](std::size_t c) { return (kViridis[at][c] * (1 - part) + kViridis[at + 1][c] * part) / 255; };
  return {mix(0), mix(1), mix(2)};
}

Scale Scale::over(const std::vector<double>& values, bool log_allowed) {
  double low = 0, high = 0, least = 0;
  bool first = true;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    low = first ? v : std::min(low, v);
    high = first ? v : std::max(high, v);
    if (v > 0) least = least > 0 ? std::min(least, v) : v;
    first = false;
  }
  if (log_allowed && least > 0 && high / least >= 50) return {least, high, true};
  return {low, high, false};
}

double Scale::at(double value) const {
  if (high_ <= low_) return 0.5;  // all values are equal
  if (log_) return value <= low_ ? 0 : std::log(value / low_) / std::log(high_ / low_);
  return (value - low_) / (high_ - low_);
}

std::vector<double> Scale::ticks() const {
  if (high_ <= low_) return {low_};
  if (!log_) return {low_, (low_ + high_) / 2, high_};
  const double middle = std::sqrt(low_ * high_);
  return {low_, std::sqrt(low_ * middle), middle, std::sqrt(middle * high_), high_};
}

std::vector<double> round_ticks(double high, int most) {
  if (!(high > 0) || !std::isfinite(high)) return {0};
  const double rough = high / most, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> ticks;
  for (int i = 0; i <= most && i * step <= high * 1.0001; ++i) ticks.push_back(i * step);
  return ticks;
}

}  // namespace ardoise::reports

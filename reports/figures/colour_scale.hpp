// The colour scale of all figures: light is little, dark is much, white is none. The colours are viridis (S. van der
// Walt and N. Smith, matplotlib), reversed: perceptually uniform and monotonic in luminance, so readable in grey.
#pragma once

#include <vector>

namespace ardoise::reports {

struct Rgb {
  double r = 1, g = 1, b = 1;
};

// t is clamped to 0 … 1. 32 steps look continuous and compress well.
[[nodiscard]] Rgb scale_colour(double t);

// Maps values to 0 … 1, linearly or logarithmically.
class Scale {
 public:
  // Covers the values. Logarithmic if `log_allowed` and the positive values span a factor of 50 or more; then others do
  // not count.
  static Scale over(const std::vector<double>& values, bool log_allowed);
  Scale(double low, double high, bool log) : low_(low), high_(high), log_(log) {}

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] bool log() const { return log_; }
  // One to five values for a legend, ascending.
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  double low_, high_;
  bool log_;
};

// Round values that split 0 … high into at most `most` steps: 0, 20, 40, …
[[nodiscard]] std::vector<double> round_ticks(double high, int most);

}  // namespace ardoise::reports

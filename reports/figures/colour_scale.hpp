// From numbers to colours, one scale for all figures: light is little, dark is much, white is nothing. The colours are
// viridis (S. van der Walt and N. Smith, matplotlib), reversed: perceptually uniform and monotonic in luminance, so a
// figure printed in grey says the same.
#pragma once

#include <vector>

namespace ardoise::reports {

struct Rgb {
  double r = 1, g = 1, b = 1;
};

// t in 0 … 1, clamped; 32 steps, which the eye takes for continuous and PDF compression likes.
[[nodiscard]] Rgb scale_colour(double t);

// Maps values to 0 … 1, linearly or logarithmically.
class Scale {
 public:
  // Over the values given; those that are not above 0 don't count when `log_allowed` (it needs a range of 50 or more).
  static Scale over(const std::vector<double>& values, bool log_allowed);
  Scale(double low, double high, bool log) : low_(low), high_(high), log_(log) {}

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] bool log() const { return log_; }
  // Values for a legend, low to high, 2 to 5 of them.
  [[nodiscard]] std::vector<double> ticks() const;

 private:
  double low_, high_;
  bool log_;
};

// Round values that cut 0 … high into `most` or fewer steps: 0, 20, 40, …
[[nodiscard]] std::vector<double> round_ticks(double high, int most);

}  // namespace ardoise::reports

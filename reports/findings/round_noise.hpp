// Whether a change over the rounds of a series exceeds their noise. Rounds that follow each other are alike on a busy
// machine, so neighbours count as less than two observations: the variance of a mean is multiplied by
// (1 + r) / (1 - r), with r the correlation of neighbours (Bayley and Hammersley, 1946).
#pragma once

#include <span>

namespace ardoise::reports {

// A straight line through the medians of up to 20 parts of equal length.
[[nodiscard]] bool trend_exceeds_noise(std::span<const double> rounds);

// The two parts, before and from `at` on, differ. `at` was chosen for that.
[[nodiscard]] bool change_exceeds_noise(std::span<const double> rounds, std::size_t at);

}  // namespace ardoise::reports

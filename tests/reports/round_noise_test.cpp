// Trends and changes are claimed where the rounds have them, and not in the noise of stationary runs.
#include "reports/findings/round_noise.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace ardoise::reports {
namespace {

using Rounds = std::vector<double>;
using Noise = std::function<double(std::size_t round)>;

// Each kind of noise, for a seed: the factor of each round.
std::vector<Noise> noises(std::mt19937& random) {
  std::vector<Noise> all;
  const auto normal = [&random] { return std::normal_distribution<double>()(random); };
  all.push_back([=](std::size_t) { return std::exp(0.2 * normal()); });
  for (const double r : {0.5, 0.8}) {  // rounds that follow each other are alike
    all.push_back([=, state = 0.0](std::size_t) mutable {
      state = r * state + std::sqrt(1 - r * r) * normal();
      return std::exp(0.2 * state);
    });
  }
  // Another job comes and goes.
  all.push_back([=, &random, busy = false](std::size_t) mutable {
    if (std::uniform_real_distribution<double>()(random) < 0.1) busy = !busy;
    return (busy ? 1.6 : 1.0) * std::exp(0.05 * normal());
  });
  // Now and then a round takes long.
  all.push_back([=, &random](std::size_t) {
    return std::exp(0.1 * normal()) * (std::uniform_real_distribution<double>()(random) < 0.05 ? 8 : 1);
  });
  return all;
}

constexpr int kSeeds = 100;

// Share of the runs in which a change is seen at the best of all positions.
double seen(std::size_t count, const std::function<double(std::size_t)>& truth,
            const std::function<bool(const Rounds&)>& sees) {
  int runs = 0, found = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    for (const Noise& noise : noises(random)) {
      Rounds rounds;
      for (std::size_t i = 0; i < count; ++i) rounds.push_back(truth(i) * noise(i));
      ++runs;
      found += sees(rounds) ? 1 : 0;
    }
  }
  return static_cast<double>(found) / runs;
}

bool sees_change_anywhere(const Rounds& rounds) {
  for (std::size_t at = 10; at + 10 <= rounds.size(); ++at)
    if (change_exceeds_noise(rounds, at)) return true;
  return false;
}

TEST(RoundNoise, StationaryRunsHaveNoTrend) {
  const auto level = [](std::size_t) { return 0.04; };
  for (const std::size_t count : {20u, 40u, 100u, 300u}) {
    EXPECT_LE(seen(count, level, trend_exceeds_noise), 0.02) << count;
    EXPECT_LE(seen(count, level, sees_change_anywhere), 0.02) << count;
  }
}

TEST(RoundNoise, TrendsAreSeen) {
  EXPECT_GE(seen(
                100, [](std::size_t i) { return 1 + 0.01 * static_cast<double>(i); }, trend_exceeds_noise),
            0.7);
  EXPECT_GE(seen(
                1000, [](std::size_t i) { return 1 + 0.001 * static_cast<double>(i); }, trend_exceeds_noise),
            0.9);
  Rounds exact;
  for (int i = 0; i < 40; ++i) exact.push_back(1 + 0.01 * i);
  EXPECT_TRUE(trend_exceeds_noise(exact));
  EXPECT_FALSE(trend_exceeds_noise(Rounds(40, 1.0)));
  EXPECT_FALSE(trend_exceeds_noise({}));
}

TEST(RoundNoise, ChangesAreSeen) {
  EXPECT_GE(seen(
                100, [](std::size_t i) { return i < 60 ? 1.0 : 2.0; },
                [](const Rounds& rounds) { return change_exceeds_noise(rounds, 60); }),
            0.75);
  EXPECT_TRUE(change_exceeds_noise(Rounds{1, 1, 1, 2, 2, 2}, 3));
  EXPECT_FALSE(change_exceeds_noise(Rounds(40, 1.0), 20));
}

}  // namespace
}  // namespace ardoise::reports

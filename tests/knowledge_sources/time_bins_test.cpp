// Values over time in bounded memory.
#include "knowledge_sources/containers/time_bins.hpp"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint64_t kWidth = std::uint64_t{1} << TimeBins::kFirstShift;

TEST(TimeBins, SplitsAnIntervalExactly) {
  TimeBins bins(2);
  bins.add(1, kWidth / 2, 3 * kWidth + 5);
  EXPECT_EQ(bins.at(1, 0), kWidth / 2);
  EXPECT_EQ(bins.at(1, 1), kWidth);
  EXPECT_EQ(bins.at(1, 2), kWidth);
  EXPECT_EQ(bins.at(1, 3), 5u);
  EXPECT_EQ(bins.at(0, 1), 0u);
}

TEST(TimeBins, DoublesItsWidthWhenTheTimeOutgrowsIt) {
  TimeBins bins(1);
  bins.add(0, 0, 10);
  bins.add(0, kWidth, kWidth + 20);
  bins.add(0, kWidth * TimeBins::kBins, kWidth * TimeBins::kBins + 30);
  EXPECT_EQ(bins.shift(), TimeBins::kFirstShift + 1);
  EXPECT_EQ(bins.at(0, 0), 30u);
  EXPECT_EQ(bins.at(0, TimeBins::kBins / 2), 30u);
}

TEST(TimeBins, HoldsEveryTime) {
  TimeBins bins(1);
  bins.add(0, (std::uint64_t{1} << 63) - 10, (std::uint64_t{1} << 63) - 1);
  EXPECT_EQ(bins.shift(), TimeBins::kLastShift);
  EXPECT_EQ(bins.at(0, TimeBins::kBins - 1), 9u);
}

TEST(TimeBins, OrderAndSpreadDoNotMatter) {
  std::mt19937_64 random(3);
  std::vector<std::tuple<std::size_t, std::uint64_t, std::uint64_t>> intervals;
  for (int i = 0; i < 3000; ++i) {
    const std::uint64_t begin = random() >> (1 + random() % 45);
    intervals.emplace_back(random() % 3, begin, std::min(begin + (random() >> 40), (std::uint64_t{1} << 63) - 1));
  }
  TimeBins expected(3);
  for (const auto& [row, begin, end] : intervals) expected.add(row, begin, end);
  for (int round = 0; round < 10; ++round) {
    std::ranges::shuffle(intervals, random);
    TimeBins parts[3]{TimeBins(3), TimeBins(3), TimeBins(3)};
    for (const auto& [row, begin, end] : intervals) parts[random() % 3].add(row, begin, end);
    TimeBins all(3);
    for (const auto& part : parts) all.merge(part);
    EXPECT_EQ(all.shift(), expected.shift());
    EXPECT_EQ(write_partial(1, all), write_partial(1, expected));
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Calls over intervals of time: divided exactly, and independent of the order of arrival.
#include "knowledge_sources/plugins/snapshots/timed_calls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::int64_t kInterval = std::int64_t{1} << TimedCalls::kFirstShift;

std::map<std::uint64_t, std::vector<CallSums>> rows_of(const TimedCalls& timed) {
  std::map<std::uint64_t, std::vector<CallSums>> rows;
  timed.for_each_row([&](std::uint64_t key, const CallSums* bins) { rows[key] = {bins, bins + TimedCalls::kBins}; });
  return rows;
}
CallSums sum_of(const std::vector<CallSums>& bins) {
  CallSums sum;
  for (const CallSums& each : bins) sum += each;
  return sum;
}

TEST(TimedCalls, TimeIsSplitAndTheCallBeginsOnce) {
  TimedCalls timed;
  timed.add(1, kInterval / 2, 3 * kInterval + 5, 100, 1);
  timed.add(1, -7, 3, 8, 2);  // begins in MPI_Init
  const auto bins = rows_of(timed)[1];
  EXPECT_EQ(bins[0], (CallSums{3, static_cast<std::uint64_t>(kInterval / 2) + 6, 108}));
  EXPECT_EQ(bins[1], (CallSums{0, kInterval, 0}));
  EXPECT_EQ(bins[3], (CallSums{0, 5, 0}));
  EXPECT_EQ(timed.bins(), 4u);
}

TEST(TimedCalls, WaitingIsWhereItWas) {
  TimedCalls timed;
  timed.add(1, kInterval / 2, 3 * kInterval, 100, 1);
  timed.add_wait(1, kInterval - 7, 2 * kInterval + 5);
  const auto bins = rows_of(timed)[1];
  EXPECT_EQ(bins[0].waited, 7u);
  EXPECT_EQ(bins[1], (CallSums{0, kInterval, 0, kInterval}));
  EXPECT_EQ(bins[2].waited, 5u);
  EXPECT_EQ(sum_of(bins), (CallSums{1, 5 * kInterval / 2, 100, kInterval + 12}));
}

TEST(TimedCalls, WhatIsSpreadKeepsItsSums) {
  TimedCalls timed;
  const CallSums sums{1000, 123'456'789, 77};
  timed.spread(kIsPosix | 3, 10, 50 * kInterval, sums);
  timed.spread(3, 700, 700, sums);
  auto rows = rows_of(timed);
  EXPECT_EQ(sum_of(rows[kIsPosix | 3]), sums);
  EXPECT_EQ(rows[3][0], sums);
  EXPECT_NEAR(static_cast<double>(rows[kIsPosix | 3][17].calls), 1000.0 / 51, 1.0);
}

// The run outgrows its intervals, workers have parts, some are written and read: the result is the same.
TEST(TimedCalls, ResultsDoNotDependOnTheOrderOrOnMerges) {
  std::mt19937_64 random(11);
  TimedCalls whole;
  std::vector<TimedCalls> parts(3);
  std::map<std::uint64_t, CallSums> sums;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t key = random() % 30;
    const auto begin = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (20 + i % 20)));
    const auto length = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (5 + i % 30)));
    whole.add(key, begin, begin + length, 8, 1);
    parts[random() % 3].add(key, begin, begin + length, 8, 1);
    sums[key] += {1, static_cast<std::uint64_t>(length), 8};
  }
  TimedCalls merged;
  for (const TimedCalls& part : parts) {
    ByteWriter out;
    part.write(out);
    const auto bytes = out.take();
    ByteReader in(bytes, "timed");
    TimedCalls read;
    read.read(in);
    in.expect_end();
    merged.merge(read);
  }
  EXPECT_EQ(merged.shift(), whole.shift());
  EXPECT_EQ(rows_of(merged), rows_of(whole));
  for (const auto& [key, row] : rows_of(whole)) EXPECT_EQ(sum_of(row), sums[key]) << key;
}

TEST(TimedCalls, FurtherCallSitesShareARow) {
  TimedCalls timed;
  for (std::uint64_t key = 0; key < 2 * TimedCalls::kMostRows; ++key) timed.add(key, 0, 1, 1, 1);
  auto rows = rows_of(timed);
  EXPECT_EQ(rows.size(), TimedCalls::kMostRows + 1);
  EXPECT_EQ(sum_of(rows[TimedCalls::kFurther]).calls, TimedCalls::kMostRows);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

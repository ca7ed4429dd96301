// The greatest resident set over time: a fixed number of points, in order.
#include "instrument/machine/memory_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ardoise::instrument {
namespace {

constexpr double kTicksPerSecond = 1e3;  // a tick is a millisecond

TEST(MemoryTrace, DistanceDoublesWhenPointsAreUsedUp) {
  MemoryTrace trace;
  trace.start(1000, kTicksPerSecond, 10);
  for (std::uint64_t tick = 1000; tick < 1000 + 10 * 4 * MemoryTrace::kPoints; ++tick) trace.update(tick);
  const auto points = trace.finish(1000 + 10 * 4 * MemoryTrace::kPoints);
  EXPECT_GT(points.size(), MemoryTrace::kPoints / 2);
  EXPECT_LE(points.size(), MemoryTrace::kPoints);
  EXPECT_EQ(points.front().milliseconds, 0u);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &MemoryPoint::milliseconds));
}

// A thread reads the clock, finds a point due, and is interrupted by another one that adds a point with a later time.
TEST(MemoryTrace, ALatePointWithAnOlderTimeIsDropped) {
  MemoryTrace trace;
  trace.start(1000, kTicksPerSecond, 10);
  trace.take(1025);
  trace.take(1020);
  EXPECT_TRUE(std::ranges::is_sorted(trace.finish(1030), {}, &MemoryPoint::milliseconds));
}

}  // namespace
}  // namespace ardoise::instrument

// The choice of queries that are recorded, counted and timed.
#include "instrument/record/query_counts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ardoise::instrument {
namespace {

constexpr int kSites[2000] = {};

class QueryCountsTest : public ::testing::Test {
 protected:
  // Makes a call as the wrapper does.
  void call(const void* caller, std::uint32_t function, std::uint64_t ticks = 10) {
    if (counts_.count(caller, function)) return;
    ++timed_;
    QueryCounts::Place* const place = counts_.timed(caller, function, ticks);
    recorded_ += 1 + (place != nullptr ? place->pending : 0);
    if (place != nullptr) place->pending = 0;
  }
  std::uint64_t pending() {
    std::uint64_t sum = 0;
    counts_.for_each_pending([&](QueryCounts::Place& place) { sum += place.pending; });
    return sum;
  }

  QueryCounts counts_;
  std::uint64_t timed_ = 0, recorded_ = 0;
};

TEST_F(QueryCountsTest, TheFirstAreAllRecorded) {
  for (std::uint32_t i = 0; i < QueryCounts::kRecorded; ++i) call(&kSites[0], 7);
  EXPECT_EQ(timed_, QueryCounts::kRecorded);
  EXPECT_EQ(pending(), 0u);
}

TEST_F(QueryCountsTest, LaterOnesAreCountedAndNoneIsForgotten) {
  constexpr std::uint64_t kCalls = 1'000'000;
  for (std::uint64_t i = 0; i < kCalls; ++i) call(&kSites[0], 7);
  EXPECT_EQ(recorded_ + pending(), kCalls);
  EXPECT_LT(pending(), QueryCounts::kEvery);
  const std::uint64_t counted = kCalls - QueryCounts::kRecorded;
  EXPECT_NEAR(static_cast<double>(timed_ - QueryCounts::kRecorded), static_cast<double>(counted) / QueryCounts::kEvery,
              1);
}

TEST_F(QueryCountsTest, APlaceIsAFunctionAndAReturnAddress) {
  for (std::uint32_t i = 0; i < QueryCounts::kRecorded; ++i) call(&kSites[0], 7);
  EXPECT_TRUE(counts_.count(&kSites[0], 7));
  EXPECT_FALSE(counts_.count(&kSites[0], 8));
  EXPECT_FALSE(counts_.count(&kSites[1], 7));
}

TEST_F(QueryCountsTest, CallsOfManySizesAreRecorded) {
  constexpr std::uint64_t kCalls = 100'000;
  for (std::uint64_t i = 0; i < kCalls; ++i) call(&kSites[0], 7, i % 3 == 0 ? 900 : 9);
  EXPECT_EQ(timed_, kCalls);
  EXPECT_EQ(pending(), 0u);
  // A call in which the thread lost its processor now and then changes nothing.
  for (std::uint64_t i = 0; i < kCalls; ++i) call(&kSites[1], 7, i % 100 == 0 ? 100'000 : 9);
  EXPECT_LT(timed_, kCalls + kCalls / 10);
}

TEST_F(QueryCountsTest, TheShortestIsKept) {
  for (std::uint32_t i = 0; i < QueryCounts::kRecorded; ++i) call(&kSites[0], 7, i == 500 ? 3 : 9);
  call(&kSites[0], 7);
  std::uint64_t shortest = 0;
  counts_.for_each_pending([&](const QueryCounts::Place& place) { shortest = place.shortest; });
  EXPECT_EQ(shortest, 3u);
}

TEST_F(QueryCountsTest, MorePlacesThanThereIsRoomForLoseNothing) {
  constexpr std::uint64_t kRounds = 3000;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    for (const int& site : kSites) call(&site, 7);
  }
  EXPECT_EQ(recorded_ + pending(), kRounds * std::size(kSites));
}

}  // namespace
}  // namespace ardoise::instrument

// Recorders of ended threads for new ones: their number, their recipient, their age.
#include "instrument/process/session/resting_threads.hpp"

#include <gtest/gtest.h>

namespace ardoise::instrument {
namespace {

RestingThread resting(std::uint64_t since) { return {nullptr, nullptr, since}; }

TEST(RestingThreads, TheLastOneIsTakenFirst) {
  RestingThreads threads(4);
  EXPECT_FALSE(threads.take().has_value());
  for (const std::uint64_t since : {10U, 20U, 30U}) EXPECT_TRUE(threads.put(resting(since)));
  EXPECT_EQ(threads.take()->since, 30u);
  EXPECT_EQ(threads.take()->since, 20u);
  EXPECT_TRUE(threads.put(resting(40)));
  EXPECT_EQ(threads.take()->since, 40u);
  EXPECT_EQ(threads.take()->since, 10u);
  EXPECT_FALSE(threads.take().has_value());
}

TEST(RestingThreads, NoMoreThanThereIsRoomFor) {
  RestingThreads threads(2), none(0);
  EXPECT_TRUE(threads.put(resting(1)));
  EXPECT_TRUE(threads.put(resting(2)));
  EXPECT_FALSE(threads.put(resting(3)));
  EXPECT_EQ(threads.take()->since, 2u);
  EXPECT_FALSE(none.put(resting(1)));
}

TEST(RestingThreads, OldOnesInTheOrderOfTheirEnds) {
  RestingThreads threads(4);
  for (const std::uint64_t since : {10U, 20U, 30U}) EXPECT_TRUE(threads.put(resting(since)));
  EXPECT_FALSE(threads.take_old(9).has_value());
  EXPECT_EQ(threads.take_old(20)->since, 10u);
  EXPECT_EQ(threads.take_old(20)->since, 20u);
  EXPECT_FALSE(threads.take_old(20).has_value());
  EXPECT_EQ(threads.take()->since, 30u);
}

}  // namespace
}  // namespace ardoise::instrument

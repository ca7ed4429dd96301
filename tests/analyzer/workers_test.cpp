// How many threads an analyzer starts by itself.
#include "analyzer/workers.hpp"

#include <gtest/gtest.h>

namespace ardoise::analyzer {
namespace {

TEST(Workers, TakeTheCoresThatProgramsLeaveOver) {
  EXPECT_EQ(workers_for(8, 5), 4U);
  EXPECT_EQ(workers_for(2, 3), 1U);
  EXPECT_EQ(workers_for(4, 5), 1U);
  EXPECT_EQ(workers_for(1, 100), 1U);
}

TEST(Workers, AreNoMoreThanEight) { EXPECT_EQ(workers_for(128, 3), 8U); }

TEST(Workers, UnknownLaunchCountsNobodyElse) { EXPECT_EQ(workers_for(4, 0), 4U); }

}  // namespace
}  // namespace ardoise::analyzer

// The default number of an analyzer's threads.
#include "analyzer/run/workers.hpp"

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

TEST(CrowdingNotice, IsEmptyWithAProcessorForEveryProcess) {
  EXPECT_EQ(crowding_notice(4, 4), "");
  EXPECT_EQ(crowding_notice(4, 0), "");
  EXPECT_EQ(crowding_notice(0, 9), "");
}

TEST(CrowdingNotice, NamesBothNumbers) {
  EXPECT_TRUE(crowding_notice(2, 7).starts_with("7 processes of this launch, analyzers included, shared the 2 processors"));
}

TEST(Workers, AnUnknownLaunchCountsNoOtherProcesses) { EXPECT_EQ(workers_for(4, 0), 4U); }

}  // namespace
}  // namespace ardoise::analyzer

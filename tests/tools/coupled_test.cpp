// Coupled codes under mpirun: several programs share one MPI_COMM_WORLD, another program has its own.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "tests/tools/launch_fixture.hpp"
#include "tools/ardoise/common/exit_status.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Coupled : public LaunchFixture {
 protected:
  // Lines of the coupled programs, which their rank 0 prints in order.
  static Words lines_of(const std::string& output) {
    Words lines;
    std::istringstream stream(output);
    for (std::string line; std::getline(stream, line);) {
      if (line.find("the other side's ranks sum") != std::string::npos) lines.push_back(line);
    }
    return lines;
  }

  // Two programs that share a world: ranks 0 and 1, and 2 to 4.
  static void expect_coupled(const reports::Application& ocean, const reports::Application& air) {
    EXPECT_EQ(ocean.name, "coupled");
    EXPECT_EQ(air.name, "coupled#2");
    EXPECT_EQ(ocean.command, std::string(COUPLED) + " ocean");
    EXPECT_EQ(air.command, std::string(COUPLED) + " air");
    EXPECT_EQ(ocean.partition, air.partition);
    EXPECT_EQ(ocean.first_rank, 0U);
    EXPECT_EQ(air.first_rank, 2U);
    EXPECT_EQ(ocean.ranks, 2U);
    EXPECT_EQ(air.ranks, 3U);
    for (const auto* program : {&ocean, &air}) {
      EXPECT_EQ(program->world_ranks, 5U);
      EXPECT_EQ(program->quality.ranks_complete, program->ranks);
      EXPECT_EQ(function(program->mpi, "MPI_Comm_split").calls, program->ranks);
    }
    ASSERT_THAT(ocean.edges_between, SizeIs(1));
    EXPECT_EQ(ocean.edges_between[0].source, 0U);
    EXPECT_EQ(ocean.edges_between[0].target, 2U);
    EXPECT_EQ(ocean.edges_between[0].messages, 1U);
    EXPECT_EQ(ocean.edges_between[0].bytes, 8U);
    EXPECT_THAT(air.edges_between, SizeIs(0));
  }

  static Words native() {
    return lines_of(by_hand({"-n", "2", COUPLED, "ocean", ":", "-n", "3", COUPLED, "air"}).output);
  }
};

TEST_F(Coupled, AJoinedWorldIsThatOfALaunchAlone) {
  const auto expected = native();
  ASSERT_THAT(expected, SizeIs(5));
  EXPECT_EQ(expected[4], "air: rank 4 of 5, context 1, rank 2 of 3 in it, the other side's ranks sum to 1");
  // The two contexts are not adjacent on the line.
  const auto result = ardoise({"--partition", "earth=0,2"}, {"-n", "2", COUPLED, "ocean", ":", "-n", "1", RING, "20",
                                                             ":", "-n", "3", COUPLED, "air"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(lines_of(result.output), expected);
  EXPECT_THAT(result.output, HasSubstr("ring of 1 ranks, sum 1"));

  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(3));
  expect_coupled(run.applications[0], run.applications[1]);
  EXPECT_EQ(run.applications[2].command, std::string(RING) + " 20");
  EXPECT_EQ(run.applications[2].world_ranks, 1U);
}

TEST_F(Coupled, AllProgramsOfALaunchShareAWorldAsTheyDoNatively) {
  const auto result = ardoise({}, {"-n", "2", COUPLED, "ocean", ":", "-n", "3", COUPLED, "air"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(lines_of(result.output), native());
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(2));
  expect_coupled(run.applications[0], run.applications[1]);
}

TEST_F(Coupled, TheVariableJoinsByHand) {
  Words launch = exported("VMPI_PARTITION_NAME", "earth");
  for (const char* word :
       {"-n", "2", COUPLED, "ocean", ":", "-n", "3", "env", "VMPI_PARTITION_NAME=earth", COUPLED, "air"})
    launch.emplace_back(word);
  const auto result = ardoise({}, launch);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(lines_of(result.output), native());
}

TEST_F(Coupled, WhatCannotBeIsRefusedBeforeAnythingRuns) {
  const auto result = ardoise({"--partition", "earth=0,2"}, {"-n", "1", RING, "20", ":", "-n", "1", RING, "20"});
  EXPECT_EQ(result.status, kUsageStatus);
  EXPECT_THAT(result.output, HasSubstr("the context '2', which is not on the launch line"));
  EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << result.output;
  EXPECT_FALSE(fs::exists(output_));
}

}  // namespace
}  // namespace ardoise::launcher

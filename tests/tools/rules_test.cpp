// Rules act on their ranks while programs run, and end; errors in rules are reported before the launch.
#include <gmock/gmock.h>
#include <unistd.h>

#include <thread>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RulesTest : public LaunchFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  std::string rules(const std::string& text) const {
    std::ofstream(folder_ / "rules") << text;
    return (folder_ / "rules").string();
  }
};
INSTANTIATE_TEST_SUITE_P(Analyzers, RulesTest, ::testing::Values("1", "2"));

// Only rank 0 opens a file. All ranks continue until the rule has ended there.
TEST_P(RulesTest, ActOnTheRankForWhichTheyHoldAndEnd) {
  const std::string file = rules(
      "# a comment\n"
      "when calls(fopen) > 0: rate=100 for 1 s\n"
      "when calls(MPI_Barrier) > 0: flush-every=0.2 on all\n"
      "when calls(MPI_Alltoall) > 0: record=sums\n");
  const std::string begin = (folder_ / "begin").string(), end = (folder_ / "end").string();
  std::string history;
  std::jthread watcher([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && history.find("rate=launch") == std::string::npos) {
      ::usleep(100'000);
      history = run_and_read({ARDOISE, "control", output_}).output;
    }
    ::usleep(2'000'000);  // time for samples
    std::ofstream(end) << "now";
  });
  const auto result = ardoise(
      {"--rules", file, "--rate", "400", "--sample-share", "0", "--flush-every", "0.1", "--analyzers", GetParam()},
      {"-n", "3", STEERED_PROGRAM, begin, end, "calls"});
  watcher.request_stop();
  watcher.join();
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(history, AllOf(HasSubstr("rate=100  ranks 0  program mpi_steered  by rule 1"),
                             HasSubstr("flush-every=0.2  ranks all  program mpi_steered  by rule 2"),
                             HasSubstr("rate=launch  ranks 0  program mpi_steered  by rule 1")));
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1u);
  std::vector<double> of_first, of_others;
  for (const auto& change : run.applications[0].samples.rate_changes) {
    if (change.cause == "user") (change.rank == 0 ? of_first : of_others).push_back(change.hertz);
  }
  EXPECT_THAT(of_first, ElementsAre(100, 400));
  EXPECT_THAT(of_others, IsEmpty());
  EXPECT_THAT(run.notices, Contains("Rule 1 (when calls(fopen) > 0) held on 1 rank, 1 time; set rate=100 for 1 s."));
  EXPECT_THAT(run.notices, Contains(StartsWith("Rule 2 (when calls(MPI_Barrier) > 0) held on 3 ranks, 3 times; set "
                                               "flush-every=0.2 on all ranks.")));
  EXPECT_THAT(run.notices, Contains("Rule 3 never held."));
}

// Rank 1 works four times as long as the others, in each second and in each marked step.
TEST_P(RulesTest, ActOnRanksThatDifferFromTheOthers) {
  const std::string file = rules(
      "when balance() < 0.7: rate=100 on ranks that differ\n"
      "when balance(step) < 0.7 and time() > 100 ms: snapshot=uneven\n"
      "when balance(step) < 0.1: rate=1\n");
  const std::string begin = (folder_ / "begin").string(), end = (folder_ / "end").string();
  std::string history;
  std::jthread watcher([&](const std::stop_token& stop) {
    const auto has = [&](const char* what) { return history.find(what) != std::string::npos; };
    while (!stop.stop_requested() && !(has("by rule 1") && has("by rule 2"))) {
      ::usleep(100'000);
      history = run_and_read({ARDOISE, "control", output_}).output;
    }
    ::usleep(1'000'000);
    std::ofstream(end) << "now";
  });
  const auto result = ardoise({"--rules", file, "--flush-every", "0.1", "--analyzers", GetParam()},
                              {"-n", "2", STEERED_PROGRAM, begin, end, "uneven"});
  watcher.request_stop();
  watcher.join();
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(history, AllOf(HasSubstr("rate=100  ranks 0-1  program mpi_steered  by rule 1"),
                             HasSubstr("snapshot=uneven  ranks all  program mpi_steered  by rule 2")));
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1u);
  EXPECT_THAT(run.notices, Contains(StartsWith("Rule 1 (when balance() < 0.7) held on 2 ranks, ")));
  EXPECT_THAT(run.notices, Contains(StartsWith("Rule 2 (when balance(step) < 0.7 and time() > 100 ms) held ")));
  EXPECT_THAT(run.notices, Contains("Rule 3 never held."));
  const auto& series = run.applications[0].snapshots.series;
  const auto uneven = std::ranges::find(series, "uneven", &reports::SnapshotSeries::name);
  ASSERT_NE(uneven, series.end());
  EXPECT_EQ(uneven->ranks, 2u);
}

TEST_F(RulesTest, WhatIsWrongWithThemIsSaidBeforeTheLaunch) {
  const auto refused = [&](const std::string& file) {
    const auto result = ardoise({"--rules", file}, {"-n", "1", "sh", "-c", "touch " + (folder_ / "ran").string()});
    EXPECT_EQ(result.status, 2) << result.output;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "ran"));
    return result.output;
  };
  EXPECT_THAT(refused(rules("\nwhen calls(mpi) > 1: policy=block")),
              AllOf(StartsWith("ardoise: the rules '"), HasSubstr("rules', line 2: 'policy' cannot change while")));
  EXPECT_THAT(refused((folder_ / "none").string()), HasSubstr("none' cannot be read: No such file or directory."));
  EXPECT_THAT(refused(folder_.string()), HasSubstr("are not a regular file."));
}

}  // namespace
}  // namespace ardoise::launcher

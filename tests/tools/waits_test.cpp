// Waiting in collectives by programs of known truth: their ranks come late by sleeping and say themselves, by their own
// clocks, how long the others waited: at least and at most, for a rank may lose its processor at any time.
#include <gmock/gmock.h>

#include <cstdio>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

constexpr double kWithin = 0.002;  // our clock is calibrated against the program's

struct Truth {
  double least = 0, most = 0;  // seconds
  unsigned long occurrences = 0;
};

class WaitsTest : public LaunchFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  reports::Waiting waiting(const std::string& analyzers, Truth& truth) {
    output_ = (folder_ / ("report" + analyzers)).string();
    const auto result = ardoise({"--analyzers", analyzers}, {"-n", "4", LATE_RANKS_PROGRAM, GetParam(),
                                                             (folder_ / ("entered" + analyzers)).string()});
    EXPECT_EQ(result.status, 0) << result.output;
    const auto at = result.output.find("truth ");
    if (at == std::string::npos || std::sscanf(result.output.c_str() + at, "truth %lf %lf %lu", &truth.least,
                                               &truth.most, &truth.occurrences) != 3)
      ADD_FAILURE() << result.output;
    const auto run = profile();
    return run.applications.empty() ? reports::Waiting{} : run.applications[0].waiting;
  }
};

TEST_P(WaitsTest, IsWhatTheRanksSay) {
  for (const char* const analyzers : {"1", "2"}) {
    Truth truth;
    const auto waiting = this->waiting(analyzers, truth);
    ASSERT_FALSE(waiting.patterns.empty());
    const reports::WaitTotal& most = waiting.patterns[0];
    EXPECT_EQ(most.pattern, GetParam());
    EXPECT_EQ(most.occurrences, truth.occurrences);
    EXPECT_GE(most.seconds, (1 - kWithin) * truth.least);
    EXPECT_LE(most.seconds, (1 + kWithin) * truth.most);
    EXPECT_EQ(waiting.resolved_calls, 80u) << "20 collectives of 4 ranks";
    EXPECT_EQ(waiting.unresolved.incomplete_calls, 0u);
    EXPECT_EQ(waiting.unresolved.folded_calls, 0u);
    const std::uint32_t late = std::string(GetParam()) == "early_scan" ? 0 : 3;
    ASSERT_EQ(waiting.per_rank.caused_seconds.size(), 4u);
    EXPECT_NEAR(waiting.per_rank.caused_seconds[late], most.seconds, 1e-6);
    ASSERT_FALSE(waiting.call_sites.empty());
    EXPECT_EQ(waiting.call_sites[0].symbol, "meet");
    EXPECT_TRUE(waiting.call_sites[0].source_file.ends_with("late_ranks.c"));
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, WaitsTest,
                         ::testing::Values("wait_nxn", "wait_barrier", "late_broadcast", "early_reduce", "early_scan"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace ardoise::launcher

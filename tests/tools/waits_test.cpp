// Waiting in collectives by programs of known truth: their ranks come late by sleeping and say themselves, by their own
// clocks, how long the others waited.
#include <gmock/gmock.h>

#include <cstdio>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

constexpr double kWithin = 0.02;  // of the truth …
constexpr double kClocksOfACall =
    2e-5;  // … and this for each call: between the program's clock and the library's a rank may lose its processor

struct Truth {
  double seconds = 0;
  unsigned long occurrences = 0;
};

class WaitsTest : public LaunchFixture, public ::testing::WithParamInterface<const char*> {
 protected:
  reports::Waiting waiting(const std::string& ranks, const Words& options, Truth& truth) {
    const auto result = ardoise(options, {"-n", ranks, LATE_RANKS_PROGRAM, GetParam()});
    EXPECT_EQ(result.status, 0) << result.output;
    const auto at = result.output.find("truth ");
    if (at == std::string::npos ||
        std::sscanf(result.output.c_str() + at, "truth %lf %lu", &truth.seconds, &truth.occurrences) != 2)
      ADD_FAILURE() << result.output;
    const auto run = profile();
    return run.applications.empty() ? reports::Waiting{} : run.applications[0].waiting;
  }
};

TEST_P(WaitsTest, IsWhatTheRanksSay) {
  for (const char* const analyzers : {"1", "2"}) {
    Truth truth;
    const auto waiting = this->waiting("4", {"--analyzers", analyzers}, truth);
    ASSERT_FALSE(waiting.patterns.empty());
    const reports::WaitTotal& most = waiting.patterns[0];
    EXPECT_EQ(most.pattern, GetParam());
    EXPECT_EQ(most.occurrences, truth.occurrences);
    EXPECT_NEAR(most.seconds, truth.seconds,
                kWithin * truth.seconds + kClocksOfACall * static_cast<double>(truth.occurrences));
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

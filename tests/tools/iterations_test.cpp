// Iterations of programs with known main loops are found, numbered, and summed.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "reports/findings/findings.hpp"
#include "reports/findings/rank_moves.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::uint64_t kIterations = 100;  // of the program
constexpr std::uint64_t kRanks = 3;

class IterationsTest : public LaunchFixture, public ::testing::WithParamInterface<std::string> {
 protected:
  reports::Application application_of(const std::string& what) {
    const auto result = ardoise({"--analyzers", GetParam()}, {"-n", std::to_string(kRanks), ITERATIONS_PROGRAM, what});
    EXPECT_EQ(result.status, 0) << result.output;
    const auto run = profile();
    return run.applications.empty() ? reports::Application{} : run.applications[0];
  }
  static std::string text_of(const reports::Application& application, const std::string& id) {
    const auto all = reports::findings_of(application);
    const auto found = std::ranges::find(all, id, &reports::Finding::id);
    return found == all.end() ? "" : found->text;
  }
  static const reports::SnapshotSeries& loop_of(const reports::Application& application) {
    static const reports::SnapshotSeries none;
    const auto* const found = reports::find_series(application.snapshots, "iteration");
    return found == nullptr ? none : *found;
  }
  static const reports::SnapshotCalls& calls_of(const reports::SnapshotSeries& snapshots, const std::string& function) {
    static const reports::SnapshotCalls none;
    const auto found = std::ranges::find(snapshots.calls, function, &reports::SnapshotCalls::function);
    return found == snapshots.calls.end() ? none : *found;
  }
};
INSTANTIATE_TEST_SUITE_P(Analyzers, IterationsTest, ::testing::Values("1", "3"));

TEST_P(IterationsTest, TheSlowOneIsNumberedAndTheRankNamed) {
  const auto application = application_of("slow");
  const reports::SnapshotSeries& snapshots = loop_of(application);
  EXPECT_EQ(snapshots.trigger, "iteration");
  EXPECT_THAT(snapshots.rounds, AllOf(SizeIs(kIterations), Each(1u)));
  EXPECT_EQ(snapshots.ranks, kRanks);
  EXPECT_EQ(snapshots.function, "MPI_Sendrecv");
  EXPECT_EQ(snapshots.symbol, "exchange");
  ASSERT_THAT(snapshots.seconds, SizeIs(kIterations));
  const auto slowest = std::ranges::max_element(snapshots.longest_seconds) - snapshots.longest_seconds.begin();
  EXPECT_EQ(slowest, 40 - 1);
  EXPECT_THAT(calls_of(snapshots, "MPI_Sendrecv").calls, Each(kRanks));
  EXPECT_THAT(calls_of(snapshots, "MPI_Allreduce").calls, Each(kRanks));
  EXPECT_LE(std::accumulate(snapshots.seconds.begin(), snapshots.seconds.end(), 0.0), application.wall_seconds);
  const std::string text = text_of(application, "slow_iterations");
  EXPECT_THAT(text, HasSubstr("40"));
  EXPECT_THAT(text, HasSubstr("rank 1 is outside MPI and I/O for"));
}

// Rank 1 sleeps for 400 ms; the others wait for it in that iteration's MPI_Allreduce.
TEST_P(IterationsTest, TheOthersWaitInTheSlowOne) {
  const auto application = application_of("slow");
  const reports::SnapshotSeries& snapshots = loop_of(application);
  ASSERT_THAT(snapshots.waiting_seconds, SizeIs(kIterations));
  const auto& waiting = calls_of(snapshots, "MPI_Allreduce").waiting_seconds;
  ASSERT_THAT(waiting, SizeIs(kIterations));
  EXPECT_EQ(std::ranges::max_element(waiting) - waiting.begin(), 40 - 1);
  EXPECT_GE(waiting[40 - 1], (kRanks - 1) * 0.35);
  ASSERT_THAT(snapshots.group_waiting_seconds, SizeIs(kRanks * kIterations));
  const auto of_rank = [&](std::uint64_t rank) { return snapshots.group_waiting_seconds[rank * kIterations + 40 - 1]; };
  EXPECT_GE(of_rank(0), 0.35);
  EXPECT_GE(of_rank(2), 0.35);
  EXPECT_LT(of_rank(1), std::min(of_rank(0), of_rank(2)));
  for (std::size_t i = 0; i < kIterations; ++i)
    EXPECT_LE(snapshots.waiting_seconds[i], snapshots.mpi_seconds[i] + 1e-6) << i;
  EXPECT_THAT(text_of(application, "slow_iterations"), HasSubstr("MPI_Allreduce in main"));
  EXPECT_THAT(text_of(application, "slow_iterations"), HasSubstr("mostly waiting"));
}

TEST_P(IterationsTest, WhatIsDoneInEvery25thIsThere) {
  const auto application = application_of("regrid");
  EXPECT_THAT(loop_of(application).rounds, SizeIs(kIterations));
  const auto& writes = calls_of(loop_of(application), "fwrite");
  ASSERT_THAT(writes.calls, SizeIs(kIterations));
  for (std::uint64_t i = 1; i <= kIterations; ++i) EXPECT_EQ(writes.calls[i - 1], i % 25 == 0 ? kRanks : 0u) << i;
  const auto& in_io = loop_of(application).group_io_seconds;
  ASSERT_THAT(in_io, SizeIs(kRanks * kIterations));
  for (std::uint64_t i = 0; i < in_io.size(); ++i) EXPECT_EQ(in_io[i] > 0, (i % kIterations + 1) % 25 == 0) << i;
  // The barrier in the loop differs from those before and after it.
  const auto& barriers = calls_of(loop_of(application), "MPI_Barrier");
  EXPECT_EQ(std::accumulate(barriers.calls.begin(), barriers.calls.end(), std::uint64_t{0}), 4 * kRanks);
}

TEST_P(IterationsTest, WhatComesTwiceInAStepIsOneIteration) {
  const auto application = application_of("twice");
  const auto& loop = loop_of(application);
  EXPECT_THAT(loop.rounds, AllOf(SizeIs(kIterations), Each(1u)));
  EXPECT_THAT(calls_of(loop, "MPI_Sendrecv").calls, Each(2 * kRanks));
}

TEST_P(IterationsTest, ADriftIsATrendAndAClusterThatMoves) {
  const auto application = application_of("drift");
  EXPECT_THAT(loop_of(application).rounds, SizeIs(kIterations));
  // If ranks share processors, the first iterations take a time slice each, and the drift looks like a step.
  EXPECT_THAT(text_of(application, "iterations_trend") + text_of(application, "iterations_change"),
              HasSubstr("rank 2 is outside MPI and I/O for"));
  EXPECT_EQ(text_of(application, "rank_drift"), "") << "the trend says it";
  // Bytes of one MPI_Sendrecv and one MPI_Allreduce.
  EXPECT_THAT(loop_of(application).group_bytes, AllOf(SizeIs(kRanks * kIterations), Each(2 * sizeof(double))));
  EXPECT_THAT(loop_of(application).group_calls, AllOf(SizeIs(kRanks * kIterations), Each(2)));
  EXPECT_THAT(loop_of(application).group_io_seconds, IsEmpty());
  const reports::RankMoves moves = reports::rank_moves(loop_of(application));
  ASSERT_THAT(moves.parts, SizeIs(AllOf(Ge(3u), Le(4u))));
  const auto& last = moves.parts.back();
  EXPECT_NE(last.cluster[2], last.cluster[0]);
  EXPECT_NE(last.cluster[2], last.cluster[1]);
  const std::size_t at = moves.parts.size() - 1;
  EXPECT_GT(moves.way(moves.points_of(at, last.cluster[2]), 0, at), 0.5);
  const auto words = reports::moves_in_words(application, loop_of(application), moves);
  ASSERT_THAT(words, Not(IsEmpty()));
  EXPECT_THAT(words[0],
              AllOf(HasSubstr("Rank 2 (cluster "), HasSubstr(" times as long outside MPI and I/O in the "
                                                             "last tenth of the iterations as in the first (")));
}

TEST_P(IterationsTest, AProgramWithoutALoopHasNone) {
  const auto application = application_of("none");
  EXPECT_EQ(reports::find_series(application.snapshots, "iteration"), nullptr);
}

}  // namespace
}  // namespace ardoise::launcher

// Ranks in two metrics over a series: clusters, their identity over time, and moves between them.
#include "reports/findings/rank_moves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <numbers>

#include "reports/document/sections.hpp"
#include "reports/figures/figures.hpp"
#include "reports/findings/findings.hpp"

namespace ardoise::reports {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Clusters = std::vector<std::uint32_t>;

TEST(PointClusters, PointsThatAreJoinedByStepsLieTogether) {
  const std::vector<PlanePoint> two{{0, 0}, {5, 5}, {0.1, 0}, {5, 5.1}, {0.2, 0}};
  EXPECT_EQ(clusters_of(two, 0.15, 6), (Clusters{0, 1, 0, 1, 0}));
  EXPECT_EQ(clusters_of(two, 0.05, 6), (Clusters{0, 1, 2, 3, 4}));
  EXPECT_EQ(clusters_of(std::vector<PlanePoint>{}, 0.1, 6), Clusters{});
  EXPECT_EQ(clusters_of(std::vector<PlanePoint>{{3, 4}}, 0.1, 6), Clusters{0});
  EXPECT_THAT(clusters_of(std::vector<PlanePoint>(64, {7, 7}), 0, 6), AllOf(SizeIs(64), Each(0u)));
}

TEST(PointClusters, TheNearestAreJoinedWhereThereWouldBeTooMany) {
  const std::vector<PlanePoint> five{{0, 0}, {10, 0}, {10.5, 0}, {20, 0}, {23, 0}};
  EXPECT_EQ(clusters_of(five, 0.1, 5), (Clusters{0, 1, 2, 3, 4}));
  EXPECT_EQ(clusters_of(five, 0.1, 3), (Clusters{0, 1, 1, 2, 2}));
  EXPECT_EQ(clusters_of(five, 0.1, 1), (Clusters{0, 0, 0, 0, 0}));
}

// Four rings of 16 points each, in any order of the points.
TEST(PointClusters, TheOrderOfPointsDoesNotMatter) {
  std::vector<PlanePoint> points, mixed;
  for (int i = 0; i < 64; ++i) {
    const double angle = 2 * std::numbers::pi * (i % 16) / 16, centre = 3.0 * (i / 16);
    points.push_back({centre + std::cos(angle), std::sin(angle)});
  }
  for (std::size_t i = 0; i < 64; ++i) mixed.push_back(points[i * 37 % 64]);
  const Clusters plain = clusters_of(points, 0.5, 6), other = clusters_of(mixed, 0.5, 6);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(plain[i], i / 16) << i;
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t j = 0; j < 64; ++j)
      EXPECT_EQ(other[i] == other[j], plain[i * 37 % 64] == plain[j * 37 % 64]) << i << " and " << j;
  }
}

TEST(PointClusters, AClusterKeepsTheNumberOfTheOneThatItSharesMostWith) {
  // Point 3 leaves, comes back, and leaves again; then the others part.
  EXPECT_THAT(tracked_clusters({{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 1, 2}}),
              ElementsAre(Clusters{0, 0, 0, 0}, Clusters{0, 0, 0, 1}, Clusters{0, 0, 0, 0}, Clusters{0, 0, 0, 1},
                          Clusters{2, 0, 0, 1}));
  // Numbered anew each time by the first point; point 0 goes from one to the other.
  EXPECT_THAT(tracked_clusters({{0, 0, 0, 1, 1, 1}, {0, 1, 1, 0, 0, 0}}),
              ElementsAre(Clusters{0, 0, 0, 1, 1, 1}, Clusters{1, 0, 0, 1, 1, 1}));
  EXPECT_THAT(tracked_clusters({}), IsEmpty());
}

using Value = std::function<double(std::uint32_t rank, std::size_t iteration)>;
constexpr std::size_t kIterations = 100;
double zero(std::uint32_t, std::size_t) { return 0; }
double kilobyte(std::uint32_t, std::size_t) { return 1024; }

// 100 iterations of 40 ms; as many groups as there are ranks, to 64.
Application with_ranks(std::uint32_t ranks, const Value& own, const Value& bytes = kilobyte, const Value& io = zero,
                       std::uint32_t ranks_per_group = 1) {
  Application a;
  a.ranks = a.world_ranks = ranks;
  a.wall_seconds = 4;
  SnapshotSeries& s = a.snapshots.series.emplace_back();
  s.trigger = "iteration";
  s.function = "MPI_Sendrecv";
  s.ranks = ranks;
  s.ranks_per_group = ranks_per_group;
  s.groups = (ranks + ranks_per_group - 1) / ranks_per_group;
  s.rounds.assign(kIterations, 1);
  s.begin_seconds.assign(kIterations, 0.0);
  s.seconds.assign(kIterations, 0.04);
  s.longest_seconds = s.seconds;
  s.mpi_seconds.assign(kIterations, 0.02);
  s.io_seconds.assign(kIterations, 0.0);
  for (std::uint32_t group = 0; group < s.groups; ++group) {
    for (std::size_t i = 1; i <= kIterations; ++i) {
      s.own_seconds.push_back(own(group, i));
      s.group_bytes.push_back(bytes(group, i));
      s.group_io_seconds.push_back(io(group, i));
      s.group_calls.push_back(2);
    }
  }
  return a;
}
RankMoves moves_of(const Application& a) { return rank_moves(a.snapshots.series[0]); }
std::vector<std::string> words_of(const Application& a) {
  return moves_in_words(a, a.snapshots.series[0], moves_of(a));
}
std::vector<std::string> names_of(const RankMoves& moves) {
  std::vector<std::string> names;
  for (const auto& part : moves.parts) names.push_back(part.name);
  return names;
}
const Finding* drift_in(const std::vector<Finding>& all) {
  const auto found = std::find_if(all.begin(), all.end(), [](const Finding& f) { return f.id == "rank_drift"; });
  return found == all.end() ? nullptr : &*found;
}

// Rank 2 from 10.3 to 40 ms.
double drifts(std::uint32_t rank, std::size_t i) { return 0.01001 + (rank == 2 ? 0.0003 * static_cast<double>(i) : 0); }

TEST(RankMoves, ARankThatDriftsIsAClusterThatMoves) {
  const Application a = with_ranks(4, drifts);
  const RankMoves moves = moves_of(a);
  EXPECT_THAT(names_of(moves), ElementsAre("first", "sixth", "last"));
  EXPECT_EQ(moves.parts[0].cluster, (Clusters{0, 0, 0, 0}));
  EXPECT_EQ(moves.parts[1].cluster, (Clusters{0, 0, 1, 0}));
  EXPECT_EQ(moves.parts[2].cluster, (Clusters{0, 0, 1, 0}));
  EXPECT_EQ(moves.parts[2].begin, 90u);
  EXPECT_EQ(moves.parts[2].end, 100u);
  EXPECT_THAT(moves.paths, ElementsAre(Clusters{0, 1, 3}, Clusters{2}));
  EXPECT_NEAR(moves.centre(moves.points_of(2, 1), 0).x, 0.01166, 1e-9) << "where rank 2 was in the first tenth";
  EXPECT_NEAR(moves.centre(moves.points_of(2, 1), 2).x, 0.03866, 1e-9);
  EXPECT_EQ(moves.metric, MoveMetric::bytes);
  EXPECT_THAT(words_of(a),
              ElementsAre("Rank 2 (cluster A, then B) takes 3.3 times as long outside MPI and I/O in the last "
                          "tenth of the iterations as in the first (38.7 ms each instead of 11.7 ms), all "
                          "others 1.0 times."));
}

// Ranks 2 and 3 do less at first and as much as ranks 0 and 1 in the end.
TEST(RankMoves, RanksThatJoinAClusterAreNamedAlone) {
  const Application a = with_ranks(
      4, [](std::uint32_t rank, std::size_t i) { return rank < 2 ? 0.02 : 0.01001 + 0.0001 * static_cast<double>(i); });
  const RankMoves moves = moves_of(a);
  EXPECT_EQ(moves.parts[0].cluster, (Clusters{0, 0, 1, 1}));
  EXPECT_EQ(moves.parts.back().cluster, (Clusters{0, 0, 0, 0}));
  EXPECT_THAT(words_of(a), ElementsAre(HasSubstr("Ranks 2 and 3 (cluster B, then A) take 1.9 times as long outside "
                                                 "MPI and I/O in the last tenth of the iterations as in the first ("
                                                 "19.6 ms each instead of 10.6 ms), all others 1.0 times.")));
  EXPECT_EQ(drift_in(findings_of(a)), nullptr) << "they come nearer";
}

TEST(RankMoves, SingleSlowIterationsMoveNobody) {
  EXPECT_THAT(
      moves_of(with_ranks(4, [](std::uint32_t rank,
                                std::size_t i) { return rank == 1 && (i == 7 || i == 60 || i == 95) ? 3.0 : 0.01; }))
          .parts,
      IsEmpty());
}

TEST(RankMoves, ThereIsNothingToSeeOfEqualOrFewRanks) {
  const auto equal = [](std::uint32_t rank, std::size_t i) {
    return 0.01 + 0.0002 * static_cast<double>((rank + i) % 7);
  };
  EXPECT_THAT(moves_of(with_ranks(8, equal)).parts, IsEmpty());
  EXPECT_THAT(words_of(with_ranks(8, equal)), IsEmpty());
  EXPECT_THAT(moves_of(with_ranks(2, drifts)).parts, IsEmpty());
  Application few = with_ranks(4, drifts);
  // Rank 1 is not in step.
  for (std::size_t i = 0; i < kIterations; ++i) few.snapshots.series[0].own_seconds[kIterations + i] = 0;
  EXPECT_EQ(moves_of(few).groups, (Clusters{0, 2, 3}));
  // A profile from before these lists existed.
  for (auto* const list : {&few.snapshots.series[0].group_bytes, &few.snapshots.series[0].group_calls}) list->clear();
  EXPECT_THAT(moves_of(few).parts, IsEmpty());
  EXPECT_THAT(rank_moves(SnapshotSeries{}).parts, IsEmpty());
}

// Differences of some microseconds beside a round of 40 ms.
TEST(RankMoves, SmallPartsOfAnIterationAreNoDifference) {
  EXPECT_THAT(moves_of(with_ranks(8, [](std::uint32_t rank, std::size_t) { return 1e-6 * (1 + rank % 2 * 50); })).parts,
              IsEmpty());
}

TEST(RankMoves, TheSecondMetricIsTheFirstThatDiffers) {
  const auto own = [](std::uint32_t, std::size_t) { return 0.01; };
  const auto corner = [](std::uint32_t rank, std::size_t) { return rank == 0 || rank == 3 ? 0.01 : 0.002; };
  const auto halves = [](std::uint32_t rank, std::size_t) { return rank < 2 ? 1024.0 * 1024 : 3072.0 * 1024; };
  const Application by_bytes = with_ranks(4, own, halves, corner), by_io = with_ranks(4, own, kilobyte, corner);
  EXPECT_EQ(moves_of(by_bytes).metric, MoveMetric::bytes);
  EXPECT_THAT(words_of(by_bytes),
              ElementsAre("In each iteration of the last tenth, time outside MPI and I/O and bytes in MPI calls are "
                          "10.0 ms and 1.00 MiB for ranks 0 and 1 (cluster A), 10.0 ms and 3.00 MiB for ranks 2 and 3 "
                          "(cluster B).",
                          "The clusters do not move."));
  EXPECT_EQ(moves_of(by_io).metric, MoveMetric::io);
  EXPECT_THAT(words_of(by_io),
              Contains(HasSubstr(
                  "time in I/O are 10.0 ms and 10.0 ms for ranks 0 and 3 (cluster A), 10.0 ms and 2.00 ms for")));
  Application by_calls = with_ranks(4, own);
  for (std::size_t i = 0; i < kIterations; ++i) by_calls.snapshots.series[0].group_calls[i] = 6.5;
  EXPECT_EQ(moves_of(by_calls).metric, MoveMetric::calls);
  EXPECT_THAT(words_of(by_calls), Contains(HasSubstr("MPI calls are 10.0 ms and 6.5 calls for rank 0 (cluster A), ")));
}

// In iterations 71 to 90 rank 0 moves more; before and after it is as the others.
TEST(RankMoves, ThePartThatIsMostUnlikeIsShownToo) {
  const Application a = with_ranks(
      4, [](std::uint32_t, std::size_t) { return 0.01; },
      [](std::uint32_t rank, std::size_t i) { return rank == 0 && i > 70 && i <= 90 ? 4096.0 : 1024.0; });
  const RankMoves moves = moves_of(a);
  EXPECT_THAT(names_of(moves), ElementsAre("first", "sixth", "eighth", "last"));
  EXPECT_EQ(moves.parts[2].cluster, (Clusters{1, 0, 0, 0}));
  EXPECT_EQ(moves.parts[3].cluster, (Clusters{0, 0, 0, 0}));
  EXPECT_THAT(words_of(a),
              ElementsAre("Rank 0 (cluster A, then B) moves 4.00 KiB in MPI calls in each iteration of the eighth "
                          "tenth, 1.00 KiB in the first."));
}

TEST(RankMoves, GroupsOfRanksAreNamedByTheirRanksInTheWorld) {
  Application a = with_ranks(
      150, [](std::uint32_t group, std::size_t i) { return drifts(group == 49 ? 2 : 0, i); }, kilobyte, zero, 3);
  a.first_rank = 1000;
  a.world_ranks = 1150;
  EXPECT_THAT(words_of(a), ElementsAre(HasSubstr("Ranks 1147–1149 (cluster A, then B) take 3.3 times as long")));
}

TEST(RankMoves, TheMainLoopIsShownElseTheFirstMarks) {
  Application a = with_ranks(4, drifts);
  SnapshotSeries marks = a.snapshots.series[0];
  marks.trigger = "phase";
  a.snapshots.series.insert(a.snapshots.series.begin(), marks);
  EXPECT_EQ(main_series(a.snapshots), &a.snapshots.series[1]);
  a.snapshots.series.pop_back();
  EXPECT_EQ(main_series(a.snapshots), &a.snapshots.series[0]);
  a.snapshots.series[0].trigger = "timer";
  EXPECT_EQ(main_series(a.snapshots), nullptr);
}

TEST(RankMoves, ClustersHaveLetters) {
  EXPECT_EQ(letter_of(0), "A");
  EXPECT_EQ(letter_of(25), "Z");
  EXPECT_EQ(letter_of(26), "A1");
}

// One rank does more and more, another as much less: a round takes as long all the time.
double changes_hands(std::uint32_t rank, std::size_t i) {
  const double part = static_cast<double>(i) / kIterations;
  return 0.005 + (rank == 0 ? 0.03 * (1 - part) : rank == 3 ? 0.03 * part : 0);
}

TEST(RankDrift, IsFoundWhereARoundTakesAsLongAsBefore) {
  const Application a = with_ranks(4, changes_hands);
  const auto all = findings_of(a);
  const Finding* const drift = drift_in(all);
  ASSERT_NE(drift, nullptr);
  EXPECT_EQ(drift->severity, Severity::note);
  EXPECT_EQ(
      drift->text,
      "Rank 3 spends more and more time outside MPI and I/O: 33.6 ms in each iteration of the last tenth, 6.65 ms "
      "in the first, 5.1 times as long, ranks without drift 1.0 times.");
}

TEST(RankDrift, IsReportedOnceAndNotForStableRanks) {
  Application trend = with_ranks(4, drifts);
  SnapshotSeries& s = trend.snapshots.series[0];
  for (std::size_t i = 0; i < kIterations; ++i) s.seconds[i] = 0.02 + 0.0003 * static_cast<double>(i);
  const auto all = findings_of(trend);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const Finding& f) { return f.id == "iterations_trend"; }));
  EXPECT_EQ(drift_in(all), nullptr);
  const auto apart = [](std::uint32_t rank, std::size_t) { return rank == 1 ? 0.03 : 0.01; };
  EXPECT_EQ(drift_in(findings_of(with_ranks(4, apart))), nullptr);
  const auto all_grow = [](std::uint32_t, std::size_t i) { return 0.005 + 0.0003 * static_cast<double>(i); };
  EXPECT_EQ(drift_in(findings_of(with_ranks(4, all_grow))), nullptr);
}

TEST(RankMovesFigure, IsDrawnWhereThereIsSomethingToSee) {
  const auto equal = [](std::uint32_t, std::size_t) { return 0.01; };
  EXPECT_FALSE(static_cast<bool>(rank_moves_figure(with_ranks(4, equal), 0)));
  const Application a = with_ranks(4, drifts);
  const Figure figure = rank_moves_figure(a, 0);
  ASSERT_TRUE(static_cast<bool>(figure));
  EXPECT_THAT(figure.caption,
              AllOf(HasSubstr("a point is a rank, with the mean of an iteration"), Not(HasSubstr("most different"))));
  const std::filesystem::path path = ::testing::TempDir() + "ardoise_rank_moves";
  std::filesystem::create_directories(path);
  FigureFolder folder;
  folder.path = path;
  EXPECT_GT(std::filesystem::file_size(path / draw_pdf(figure, folder)), 1000u);
  EXPECT_EQ(folder.error, "");
  std::filesystem::remove_all(path);
}

TEST(RankMovesFigure, IsInTheSectionWithItsText) {
  const Application a = with_ranks(4, drifts);
  bool has_figure = false, has_text = false;
  for (const Block& block : profile_over_time(a).blocks) {
    if (const auto* const figures = std::get_if<Figures>(&block))
      has_figure = has_figure || (*figures)[0].id == "snapshots_0_ranks";
    if (const auto* const paragraph = std::get_if<Paragraph>(&block))
      has_text = has_text || plain(paragraph->text).starts_with("Rank 2 (cluster A, then B) takes 3.3 times as long");
  }
  EXPECT_TRUE(has_figure);
  EXPECT_TRUE(has_text);
}

}  // namespace
}  // namespace ardoise::reports

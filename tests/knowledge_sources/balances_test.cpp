// The reported load of ranks is their time outside MPI, and conditions over all ranks hold when they should.
#include "knowledge_sources/plugins/snapshots/balances.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "instrument/format/mark_name.hpp"
#include "knowledge_sources/plugins/snapshots/rank_series.hpp"

namespace ardoise::knowledge_sources {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;

class RankLoads : public ::testing::Test {
 protected:
  const std::uint32_t step_ = instrument::mark_name_id("step");
  const std::vector<std::uint32_t> names_{0, step_};
  std::vector<Load> told_;
  const LoadWatch watch_{names_, [this](const Load& load) { told_.push_back(load); }};

  [[nodiscard]] std::vector<std::int64_t> own_ms(std::uint32_t name) const {
    std::vector<std::int64_t> all;
    for (const Load& load : told_) {
      if (load.name == name) all.push_back(static_cast<std::int64_t>(load.own_ns) / kMs);
    }
    return all;
  }
};

TEST_F(RankLoads, ACallCountsInTheSecondsThatItLasts) {
  RankLoad rank(watch_, 3);
  rank.call(100 * kMs, 300 * kMs);
  rank.call(900 * kMs, 3200 * kMs);  // the last 100 ms of the first second, two whole ones, 200 ms
  EXPECT_THAT(own_ms(0), ElementsAre(700, 0, 0));
  rank.call(3500 * kMs, 3600 * kMs);
  rank.call(6000 * kMs, 6001 * kMs);  // since then nothing was called
  EXPECT_THAT(own_ms(0), ElementsAre(700, 0, 0, 700, 1000, 1000));
  EXPECT_EQ(told_[4].round, 4u);
  EXPECT_EQ(told_[4].rank, 3u);
  EXPECT_EQ(told_[4].end, 5000 * kMs);
  rank.call(std::int64_t{1} << 61, (std::int64_t{1} << 61) + 1);  // is no time
  EXPECT_EQ(told_.size(), 6u);
}

TEST_F(RankLoads, SnapshotsAndPhasesOfTheNameAreRounds) {
  RankSeries rank(1000, {}, {nullptr, 0, 1}, 0, {.load = &watch_});
  const std::uint64_t send = key_of_call(false, 3, 7);
  std::vector<Moment> moments;
  for (std::int64_t step = 0; step < 4; ++step) {
    const std::int64_t begin = step * 100 * kMs;
    moments.push_back({.kind = Moment::Kind::kVisit,
                       .begin = begin + 10 * kMs,
                       .key = send,
                       .sums = {1, static_cast<std::uint64_t>((step + 1) * 10 * kMs), 8}});
    for (const char* const name : {"step", "other"})
      moments.push_back({.kind = Moment::Kind::kMark,
                         .mark = instrument::MarkKind::kSnapshot,
                         .begin = begin + 100 * kMs,
                         .key = instrument::mark_name_id(name),
                         .sums = {0, static_cast<std::uint64_t>(step), 0}});
  }
  rank.add_first_thread(0, moments);
  EXPECT_THAT(own_ms(step_), ElementsAre(90, 80, 70, 60));
  EXPECT_EQ(told_[2].round, 2u);
  EXPECT_EQ(told_[2].end, 300 * kMs);
  EXPECT_THAT(own_ms(instrument::mark_name_id("other")), IsEmpty());
}

class BalancesOf : public ::testing::Test {
 protected:
  struct Held {
    std::size_t condition;
    std::vector<std::uint32_t> differing;
  };
  std::vector<Held> held_;
  [[nodiscard]] Balances of(std::uint32_t ranks, const std::vector<std::string>& texts) {
    std::vector<Condition> conditions(texts.begin(), texts.end());
    return {ranks, conditions, [this](std::size_t condition, auto ranks_of) {
              held_.push_back({condition, {ranks_of.begin(), ranks_of.end()}});
            }};
  }
  static void round(Balances& balances, std::uint64_t number, const std::vector<std::uint64_t>& own_ms,
                    std::uint32_t name = 0) {
    for (std::uint32_t rank = 0; rank < own_ms.size(); ++rank)
      balances.add({name, rank, number, static_cast<std::int64_t>(number + 1) * 1000 * kMs,
                    own_ms[rank] * static_cast<std::uint64_t>(kMs)});
  }
};

TEST_F(BalancesOf, TheMeanOverTheLongest) {
  Balances balances = of(4, {"balance() < 0.8", "balance() < 0.5 and time() > 3 s"});
  EXPECT_THAT(balances.names(), ElementsAre(0u));
  round(balances, 0, {500, 500, 500, 600});  // 0.875
  EXPECT_THAT(held_, IsEmpty());
  round(balances, 1, {250, 250, 250, 1000});  // 0.44
  ASSERT_EQ(held_.size(), 1u);
  EXPECT_EQ(held_[0].condition, 0u);
  EXPECT_THAT(held_[0].differing, ElementsAre(0, 1, 2, 3)) << "the mean is 437 ms";
  round(balances, 2, {250, 250, 250, 1000});
  EXPECT_EQ(held_.size(), 1u) << "it has not become true, it was";
  round(balances, 3, {250, 250, 250, 1000});
  ASSERT_EQ(held_.size(), 2u);
  EXPECT_EQ(held_[1].condition, 1u) << "4 s";
  round(balances, 4, {0, 0, 0, 0});  // no rank waits: 1
  round(balances, 5, {500, 500, 500, 800});
  ASSERT_EQ(held_.size(), 3u);
  EXPECT_THAT(held_[2].differing, ElementsAre(0, 1, 2, 3));
}

TEST_F(BalancesOf, RanksCloseToTheMeanDoNotDiffer) {
  Balances balances = of(10, {"balance() < 0.8"});
  round(balances, 0, {500, 500, 500, 500, 500, 500, 500, 500, 520, 900});
  ASSERT_EQ(held_.size(), 1u);
  EXPECT_THAT(held_[0].differing, ElementsAre(9));
}

TEST_F(BalancesOf, ARoundIsEvaluatedWhenAllHaveReported) {
  const std::uint32_t step = instrument::mark_name_id("step");
  Balances balances = of(2, {"balance(step) < 0.8"});
  EXPECT_THAT(balances.names(), ElementsAre(step));
  for (std::uint64_t number = 0; number < 5; ++number) balances.add({step, 0, number, 0, 100});
  for (std::uint64_t number = 0; number < 4; ++number) balances.add({step, 1, number, 0, number < 3 ? 100u : 10u});
  balances.add({step, 1, 3, 0, 10});  // twice
  balances.add({step, 7, 4, 0, 10});  // no such rank
  ASSERT_EQ(held_.size(), 1u);
  EXPECT_THAT(held_[0].differing, ElementsAre(0, 1));
}

// A rank that reports no load must not fill the memory.
TEST_F(BalancesOf, RoundsThatStayOpenAreDropped) {
  constexpr std::uint32_t kRanks = 1 << 19;
  Balances balances = of(kRanks, {"balance() < 0.8"});
  for (std::uint64_t number = 0; number < 20; ++number) balances.add({0, 0, number, 0, 100});
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) {
    balances.add({0, rank, 19, 0, 1});
    balances.add({0, rank, 18, 0, 1});
  }
  EXPECT_EQ(held_.size(), 1u) << "twice true, and the second time it was";
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Iterations that belong to one time step are distinguished from iterations that differ.
#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ardoise::knowledge_sources {
namespace {

// One long round in `visits`, the first at `offset`; each `output`-th long one takes six times as long.
std::vector<RoundSums> step_durations(std::size_t count, std::size_t visits, std::size_t offset, double ratio,
                                      std::size_t output = SIZE_MAX) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.7, 1.4);
  std::vector<RoundSums> rounds;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_long = i % visits == offset;
    const double seconds = noise(random) * (is_long ? ratio * ((i / visits + 1) % output == 0 ? 6 : 1) : 1);
    rounds.push_back({seconds, seconds, 2});
  }
  return rounds;
}

// Every so-many-th round, from `offset` on.
std::vector<std::size_t> every(std::size_t visits, std::size_t count, std::size_t offset) {
  std::vector<std::size_t> steps;
  for (std::size_t at = offset; at < count; at += visits) steps.push_back(at);
  return steps;
}

TEST(VisitsInAStep, AreFoundByTheirPattern) {
  for (const std::size_t visits : {2u, 3u, 4u, 6u}) {
    for (const std::size_t offset : {std::size_t{0}, visits - 1}) {
      auto expected = every(visits, 601, offset);
      if (offset != 0) expected.insert(expected.begin(), 0);
      EXPECT_EQ(steps_of(step_durations(601, visits, offset, 20)), expected);
      EXPECT_EQ(steps_of(step_durations(601, visits, offset, 20, 10)), expected) << "what is done now and then";
    }
  }
}

TEST(VisitsInAStep, TheFirstStepMayHaveNoWorkInTheLoop) {
  auto rounds = step_durations(123, 3, 0, 20);
  rounds[0] = {1, 1, 2};
  EXPECT_EQ(steps_of(rounds), every(3, 123, 0));
}

TEST(VisitsInAStep, AnInnerLoopIsJoinedToTheStepsThatHoldTheTime) {
  EXPECT_EQ(steps_of(step_durations(3000, 100, 0, 2000)), every(100, 3000, 0));
  std::mt19937 random(4);
  std::vector<RoundSums> rounds;
  std::vector<std::size_t> expected;
  for (int step = 0; step < 20; ++step) {
    expected.push_back(rounds.size());
    rounds.push_back({5000, 5000, 2});
    for (auto inner = 20 + random() % 100; inner != 0; --inner) rounds.push_back({1.0, 1.0, 2});
  }
  EXPECT_EQ(steps_of(rounds), expected) << "as many rounds as it needs";
}

TEST(VisitsInAStep, AnotherPhaseIsPartOfTheStep) {
  auto rounds = step_durations(400, 20, 0, 20);
  EXPECT_TRUE(steps_of(rounds).empty());
  for (std::size_t at = 0; at < rounds.size(); at += 20) rounds[at].calls = 60;
  EXPECT_EQ(steps_of(rounds), every(20, 400, 0));
  for (RoundSums& each : rounds) each.before = 0;
  auto expected = every(20, 400, 1);
  expected.insert(expected.begin(), 0);
  EXPECT_EQ(steps_of(rounds), expected) << "it follows the first call of its round";
}

TEST(VisitsInAStep, BytesThatRecurAreAStep) {
  std::vector<RoundSums> rounds;
  for (int step = 0; step < 4; ++step) {
    for (int level = 0; level < 8; ++level) {
      const double seconds = level == 2 ? 3 : 1;
      rounds.push_back({seconds, seconds, 2, 1024.0 * (1 << level)});
    }
  }
  EXPECT_EQ(steps_of(rounds), every(8, 32, 2));
  for (std::size_t at = 0; at < rounds.size(); ++at) rounds[at].bytes = at % 8 == 0 ? 2048 : 1024;
  EXPECT_TRUE(steps_of(rounds).empty()) << "every eighth round sends more";
}

TEST(VisitsInAStep, BytesThatRecurSoonerAreNoLongerStep) {
  auto rounds = step_durations(600, 2, 0, 20);
  for (std::size_t at = 0; at < rounds.size(); ++at) rounds[at].bytes = at % 2 == 0 ? 2048 : 1024;
  EXPECT_EQ(steps_of(rounds), every(2, 600, 0));
}

TEST(VisitsInAStep, IterationsThatDifferStayApart) {
  const auto is_apart = [](const std::vector<RoundSums>& rounds) { return steps_of(rounds).empty(); };
  EXPECT_TRUE(is_apart(step_durations(600, 1, 0, 1)));
  EXPECT_TRUE(is_apart(step_durations(600, 2, 0, 2)));    // two kinds of step
  EXPECT_TRUE(is_apart(step_durations(600, 10, 9, 20)));  // every tenth writes
  EXPECT_TRUE(is_apart(step_durations(15, 2, 0, 20)));    // too few to say
  EXPECT_TRUE(is_apart({}));
}

TEST(VisitsInAStep, JoinedRoundsKeepTheirSums) {
  std::vector<Snapshot> all;
  for (std::int64_t i = 0; i < 7; ++i) {
    Snapshot& round = all.emplace_back();
    round.begin = 10 * i;
    round.end = 10 * i + 10;
    round.ns = 10;
    round.calls = {{static_cast<std::uint32_t>(i % 2), 0, {1, 5, 8}}};
  }
  const auto steps = joined_by(std::vector<std::size_t>{0, 2, 4}, all);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].ns, 20u);
  EXPECT_EQ(steps[2].ns, 30u) << "with what is left";
  EXPECT_EQ(steps[2].end, 70);
  EXPECT_EQ(steps[2].calls.size(), 3u);
  EXPECT_EQ(steps[1].rounds, 1u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

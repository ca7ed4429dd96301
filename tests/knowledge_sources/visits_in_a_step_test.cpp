// Iterations that belong to one time step are distinguished from iterations that differ.
#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

#include <gtest/gtest.h>

#include <random>

namespace ardoise::knowledge_sources {
namespace {

// One long round in `visits`, the first at `offset`; each `output`-th long one takes six times as long.
std::vector<double> step_durations(std::size_t count, std::size_t visits, std::size_t offset, double ratio,
                                   std::size_t output = SIZE_MAX) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.7, 1.4);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_long = i % visits == offset;
    seconds.push_back(noise(random) * (is_long ? ratio * ((i / visits + 1) % output == 0 ? 6 : 1) : 1));
  }
  return seconds;
}

TEST(VisitsInAStep, AreFoundByTheirPattern) {
  for (const std::size_t visits : {2u, 3u, 4u, 6u}) {
    for (const std::size_t offset : {std::size_t{0}, visits - 1}) {
      EXPECT_EQ(visits_in_a_step(step_durations(601, visits, offset, 20)), visits);
      EXPECT_EQ(visits_in_a_step(step_durations(601, visits, offset, 20, 10)), visits) << "what is done now and then";
    }
  }
}

TEST(VisitsInAStep, IterationsThatDifferStayApart) {
  EXPECT_EQ(visits_in_a_step(step_durations(600, 1, 0, 1)), 1u);
  EXPECT_EQ(visits_in_a_step(step_durations(600, 2, 0, 2)), 1u);    // two kinds of step
  EXPECT_EQ(visits_in_a_step(step_durations(600, 10, 9, 20)), 1u);  // every tenth writes
  EXPECT_EQ(visits_in_a_step(step_durations(15, 2, 0, 20)), 1u);    // too few to say
  EXPECT_EQ(visits_in_a_step({}), 1u);
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
  const auto steps = joined_by(2, all);
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].ns, 20u);
  EXPECT_EQ(steps[2].ns, 30u) << "with what is left";
  EXPECT_EQ(steps[2].end, 70);
  EXPECT_EQ(steps[2].calls.size(), 3u);
  EXPECT_EQ(steps[1].rounds, 1u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

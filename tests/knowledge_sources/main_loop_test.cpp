// Loops of call sites are found, and divided into their iterations, in very little memory.
#include "knowledge_sources/plugins/snapshots/main_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>
#include <random>

namespace ardoise::knowledge_sources {
namespace {

// Calls of 1 ns each, one every 10 ns, at sites that are named by their keys.
class LoopProgram {
 public:
  explicit LoopProgram(std::size_t room) : series(room) {}
  void call(std::uint64_t key) {
    series.visit(key, time, {1, 1, 8});
    time += 10;
    ++calls;
  }
  void calls_of(std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) call(key);
  }
  void pass(std::int64_t ns) { time += ns; }

  CallSeries series;
  std::int64_t time = 0;
  std::uint64_t calls = 0;
};

std::optional<Loop> find_loop(const CallSeries& series) {
  const auto loops = loops_of(series);
  const Loop* const found = main_loop(loops);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::uint64_t calls_in(const CallSeries& series) {
  std::uint64_t calls = 0;
  for (const auto& piece : series.pieces())
    series.for_each_call(piece, [&](std::uint32_t, const CallSums& sums) { calls += sums.calls; });
  return calls;
}

class MainLoop : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Room, MainLoop, testing::Values(100'000, 2'000, 500));

TEST_P(MainLoop, HasASolverAsItsInnerLoop) {
  LoopProgram program(GetParam());
  for (int step = 0; step < 100; ++step) {
    program.calls_of({10, 11, 12, 13, 14});
    for (int i = 0; i < 20; ++i) program.calls_of({20, 21});
  }
  const auto loops = loops_of(program.series);
  const Loop* const main = main_loop(loops);
  ASSERT_NE(main, nullptr);
  EXPECT_EQ(main->iterations, 100u);
  const Loop* const inner = inner_loop(loops, *main);
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->iterations, 2000u);
  EXPECT_EQ(inner_loop(loops, *inner), nullptr);
}

TEST_P(MainLoop, IsCutIntoItsIterations) {
  LoopProgram program(GetParam());
  program.calls_of({1, 2});
  program.pass(1000);
  for (int i = 0; i < 300; ++i) {
    program.calls_of({10, 11, 12, 11});
    if (i == 40) program.pass(7777);
  }
  program.calls_of({3, 4});
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->iterations, 300u);
  EXPECT_EQ(program.series.sites()[loop->head].key, 10u);
  EXPECT_EQ(loop->sites, 2u);  // 11 comes twice
  const auto rounds = rounds_of(program.series, *loop);
  EXPECT_EQ(rounds.size(), ((300 - 1) >> loop->shift) + 1u);
  EXPECT_EQ(rounds.front().begin, 1020);
  EXPECT_EQ(rounds.back().end, program.time - 20 - 9);
  const auto& slow = rounds[40 >> loop->shift];
  EXPECT_EQ(slow.end - slow.begin, (40 << loop->shift) + 7777);
  EXPECT_EQ(calls_in(program.series), program.calls);
}

// Two nested loops: iterations of the inner one, as it has as many call sites.
TEST_P(MainLoop, AnInnerLoopIsTheMainOneWhereItHasMostSites) {
  LoopProgram program(GetParam());
  for (int outer = 0; outer < 16; ++outer) {
    program.call(1);
    for (int inner = 0; inner < 25; ++inner) program.calls_of({10, 11, 12});
  }
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->iterations, 16u * 25u);
}

// Like the two sweeps of a solver: 10 and 11 occur 20 times each, one after the other.
TEST_P(MainLoop, SweepsOfAnIterationAreNoLoop) {
  LoopProgram program(GetParam());
  for (int step = 0; step < 50; ++step) {
    program.calls_of({1, 2});
    for (int i = 0; i < 20; ++i) program.call(10);
    for (int i = 0; i < 20; ++i) program.call(11);
    program.call(3);
  }
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->iterations, 50u);
}

TEST_P(MainLoop, CallsOfEveryTwentiethIterationAreNoLoop) {
  LoopProgram program(GetParam());
  for (int step = 0; step < 400; ++step) {
    program.calls_of({1, 2, 3, 4});
    if (step % 20 == 0) program.calls_of({7, 8});
  }
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->iterations, 400u);
}

TEST_P(MainLoop, AProgramWithoutALoopHasNone) {
  LoopProgram program(GetParam());
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) program.call(random() % 5000);
  EXPECT_FALSE(find_loop(program.series));
  for (std::uint64_t i = 0; i < 3; ++i) program.call(1);
  EXPECT_EQ(calls_in(program.series), program.calls);
}

TEST_P(MainLoop, AShortLoopInALongRunIsNotTheMainOne) {
  LoopProgram program(GetParam());
  for (int i = 0; i < 50; ++i) program.calls_of({1, 2});
  program.pass(1'000'000);
  program.call(3);
  EXPECT_FALSE(find_loop(program.series));
}

TEST_P(MainLoop, OtherCallsGoToTheIterationOfTheirTime) {
  LoopProgram program(GetParam());
  for (int i = 0; i < 100; ++i) program.calls_of({1, 2});
  for (int i = 0; i < 100; i += 10) program.series.add(9, 20 * i + 5, {1, 100, 4096});
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  const auto rounds = rounds_of(program.series, *loop);
  std::vector<std::uint64_t> found(100);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    for (std::uint32_t piece = rounds[i].first_piece; piece < rounds[i].end_piece; ++piece) {
      program.series.for_each_call(program.series.pieces()[piece], [&](std::uint32_t site, const CallSums& sums) {
        if (program.series.sites()[site].key == 9) found[i << loop->shift] += sums.calls;
      });
    }
  }
  for (std::size_t i = 0; i < 100; i += 10) EXPECT_EQ(found[i >> loop->shift << loop->shift] > 0, true) << i;
  EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::uint64_t{0}), 10u);
}

// Random programs: no call is lost, and writing and reading keeps the series.
TEST(CallSeries, HasAllCallsInAnyMemory) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const std::size_t room = 100 + random() % 400;
    LoopProgram program(room);
    const auto sites = 1 + random() % 50;
    const auto length = static_cast<int>(random() % 5000);
    for (int i = 0; i < length; ++i) {
      if (random() % 10 == 0) {
        const auto back = static_cast<std::int64_t>(random() % 2000);
        program.series.add(1000 + random() % 3, std::max<std::int64_t>(0, program.time - back), {1, 1, 8});
        ++program.calls;
      } else {
        program.call(random() % sites);
      }
    }
    ASSERT_EQ(calls_in(program.series), program.calls) << "seed " << seed;
    ByteWriter out;
    program.series.write(out);
    const auto bytes = out.take();
    ByteReader in(bytes, "test");
    CallSeries read(room);
    read.read(in);
    ASSERT_EQ(calls_in(read), program.calls);
    ASSERT_EQ(find_loop(read).has_value(), find_loop(program.series).has_value());
    // It continues like the other one.
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t key = random() % (2 * sites);
      read.visit(key, program.time, {1, 1, 8});
      program.call(key);
    }
    ASSERT_EQ(calls_in(read), program.calls);
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

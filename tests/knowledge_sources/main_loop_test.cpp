// Loops of call sites are found, and divided into their iterations, in very little memory.
#include "knowledge_sources/plugins/snapshots/main_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <optional>
#include <random>

#include "fixture.hpp"
#include "knowledge_sources/plugins/snapshots/visits_in_a_step.hpp"

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
  const Loop* const found = main_loop(series, loops);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::uint64_t calls_in(const CallSeries& series) {
  std::uint64_t calls = 0;
  series.for_each_sum([&](std::uint64_t, const CallSums& sums) { calls += sums.calls; });
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
  const Loop* const main = main_loop(program.series, loops);
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
  EXPECT_EQ(rounds.front().begin, 1011) << "with the work before the first call, as long as usual";
  EXPECT_EQ(rounds.back().end, program.time - 20 - 9);
  const auto& slow = rounds[41 >> loop->shift];
  EXPECT_EQ(slow.end - slow.begin, (40 << loop->shift) + 7777) << "work comes before the calls of its iteration";
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

TEST_P(MainLoop, VisitsBeforeAndAfterTheRunAreNoLoop) {
  LoopProgram program(GetParam());
  for (int i = 0; i < 5; ++i) program.calls_of({1, 2, 3});
  for (int step = 0; step < 40; ++step) {
    program.calls_of({10, 11});
    program.pass(1000);
  }
  for (int i = 0; i < 5; ++i) program.calls_of({1, 2, 3});
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->iterations, 40u);
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

// Programs with known nested loops. The work of a call comes before it.
class KnownLoops : public MainLoop {
 protected:
  KnownLoops() : program(GetParam()) {}
  void work_and_call(std::int64_t ns, std::initializer_list<std::uint64_t> keys) {
    for (const std::uint64_t key : keys) {
      program.pass(ns);
      program.call(key);
    }
  }
  // Iterations after rounds of one step are joined, as for a program of one rank; 0: no loop.
  [[nodiscard]] std::size_t steps() const {
    const auto loop = find_loop(program.series);
    if (!loop) return 0;
    if (loop->shift != 0) return loop->iterations;
    std::vector<RoundSums> sums;
    for (const Round& round : rounds_of(program.series, *loop)) {
      RoundSums& sum = sums.emplace_back();
      sum.seconds = static_cast<double>(round.end - round.begin);
      sum.before = static_cast<double>(program.series.pieces()[round.first_piece].call - round.begin);
      for (std::uint32_t piece = round.first_piece; piece < round.end_piece; ++piece) {
        program.series.for_each_call(program.series.pieces()[piece], [&](std::uint32_t, const CallSums& calls) {
          sum.seconds -= static_cast<double>(calls.ns);
          sum.calls += static_cast<double>(calls.calls);
          sum.bytes += static_cast<double>(calls.bytes);
        });
      }
    }
    const auto joined = steps_of(sums);
    return joined.empty() ? loop->iterations : joined.size();
  }
  [[nodiscard]] std::uint64_t inner() const {
    const auto loops = loops_of(program.series);
    const Loop* const main = main_loop(program.series, loops);
    const Loop* const found = main == nullptr ? nullptr : inner_loop(loops, *main);
    return found == nullptr ? 0 : found->iterations;
  }
  LoopProgram program;
};
INSTANTIATE_TEST_SUITE_P(Room, KnownLoops, testing::Values(100'000, 2'000, 500));

// Steps of exchanges and two sweeps over 31 planes each.
TEST_P(KnownLoops, PlanesOfAStep) {
  work_and_call(10, {1, 2, 3});
  for (int step = 0; step < 300; ++step) {
    work_and_call(900, {4, 5, 6, 7, 8, 9});
    for (int plane = 0; plane < 31; ++plane) work_and_call(30, {20, 21});
    for (int plane = 0; plane < 31; ++plane) work_and_call(30, {22, 23});
  }
  EXPECT_EQ(steps(), 300u);
}

// 15 outer iterations, and one before, of 25 inner ones. Both have as many sites, and hardly different work.
TEST_P(KnownLoops, ASolverThatIsCalledInEachIteration) {
  for (int outer = 0; outer < 16; ++outer) {
    work_and_call(10, {1, 2, 3});
    for (int i = 0; i < 25; ++i) {
      program.pass(400);
      work_and_call(10, {10, 11, 12, 13, 14, 15});
    }
    program.pass(400);
    work_and_call(10, {4, 5, 6});
  }
  EXPECT_EQ(steps(), 16u);
  EXPECT_EQ(inner(), 400u);
}

TEST_P(KnownLoops, AStepWithItsOwnWorkAndOneCall) {
  std::mt19937 random(5);
  for (int step = 0; step < 40; ++step) {
    work_and_call(5000, {1});
    for (auto inner = 20 + random() % 20; inner != 0; --inner) work_and_call(50, {10, 11, 12});
  }
  EXPECT_EQ(steps(), 40u);
}

TEST_P(KnownLoops, FineInnerCallsOfOneSite) {
  for (int step = 0; step < 30; ++step) {
    work_and_call(9000, {1, 2});
    for (int i = 0; i < 1000; ++i) work_and_call(1, {5});
  }
  EXPECT_EQ(steps(), 30u);
}

TEST_P(KnownLoops, AStepWithoutACallOfItsOwn) {
  if (GetParam() < 100'000) return;  // rounds are thinned out
  for (int step = 0; step < 30; ++step) {
    program.pass(90'000);
    for (int i = 0; i < 500; ++i) work_and_call(1, {5});
  }
  EXPECT_EQ(steps(), 30u);
}

// One exchange site for all three axes. The first exchange may be a setup: it looks the same.
TEST_P(KnownLoops, AxesOfAStep) {
  for (int step = 0; step < 41; ++step) {
    program.pass(step == 0 ? 10 : 4000);
    for (int axis = 0; axis < 3; ++axis) work_and_call(20, {10, 11});
  }
  EXPECT_EQ(steps(), 41u);
}

TEST_P(KnownLoops, PhasesThatAlternate) {
  if (GetParam() < 100'000) return;
  for (int step = 0; step < 12; ++step) {
    for (int i = 0; i < 20; ++i) work_and_call(50, {1, 2});
    for (int i = 0; i < 30; ++i) work_and_call(50, {3, 4});
  }
  EXPECT_EQ(steps(), 12u);
}

// Levels of a multigrid solver share their sites. The 20 rounds of the setup are not the loop.
TEST_P(KnownLoops, LevelsOfAStep) {
  for (int i = 0; i < 20; ++i) work_and_call(700, {1, 2});
  for (int step = 0; step < 4; ++step) {
    for (int level = 0; level < 8; ++level) {
      program.pass(100 << (2 * std::abs(level - 4)));
      for (int axis = 0; axis < 3; ++axis) {
        program.series.visit(10, program.time, {1, 1, std::uint64_t{64} << level});
        program.pass(10);
      }
    }
  }
  EXPECT_NE(steps(), 20u);
  if (GetParam() == 100'000) {
    EXPECT_EQ(steps(), 4u);
  }
}

TEST_P(KnownLoops, ACheckpointIsNoLoop) {
  for (int step = 0; step < 500; ++step) {
    work_and_call(100, {1, 2, 3});
    if (step % 25 == 0) work_and_call(600, {7});
  }
  EXPECT_EQ(steps(), 500u);
}

// Two exchanges a step at the same sites, of which every tenth step sends others, and an output with more sites.
TEST_P(KnownLoops, AnOutputWithMoreSitesThanAStepIsNoLoop) {
  for (int step = 0; step < 400; ++step) {
    if (step % 10 == 9) work_and_call(200, {6, 7, 8, 9});
    program.pass(4000);
    work_and_call(20, {1, 2, 3});
    program.pass(300);
    work_and_call(20, {1, 2, 3});
    if (step % 40 == 0) work_and_call(5, {10, 11, 12, 13, 14});
  }
  const auto loop = find_loop(program.series);
  ASSERT_TRUE(loop);
  if (GetParam() == 100'000) {
    EXPECT_EQ(steps(), 400u);
  }
}

// Rounds of a program that tests for its messages as often as chance wills.
TEST(Polling, IsNoLoop) {
  constexpr std::uint32_t kRanks = 2;
  constexpr int kSteps = 30;
  std::vector<replay::Pack> packs;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    PackMaker maker({.rank = rank}, 100);
    maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 0, 0, 0}, "tsc", "boot");
    const auto peer = static_cast<std::int32_t>(1 - rank);
    std::mt19937 random(rank);
    for (std::uint64_t step = 1; step <= kSteps; ++step) {
      std::uint64_t now = 1'000'000 * step;
      maker.call(FunctionId::kIrecv, Shape::kPostReceive, now, 100, peer, 1, 8, 1);
      maker.call(FunctionId::kSend, Shape::kSend, now += 1000, 100, peer, 1, 8, 2);
      for (auto tests = random() % 300; tests != 0; --tests)
        maker.call(FunctionId::kTest, Shape::kCompletes, now += 1000, 100, instrument::kNoPeer, 0, 0, 3);
      maker.call(FunctionId::kTest, Shape::kCompletes, now += 1000, 100, instrument::kNoPeer, 1, 0, 3);
    }
    maker.finish();
    for (auto& pack : maker.take()) packs.push_back(std::move(pack));
  }
  Session session({{0, "program", kRanks}}, 1, 1, replay::load_plugins(replay::kAllPlugins));
  for (auto& pack : packs) session.submit(pack);
  const auto run = session.finish();
  std::vector<std::uint64_t> iterations;
  for (const auto& series : run.applications.at(0).snapshots.series) {
    if (series.trigger == "iteration")
      iterations.push_back(std::accumulate(series.rounds.begin(), series.rounds.end(), std::uint64_t{0}));
  }
  EXPECT_THAT(iterations, testing::ElementsAre(kSteps));
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
    program.series.finish();
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

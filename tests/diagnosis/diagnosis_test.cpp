// The simulated machine keeps its times, its packs hold what happened, and losses that the findings name stay named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/diagnosis/kinds.hpp"
#include "tests/reports/contradictions.hpp"
#include "tests/rounds.hpp"

namespace ardoise::diagnosis {
namespace {

using ::testing::DoubleNear;

constexpr double kNs = 1e-9;

Machine quiet(std::uint32_t ranks) {
  Machine machine;
  machine.ranks = ranks;
  machine.noise = 0;
  return machine;
}

TEST(Simulation, AnEagerMessageArrivesWithoutItsReceiver) {
  Simulation simulation(quiet(2));
  const Machine& m = simulation.machine();
  double sent = 0, received = 0;
  simulation.run([&](Rank& me) -> Task {
    if (me.rank() == 0) {
      co_await me.send({"f", 1}, 1, 4000);
      sent = me.now();
    } else {
      co_await me.compute({"g", 2}, 1e-3);
      co_await me.recv({"g", 3}, 0);
      received = me.now();
    }
  });
  EXPECT_DOUBLE_EQ(sent, m.call + 4000 / m.copying);
  EXPECT_DOUBLE_EQ(received, 1e-3 + m.call);
}

TEST(Simulation, ALargeMessageWaitsForItsReceive) {
  Simulation simulation(quiet(2));
  const Machine& m = simulation.machine();
  double sent = 0;
  simulation.run([&](Rank& me) -> Task {
    if (me.rank() == 0) {
      co_await me.send({"f", 1}, 1, 400'000);
      sent = me.now();
    } else {
      co_await me.compute({"g", 2}, 1e-3);
      co_await me.recv({"g", 3}, 0);
    }
  });
  EXPECT_DOUBLE_EQ(sent, 1e-3 + m.latency + 400'000 / m.bandwidth);
}

TEST(Simulation, WithoutProgressALargeMessageWaitsForItsSender) {
  for (const bool progress : {true, false}) {
    Machine machine = quiet(2);
    machine.progress = progress;
    Simulation simulation(machine);
    double received = 0;
    simulation.run([&](Rank& me) -> Task {
      if (me.rank() == 0) {
        const RequestPointer request = co_await me.isend({"f", 1}, 1, 400'000);
        co_await me.compute({"f", 2}, 5e-3);
        co_await me.wait({"f", 3}, request);
      } else {
        co_await me.recv({"g", 3}, 0);
        received = me.now();
      }
    });
    EXPECT_THAT(received, DoubleNear(progress ? 100e-6 : 5.1e-3, 10e-6));
  }
}

TEST(Simulation, MessagesOfOnePairStayInOrderAndAnySourceTakesTheFirst) {
  Simulation simulation(quiet(3));
  std::vector<int> order;
  simulation.run([&](Rank& me) -> Task {
    if (me.rank() != 0) {
      co_await me.compute({"f", 1}, me.rank() == 1 ? 2e-3 : 1e-3);
      for (int tag = 0; tag < 2; ++tag) co_await me.send({"f", 2}, 0, 8, tag);
      co_return;
    }
    for (int i = 0; i < 4; ++i) {
      const int tag = co_await me.recv_tag({"g", 3}, instrument::kAnySource);
      order.push_back(10 * me.last_source() + tag);
    }
  });
  EXPECT_THAT(order, ::testing::ElementsAre(20, 21, 10, 11));
}

TEST(Simulation, AProgramThatHangsIsAnError) {
  Simulation simulation(quiet(2));
  EXPECT_THROW(simulation.run([](Rank& me) -> Task {
    co_await me.recv({"f", 1}, 1 - static_cast<int>(me.rank()));
  }),
               std::runtime_error);
}

TEST(Simulation, ThePacksHoldWhatHappened) {
  Simulation simulation(quiet(4));
  const double seconds = simulation.run([](Rank& me) -> Task {
    for (int step = 0; step < 10; ++step) {
      co_await me.compute({me.rank() == 2 ? "more" : "work", 5}, me.rank() == 2 ? 30e-3 : 10e-3);
      co_await me.allreduce({"sum_up", 7}, 8);
      co_await me.write({"store", 9}, "out", 1000);
    }
  });
  const reports::Run run = simulation.analyze();
  const reports::Application& a = run.applications.at(0);
  EXPECT_EQ(a.ranks, 4u);
  EXPECT_THAT(a.wall_seconds, DoubleNear(seconds, 2 * kNs));
  ASSERT_EQ(a.mpi.size(), 1u);
  EXPECT_EQ(a.mpi[0].function, "MPI_Allreduce");
  EXPECT_EQ(a.mpi[0].calls, 40u);
  ASSERT_EQ(a.posix.size(), 1u);
  EXPECT_EQ(a.posix[0].bytes, 40'000u);
  ASSERT_EQ(a.call_sites.size(), 2u);
  EXPECT_EQ(a.call_sites[0].symbol, "sum_up");
  EXPECT_EQ(a.call_sites[0].line, 7u);
  // Three ranks wait 20 ms in each of ten steps.
  ASSERT_FALSE(a.waiting.call_sites.empty());
  EXPECT_THAT(a.waiting.call_sites[0].waiting_seconds, DoubleNear(0.6, 1e-4));
  EXPECT_THAT(a.samples.functions, ::testing::Contains(::testing::Field(&reports::SampledFunction::symbol, "more")));
}

// Ranks lose their processor for longer than they work, and CPU time tells how long they work in each round.
TEST(Simulation, RoundsHaveTheCpuTimeOfEachRank) {
  Machine machine = quiet(4);
  machine.crowding = 1.5;
  Simulation simulation(machine);
  constexpr std::size_t kSteps = 20;
  simulation.run([](Rank& me) -> Task {
    for (std::size_t step = 0; step < kSteps; ++step) {
      co_await me.compute({"work", 5}, me.rank() == 2 ? 60e-3 : 20e-3);
      co_await me.allreduce({"sum_up", 7}, 8);
    }
  });
  const reports::Run run = simulation.analyze();
  const reports::SnapshotSeries* const series = reports::find_series(run.applications.at(0).snapshots, "iteration");
  ASSERT_NE(series, nullptr);
  const std::size_t rounds = series->seconds.size();
  ASSERT_GE(rounds, kSteps - 1);
  ASSERT_EQ(series->group_cpu_seconds.size(), 4 * rounds);
  const double sample = machine.sampling;
  for (std::size_t rank = 0; rank < 4; ++rank) {
    for (std::size_t i = 1; i + 1 < rounds; ++i)
      EXPECT_THAT(series->group_cpu_seconds[rank * rounds + i], DoubleNear(rank == 2 ? 60e-3 : 20e-3, 2 * sample));
  }
}

// Under sanitizers, which are forty times slower, a tenth of the programs is tried again and in other contexts.
constexpr std::size_t kStride = 10 / rounds(10);

class EveryKind : public ::testing::TestWithParam<std::size_t> {};

// The first finding names the loss; its ceiling is what the program without the loss takes less, within a tenth of the
// run, but for the kinds below. Right programs have no finding above a note.
TEST_P(EveryKind, IsNamedFirst) {
  const Kind& kind = kinds()[GetParam()];
  const Diagnosis result = diagnose(kind, {});
  ASSERT_FALSE(result.findings.empty());
  const reports::Finding& first = result.findings.front();
  if (kind.is_right()) {
    EXPECT_FALSE(result.false_alarm) << first.id << ": " << first.text;
    return;
  }
  EXPECT_TRUE(result.right_first) << first.id << ": " << first.text;
  // A master that cannot keep up: the ceiling is farther off.
  if (kind.code == "hub.master" || result.ceiling == 0) return;
  EXPECT_THAT(result.ceiling, DoubleNear(result.seconds - result.without_fault, 0.11 * result.seconds)) << first.text;
}

double sum_of_ceilings(const std::vector<reports::Finding>& findings) {
  double sum = 0;
  for (const auto& finding : findings) {
    for (const auto& [name, value] : finding.evidence) sum += name == "ceiling_seconds" ? value : 0;
  }
  return sum;
}

// One second is won back once.
TEST_P(EveryKind, TheCeilingsTogetherAreNotAboveTheLoss) {
  if (GetParam() % kStride != 0) return;
  const Kind& kind = kinds()[GetParam()];
  const Diagnosis with = diagnose(kind, {}), without = diagnose(kind, {.fault = false});
  EXPECT_LE(sum_of_ceilings(with.findings),
            with.seconds - with.without_fault + sum_of_ceilings(without.findings) + 0.1 * with.seconds);
}

class EveryContext : public ::testing::TestWithParam<std::size_t> {};

// Each program in every fourth context: all of them in all would take minutes.
TEST_P(EveryContext, FindingsDoNotContradictEachOther) {
  const Case how = contexts()[GetParam()].how;
  if (how.ranks > 8 || how.steps > Case{}.steps) GTEST_SKIP() << "takes minutes";
  std::size_t number = GetParam();
  const auto check = [&](const Kind& kind) {
    if (number++ % (4 * kStride) != 0) return;
    const Diagnosis result = diagnose(kind, how);
    EXPECT_THAT(reports::testing::contradictions_in(result.findings), ::testing::IsEmpty()) << kind.code;
    EXPECT_LE(sum_of_ceilings(result.findings), 1.0001 * result.seconds) << kind.code;
  };
  for (const Kind& kind : kinds()) check(kind);
  for (const Kind& kind : held_out()) {
    if (how.ranks >= 4) check(kind);  // some need four
  }
}

// These were not looked at while the rules were written; 18 of 19 were named first then, and none of 5 was an alarm.
TEST(Diagnosis, ProgramsWrittenAfterTheRulesAreNamedFirst) {
  std::size_t number = 0;
  for (const Kind& kind : held_out()) {
    if (number++ % kStride != 0) continue;
    const Diagnosis result = diagnose(kind, {});
    const reports::Finding& first = result.findings.front();
    EXPECT_TRUE(kind.is_right() ? !result.false_alarm : result.right_first) << kind.code << ": " << first.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Diagnosis, EveryContext, ::testing::Range(std::size_t{0}, contexts().size()));

// Kinds that are not named first, or right programs with a finding above a note.
std::multiset<std::string> missed(const std::vector<Kind>& list, const Case& how) {
  std::multiset<std::string> codes;
  std::size_t number = 0;
  for (const Kind& kind : list) {
    if (number++ % kStride != 0) continue;
    const Diagnosis result = diagnose(kind, how);
    if (kind.is_right() ? result.false_alarm : result.is_loss && !result.right_first) codes.insert(kind.code);
  }
  return codes;
}

TEST(Diagnosis, LossesOfOneOfTwoCoupledProgramsAreNamedFirst) {
  EXPECT_THAT(missed(kinds(), {.context = Context::kTwoPrograms}), ::testing::IsEmpty());
}

TEST(Diagnosis, LossesOf512RanksAreNamed) {
  EXPECT_THAT(missed(kinds_on_many_ranks(), {.ranks = 512, .steps = 16}), ::testing::IsEmpty());
}

// The path has too few samples to name the function of random delays; three ranks are few for a chain, for parts in
// turn and for pairs.
TEST(Diagnosis, LossesOfThreeRanksAreNamed) {
  EXPECT_THAT(missed(kinds(), {.ranks = 3}),
              ::testing::IsSubsetOf({"late.noise", "chain.device", "late.turns", "order.tags"}));
}

// Each waits for the other in half of the sweeps, as two ranks with random delays do.
TEST(Diagnosis, SweepsOfTwoRanksAreNoChance) {
  for (const Kind& kind : kinds()) {
    if (kind.code != "chain.sweeps" && kind.code != "late.noise") continue;
    const bool in_turn = diagnose(kind, {.ranks = 2}).findings.front().id == "chain.serial";
    EXPECT_EQ(in_turn, kind.code == "chain.sweeps") << kind.code;
  }
}

// Ranks have a processor for half of their time.
TEST(Diagnosis, NoWrongRemedyOnABusyMachine) {
  const Case how{.steps = 60, .context = Context::kBusy};
  constexpr std::size_t kFew = kStride == 1 ? 1 : 3 * kStride;  // with sanitizers it takes minutes
  std::size_t number = 0;
  for (const Kind& kind : kinds()) {
    if (number++ % kFew != 0) continue;
    if (kind.code == "msg.head") continue;      // as large as another loss of its program
    if (kind.code == "chain.device") continue;  // as large as the load: time asleep is an estimate
    const Diagnosis result = diagnose(kind, how);
    EXPECT_FALSE(kind.is_right() ? result.false_alarm : result.is_loss && result.wrong_remedy)
        << kind.code << ": " << result.findings.front().text;
  }
}

INSTANTIATE_TEST_SUITE_P(Diagnosis, EveryKind, ::testing::Range(std::size_t{0}, kinds().size()),
                         [](const auto& instance) {
                           std::string name = kinds()[instance.param].code + "_" + std::to_string(instance.param);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace ardoise::diagnosis

// The simulated machine keeps its times, its packs hold what happened, and losses that the findings name stay named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tests/diagnosis/kinds.hpp"

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

// Kinds whose first finding was right when this was written. Kinds that are found later join the list, none leaves it.
TEST(Diagnosis, WhatIsNamedStaysNamed) {
  for (const char* const code : {"late.static", "late.growing", "late.phase", "late.group", "late.input", "serial.rank",
                                 "hub.master", "io.small", "io.meta", "io.reread", "late.asleep"}) {
    const auto kind = std::ranges::find(kinds(), code, &Kind::code);
    ASSERT_NE(kind, kinds().end()) << code;
    const Diagnosis result = diagnose(*kind, {});
    EXPECT_TRUE(result.right_first) << code << ": " << result.findings.front().text;
  }
}

TEST(Diagnosis, RightProgramsHaveNoFault) {
  for (const char* const code : {"none.balanced", "none.first", "none.async", "none.device"}) {
    const auto kind = std::ranges::find(kinds(), code, &Kind::code);
    ASSERT_NE(kind, kinds().end()) << code;
    const Diagnosis result = diagnose(*kind, {});
    EXPECT_FALSE(result.false_alarm) << code << ": " << result.findings.front().text;
  }
}

}  // namespace
}  // namespace ardoise::diagnosis

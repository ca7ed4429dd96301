// The time of each rank is divided by the kernel's counts and the samples, and the parts add up.
#include "reports/findings/efficiency.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ardoise::reports {
namespace {

// One rank of ten seconds, two of them in MPI, one in file I/O.
Application one_rank(double cpu, double waiting, double sampled_in_calls) {
  Application a;
  a.ranks = 1;
  a.per_rank.wall_seconds = {10};
  a.per_rank.mpi_seconds = {2};
  a.per_rank.io_seconds = {1};
  a.per_rank.cpu_seconds = {cpu};
  a.per_rank.waiting_seconds = {waiting};
  a.samples.clock = "cpu";
  a.samples.threads.rank = {0};
  a.samples.threads.thread = {0};
  a.samples.threads.self = {cpu};
  a.samples.threads.in_calls = {sampled_in_calls};
  return a;
}

void expect_sum(const RankTime& time) {
  EXPECT_NEAR(time.mpi + time.io + time.computing + time.waiting + time.blocked, time.wall, 1e-9);
  EXPECT_DOUBLE_EQ(time.mpi, 2);
  EXPECT_DOUBLE_EQ(time.io, 1);
}

TEST(RankTimes, ARankThatComputes) {
  const RankTime time = times_of_ranks(one_rank(9.5, 0.1, 2.5)).at(0);
  expect_sum(time);
  EXPECT_NEAR(time.computing, 7, 0.1);
}

TEST(RankTimes, ARankThatSleepsDoesNotCompute) {
  const RankTime time = times_of_ranks(one_rank(2.1, 0, 2)).at(0);
  expect_sum(time);
  EXPECT_NEAR(time.computing, 0.1, 1e-9);
  EXPECT_NEAR(time.blocked, 6.9, 1e-9);
}

TEST(RankTimes, OnACrowdedMachineARankWaitsForProcessors) {
  const RankTime time = times_of_ranks(one_rank(5, 5, 1.5)).at(0);
  expect_sum(time);
  EXPECT_NEAR(time.computing, 3.5, 1e-9);
  EXPECT_NEAR(time.waiting, 3.5, 1e-9);
  EXPECT_DOUBLE_EQ(time.blocked, 0);
}

// Ranks poll in MPI and yield: most of their waiting for a processor is there, though little of their CPU time. In ten
// seconds a rank computes 1.5 s, is blocked in a mutex for 3.4 s, and needs 2.1 s of MPI's 2 s and the rest to wait.
TEST(RankTimes, LooksTellWhereARankIsAsleep) {
  Application a = one_rank(2, 4.6, 0.5);
  a.per_rank.asleep_outside = {68};
  a.per_rank.asleep_inside = {0};
  const RankTime time = times_of_ranks(a).at(0);
  expect_sum(time);
  EXPECT_NEAR(time.computing, 1.5, 1e-9);
  EXPECT_NEAR(time.blocked, 3.4, 1e-9);
  EXPECT_NEAR(time.waiting, 2.1, 1e-9);
  a.per_rank.asleep_inside = {68};
  EXPECT_NEAR(times_of_ranks(a).at(0).blocked, 1.7, 1e-9);
  a.per_rank.asleep_outside = {0};
  EXPECT_NEAR(times_of_ranks(a).at(0).blocked, 0.9, 1e-9) << "calls took 2.5 s without CPU time";
}

// A helper thread waits in read on a pipe all the time.
TEST(RankTimes, AreOfTheThreadThatCalledInit) {
  Application a = one_rank(7, 0, 0);
  a.per_rank.io_seconds = {10};
  a.per_rank.first_mpi_seconds = {2};
  a.per_rank.first_io_seconds = {1};
  expect_sum(times_of_ranks(a).at(0));
  EXPECT_DOUBLE_EQ(efficiency_of(a).io_share, 0.1);
}

TEST(RankTimes, SamplesThatAreOffMakeNoSleepThatTheKernelDidNotSee) {
  const RankTime time = times_of_ranks(one_rank(10, 0, 4)).at(0);  // too many in calls: they took three seconds
  expect_sum(time);
  EXPECT_NEAR(time.computing, 7, 1e-9);
}

TEST(RankTimes, WithoutTheKernelsNumbersAllOutsideOfCallsCountsAsComputing) {
  Application a = one_rank(0, 0, 0);
  expect_sum(times_of_ranks(a).at(0));
  EXPECT_DOUBLE_EQ(times_of_ranks(a).at(0).computing, 7);
  a.per_rank.cpu_seconds.clear();
  EXPECT_DOUBLE_EQ(times_of_ranks(a).at(0).computing, 7);
}

TEST(RankTimes, WaitingForProcessorsIsNotUseful) {
  const Efficiency e = efficiency_of(one_rank(5, 5, 1.5));
  EXPECT_NEAR(e.max_useful, 4.5, 1e-9);
  EXPECT_NEAR(e.mpi_share + e.io_share + e.computing_share + e.waiting_share + e.blocked_share, 1, 1e-9);
}

TEST(RankTimes, WhatTheKernelCountedInMpiIsWaitingForAProcessor) {
  Application a = one_rank(5, 5, 1.5);
  a.waiting.per_rank.waiting_seconds = {1.2};
  const auto times = times_of_ranks(a);
  EXPECT_NEAR(times.at(0).mpi_without_processor, 1.5, 1e-9) << "3.5 s were outside";
  EXPECT_THAT(waiting_without_processor(a, times), testing::ElementsAre(1.2)) << "no more than it waited";
  a.per_rank.cpu_seconds = {0};
  EXPECT_THAT(waiting_without_processor(a, times_of_ranks(a)), testing::IsEmpty());
}

// Two pairs of ranks: one whose ranks work 2 s and 8 s, one whose ranks work 9 s each.
TEST(Communicators, HaveEfficienciesOfTheirOwn) {
  Application a;
  a.ranks = 4;
  a.per_rank.wall_seconds.assign(4, 10.0);
  a.per_rank.mpi_seconds = {8, 1, 2, 1};
  a.waiting.per_rank.waiting_seconds = {7.5, 0, 0, 0};
  a.waiting.resolved_messages = 1;
  const auto times = times_of_ranks(a);
  Communicator pairs;
  pairs.group_of_rank = {1, 2, 1, 2};
  fill_efficiency(a, times, pairs);
  EXPECT_EQ(pairs.least_efficient, 1u) << "ranks 0 and 2";
  EXPECT_NEAR(pairs.efficiency.load_balance, 5.0 / 8, 1e-12);
  EXPECT_NEAR(pairs.efficiency.serialisation, 8 / 9.5, 1e-12);
  EXPECT_NEAR(pairs.efficiency.transfer, 0.95, 1e-12);
  EXPECT_NEAR(pairs.efficiency.parallel, 5.0 / 10, 1e-12);
  EXPECT_NEAR(pairs.balance_between, (5 + 9) / 2.0 / 9, 1e-12);
  Communicator whole;
  fill_efficiency(a, times, whole);
  EXPECT_EQ(whole.least_efficient, 0u);
  a.waiting.resolved_messages = 0;
  Communicator unknown;
  unknown.group_of_rank = {1, 2, 1, 2};
  fill_efficiency(a, times, unknown);
  EXPECT_EQ(unknown.least_efficient, 0u);
}

}  // namespace
}  // namespace ardoise::reports

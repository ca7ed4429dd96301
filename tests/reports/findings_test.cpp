// Each rule reports when it should, with its numbers, and is silent otherwise.
#include "reports/findings/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "reports/findings/extra_work.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A program of `ranks` ranks, 10 s each, that spends `mpi` seconds of them in MPI_Waitall.
Application plain(std::uint32_t ranks, double mpi = 0.5) {
  Application a;
  a.name = "plain";
  a.ranks = a.quality.ranks_complete = ranks;
  a.wall_seconds = 10;
  a.per_rank.wall_seconds.assign(ranks, 10.0);
  a.per_rank.mpi_seconds.assign(ranks, mpi);
  a.per_rank.io_seconds.assign(ranks, 0.0);
  FunctionProfile& f = a.mpi.emplace_back();
  f.function = "MPI_Waitall";
  f.category = "wait";
  f.calls = 1000;
  f.seconds = mpi * ranks;
  return a;
}

FunctionProfile& add(Application& a, const std::string& function, const std::string& category, double seconds,
                     std::uint64_t calls) {
  FunctionProfile& f = a.mpi.emplace_back();
  f.function = function;
  f.category = category;
  f.seconds = seconds;
  f.calls = calls;
  return f;
}

const Finding* find(const std::vector<Finding>& all, const std::string& id) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Finding& f) { return f.id == id; });
  return found == all.end() ? nullptr : &*found;
}

double evidence(const Finding& finding, const std::string& key) {
  for (const auto& [name, number] : finding.evidence) {
    if (name == key) return number;
  }
  ADD_FAILURE() << "no evidence " << key;
  return 0;
}

TEST(Facts, TheShareOfMpiNamesItsFileAccess) {
  Application a = plain(4, 1.0);
  EXPECT_EQ(Facts(a).mpi_share_in_words(), "10 %");
  a.per_rank.mpi_seconds.assign(4, 9.0);
  add(a, "MPI_File_write_at", "io", 32.0, 1000);
  EXPECT_EQ(Facts(a).mpi_share_in_words(), "90 % (80 % in MPI-IO)");
  a.mpi.back().seconds = 50;  // of several threads
  EXPECT_EQ(Facts(a).mpi_share_in_words(), "90 % (90 % in MPI-IO)");
}

TEST(Findings, WithoutAPathOnlySharesAreSaidAndWhy) {
  Application a = plain(8);
  const auto text_of = [](const Application& app) {
    const auto all = findings_of(app);
    EXPECT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].id, "none.path");
    EXPECT_EQ(all[0].severity, Severity::note);
    return all[0].text;
  };
  EXPECT_EQ(text_of(a),
            "Causes of lost time are not ranked: the critical path is not known. 95 % of the time of its 8 ranks is "
            "outside MPI and file I/O, 5.0 % MPI, 0 % file I/O.");
  EXPECT_NEAR(evidence(findings_of(a)[0], "mpi_share"), 0.05, 1e-12);
  a.waiting.critical_path_elsewhere_seconds = 10;
  EXPECT_THAT(text_of(a), HasSubstr("the critical path runs through other programs."));
  a.waiting.critical_path.emplace_back().kind = "computation";
  a.waiting.critical_path_seconds = 6;
  a.waiting.critical_path_elsewhere_seconds = 0;
  a.waiting.unresolved.critical_path_seconds = 4;
  EXPECT_THAT(text_of(a), HasSubstr("40 % of the critical path is not known."));
  a.per_rank = {};
  EXPECT_EQ(text_of(a),
            "Causes of lost time are not ranked: the times of its ranks are not known. 95 % of the time of "
            "its 8 ranks is computation, 5.0 % MPI, 0 % file I/O.");
  a.wall_seconds = 0;
  EXPECT_EQ(text_of(a), "Causes of lost time are not ranked: the times of its ranks are not known.");
}

TEST(Findings, NothingRecordedIsSaidOnce) {
  const auto all = findings_of(testing::empty_run().applications[0]);
  EXPECT_NE(find(all, "nothing_recorded"), nullptr);
  EXPECT_EQ(find(all, "none.path"), nullptr);
}

TEST(Findings, WhatEndedTheRunComesFirst) {
  Application a = plain(4);
  a.name = "solver";
  RankEnd& first = a.ending.ends.emplace_back();
  first.cause = "signal";
  first.signal = "SIGSEGV";
  first.has_address = true;
  first.address = 16;
  first.seconds = 3.2;
  first.ranks = {2};
  first.stack = {{"relax", "/src/solver.c", 42, "/bin/solver", 0}};
  RankEnd& others = a.ending.ends.emplace_back();
  others.cause = "signal";
  others.signal = "SIGTERM";
  others.ranks = {0, 1, 3};
  RankPosition& position = a.ending.stands.emplace_back();
  position.ranks = {0, 1, 3};
  position.call.function = "MPI_Recv";
  position.call.place = {"exchange", "/src/halo.c", 7, "/bin/solver", 0};
  position.call.peer = 2;
  position.call.tag = 5;
  position.least_seconds = position.most_seconds = 63;
  const auto all = findings_of(a);
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].id, "run_ended");
  EXPECT_EQ(all[0].text,
            "Rank 2 was ended by SIGSEGV at address 0x10 in relax (solver.c:42) after 3.20 s. 3 other ranks also ended "
            "(SIGTERM).");
  EXPECT_EQ(all[1].id, "where_ranks_stood");
  EXPECT_EQ(
      all[1].text,
      "When it ended, ranks 0, 1 and 3 were in MPI_Recv in exchange (halo.c:7) from rank 2 with tag 5 for 63.0 s.");
}

// They may as well have slept.
TEST(Findings, RanksComputeOnlyWhereTheKernelCountedTheirTime) {
  Application a = plain(2, 5);
  EXPECT_THAT(findings_of(a)[0].text, HasSubstr("50 % of the time of its 2 ranks is outside MPI and file I/O"));
  a.per_rank.mpi_seconds.assign(2, 1.0);
  a.per_rank.cpu_seconds.assign(2, 4.0);
  a.per_rank.waiting_seconds.assign(2, 6.0);
  EXPECT_THAT(findings_of(a)[0].text, AllOf(HasSubstr("is computation"), HasSubstr(" waiting for a processor.")));
}

// It also kills the survivor, which could have reported the end.
TEST(Findings, TheKernelsOutOfMemoryKillerIsNamed) {
  Application a = plain(4);
  a.quality.ranks_complete = 3;
  RankEnd& others = a.ending.ends.emplace_back();
  others.cause = "signal";
  others.signal = "SIGTERM";
  others.ranks = {0, 1, 3};
  EXPECT_EQ(findings_of(a)[0].text,
            "Ranks 0, 1 and 3 were ended by SIGTERM after 0 s. Nothing more arrived from rank 2, which may have "
            "ended earlier.");
  a.ending.memory_kills = 1;
  EXPECT_EQ(findings_of(a)[0].text,
            "Rank 2 was probably ended by the kernel for lack of memory: its out-of-memory killer ended a process "
            "while the launch ran, and nothing more arrived from this rank. 3 other ranks also ended "
            "(SIGTERM).");
}

// 100 iterations of 40 ms on two ranks, of which MPI_Alltoall takes 10 ms.
Application with_iterations() {
  Application a = plain(2);
  SnapshotSeries& s = a.snapshots.series.emplace_back();
  s.trigger = "iteration";
  s.function = "MPI_Alltoall";
  s.rounds.assign(100, 1);
  s.ranks = s.groups = 2;
  s.begin_seconds.assign(100, 0.0);
  s.seconds.assign(100, 0.04);
  s.longest_seconds = s.seconds;
  s.mpi_seconds.assign(100, 0.01);
  s.io_seconds.assign(100, 0.0);
  s.own_seconds.assign(200, 0.03);
  s.waiting_seconds.assign(100, 0.0);
  s.group_waiting_seconds.assign(200, 0.0);
  SnapshotCalls& calls = s.calls.emplace_back();
  calls.function = "MPI_Alltoall";
  calls.symbol = "transpose";
  calls.source_file = "/src/transpose.c";
  calls.line = 88;
  calls.calls.assign(100, 4);
  calls.bytes.assign(100, 4096);
  calls.seconds.assign(100, 0.02);
  calls.waiting_seconds.assign(100, 0.004);
  return a;
}
// By so much in a call.
void prolong(Application& a, std::size_t iteration, double seconds) {
  SnapshotSeries& s = a.snapshots.series[0];
  s.seconds[iteration - 1] += seconds;
  s.longest_seconds[iteration - 1] += seconds;
  s.mpi_seconds[iteration - 1] += seconds;
  s.calls[0].seconds[iteration - 1] += 2 * seconds;
}

TEST(Findings, SlowIterationsAreNumberedWithWhatIsLonger) {
  Application a = with_iterations();
  EXPECT_EQ(find(findings_of(a), "slow_iterations"), nullptr);
  for (const std::size_t iteration : {37u, 38u, 39u, 40u}) prolong(a, iteration, 0.08);
  const auto all = findings_of(a);
  const Finding* const slow = find(all, "slow_iterations");
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->text,
            "Iterations 37–40 take 3.0 times as long as the others (120 ms instead of 40.0 ms), 3.2 % of the run in "
            "all. In them MPI_Alltoall in transpose (transpose.c:88) takes 45.0 ms a call instead of 5.00 ms.");
}

TEST(Findings, WhatIsLongerBecauseRanksWaitIsSaid) {
  const auto text_of = [](double waiting, double own, std::uint64_t calls) {
    Application a = with_iterations();
    SnapshotSeries& s = a.snapshots.series[0];
    for (const std::size_t iteration : {37u, 38u, 39u, 40u}) {
      prolong(a, iteration, 0.08);
      s.calls[0].waiting_seconds[iteration - 1] += 2 * waiting;
      s.calls[0].calls[iteration - 1] = calls;
      s.own_seconds[iteration - 1] += own;
    }
    const auto all = findings_of(a);
    const Finding* const slow = find(all, "slow_iterations");
    return slow == nullptr ? "" : slow->text.substr(slow->text.find("In them"));
  };
  EXPECT_EQ(text_of(0.07, 0, 4),
            "In them MPI_Alltoall in transpose (transpose.c:88) takes 45.0 ms a call instead of 5.00 ms, of which 36.0 "
            "ms waiting.");
  EXPECT_EQ(text_of(0.07, 0, 40),
            "In them MPI_Alltoall in transpose (transpose.c:88) is called 20 times instead of 2, and takes 90.0 ms "
            "instead of 10.0 ms, of which 72.0 ms waiting.");
  EXPECT_EQ(text_of(0.02, 0, 4),
            "In them MPI_Alltoall in transpose (transpose.c:88) takes 45.0 ms a call instead of 5.00 ms.")
      << "less than half of what is more";
  EXPECT_THAT(text_of(0.07, 0.08, 4),
              HasSubstr("rank 0 is outside MPI and I/O for 110 ms instead of 30.0 ms, and MPI_Alltoall in transpose "
                        "(transpose.c:88) is longer by 80.0 ms, mostly waiting."));
}

TEST(Findings, SlowIterationsThatComeAgainAndAgainAreEveryNth) {
  Application a = with_iterations();
  for (std::size_t iteration = 10; iteration <= 100; iteration += 10) {
    a.snapshots.series[0].seconds[iteration - 1] += 0.1;
    for (const std::size_t group : {0u, 1u}) a.snapshots.series[0].own_seconds[100 * group + iteration - 1] += 0.1;
  }
  const auto all = findings_of(a);
  const Finding* const slow = find(all, "slow_iterations");
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->text,
            "Every 10th iteration (10, 20 … 100) takes 3.5 times as long as the others (140 ms instead of 40.0 ms), "
            "10 % of the run in all. In them the ranks are outside MPI and I/O for 130 ms instead of 30.0 ms.");
}

TEST(Findings, SlowIterationsOfACrowdedMachineAreNotTold) {
  Application a = with_iterations();
  for (const std::size_t iteration : {37u, 38u, 39u, 40u}) prolong(a, iteration, 0.08);
  a.per_rank.cpu_seconds.assign(2, 4.0);
  a.per_rank.waiting_seconds.assign(2, 6.0);
  SnapshotSeries& s = a.snapshots.series[0];
  s.functions.push_back({"relax", "/src/relax.c", 12, std::vector<double>(100, 0.02)});
  EXPECT_EQ(find(findings_of(a), "slow_iterations"), nullptr);
  Application more_bytes = a, more_work = a, with_files = a;
  for (const std::size_t i : {36u, 37u, 38u, 39u}) {
    more_bytes.snapshots.series[0].calls[0].bytes[i] *= 3;
    more_work.snapshots.series[0].functions[0].seconds[i] += 0.1;
    with_files.snapshots.series[0].io_seconds[i] += 0.04;
  }
  for (const Application& other : {more_bytes, more_work, with_files})
    EXPECT_NE(find(findings_of(other), "slow_iterations"), nullptr);
}

// The inner calls of a loop that was not found.
TEST(Findings, RoundsThatHoldMostOfTheTimeAreNotSlowOnes) {
  Application a = with_iterations();
  for (const std::size_t iteration : {20u, 40u, 60u, 80u}) prolong(a, iteration, 0.8);
  EXPECT_NE(find(findings_of(a), "slow_iterations"), nullptr);
  for (const std::size_t iteration : {20u, 40u, 60u, 80u}) prolong(a, iteration, 0.4);
  EXPECT_EQ(find(findings_of(a), "slow_iterations"), nullptr);
}

// Its marks say better than a loop that was found what belongs together.
TEST(Findings, MarksOfTheProgramComeBeforeALoopThatWasFound) {
  Application a = with_iterations();
  SnapshotSeries& s = a.snapshots.series[0];
  for (const std::size_t i : {12u, 13u}) {
    prolong(a, i, 0.3);
    for (double* const own : {&s.own_seconds[i - 1], &s.own_seconds[100 + i - 1]}) *own += 0.3;
    s.seconds[i - 1] += 0.3;
  }
  s.functions.push_back({"relax", "/src/relax.c", 12, std::vector<double>(100, 0.02)});
  s.functions[0].seconds[11] = s.functions[0].seconds[12] = 0.6;
  SnapshotSeries marked = s;
  marked.trigger = "snapshot";
  marked.name = "step";
  for (std::int64_t number = 1001; number <= 1100; ++number) marked.numbers.push_back(number);
  a.snapshots.series.insert(a.snapshots.series.begin(), marked);
  std::vector<std::string> texts;
  for (const Finding& each : findings_of(a)) {
    if (each.id == "slow_iterations") texts.push_back(each.text);
  }
  EXPECT_THAT(texts, ElementsAre(AllOf(HasSubstr("Snapshots step 1012–1013 take "),
                                       HasSubstr("most of the increase in relax (relax.c:12)"))));
}

TEST(Findings, EveryNthIsFoundAmongOthers) {
  Application a = with_iterations();
  for (std::size_t iteration = 10; iteration <= 100; iteration += 10) prolong(a, iteration, 0.2);
  for (const std::size_t iteration : {33u, 57u}) prolong(a, iteration, 0.1);
  const auto all = findings_of(a);
  const Finding* const slow = find(all, "slow_iterations");
  ASSERT_NE(slow, nullptr);
  EXPECT_THAT(slow->text, HasSubstr("Every 10th iteration (10, 20 … 100) and 2 others take "));
}

TEST(Findings, EveryNthAndASingleOther) {
  Application a = with_iterations();
  for (std::size_t iteration = 10; iteration <= 100; iteration += 10) prolong(a, iteration, 0.2);
  prolong(a, 33, 0.2);
  const auto all = findings_of(a);
  const Finding* const slow = find(all, "slow_iterations");
  ASSERT_NE(slow, nullptr);
  EXPECT_THAT(slow->text, HasSubstr("Every 10th iteration (10, 20 … 100) and 1 other take "));
}

TEST(Findings, RoundsThatDifferAreNotes) {
  Application a = with_iterations();
  for (const std::size_t iteration : {3u, 14u, 15u, 40u, 61u, 88u, 90u}) prolong(a, iteration, 0.2);
  const auto all = findings_of(a);
  const Finding* const slow = find(all, "slow_iterations");
  ASSERT_NE(slow, nullptr);
  EXPECT_EQ(slow->severity, Severity::note);
}

TEST(Findings, IterationsThatGrowAreATrendAndNotSlowOnes) {
  Application a = with_iterations();
  for (std::size_t iteration = 1; iteration <= 100; ++iteration) {
    prolong(a, iteration, 0.0005 * static_cast<double>(iteration));
    a.snapshots.series[0].seconds[iteration - 1] += 0.002 * static_cast<double>(iteration);
    a.snapshots.series[0].own_seconds[100 + iteration - 1] += 0.0025 * static_cast<double>(iteration);
  }
  const auto all = findings_of(a);
  EXPECT_EQ(find(all, "slow_iterations"), nullptr);
  const Finding* const trend = find(all, "iterations_trend");
  ASSERT_NE(trend, nullptr);
  EXPECT_THAT(trend->text, HasSubstr("An iteration takes longer and longer: 66.2 ms in the first fifth of the 100 "
                                     "iterations, 266 ms in the last one. In the last fifth rank 1 is outside MPI and "
                                     "I/O for 256 ms instead of 56.2 ms"));
}

TEST(Findings, AChangeIsNamedWithItsFirstIteration) {
  Application a = with_iterations();
  for (std::size_t iteration = 61; iteration <= 100; ++iteration) prolong(a, iteration, 0.03);
  for (const std::size_t slow : {20u, 80u}) prolong(a, slow, 0.5);
  const auto all = findings_of(a);
  const Finding* const change = find(all, "iterations_change");
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(find(all, "iterations_trend"), nullptr);
  EXPECT_THAT(change->text, HasSubstr("From iteration 61 on, each takes 70.0 ms instead of 40.0 ms. From there on "
                                      "MPI_Alltoall in transpose (transpose.c:88) takes"));
  // A slow growth is not a sudden change.
  Application slope = with_iterations();
  for (std::size_t iteration = 1; iteration <= 100; ++iteration)
    prolong(slope, iteration, 0.0005 * static_cast<double>(iteration));
  EXPECT_EQ(find(findings_of(slope), "iterations_change"), nullptr);
}

// They are no part of it, and one statistic is used for all numbers.
TEST(Findings, ATrendMayHaveSlowIterationsAtItsBeginning) {
  Application a = with_iterations();
  for (std::size_t iteration = 1; iteration <= 100; ++iteration)
    prolong(a, iteration, iteration < 6 ? 3.0 : 0.0005 * static_cast<double>(iteration));
  const auto all = findings_of(a);
  const Finding* const trend = find(all, "iterations_trend");
  ASSERT_NE(trend, nullptr);
  EXPECT_THAT(trend->text, AllOf(HasSubstr("46.5 ms in the first fifth of the 100 iterations, 85.2 ms in the last one"),
                                 HasSubstr("takes 27.6 ms a call instead of 8.25 ms")));
}

TEST(Findings, TimeOutsideOfTheMainLoopIsTold) {
  Application a = with_iterations();
  a.snapshots.series[0].begin_seconds.assign(100, 4.0);
  const auto all = findings_of(a);
  const Finding* const outside = find(all, "outside_of_the_loop");
  ASSERT_NE(outside, nullptr);
  EXPECT_EQ(
      outside->text,
      "The main loop (100 iterations that each begin with MPI_Alltoall) takes 40 % of the run; 4.00 s precede it, "
      "2.00 s follow it.");
}

TEST(Findings, MessagesThatNobodyReceivesAreNamed) {
  Application a = plain(4, 6);
  EXPECT_EQ(find(findings_of(a), "unreceived_messages"), nullptr);
  a.waiting.unreceived = {{"MPI_Send", "step", "/s/a.c", 7, "", 0, 9, 2, 5}, {"MPI_Isend", "", "", 0, "", 0, 3, 1, 0}};
  const auto all = findings_of(a);
  ASSERT_NE(find(all, "unreceived_messages"), nullptr);
  EXPECT_EQ(find(all, "unreceived_messages")->text,
            "12 messages were sent and never received, most of them by MPI_Send called from step (a.c:7): for example "
            "from rank 2 "
            "with tag 5.");
}

TEST(Efficiency, CommunicationIsPartedWhereWaitingIsKnown) {
  Application a = plain(2, 6);
  const Efficiency whole = efficiency_of(a);
  EXPECT_FALSE(whole.parts_known);
  a.waiting.resolved_messages = 10;
  a.waiting.per_rank.waiting_seconds = {1, 2};
  const Efficiency e = efficiency_of(a);
  ASSERT_TRUE(e.parts_known);
  EXPECT_NEAR(e.serialisation * e.transfer, whole.communication, 1e-12);
  EXPECT_NEAR(e.serialisation, e.max_useful / (e.max_useful + 2), 1e-12);
  a.waiting.unresolved.collective_calls.incomplete = 1;
  EXPECT_FALSE(efficiency_of(a).parts_known) << "no collective is known";
}

TEST(Findings, LostRecordsComeFirst) {
  Application a = plain(4, 6);
  a.quality.ledger = {{"mpi", 100, 90, 0, 10}};
  a.quality.ranks_complete = 3;
  const auto all = findings_of(a);
  ASSERT_GE(all.size(), 2U);
  EXPECT_EQ(all[0].id, "records_lost");
  EXPECT_EQ(all[1].id, "ranks_incomplete");
}

// Its plug-in could not be loaded: the program ended well.
TEST(Findings, AProfileThatWasNotAnalyzedBlamesNoRank) {
  Application a;
  a.ranks = 4;
  const auto all = findings_of(a);
  EXPECT_EQ(all[0].id, "not_analyzed");
  EXPECT_EQ(all.size(), 1u);
}

// Samples may be lost, too: both numbers are of all records.
TEST(Findings, LostRecordsAreOfAllRecords) {
  Application a = plain(4, 6);
  a.quality.ledger = {{"mpi", 100, 100, 0, 0}, {"samples", 2000, 1499, 0, 501}};
  EXPECT_THAT(find(findings_of(a), "records_lost")->text, HasSubstr("501 of 2,100 records are missing"));
  a.quality.ledger = {{"samples", 2000, 1999, 0, 1}};
  EXPECT_THAT(find(findings_of(a), "records_lost")->text, HasSubstr("1 of 2,000 records is missing"));
}

TEST(Findings, BlockingAndOverheadAreSaid) {
  Application a = plain(4);
  a.quality.blocked_seconds = 4;  // of 40
  a.quality.overhead_seconds = 4.1;
  EXPECT_EQ(find(findings_of(a), "measurement_blocked")->severity, Severity::high);
  EXPECT_EQ(find(findings_of(a), "overhead"), nullptr);  // it is the blocking, said already
  a.quality.blocked_seconds = 0;
  EXPECT_EQ(find(findings_of(a), "overhead")->text,
            "Measuring cost about 10 % of the ranks' time, 4.10 s (an estimate): short calls look longer than they "
            "are.")
      << "of a file that has no parts";
  a.quality.record_cost_seconds = 116e-9;
  a.quality.recording_seconds = 0.22;
  a.quality.sending_seconds = 3;
  a.quality.sampling_seconds = 0.88;
  EXPECT_EQ(find(findings_of(a), "overhead")->text,
            "Measuring cost about 10 % of the ranks' time, 4.10 s (an estimate: 220 ms for recording calls, 116 ns "
            "each, 3.00 s for sending and 880 ms for sampling): short calls look longer than they are.");
}

TEST(Findings, SameModelSameSentences) {
  const Application a = testing::synthetic_run(64).applications[0];
  const auto first = findings_of(a), second = findings_of(a);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].text, second[i].text);
  EXPECT_TRUE(std::is_sorted(first.begin(), first.end(),
                             [](const Finding& x, const Finding& y) { return x.severity > y.severity; }));
}

TEST(Findings, NoSentenceHasStrangeNumbers) {
  for (const reports::Run& run :
       {testing::synthetic_run(1), testing::synthetic_run(2), testing::synthetic_run(1024), testing::nasty_run()}) {
    for (const Application& a : run.applications) {
      for (const Finding& f : findings_of(a)) {
        EXPECT_THAT(f.text, Not(HasSubstr("nan")));
        EXPECT_THAT(f.text, Not(HasSubstr("inf ")));
        for (const auto& [key, number] : f.evidence) EXPECT_TRUE(std::isfinite(number)) << f.id << ' ' << key;
        EXPECT_LT(f.text.size(), 600U) << f.id;
      }
    }
  }
}

// Samples of 10 ms: 5 s of each rank in common(), and of rank 2 a second more in extra().
void add_extra_work(Application& a, double seconds = 1) {
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.clock = "cpu";
  s.functions.resize(2);
  for (auto& f : s.functions) f.kind = "code";
  s.functions[0].symbol = "common()";
  s.functions[1].symbol = "extra(int)";
  s.functions[1].source_file = "/src/edge.cpp";
  s.functions[1].line = 57;
  s.self = 5 * a.ranks + seconds;
  s.samples = static_cast<std::uint64_t>(s.self * 100);
  s.per_rank.functions = {0, 1};
  s.per_rank.self.assign(2 * std::size_t{a.ranks}, 0.0);
  std::fill_n(s.per_rank.self.begin(), a.ranks, 5.0);
  s.per_rank.self[a.ranks + 2] = seconds;
  s.per_rank.all.assign(a.ranks, 5.0);
  s.per_rank.all[2] += seconds;
}

TEST(Findings, ExtraWorkOfARankIsNamed) {
  Application a = plain(4, 5);
  add_extra_work(a);
  EXPECT_EQ(extra_work_sentence(a, 2), " Only rank 2 runs extra (edge.cpp:57): 1.00 s of CPU time (sampled).");
  a.samples.tree.parent = {kNoParent, 0};
  a.samples.tree.function = {0, 1};
  a.samples.tree.self = {20, 1};
  EXPECT_THAT(extra_work_sentence(a, 2), HasSubstr("extra (edge.cpp:57), called by common: 1.00 s"));
  a.first_rank = 8;
  EXPECT_THAT(extra_work_sentence(a, 2), HasSubstr("Only rank 10 runs extra"));
  a.samples.per_rank.self = {5, 5, 6, 5, 0, 0, 0, 0};
  EXPECT_EQ(extra_work_sentence(a, 2),
            " Rank 10 spends 6.00 s of CPU time in common, the others 5.00 s on average (sampled).");
}

TEST(Findings, ACallerOnTheSlowestRankAloneRepresentsItsCommonCallees) {
  Application a = plain(4, 5);
  add_extra_work(a);
  SampleProfile& s = a.samples;
  s.per_rank.self = {5, 5, 6, 5, 0, 0, 0, 0};  // common() is where the time is
  s.per_rank.uneven = {0, 1};
  s.per_rank.total = {5, 5, 6, 5, 0, 0, 0.99, 0};
  EXPECT_THAT(extra_work_sentence(a, 2),
              HasSubstr("Only rank 2 runs extra (edge.cpp:57): 990 ms of CPU time, most of it in common (sampled)."));
  s.per_rank.total = {5, 5, 6, 5, 0, 0, 0.5, 0};
  EXPECT_THAT(extra_work_sentence(a, 2), HasSubstr("Rank 2 spends 6.00 s of CPU time in common,"))
      << "half of it comes from elsewhere";
  s.per_rank.self = {1, 1, 5, 1, 0, 0, 0, 0};
  s.per_rank.total = {1, 1, 5, 1, 0, 0, 4, 0};
  EXPECT_THAT(extra_work_sentence(a, 2), HasSubstr("Only rank 2 runs extra (edge.cpp:57)"))
      << "the others are in common() a fifth of its time";
}

TEST(Findings, ADifferenceOfAFewSamplesIsNoExtraWork) {
  Application a = plain(4);
  add_extra_work(a);
  EXPECT_TRUE(extra_work(a, 2));
  EXPECT_FALSE(extra_work(a, 1));
  EXPECT_FALSE(extra_work(a, 4));
  a.samples.samples = 60;  // of 350 ms each
  EXPECT_FALSE(extra_work(a, 2));
}

TEST(Findings, ThreadsThatShareAProcessorOfManyAreNoticed) {
  Application a = plain(2);
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.threads.rank = {0, 0, 1, 1};
  s.threads.thread = {0, 1, 0, 1};
  s.threads.self = {4, 4, 4, 4};
  a.per_rank.processors = {1, 1};
  a.per_rank.first_processor = {0, 1};
  a.per_rank.host_processors = {8, 8};
  const auto found = [&] { return tight_binding(a, thread_work(a)); };
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->threads, 2U);
  EXPECT_EQ(found()->processors, 1U);
  EXPECT_EQ(found()->ranks, 2U);
  EXPECT_EQ(found()->of_host, 8U);
  a.per_rank.first_processor = {0, 0};
  EXPECT_FALSE(found()) << "all that the launch may use";
  a.per_rank.first_processor = {0, 2};
  a.per_rank.processors = {2, 2};
  EXPECT_FALSE(found());
}

// 10 s of samples of 10 ms in code of the program's own; what is asked for of it in `function`.
SampledFunction& add_program(Application& a, double seconds) {
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.clock = "cpu";
  s.self = 10;
  s.samples = 1000;
  s.functions.resize(2);
  for (auto& f : s.functions) f.kind = "code";
  s.functions[0].symbol = "relax(Grid&)";
  s.functions[0].source_file = "/src/heat.cpp";
  s.functions[0].line = 40;
  s.functions[0].self = 10 - seconds;
  s.functions[1].self = seconds;
  s.tree.parent = {kNoParent, 0};
  s.tree.function = {0, 1};
  s.tree.self = {10 - seconds, seconds};
  a.per_rank.cpu_seconds.assign(a.ranks, 9.4);
  a.per_rank.waiting_seconds.assign(a.ranks, 0.0);
  a.per_rank.process_cpu_seconds.assign(a.ranks, 9.4);
  return s.functions[1];
}

TEST(Findings, CodeThatWasNotOptimizedIsTheFirstThingToSay) {
  Application a = plain(1);
  SampledFunction& f = add_program(a, 4);
  f.symbol = "solve()";
  f.optimization = "-O0";
  const std::vector<Finding> all = findings_of(a);
  EXPECT_EQ(all.front().id, "not_optimized");
  EXPECT_EQ(all.front().severity, Severity::high);
  EXPECT_THAT(all.front().text,
              HasSubstr("40 % of the CPU time is in code that was compiled without optimization (-O0), "
                        "most of it in solve"));
  f.optimization = "-O2";
  EXPECT_EQ(find(findings_of(a), "not_optimized"), nullptr);
}

TEST(Findings, KernelTimeBeneathTheProgramIsThatOfNoCall) {
  Application a = plain(1);
  add_program(a, 3).symbol = "(kernel)";
  EXPECT_EQ(kernel_beneath(a.samples), (std::vector<double>{3, 0}));
  a.samples.functions[0].kind = "posix";
  EXPECT_EQ(kernel_beneath(a.samples), (std::vector<double>{0, 0}));
}

TEST(Findings, CallersOfAWrapperAreNamedWhereTheyDiffer) {
  Application a = plain(1, 5);
  CallSite& site = a.call_sites.emplace_back();
  site.function = "MPI_Waitall";
  site.symbol = "wrapped_waitall";
  site.source_file = "/src/wrap.c";
  site.line = 7;
  site.seconds = 5;
  SampleProfile& s = a.samples;
  s.functions.resize(5);
  for (std::size_t i = 0; i < 5; ++i) {
    s.functions[i].symbol = std::vector<std::string>{"main", "solve", "setup", "wrapped_waitall", "MPI_Waitall"}[i];
    s.functions[i].kind = i == 4 ? "mpi" : "code";
  }
  s.tree.parent = {kNoParent, 0, 0, 1, 3, 2, 5};
  s.tree.function = {0, 1, 2, 3, 4, 3, 4};
  s.tree.self.assign(7, 0.0);
  s.tree.call_seconds = {0, 0, 0, 0, 4, 0, 1};
  EXPECT_EQ(Facts(a).main_call_site("MPI_Waitall"),
            "wrapped_waitall (wrap.c:7), called by solve (80 %) and setup (20 %)");
  s.tree.call_seconds[6] = 0;
  EXPECT_EQ(Facts(a).main_call_site("MPI_Waitall"), "wrapped_waitall (wrap.c:7)");
}

TEST(Findings, ACallInAStrippedLibraryIsNamedWithTheFunctionThatLedThere) {
  Application a = plain(1, 5);
  CallSite& site = a.call_sites.emplace_back();
  site.function = "MPI_Waitall";
  site.module = "/lib/libslepc.so";
  site.offset = 0x16e647;
  site.seconds = 5;
  SampleProfile& s = a.samples;
  s.functions.resize(5);
  const std::vector<std::pair<std::string, std::string>> names{
      {"main", ""}, {"", "/lib/libslepc.so"}, {"", "/lib/libpetsc.so"}, {"solve", ""}, {"MPI_Waitall", ""}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    s.functions[i].symbol = names[i].first;
    s.functions[i].module = names[i].second;
    s.functions[i].kind = i == 4 ? "mpi" : "code";
  }
  // main, solve, libpetsc.so, libslepc.so, MPI_Waitall; another library calls as well.
  s.tree.parent = {kNoParent, 0, 1, 2, 3, 0, 5};
  s.tree.function = {0, 3, 2, 1, 4, 2, 4};
  s.tree.self.assign(7, 0.0);
  s.tree.call_seconds = {0, 0, 0, 0, 4, 0, 3};
  EXPECT_EQ(Facts(a).main_call_site("MPI_Waitall"), "libslepc.so+0x16e647, called by solve");
  for (const char* nothing : {"_start", "__libc_start_main_impl", "(unknown)", ""}) {
    s.functions[3].symbol = nothing;
    s.functions[0].symbol = "_start";
    EXPECT_EQ(Facts(a).main_call_site("MPI_Waitall"), "libslepc.so+0x16e647") << nothing;
  }
}

// `megabytes` is the memory of rank 1, or of the only rank; the others have 100 MB all the time.
void set_memory(Application& a, const std::vector<double>& megabytes) {
  a.hosts = {"node1"};
  a.per_rank.host.assign(a.ranks, 0);
  a.memory.bins = static_cast<std::uint32_t>(megabytes.size());
  a.memory.bin_seconds = 10;
  a.wall_seconds = 10 * a.memory.bins;
  a.memory.host_bytes = {std::uint64_t{2'000'000'000}};
  a.memory.limit_bytes = {0};
  a.memory.peak_bytes.assign(a.memory.bins * a.ranks, 100'000'000);
  const std::size_t first = a.ranks == 1 ? 0 : a.memory.bins;
  for (std::size_t i = 0; i < megabytes.size(); ++i)
    a.memory.peak_bytes[first + i] = static_cast<std::uint64_t>(megabytes[i] * 1e6);
}

TEST(Findings, SteadyGrowthOfMemoryIsNoticedAndItsSetUpIsNot) {
  Application a = plain(4);
  set_memory(a, {100, 150, 200, 250, 300, 350, 400, 450, 500});
  const std::vector<Finding> all = findings_of(a);
  const Finding* found = find(all, "memory_growth");
  ASSERT_NE(found, nullptr);
  EXPECT_THAT(found->text, AllOf(HasSubstr("Memory of rank 1 grows steadily, memory of the others does not"),
                                 HasSubstr("in the last 50.0 s"), HasSubstr("the host is full in 240 s")));
  EXPECT_EQ(found->severity, Severity::medium);
  a.memory.host_bytes = {std::uint64_t{20'000'000'000}};
  EXPECT_THAT(find(findings_of(a), "memory_growth")->text, Not(HasSubstr("is full in")))
      << "50 s say nothing of an hour";
  a.wall_seconds = 9;
  EXPECT_THAT(find(findings_of(a), "memory_growth")->text, HasSubstr("may be the program's set-up"));
  set_memory(a, {100, 200, 300, 400, 450, 500, 540, 550, 550});
  EXPECT_EQ(find(findings_of(a), "memory_growth"), nullptr) << "it does not go on";
  set_memory(a, {100, 300, 500, 500, 500, 500, 500, 500, 500});
  EXPECT_EQ(find(findings_of(a), "memory_growth"), nullptr) << "in the beginning only";
  set_memory(a, {100, 100, 100, 100, 100, 100, 500, 500, 500});
  EXPECT_EQ(find(findings_of(a), "memory_growth"), nullptr) << "one step";
  set_memory(a, {100, 101, 102, 103, 104, 105, 106, 107, 108});
  EXPECT_EQ(find(findings_of(a), "memory_growth"), nullptr) << "next to nothing";
}

TEST(Findings, AHostThatIsNearlyFullIsNoticed) {
  Application a = plain(4);
  set_memory(a, {100});
  a.per_rank.peak_memory_bytes.assign(4, 1'900'000'000);
  const std::vector<Finding> all = findings_of(a);
  ASSERT_NE(find(all, "memory_nearly_full"), nullptr);
  EXPECT_THAT(find(all, "memory_nearly_full")->text, HasSubstr("The 4 ranks on the host need"));
  Application single = plain(1);
  set_memory(single, {100});
  single.per_rank.peak_memory_bytes.assign(1, 7'600'000'000);
  EXPECT_THAT(find(findings_of(single), "memory_nearly_full")->text,
              AllOf(HasSubstr("The rank on the host needs"), HasSubstr("at its peak, of"), HasSubstr("ends it.")));
  a.memory.host_bytes = {std::uint64_t{16'000'000'000}};
  EXPECT_EQ(find(findings_of(a), "memory_nearly_full"), nullptr);
}

TEST(Findings, ObjectsThatAreNeverFreedAndProgramsThatAreStarted) {
  Application a = plain(4);
  add(a, "MPI_Comm_dup", "management", 0, 400);
  add(a, "MPI_Comm_free", "management", 0, 100);
  EXPECT_THAT(find(findings_of(a), "leaked_communicators")->text, HasSubstr("75 per rank remain on average"));
  a.mpi.back().calls = 400;
  EXPECT_EQ(find(findings_of(a), "leaked_communicators"), nullptr);
  add(a, "MPI_Type_contiguous", "datatype", 0, 400);
  add(a, "MPI_Comm_disconnect", "management", 0, 400);
  EXPECT_THAT(find(findings_of(a), "leaked_datatypes")->text, HasSubstr("none is freed, 100 per rank remain"))
      << "that frees communicators";
  add(a, "MPI_Type_free", "datatype", 0, 1);
  EXPECT_THAT(find(findings_of(a), "leaked_datatypes")->text, HasSubstr("1 is freed"));
  EXPECT_EQ(find(findings_of(a), "spawned_programs"), nullptr);
  add(a, "MPI_Comm_spawn_multiple", "management", 0, 1);
  EXPECT_THAT(find(findings_of(a), "spawned_programs")->text, HasSubstr("not measured"));
}

// A row that sums up many files is true of none of them.
TEST(Findings, MergedFilesAreNoFile) {
  for (const std::string_view name : {kFurtherFiles, kUnknownFile, kPythonModules}) {
    Application a = plain(2);
    a.posix.resize(2);
    for (FunctionProfile& f : a.posix) f.calls = 40000, f.seconds = 5;
    a.posix[0].function = "open";
    a.posix[0].category = "metadata";
    a.posix[0].seconds = 0.1;
    a.posix[1].function = "read";
    a.posix[1].bytes = a.posix[1].bytes_received = 400000;
    FileProfile file{.path = "/data/input", .opens = 7232, .reads = 20000, .calls = 30000};
    file.bytes_read = 200000;
    file.seconds = 4;
    file.ranks = 2;
    file.forward = file.backward = 5000;
    a.files = {file, {.path = "/data/other", .opens = 1}};
    PathPart& part = a.waiting.critical_path.emplace_back();
    part.kind = "io";
    part.seconds = a.waiting.critical_path_seconds = 5;
    part.by_rank = {{0, 5}};
    EXPECT_THAT(findings_of(a)[0].text, HasSubstr("input"));
    a.files[0].path = name;
    for (const Finding& each : findings_of(a)) EXPECT_THAT(each.text, Not(HasSubstr(std::string(name)))) << each.id;
  }
}

TEST(Findings, MergedMarksAreNoSeries) {
  Application a = with_iterations();
  for (const std::size_t iteration : {37u, 38u, 39u, 40u}) prolong(a, iteration, 0.08);
  a.snapshots.series[0].trigger = "snapshot";
  a.snapshots.series[0].name = "step";
  EXPECT_NE(find(findings_of(a), "slow_iterations"), nullptr);
  a.snapshots.series[0].name = kFurtherNames;
  EXPECT_EQ(find(findings_of(a), "slow_iterations"), nullptr);
}

TEST(CallSiteName, SaysWhatIsKnown) {
  CallSite s;
  EXPECT_EQ(name_of(s), "unknown place");
  s.module = "/usr/bin/solver";
  s.offset = 0x4a20;
  EXPECT_EQ(name_of(s), "solver+0x4a20");
  s.symbol = "Grid::step(int, double)";
  EXPECT_EQ(name_of(s), "Grid::step");
  s.source_file = "/src/a/grid.cpp";
  s.line = 7;
  EXPECT_EQ(name_of(s), "Grid::step (grid.cpp:7)");
  s.symbol = "(anonymous namespace)::f(int)";
  EXPECT_EQ(name_of(s), "(anonymous namespace)::f(int) (grid.cpp:7)");
  s.symbol = "f(int) [OpenMP region 2]";
  EXPECT_EQ(name_of(s), "f [OpenMP region 2] (grid.cpp:7)");
  for (const char* module : {"[solver (deleted)]", "[(program)]"}) EXPECT_EQ(without_parameters(module), module);
  EXPECT_EQ(base_name("/a/b//"), "b");
  EXPECT_EQ(base_name("///"), "///");
}

}  // namespace
}  // namespace ardoise::reports

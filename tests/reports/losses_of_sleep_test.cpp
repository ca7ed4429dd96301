// Losses of ranks that sleep: by the reason of the sleep, and no more than the others wait for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reports/losses_by_code.hpp"
#include "tests/reports/two_ranks.hpp"

namespace ardoise::reports {
namespace {

using testing::add_part;
using testing::add_sampled;
using ::testing::HasSubstr;
using testing::losses_by_code;
using ::testing::Not;
using testing::two_ranks;

// Rank 0 sleeps for 8 s, 5 of which the other waits for it. All looks find this reason;
// nullptr: none does.
Application one_sleeps(std::vector<std::uint32_t> RankSummary::*reason) {
  Application a = two_ranks({2, 5}, {0, 0});
  a.per_rank.mpi_seconds = {0, 5};
  add_part(a, "other", 8);
  add_part(a, "computation", 2).symbol = "evolve";
  a.waiting.per_rank.waiting_seconds = {0, 5};
  a.waiting.per_rank.caused_seconds = {5, 0};
  for (const auto each : {&RankSummary::asleep_for_thread, &RankSummary::asleep_for_time,
                          &RankSummary::asleep_for_program, &RankSummary::asleep_for_file_lock})
    a.per_rank.*each = {0, 0};
  if (reason != nullptr) a.per_rank.*reason = {100, 0};
  return a;
}

TEST(LossesOfSleep, SleepCostsNoMoreThanOthersWait) {
  Application a = two_ranks({2, 9}, {0, 0});
  a.per_rank.mpi_seconds = {0, 1};
  add_part(a, "other", 8);
  add_part(a, "computation", 2).symbol = "deal";
  a.waiting.per_rank.waiting_seconds = {0, 0.1};
  EXPECT_FALSE(losses_by_code(a).contains("late.asleep") && losses_by_code(a).at("late.asleep").ceiling > 0.1);
  a.waiting.per_rank.waiting_seconds = {0, 5};
  EXPECT_FALSE(losses_by_code(a).contains("late.asleep")) << "it does not wait for the one that sleeps";
  a.waiting.per_rank.caused_seconds = {5, 0};
  ASSERT_TRUE(losses_by_code(a).contains("late.asleep"));
  EXPECT_NEAR(losses_by_code(a).at("late.asleep").ceiling, 5, 0.01);
}

// Both ranks sleep for 5 s between 1,000 tests for 200 messages.
TEST(LossesOfSleep, APauseAtEachEndOfAMessageIsTooLong) {
  Application a = two_ranks({5, 5}, {0, 0});
  add_part(a, "other", 5);
  add_part(a, "computation", 5).symbol = "evolve";
  CallSite& tests = a.call_sites.emplace_back();
  tests.function = "MPI_Testall";
  tests.symbol = "finish";
  tests.calls = 1000;
  tests.ranks = 2;
  Edge& edge = a.edges.emplace_back();
  edge.messages = 200;
  ASSERT_TRUE(losses_by_code(a).contains("poll.sleep"));
  EXPECT_NEAR(losses_by_code(a).at("poll.sleep").ceiling, 2, 0.05) << "10 ms at each end of 100 messages";
}

TEST(LossesOfSleep, RanksThatStartOtherProgramsWaitForThem) {
  Application a = one_sleeps(nullptr);
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.samples = 1000;
  s.self = 7;
  for (const char* symbol : {"main", "convert"}) add_sampled(s, symbol).module = "solver";
  for (const char* symbol : {"do_system", "posix_spawn"}) add_sampled(s, symbol).module = "/lib/libc.so.6";
  s.tree.parent = {kNoParent, 0, 1, 2};
  s.tree.function = {0, 1, 2, 3};
  s.tree.self = {6.5, 0, 0.1, 0.4};
  ASSERT_TRUE(losses_by_code(a).contains("ovh.programs"));
  EXPECT_THAT(losses_by_code(a).at("ovh.programs").text, HasSubstr("other programs are started meanwhile, in convert"));
  s.tree.self = {6.9, 0, 0.1, 0};
  EXPECT_TRUE(losses_by_code(a).contains("late.asleep")) << "few starts";
  a.per_rank.children_cpu_seconds = {3, 0};
  ASSERT_TRUE(losses_by_code(a).contains("ovh.programs"));
  EXPECT_THAT(losses_by_code(a).at("ovh.programs").text, HasSubstr("that it starts meanwhile use 3.00 s of CPU time"));
}

TEST(LossesOfSleep, TheReasonOfASleepIsSaid) {
  const auto found = [](std::vector<std::uint32_t> RankSummary::*reason, const std::string& code) {
    const auto losses = losses_by_code(one_sleeps(reason));
    EXPECT_TRUE(losses.contains(code)) << code;
    if (!losses.contains(code)) return Loss{};
    EXPECT_NEAR(losses.at(code).ceiling, 5, 0.01);
    return losses.at(code);
  };
  EXPECT_THAT(found(nullptr, "late.asleep").text, HasSubstr("Rank 0 sleeps or is blocked outside MPI for 8.00 s"));
  EXPECT_THAT(found(&RankSummary::asleep_for_time, "late.asleep").text, HasSubstr("Rank 0 sleeps outside MPI"));
  EXPECT_THAT(found(&RankSummary::asleep_for_file_lock, "io.lock").text, HasSubstr("Rank 0 waits for locks of files"));
  EXPECT_THAT(found(&RankSummary::asleep_for_program, "ovh.programs").text, HasSubstr("programs that it starts"));
  const Loss blocked = found(&RankSummary::asleep_for_thread, "thr.lock");
  EXPECT_THAT(blocked.text, HasSubstr("Rank 0 waits for another thread or process"));
  EXPECT_THAT(blocked.text, Not(HasSubstr("CPU time")));
  EXPECT_THAT(blocked.advice, HasSubstr("holder of the lock"));
}

TEST(LossesOfSleep, ThePlaceWithMostLooksIsSaid) {
  Application a = one_sleeps(&RankSummary::asleep_for_thread);
  a.sleep_sites = {{"update_table()", "/src/lock.cpp", 17, "/bin/lock", 0x120, 60, 1}};
  EXPECT_THAT(losses_by_code(a).at("thr.lock").text, HasSubstr("waits in update_table (lock.cpp:17) for another"));
  a.per_rank.asleep_for_thread = {0, 0};
  EXPECT_THAT(losses_by_code(a).at("late.asleep").text, HasSubstr("blocked in update_table (lock.cpp:17) for 8.00 s"));
  a.sleep_sites[0].looks = 40;
  EXPECT_THAT(losses_by_code(a).at("late.asleep").text, HasSubstr("blocked outside MPI")) << "many places";
}

TEST(LossesOfSleep, AFirstThreadThatWaitsForWorkingThreads) {
  Application a = one_sleeps(&RankSummary::asleep_for_thread);
  a.per_rank.process_cpu_seconds[0] += 1;
  ASSERT_TRUE(losses_by_code(a).contains("thr.lock"));
  EXPECT_THAT(losses_by_code(a).at("thr.lock").text, HasSubstr("other threads use 1.00 s of CPU time"));
  a.per_rank.process_cpu_seconds = {3, 9};
  EXPECT_TRUE(losses_by_code(a).contains("thr.uneven")) << "they work as long as the first threads, on rank 1";
  a.per_rank.process_cpu_seconds = {7, 5};
  EXPECT_TRUE(losses_by_code(a).contains("thr.uneven")) << "they work while rank 0 waits";
}

// Both ranks sleep for 8 s.
TEST(LossesOfSleep, RanksThatWaitForLocksUseNoDevice) {
  Application a = two_ranks({2, 2}, {0, 0});
  add_part(a, "other", 8);
  add_part(a, "computation", 2).symbol = "evolve";
  EXPECT_FALSE(losses_by_code(a).contains("late.asleep"));
  a.per_rank.asleep_for_thread = a.per_rank.asleep_for_time = a.per_rank.asleep_for_program = {0, 0};
  a.per_rank.asleep_for_file_lock = {60, 60};
  ASSERT_TRUE(losses_by_code(a).contains("io.lock"));
  EXPECT_NEAR(losses_by_code(a).at("io.lock").ceiling, 0.6 * 8, 0.01) << "the rest may be for a device";
  EXPECT_FALSE(losses_by_code(a).contains("late.asleep"));
}

}  // namespace
}  // namespace ardoise::reports

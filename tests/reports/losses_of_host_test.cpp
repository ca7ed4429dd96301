// Losses of ranks that lack processors, which own threads may cause; time in the kernel; and paths on which records are
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/losses/host_threads.hpp"
#include "tests/reports/losses_by_code.hpp"
#include "tests/reports/two_ranks.hpp"

namespace ardoise::reports {
namespace {

using testing::add_part;
using testing::add_sampled;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::losses_by_code;
using testing::two_ranks;

TEST(LossesOfHost, AThreadThatSpinsTakesAProcessorFromTheOthers) {
  Application a = two_ranks({6, 6}, {4, 4});
  add_part(a, "other", 4);
  add_part(a, "computation", 6).symbol = "evolve";
  EXPECT_TRUE(losses_by_code(a).contains("node.foreign")) << "two threads on two processors";

  a.per_rank.process_cpu_seconds = {12, 6};
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.samples = 1000;
  s.self = 18;
  for (const char* symbol : {"main", "evolve", "clone3", "await_job"}) add_sampled(s, symbol);
  s.tree.parent = {kNoParent, 0, kNoParent, 2};
  s.tree.function = {0, 1, 2, 3};
  s.tree.self = {0, 12, 0, 6};
  const auto losses = losses_by_code(a);
  ASSERT_TRUE(losses.contains("node.oversub"));
  EXPECT_THAT(losses.at("node.oversub").text, HasSubstr("1.5 threads for each processor"));
  EXPECT_THAT(losses.at("node.oversub").text, HasSubstr("6.00 s of CPU time in await_job"));
}

TEST(LossesOfHost, TheLaunchsOtherProgramsAreNoForeignLoad) {
  Application a = two_ranks({5, 5}, {5, 5});
  add_part(a, "other", 5);
  add_part(a, "computation", 5).symbol = "evolve";
  reports::Run run;
  run.applications = {a, a};
  EXPECT_TRUE(losses_by_code(run.applications[0]).contains("node.foreign"));
  count_other_threads(run);
  EXPECT_THAT(run.applications[0].other_threads, ElementsAre(2));
  ASSERT_TRUE(losses_by_code(run.applications[0]).contains("node.oversub"));
  EXPECT_THAT(losses_by_code(run.applications[0]).at("node.oversub").text, HasSubstr("2.0 threads for each processor"));

  run.applications[1].start_seconds = 7.5;
  count_other_threads(run);
  EXPECT_THAT(run.applications[0].other_threads, ElementsAre(0.5)) << "a quarter of the time";
  run.applications[1].start_seconds = 10;
  count_other_threads(run);
  EXPECT_THAT(losses_by_code(run.applications[0]).at("node.foreign").text, HasSubstr("each thread of this launch"));
  run.applications[1].start_seconds = 0;
  run.applications[1].hosts = {"node2"};
  count_other_threads(run);
  EXPECT_THAT(run.applications[0].other_threads, ElementsAre(0)) << "another host";
}

// Two equal ranks, and the first one, which sleeps and lacks a processor for 4 s. cpu: of that one and of each other.
Application three_ranks(const std::vector<double>& cpu, std::uint32_t processors) {
  Application a = two_ranks(cpu, {4, 0});
  a.ranks = 3;
  for (std::vector<double>* each :
       {&a.per_rank.wall_seconds, &a.per_rank.mpi_seconds, &a.per_rank.io_seconds, &a.per_rank.cpu_seconds,
        &a.per_rank.process_cpu_seconds, &a.per_rank.waiting_seconds})
    each->push_back(each->back());
  a.per_rank.host = {0, 0, 0};
  a.per_rank.host_processors = {processors, processors, processors};
  a.per_rank.asleep_outside = {100, 0, 0};
  a.per_rank.asleep_inside = {0, 0, 0};
  return a;
}

// The first of three ranks hands out work and lacks a processor for 4 s.
TEST(LossesOfHost, AProcessorThatAFewRanksLackCostsNoMoreThanOthersWait) {
  Application a = three_ranks({1, 10}, 3);
  a.waiting.per_rank.waiting_seconds = a.waiting.per_rank.caused_seconds = {0, 0, 0};
  add_part(a, "other", 10);
  EXPECT_FALSE(losses_by_code(a).contains("node.foreign"));
  a.waiting.per_rank.waiting_seconds = {0, 3, 2};
  a.waiting.per_rank.caused_seconds = {5, 0, 0};
  ASSERT_TRUE(losses_by_code(a).contains("node.foreign"));
  EXPECT_NEAR(losses_by_code(a).at("node.foreign").ceiling, 3, 0.01);
  EXPECT_THAT(losses_by_code(a).at("node.foreign").text, HasSubstr("Rank 0 waits"));
}

// Three ranks on two processors. The first one lacks a processor for 4 s, since the others work all the time.
TEST(LossesOfHost, RanksThatFillTheirHostAreNoForeignLoad) {
  Application a = three_ranks({0.1, 9.8}, 2);
  a.waiting.per_rank.waiting_seconds = {0, 3, 3};
  a.waiting.per_rank.caused_seconds = {6, 0, 0};
  add_part(a, "other", 10);
  ASSERT_TRUE(losses_by_code(a).contains("node.oversub"));
  EXPECT_THAT(losses_by_code(a).at("node.oversub").text, HasSubstr("other ranks keep the processors of the host busy"));
  a.per_rank.process_cpu_seconds = {0.1, 5, 5};
  EXPECT_TRUE(losses_by_code(a).contains("node.foreign"));

  // It only asks for messages.
  a.per_rank.mpi_seconds[0] = 10;
  PathPart& part = a.waiting.critical_path[0];
  part.kind = "mpi";
  part.function = "MPI_Iprobe";
  EXPECT_FALSE(losses_by_code(a).contains("node.foreign"));
}

// A third of the CPU time is in the kernel, beneath one function or in unknown places.
TEST(LossesOfHost, FreshMemoryIsToldInTheLanguageOfTheProgram) {
  const auto found = [](const char* file, bool placed) {
    Application a = two_ranks({10, 10}, {0, 0});
    a.per_rank.asleep_outside = {0, 0};
    add_part(a, "other", 3);
    add_part(a, "computation", 7).symbol = "advance";
    SampleProfile& s = a.samples;
    s.unit = "seconds";
    s.samples = 1000;
    s.self = 20;
    s.kernel = 6;
    SampledFunction& advance = add_sampled(s, "advance");
    advance.source_file = file;
    advance.self = 14;
    add_sampled(s, "(kernel)").self = 6;
    s.per_rank.functions = {1};
    s.per_rank.self = {3, 3};
    s.tree.parent = {kNoParent, 0, kNoParent};
    s.tree.function = {0, 1, 1};
    s.tree.self = {14, placed ? 5. : 1., placed ? 1. : 5.};
    const auto losses = losses_by_code(a);
    return losses.contains("mem.faults") ? losses.at("mem.faults") : Loss{};
  };
  EXPECT_NEAR(found("solver.c", true).ceiling, 3, 0.05);
  EXPECT_THAT(found("solver.c", true).text, HasSubstr("most of it below advance"));
  EXPECT_THAT(found("solver.c", false).text, ::testing::Not(HasSubstr("below")));
  EXPECT_EQ(found("solver.c", true).advice, "") << "that of the code";
  EXPECT_THAT(found("solver.F90", true).advice, HasSubstr("-Warray-temporaries"));
  EXPECT_THAT(found("solver.py", true).advice, HasSubstr("np.append"));
}

TEST(LossesOfHost, RanksThatAreBoundToTheSameProcessor) {
  Application a = two_ranks({5, 5}, {5, 5});
  add_part(a, "other", 5);
  add_part(a, "computation", 5).symbol = "evolve";
  a.per_rank.processors = {1, 1};
  a.per_rank.first_processor = {0, 1};
  EXPECT_TRUE(losses_by_code(a).contains("node.foreign"));
  a.per_rank.first_processor = {1, 1};
  ASSERT_TRUE(losses_by_code(a).contains("node.bind"));
  EXPECT_THAT(losses_by_code(a).at("node.bind").text,
              HasSubstr("Both ranks may use processor 1 only, for 2.0 threads"));
  EXPECT_FALSE(losses_by_code(a).contains("node.foreign"));
}

// 4 s of work and 4 s of a million small messages a rank; single records are missing on 6 of 10 s.
TEST(LossesOfHost, APathWithoutRecordsIsFilledWithSums) {
  Application a = two_ranks({4, 4}, {2, 2});
  a.per_rank.mpi_seconds = {4, 4};
  a.per_rank.asleep_outside = {0, 0};
  FunctionProfile& function = a.mpi.emplace_back();
  function.function = "MPI_Send";
  function.category = "point-to-point";
  function.calls = 2'000'000;
  function.seconds = 8;
  CallSite& site = a.call_sites.emplace_back();
  site.function = "MPI_Send";
  site.symbol = "hand_over";
  site.calls = 2'000'000;
  site.bytes = 16'000'000;
  site.seconds = 8;
  site.min_seconds = 1e-6;
  site.ranks = 2;
  add_part(a, "other", 8);
  add_part(a, "computation", 1).symbol = "move";
  PathPart& call = add_part(a, "mpi", 1);
  call.function = "MPI_Send";
  call.symbol = "hand_over";
  const auto tiny = [&] {
    return losses_by_code(a).contains("ovh.tiny") ? losses_by_code(a).at("ovh.tiny").ceiling : 0;
  };
  EXPECT_NEAR(tiny(), 1, 0.01) << "all records are there: the path is elsewhere";
  a.waiting.unresolved.message_ends.folded = 1;
  EXPECT_NEAR(tiny(), 4, 0.05);
}

}  // namespace
}  // namespace ardoise::reports

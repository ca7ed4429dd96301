// Losses of calls by what single calls tell: their length, their bytes, the processors that a rank may use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/reports/losses_by_code.hpp"
#include "tests/reports/two_ranks.hpp"

namespace ardoise::reports {
namespace {

using testing::add_part;
using ::testing::HasSubstr;
using testing::losses_by_code;
using testing::two_ranks;

FunctionProfile& add_function(Application& a, const char* function, const char* category) {
  FunctionProfile& profile = a.mpi.emplace_back();
  profile.function = function;
  profile.category = category;
  profile.calls = 2;
  return profile;
}

// 6 s of work, and 4 s in calls of one site, all on the critical path.
Application with_calls(const char* function, const char* category, std::uint64_t calls, double shortest) {
  Application a = two_ranks({6, 6}, {0, 0});
  a.per_rank.asleep_outside = {0, 0};
  a.per_rank.mpi_seconds = {4, 4};
  FunctionProfile& profile = add_function(a, function, category);
  profile.calls = calls;
  profile.seconds = 4;
  CallSite& site = a.call_sites.emplace_back();
  site.function = function;
  site.symbol = "exchange";
  site.calls = calls;
  site.seconds = 4;
  site.mean_seconds = 4.0 / static_cast<double>(calls);
  site.min_seconds = shortest;
  site.ranks = 2;
  add_part(a, "computation", 6).symbol = "advance";
  PathPart& part = add_part(a, "mpi", 4);
  part.function = function;
  part.symbol = "exchange";
  return a;
}

TEST(LossesOfCalls, OperationsOnWindowsThatWaitForAWorkingTarget) {
  const Application slow = with_calls("MPI_Fetch_and_op", "one-sided", 2000, 1e-6);
  ASSERT_TRUE(losses_by_code(slow).contains("rma.progress"));
  EXPECT_NEAR(losses_by_code(slow).at("rma.progress").ceiling, 4, 0.01);
  EXPECT_THAT(losses_by_code(slow).at("rma.progress").text, HasSubstr("exchange"));
  EXPECT_THAT(losses_by_code(slow).at("rma.progress").text, HasSubstr("2.00 ms each, at least 1.00 µs"));
  EXPECT_FALSE(losses_by_code(with_calls("MPI_Fetch_and_op", "one-sided", 2000, 1e-3)).contains("rma.progress"))
      << "the shortest takes long, too: the network";
  EXPECT_FALSE(losses_by_code(with_calls("MPI_Fetch_and_op", "one-sided", 100'000, 1e-7)).contains("rma.progress"))
      << "many short ones";
  EXPECT_FALSE(losses_by_code(with_calls("MPI_Put", "one-sided", 2000, 1e-6)).contains("rma.progress"))
      << "it does not wait for the target";
}

// 4 s in 80 collective writes of 1 MB, 20 ms the fastest.
TEST(LossesOfCalls, WritesThroughAView) {
  Application a = with_calls("MPI_File_write_all", "io", 80, 0.02);
  a.mpi[0].bytes = a.call_sites[0].bytes = 80'000'000;
  EXPECT_FALSE(losses_by_code(a).contains("io.independent"));
  add_function(a, "MPI_File_write_at", "io");
  add_function(a, "MPI_File_set_view", "io");
  EXPECT_FALSE(losses_by_code(a).contains("io.independent")) << "a view without pieces";
  add_function(a, "MPI_Type_vector", "datatype");
  EXPECT_FALSE(losses_by_code(a).contains("io.independent")) << "the collective call joins the pieces";
  a.mpi[0].function = a.call_sites[0].function = a.waiting.critical_path.back().function = "MPI_File_write";
  ASSERT_TRUE(losses_by_code(a).contains("io.independent"));
  EXPECT_THAT(losses_by_code(a).at("io.independent").text, HasSubstr("through a view (MPI_File_set_view)"));
  a.call_sites[0].min_seconds = 0.001;
  EXPECT_FALSE(losses_by_code(a).contains("io.independent") &&
               losses_by_code(a).at("io.independent").text.find("through a view") != std::string::npos)
      << "1 GB/s at best";
}

TEST(LossesOfCalls, SmallRecordsAreCollectedBeforeCallsAreJoined) {
  const auto advice = [](std::uint64_t bytes) {
    Application a = with_calls("MPI_File_write_shared", "io", 200'000, 1e-6);
    a.mpi[0].bytes = a.call_sites[0].bytes = bytes * 200'000;
    const auto losses = losses_by_code(a);
    return losses.contains("io.independent") ? losses.at("io.independent").advice : "none";
  };
  EXPECT_THAT(advice(32), HasSubstr("large blocks"));
  EXPECT_THAT(advice(100'000), ::testing::Not(HasSubstr("large blocks")));
}

// 4 s in 2,000 writes of 8 bytes.
TEST(LossesOfCalls, SmallWritesThatWaitForTheDisk) {
  const auto codes = [](double shortest) {
    Application a = two_ranks({6, 6}, {0, 0});
    a.per_rank.asleep_outside = {0, 0};
    a.per_rank.io_seconds = {4, 4};
    FunctionProfile& profile = a.posix.emplace_back();
    profile.function = "write";
    profile.category = "write";
    profile.calls = 4000;
    profile.seconds = 8;
    profile.bytes = 32'000;
    CallSite& site = a.call_sites.emplace_back();
    site.function = "write";
    site.symbol = "store";
    site.calls = 4000;
    site.seconds = 8;
    site.bytes = 32'000;
    site.min_seconds = shortest;
    site.ranks = 2;
    add_part(a, "computation", 6).symbol = "advance";
    add_part(a, "io", 4);
    return losses_by_code(a);
  };
  ASSERT_TRUE(codes(1e-4).contains("io.sync"));
  EXPECT_THAT(codes(1e-4).at("io.sync").text, HasSubstr("4,000 calls to write, called from store, 8 B each"));
  EXPECT_NEAR(codes(1e-4).at("io.sync").ceiling, 4, 0.01);
  EXPECT_FALSE(codes(1e-4).contains("io.small"));
  EXPECT_FALSE(codes(1e-6).contains("io.sync")) << "most wait for something else";
  EXPECT_TRUE(codes(1e-6).contains("io.small"));
}

// Two ranks of two threads each, bound to one processor each, on a host of eight.
TEST(LossesOfCalls, ABindingIsNarrowOnlyWhereTheHostHasProcessorsLeft) {
  Application a = two_ranks({10, 10}, {0, 0});
  a.per_rank.asleep_outside = {0, 0};
  a.per_rank.process_cpu_seconds = {10, 10};
  a.per_rank.processors = {1, 1};
  a.per_rank.first_processor = {0, 1};
  a.per_rank.host_processors = {8, 8};
  add_part(a, "computation", 10).symbol = "evolve";
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.samples = 1000;
  s.self = 20;
  s.functions.emplace_back().symbol = "evolve";
  s.functions[0].kind = "code";
  s.functions[0].self = 20;
  s.threads.rank = {0, 0, 1, 1};
  s.threads.thread = {0, 1, 0, 1};
  s.threads.self = {5, 5, 5, 5};
  s.threads.in_calls = {0, 0, 0, 0};
  ASSERT_TRUE(losses_by_code(a).contains("node.bind"));
  EXPECT_NEAR(losses_by_code(a).at("node.bind").ceiling, 5, 0.01);
  a.per_rank.host_processors = {2, 2};
  EXPECT_FALSE(losses_by_code(a).contains("node.bind")) << "all processors are given to ranks";
  a.per_rank.host_processors = {8, 8};
  a.per_rank.processors = {2, 2};
  EXPECT_FALSE(losses_by_code(a).contains("node.bind")) << "one for each thread";
}

// 4 s in 100 waits of a rank, each for the end of 200 sends.
TEST(LossesOfCalls, ManySmallTransfersThatEndInFewWaits) {
  const auto codes = [](std::uint64_t sends) {
    Application a = with_calls("MPI_Waitall", "wait", 200, 1e-3);
    CallSite& start = a.call_sites.emplace_back();
    start.function = "MPI_Isend";
    start.symbol = "offer";
    start.calls = start.operations = sends;
    start.bytes = 8 * sends;
    start.ranks = 2;
    start.flight_seconds = start.waited_seconds = 8;
    return losses_by_code(a);
  };
  ASSERT_TRUE(codes(40'000).contains("ovh.tiny"));
  EXPECT_THAT(codes(40'000).at("ovh.tiny").text, HasSubstr("20,000 transfers of 8 B, which MPI_Isend in offer starts"));
  EXPECT_FALSE(codes(200).contains("ovh.tiny"));
}

// Two lines that reduce a number each, 100,000 times; each pair takes 40 us.
TEST(LossesOfCalls, CollectivesWithoutWorkInBetweenAreOfElements) {
  const auto codes = [](double round) {
    Application a = with_calls("MPI_Allreduce", "collective", 200'000, 1e-6);
    a.call_sites[0].bytes = 8 * 200'000;
    a.call_sites.push_back(a.call_sites[0]);
    a.call_sites[1].line = 9;
    SnapshotSeries& loop = a.snapshots.series.emplace_back();
    loop.trigger = "iteration";
    loop.function = "MPI_Allreduce";
    loop.symbol = "exchange";
    loop.rounds.assign(100, 1000);
    for (int i = 0; i < 100; ++i) {
      loop.begin_seconds.push_back(0.1 * i);
      loop.seconds.push_back(1000 * round);
    }
    return losses_by_code(a);
  };
  ASSERT_TRUE(codes(40e-6).contains("ovh.element"));
  EXPECT_THAT(codes(40e-6).at("ovh.element").advice, HasSubstr("all elements"));
  EXPECT_FALSE(codes(40e-6).contains("ovh.fuse"));
  EXPECT_TRUE(codes(400e-6).contains("ovh.fuse")) << "work between the pairs";
}

// The path has 2 s more work than a rank: the other rank is in files meanwhile, and waits for a moment.
TEST(LossesOfCalls, UnevenWorkCostsNoMoreThanOthersHaveTimeLeft) {
  const auto ceilings = [](double io) {
    Application a = two_ranks({10, 10 - 4}, {0, 0});
    a.per_rank.asleep_outside = {0, 0};
    a.per_rank.io_seconds = {0, io};
    a.per_rank.mpi_seconds = {0, 4 - io};
    a.waiting.per_rank.waiting_seconds = {0, 4 - io};
    add_part(a, "computation", 10).symbol = "advance";
    return RunView(a).imbalance();
  };
  EXPECT_NEAR(ceilings(0), 2, 0.01);
  EXPECT_NEAR(ceilings(3.9), 0.05, 0.01);
}

// 1,000 opens of two files, with as many small writes.
TEST(LossesOfCalls, AFileThatStaysOpenCollectsItsSmallWrites) {
  const auto meta = [](std::uint64_t writes) {
    Application a = two_ranks({6, 6}, {0, 0});
    a.per_rank.asleep_outside = {0, 0};
    a.per_rank.io_seconds = {4, 4};
    const auto add = [&](const char* function, const char* category, std::uint64_t calls) {
      FunctionProfile& profile = a.posix.emplace_back();
      profile.function = function;
      profile.category = category;
      profile.calls = calls;
      profile.seconds = 4;
      profile.bytes = std::string(function) == "write" ? 8 * calls : 0;
    };
    add("open", "metadata", 1000);
    add("write", "write", writes);
    for (const char* const path : {"a.log", "b.log"}) {
      FileProfile& file = a.files.emplace_back();
      file.path = path;
      file.opens = 500;
    }
    add_part(a, "computation", 6).symbol = "advance";
    add_part(a, "io", 4);
    return losses_by_code(a).at("io.meta").ceiling;
  };
  EXPECT_NEAR(meta(1000), 4, 0.01);
  EXPECT_NEAR(meta(50'000), 2, 0.01) << "the writes cost of their own";
}

// Ranks with 6 s of work and, of the rest, seconds in stat.
Application asking_for_files(double of_rank_0, double of_rank_1, std::uint64_t calls) {
  Application a = two_ranks({6, 6}, {0, 0});
  a.per_rank.io_seconds = {of_rank_0, of_rank_1};
  FunctionProfile& profile = a.posix.emplace_back();
  profile.function = "stat";
  profile.category = "metadata";
  profile.calls = calls;
  profile.seconds = of_rank_0 + of_rank_1;
  CallSite& site = a.call_sites.emplace_back();
  site.function = "stat";
  site.symbol = "newest";
  site.calls = calls;
  site.seconds = profile.seconds;
  site.ranks = of_rank_1 > 0 ? 2 : 1;
  add_part(a, "computation", 6).symbol = "advance";
  return a;
}

TEST(LossesOfCalls, FilesAreAskedForByName) {
  Application all = asking_for_files(4, 4, 100'000);
  all.per_rank.asleep_outside = {0, 0};
  add_part(all, "io", 4);
  ASSERT_TRUE(losses_by_code(all).contains("io.meta"));
  EXPECT_THAT(losses_by_code(all).at("io.meta").text, HasSubstr("names of files in 100,000 calls"));
  EXPECT_THAT(losses_by_code(all).at("io.meta").advice, HasSubstr("Ask once"));
  Application one = asking_for_files(4, 0, 100'000);
  one.per_rank.asleep_outside = {0, 0};
  one.per_rank.mpi_seconds = {0, 4};
  add_part(one, "io", 4);
  ASSERT_TRUE(losses_by_code(one).contains("io.meta"));
  EXPECT_THAT(losses_by_code(one).at("io.meta").text, HasSubstr("Rank 0 asks for or changes names of files"));
}

// Rank 0 sleeps for 4 s, and rank 1 waits for it.
TEST(LossesOfCalls, RanksThatSleepBetweenQuestionsForAFile) {
  const auto codes = [](std::uint64_t calls) {
    Application a = asking_for_files(0.001, 0, calls);
    a.per_rank.mpi_seconds = {0, 4};
    a.waiting.per_rank.waiting_seconds = {0, 4};
    a.waiting.per_rank.caused_seconds = {4, 0};
    add_part(a, "other", 4);
    return losses_by_code(a);
  };
  ASSERT_TRUE(codes(400).contains("poll.sleep"));
  EXPECT_THAT(codes(400).at("poll.sleep").text, HasSubstr("between 400 calls to stat, called from newest"));
  EXPECT_TRUE(codes(4).contains("late.asleep"));
  EXPECT_TRUE(codes(100'000).contains("late.asleep")) << "the calls are no questions between pauses";
}

}  // namespace
}  // namespace ardoise::reports

// The account of losses adds up, codes are unique, and a loss names its ranks and places. How well losses are named on
// whole programs is measured by tests/diagnosis.
#include "reports/losses/losses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "reports/findings/findings.hpp"
#include "reports/losses/account.hpp"
#include "reports/losses/placement.hpp"
#include "reports/losses/words.hpp"
#include "tests/reports/contradictions.hpp"
#include "tests/reports/losses_by_code.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

using ::testing::HasSubstr;

// Rank 2 of 4 works for 8 s in `boundary`, the others wait 6 s of 10 s for it in MPI_Allreduce.
Application one_late_rank() {
  Application a;
  a.ranks = 4;
  a.wall_seconds = 10;
  a.per_rank.wall_seconds.assign(4, 10.0);
  a.per_rank.mpi_seconds = {6.5, 6.5, 0.5, 6.5};
  a.per_rank.io_seconds.assign(4, 0.0);
  FunctionProfile& function = a.mpi.emplace_back();
  function.function = "MPI_Allreduce";
  function.category = "collective";
  function.calls = 400;
  function.seconds = 20;
  CallSite site;
  site.function = "MPI_Allreduce";
  site.symbol = "residual";
  site.source_file = "heat.c";
  site.line = 31;
  site.calls = 400;
  site.seconds = 20;
  site.ranks = 4;
  a.call_sites.push_back(site);
  WaitSite wait;
  wait.function = site.function;
  wait.symbol = site.symbol;
  wait.source_file = site.source_file;
  wait.line = site.line;
  wait.pattern = "wait_nxn";
  wait.waiting_seconds = 18;
  wait.waiters = 3;
  wait.last_waiter = 3;
  wait.awaited = 2;
  wait.awaited_seconds = 18;
  a.waiting.call_sites.push_back(wait);
  a.waiting.per_rank.waiting_seconds = {6, 6, 0, 6};
  a.waiting.per_rank.caused_seconds = {0, 0, 18, 0};
  a.waiting.per_rank.critical_path_seconds = {0, 0, 10, 0};
  a.waiting.critical_path_seconds = 10;
  a.waiting.resolved_calls = 100;
  PathPart work;
  work.kind = "computation";
  work.symbol = "boundary";
  work.source_file = "heat.c";
  work.line = 44;
  work.seconds = work.rank_seconds = 9.5;
  work.rank = 2;
  work.by_rank = {{2, 9.5}};
  a.waiting.critical_path.push_back(work);
  PathPart call;
  call.kind = "mpi";
  call.function = site.function;
  call.symbol = site.symbol;
  call.source_file = site.source_file;
  call.line = site.line;
  call.seconds = call.rank_seconds = 0.5;
  call.rank = 2;
  call.by_rank = {{2, 0.5}};
  a.waiting.critical_path.push_back(call);
  return a;
}

std::int64_t sum_of(const Account& account) {
  return std::accumulate(account.rows.begin(), account.rows.end(), std::int64_t{0},
                         [](std::int64_t sum, const AccountRow& row) { return sum + row.nanoseconds; });
}

TEST(Losses, ALateRankIsNamedWithItsWorkAndItsCeiling) {
  const Application a = one_late_rank();
  const RunView view(a);
  ASSERT_TRUE(view.known);
  const std::vector<Loss> losses = losses_of(view);
  ASSERT_FALSE(losses.empty());
  EXPECT_EQ(losses[0].code, "late.static");
  EXPECT_THAT(losses[0].text, HasSubstr("Rank 2"));
  EXPECT_THAT(losses[0].text, HasSubstr("boundary (heat.c:44)"));
  EXPECT_THAT(losses[0].text, HasSubstr("MPI_Allreduce, called from residual (heat.c:31)"));
  EXPECT_NEAR(losses[0].ceiling, 9.5 - (3 * 3.5 + 9.5) / 4, 1e-9) << "work on the path beyond the mean";
  EXPECT_EQ(losses[0].ranks, std::vector<std::uint32_t>{2});
}

TEST(Losses, CeilingsAddUpToTheRunTimeBeyondMeanWork) {
  const Application a = one_late_rank();
  const RunView view(a);
  double sum = 0;
  for (const Loss& loss : losses_of(view)) sum += loss.ceiling;
  EXPECT_NEAR(sum, view.run - view.mean_work, 1e-9);
}

TEST(Losses, WithoutAPathNothingIsSaid) {
  Application a = one_late_rank();
  a.waiting.critical_path.clear();
  EXPECT_TRUE(losses_of(RunView(a)).empty());
  a = one_late_rank();
  a.waiting.unresolved.critical_path_seconds = 4;
  EXPECT_TRUE(losses_of(RunView(a)).empty()) << "a large part of it is unknown";
  a = one_late_rank();
  a.waiting.resolved_calls = 20;
  a.waiting.unresolved.collective_calls.folded = 80;
  for (const Loss& loss : losses_of(RunView(a)))
    EXPECT_FALSE(loss.code.starts_with("late.")) << "the path does not follow waits";
  const std::vector<Finding> findings = findings_of(a);
  EXPECT_TRUE(std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.text.starts_with("Waiting is not known in 80 % of the MPI calls: late ranks are not named");
  }));
}

// Ranks 0 → 1 → 2 → 3; a star of rank 1; a star of one-sided accesses.
TEST(Losses, AHubExchangesMessagesWithAllOthers) {
  Application a = one_late_rank();
  FunctionProfile send;
  send.function = "MPI_Send";
  send.category = "point-to-point";
  send.calls = 60;
  a.mpi.push_back(send);
  a.ranks = 3;
  for (auto* list : {&a.per_rank.wall_seconds, &a.per_rank.mpi_seconds, &a.per_rank.io_seconds}) list->resize(3);
  a.edges = {{0, 1, 20, 160, 0}, {1, 2, 20, 160, 0}};
  EXPECT_FALSE(RunView(a).hub) << "a chain";
  a.edges = {{0, 1, 20, 160, 0}, {1, 0, 20, 160, 0}, {1, 2, 20, 160, 0}, {2, 1, 20, 160, 0}};
  const RunView star(a);
  ASSERT_TRUE(star.hub);
  EXPECT_EQ(star.hub->rank, 1u);
  a.mpi.back().category = "one-sided";
  EXPECT_FALSE(RunView(a).hub) << "the rank has no part in accesses to its window";
}

// The path has the file I/O of all four ranks, 2 s each.
TEST(Losses, FilesThatRanksUseInTurnAreAChain) {
  Application a = one_late_rank();
  a.per_rank.mpi_seconds.assign(4, 7.0);
  a.per_rank.io_seconds.assign(4, 2.0);
  FunctionProfile write;
  write.function = "write";
  write.calls = 80;
  write.seconds = 8;
  write.bytes = write.bytes_sent = 80u << 20;
  a.posix.push_back(write);
  a.waiting.critical_path[0].kind = "io";
  a.waiting.critical_path[0].function = "write";
  a.waiting.critical_path[0].seconds = 8;
  const auto codes = [&] {
    std::map<std::string, double> ceilings;
    for (const Loss& loss : losses_of(RunView(a))) ceilings[loss.code] = loss.ceiling;
    return ceilings;
  };
  EXPECT_FALSE(codes().contains("chain.token")) << "they wait in a collective for one that is slower each time";
  a.waiting.call_sites[0].pattern = "late_sender";
  EXPECT_NEAR(codes()["chain.token"], 6, 0.2);
}

std::map<std::string, double> ceilings_of(const Application& a) {
  std::map<std::string, double> found;
  for (const Loss& loss : losses_of(RunView(a))) {
    if (loss.code != "cpu.hot") found[loss.code] = loss.ceiling;
  }
  return found;
}

// Testing is waiting: for the rank with more work, if there is one.
TEST(Losses, RanksThatTestWaitForTheOneWithMostWork) {
  Application a = one_late_rank();
  a.call_sites[0].function = a.waiting.critical_path[1].function = a.mpi[0].function = "MPI_Test";
  a.waiting.call_sites.clear();
  a.call_sites[0].calls = 40'000'000;
  a.waiting.critical_path[0].seconds = a.waiting.critical_path[0].rank_seconds = 7;
  a.waiting.critical_path[1].seconds = a.waiting.critical_path[1].rank_seconds = 3;
  SampledFunction& work = a.samples.functions.emplace_back();
  work.symbol = "boundary";
  work.kind = "code";
  work.max_rank = 2;
  work.rank_mean = 6;
  const auto ceilings = [&](double most) {
    a.samples.functions[0].rank_max = most;
    return ceilings_of(a);
  };
  auto uneven = ceilings(8), even = ceilings(6.2);
  EXPECT_NEAR(uneven["poll.busy"], 1, 1e-9);
  EXPECT_NEAR(even["poll.busy"], 3, 1e-9);
  EXPECT_NEAR(uneven["late.static"] - even["late.static"], 2, 1e-9);
  a.samples.functions[0].symbol = "(kernel)";
  EXPECT_NEAR(ceilings(24)["poll.busy"], 3, 1e-9) << "the library gives up the processor";
}

// All places in a library without symbols have the same name.
TEST(Losses, CallsOfPlacesWithoutANameAreToldApart) {
  Application a = one_late_rank();
  PathPart& part = a.waiting.critical_path[1];
  part.symbol = part.source_file = "";
  part.line = 0;
  part.seconds = part.rank_seconds = 2;
  a.waiting.critical_path[0].seconds = a.waiting.critical_path[0].rank_seconds = 8;
  a.call_sites.clear();
  WaitSite wait = a.waiting.call_sites[0];
  wait.symbol = wait.source_file = "";
  wait.line = 0;
  wait.waiting_seconds = 2;
  a.waiting.call_sites.clear();
  for (const std::uint64_t offset : {0x10u, 0x20u}) {
    CallSite site;
    site.function = "MPI_Allreduce";
    site.module = wait.module = "/lib/libsolver.so";
    site.offset = wait.offset = offset;
    site.ranks = 4;
    site.calls = offset == 0x10 ? 4000 : 800;
    site.seconds = offset == 0x10 ? 8 : 4;
    a.call_sites.push_back(site);
    a.waiting.call_sites.push_back(wait);
  }
  const RunView view(a);
  ASSERT_EQ(view.calls.size(), 2u);
  EXPECT_EQ(name_of_call(a, view.calls[0]), "MPI_Allreduce, called from libsolver.so+0x10");
  EXPECT_DOUBLE_EQ(view.calls[0].seconds, 1.5);
  EXPECT_DOUBLE_EQ(view.calls[1].seconds, 0.5);
  EXPECT_DOUBLE_EQ(view.calls[0].calls_per_rank, 1000);
  EXPECT_DOUBLE_EQ(view.calls[1].calls_per_rank, 200);
  EXPECT_DOUBLE_EQ(view.calls[1].wait_free, 2);
}

TEST(Losses, CodesAreUniqueAndHaveARemedy) {
  std::set<std::string_view> seen;
  for (const LossCode& code : loss_codes()) {
    EXPECT_TRUE(seen.insert(code.code).second) << code.code;
    EXPECT_FALSE(code.name.empty()) << code.code;
    EXPECT_EQ(code.remedy.empty(), code.code == "cpu.hot") << code.code;
    EXPECT_EQ(find_loss_code(code.code), &code);
  }
  EXPECT_EQ(find_loss_code("late.never"), nullptr);
}

TEST(Contradictions, AreOfTheSamePlaceAndRanks) {
  const auto finding = [](const char* id, const char* text) {
    Finding made;
    made.id = id;
    made.text = text;
    return made;
  };
  const Finding always = finding("late.static",
                                 "Rank 3 works longer, in solve (a.c:4); the others wait for it in "
                                 "MPI_Barrier, called from step (a.c:9)");
  const auto with = [&](const char* id, const char* text) {
    return testing::contradictions_in({always, finding(id, text)}).size();
  };
  EXPECT_EQ(with("late.moving", "Others each time, in solve (a.c:4)"), 1u);
  EXPECT_EQ(with("late.moving", "Others each time, in flux (a.c:4)"), 0u) << "another place";
  EXPECT_EQ(with("late.moving", "Others each time, in step (a.c:9)"), 0u) << "the others only wait there";
  EXPECT_EQ(with("late.asleep", "Rank 3 sleeps in solve (a.c:4)"), 1u);
  EXPECT_EQ(with("late.asleep", "Rank 4 sleeps in solve (a.c:4)"), 0u) << "another rank";
  EXPECT_EQ(with("none.path", "Causes are not ranked"), 1u);
  for (const testing::Contradiction& pair : testing::kContradictions) {
    for (const std::string_view code : {pair.one, pair.other})
      EXPECT_TRUE(code.ends_with('.') || code == "none.path" || find_loss_code(code) != nullptr) << code;
  }
}

TEST(Account, RowsAddUpToTheNanosecond) {
  std::mt19937 random(7);
  std::uniform_real_distribution<> seconds(0, 5);
  for (int i = 0; i < 200; ++i) {
    Application a = one_late_rank();
    for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
      a.per_rank.wall_seconds[rank] = 10 - seconds(random) / 3;
      a.per_rank.mpi_seconds[rank] = seconds(random);
      a.per_rank.io_seconds[rank] = seconds(random) / 7;
      a.waiting.per_rank.waiting_seconds[rank] = seconds(random);
    }
    const RunView view(a);
    const Account account = account_of(view, losses_of(view));
    EXPECT_EQ(sum_of(account), account.nanoseconds);
    EXPECT_EQ(account.nanoseconds, 4 * std::llround(view.run * 1e9));
    for (const AccountRow& row : account.rows) EXPECT_GT(row.nanoseconds, 0) << row.part << ' ' << row.code;
  }
}

// A rank whose first thread starts two others and joins them; they work for `busy` and `other` seconds of 4 s.
Application joined_threads(double busy, double other) {
  Application a;
  a.ranks = 1;
  a.wall_seconds = 4;
  a.per_rank.wall_seconds = {4};
  a.per_rank.mpi_seconds = a.per_rank.io_seconds = {0};
  a.per_rank.cpu_seconds = {0.01};
  a.per_rank.waiting_seconds = {0};
  a.per_rank.process_cpu_seconds = {busy + other};
  a.per_rank.asleep_outside = {80};
  a.per_rank.asleep_inside = {0};
  a.waiting.critical_path_seconds = 4;
  a.waiting.resolved_calls = 1;
  PathPart& part = a.waiting.critical_path.emplace_back();
  part.kind = "other";
  part.seconds = part.rank_seconds = 4;
  part.by_rank = {{0, 4}};
  SampleProfile& s = a.samples;
  s.unit = "seconds";
  s.samples = 1000;
  s.self = busy + other;
  s.threads.rank = {0, 0, 0};
  s.threads.thread = {0, 1, 2};
  s.threads.self = {0, busy, other};
  s.threads.in_calls = {0, 0, 0};
  return a;
}
void add_function(Application& a, const std::string& symbol, double share) {
  SampledFunction& f = a.samples.functions.emplace_back();
  f.symbol = symbol;
  f.kind = "code";
  f.self = f.rank_mean = f.rank_max = share * a.samples.self;
  a.samples.tree.parent.push_back(kNoParent);
  a.samples.tree.function.push_back(static_cast<std::uint32_t>(a.samples.functions.size() - 1));
  a.samples.tree.self.push_back(f.self);
}
// Beneath the function before, or in a thread of its own.
void add_beneath(Application& a, const std::string& symbol, double share) {
  const auto caller = static_cast<std::uint32_t>(a.samples.functions.size() - 1);
  add_function(a, symbol, share);
  a.samples.tree.parent.back() = caller;
}

TEST(Losses, ThreadsThatAreStartedAgainAndAgain) {
  Application a = joined_threads(3, 3);
  add_function(a, "Scenario::block(int)", 0.0);
  add_beneath(a, "void std::vector<std::thread>::_M_realloc_insert<void (&)()>()", 0.0);
  add_beneath(a, "pthread_create_2_1", 0.2);
  a.samples.functions.back().module = "/lib/libc.so.6";
  add_function(a, "clone3", 0.05);
  add_beneath(a, "simulate", 0.75);
  PathPart& part = a.waiting.critical_path.emplace_back(a.waiting.critical_path[0]);
  part.kind = "computation";
  part.symbol = "pthread_create_2_1";
  part.seconds = part.rank_seconds = 1.2;
  part.by_rank = {{0, 1.2}};
  a.waiting.critical_path[0].seconds = a.waiting.critical_path[0].rank_seconds = 2.8;
  a.waiting.critical_path[0].by_rank = {{0, 2.8}};
  const auto losses = testing::losses_by_code(a);
  ASSERT_TRUE(losses.contains("thr.start"));
  EXPECT_NEAR(losses.at("thr.start").ceiling, 1.2, 0.01);
  EXPECT_THAT(losses.at("thr.start").text, HasSubstr("takes 1.50 s of CPU time, 25 % of all"));
  EXPECT_THAT(losses.at("thr.start").text, HasSubstr("started in Scenario::block"));
  EXPECT_FALSE(losses.contains("thr.serial")) << "the work is in the other threads";

  Application once = a;
  once.waiting.critical_path[1].seconds = 0.01;
  once.samples.tree.self[2] = once.samples.tree.self[3] = 0.01;
  EXPECT_FALSE(testing::losses_by_code(once).contains("thr.start"));
}

TEST(Losses, AThreadThatJoinsOthersLosesWhatTheseDo) {
  Application even = joined_threads(4, 4), uneven = joined_threads(4, 2);
  for (Application* each : {&even, &uneven}) add_function(*each, "trace_photons", 1);
  EXPECT_TRUE(ceilings_of(even).empty());
  EXPECT_NEAR(ceilings_of(uneven)["thr.uneven"], 1, 0.02);

  for (const char* lock : {"pthread_mutex_lock", "GOMP_critical_start", "__kmpc_critical"}) {
    Application locked = joined_threads(3, 3);
    add_function(locked, "trace_photons", 0.4);
    add_function(locked, lock, 0.3);
    add_function(locked, "(kernel)", 0.3);
    const auto ceilings = ceilings_of(locked);
    EXPECT_EQ(ceilings.size(), 1u) << "no uneven work, and the kernel puts threads to sleep";
    EXPECT_NEAR(ceilings.at("thr.lock"), 4 - 0.4 * 3, 0.05);
  }
}

// Two threads that are 6 s in the OpenMP library and `in_region` seconds in a region of it.
TEST(Losses, RegionsThatCostMoreThanTheirWorkAreTooShort) {
  const auto ceiling = [](double in_region) {
    Application a = joined_threads(4, 4);
    SampleProfile& s = a.samples;
    add_function(a, "axpy [OpenMP region 1]", in_region / 8);
    add_function(a, "", 6. / 8);
    s.functions.back().module = "/usr/lib/libgomp.so.1";
    s.regions.functions = {0};
    s.regions.total = {0, in_region / 2, in_region / 2};
    const auto ceilings = ceilings_of(a);
    return ceilings.contains("thr.fine") ? ceilings.at("thr.fine") : 0;
  };
  EXPECT_NEAR(ceiling(0.4), 3, 0.1) << "6 s by two threads";
  EXPECT_EQ(ceiling(2), 0);
}

TEST(Losses, RanksThatDrawTasksWaitForTheLastOnes) {
  Application a = one_late_rank();
  CallSite counter;
  counter.function = "MPI_Fetch_and_op";
  counter.symbol = "next_task";
  counter.calls = 400;
  counter.ranks = 4;
  a.call_sites.push_back(counter);
  DensityMap& draws = a.density.emplace_back();
  draws.function = counter.function;
  draws.calls = {130, 130, 10, 130};
  auto ceilings = ceilings_of(a);
  EXPECT_TRUE(ceilings.contains("hub.tail"));
  EXPECT_FALSE(ceilings.contains("late.static"));
  // A counter of something else: the late rank has as many calls as the others.
  draws.calls = {100, 100, 100, 100};
  ceilings = ceilings_of(a);
  EXPECT_FALSE(ceilings.contains("hub.tail"));
  EXPECT_TRUE(ceilings.contains("late.static"));
}

// All ranks exchange objects 1,000 times in line 7, and compute in line 9.
Application exchanged_objects(const char* file, const char* receive, std::uint64_t bytes) {
  Application a = one_late_rank();
  a.waiting.call_sites.clear();
  a.waiting.critical_path.clear();
  a.call_sites.clear();
  a.mpi.clear();
  a.per_rank.mpi_seconds.assign(4, 1.0);
  for (const char* const name : {"MPI_Isend", receive}) {
    FunctionProfile& function = a.mpi.emplace_back();
    function.function = name;
    function.category = "point-to-point";
    CallSite& site = a.call_sites.emplace_back();
    site.function = name;
    site.symbol = "share_halo";
    site.source_file = file;
    site.line = 7;
    site.calls = 4000;
    site.ranks = 4;
    site.bytes = 4000 * bytes;
  }
  for (const auto& [line, seconds] : {std::pair{7, 4.0}, {9, 6.0}}) {
    PathPart& work = a.waiting.critical_path.emplace_back();
    work.kind = "computation";
    work.symbol = line == 7 ? "[_pickle]" : "advance";
    work.source_file = file;
    work.line = static_cast<std::uint32_t>(line);
    work.seconds = work.rank_seconds = seconds;
    work.by_rank = {{0, seconds}};
  }
  return a;
}

TEST(Losses, ObjectsOfPythonAreNamedWithTheirPlace) {
  const auto objects = [](const Application& a) -> std::optional<Loss> {
    for (const Loss& loss : losses_of(RunView(a))) {
      if (loss.code == "ovh.objects") return loss;
    }
    return {};
  };
  const auto found = objects(exchanged_objects("ocean.py", "MPI_Mrecv", 100'000));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->text, HasSubstr("most in share_halo (ocean.py:7): 1,000 messages of a rank"));
  EXPECT_NEAR(found->ceiling, 4, 1e-9);
  EXPECT_FALSE(objects(exchanged_objects("ocean.py", "MPI_Recv", 100'000))) << "arrays";
  EXPECT_FALSE(objects(exchanged_objects("ocean.c", "MPI_Mrecv", 100'000)));
  // Turning 8 bytes into an object does not take 4 ms: the line does other work.
  EXPECT_FALSE(objects(exchanged_objects("ocean.py", "MPI_Mrecv", 8)));

  // Two broadcasts for each object: its length and its bytes. Calls for arrays read no lock.
  Application broadcast = exchanged_objects("ocean.py", "MPI_Bcast", 200'000);
  broadcast.call_sites.erase(broadcast.call_sites.begin());
  broadcast.mpi.back().category = "collective";
  EXPECT_FALSE(objects(broadcast));
  CallSite lock = broadcast.call_sites.back();
  lock.function = "MPI_Comm_get_attr";
  lock.calls /= 2;
  lock.bytes = 0;
  broadcast.call_sites.push_back(lock);
  ASSERT_TRUE(objects(broadcast));
  EXPECT_THAT(objects(broadcast)->text, HasSubstr("share_halo (ocean.py:7): 500 messages of a rank"));
  EXPECT_THAT(objects(broadcast)->advice, HasSubstr("once, before the loop"));
}

TEST(Losses, VeryManyLocalCallsAreToldBySamples) {
  Application a = one_late_rank();
  FunctionProfile& pack = a.mpi.emplace_back();
  pack.function = "MPI_Pack";
  pack.category = "datatype";
  pack.calls = 8'000'000;
  CallSite& site = a.call_sites.emplace_back();
  site.function = pack.function;
  site.symbol = "load_row";
  site.source_file = "halo.c";
  site.line = 23;
  site.calls = pack.calls;
  site.ranks = 4;
  SampledFunction& sampled = a.samples.functions.emplace_back();
  sampled.symbol = pack.function;
  sampled.kind = "code";
  sampled.total = 8;
  const auto found = [&]() -> std::optional<Loss> {
    for (const Loss& loss : losses_of(RunView(a))) {
      if (loss.code == "ovh.calls") return loss;
    }
    return {};
  };
  ASSERT_TRUE(found());
  EXPECT_NEAR(found()->ceiling, 2, 0.1);
  EXPECT_THAT(found()->text, HasSubstr("called from load_row (halo.c:23), take"));
  EXPECT_THAT(found()->advice, HasSubstr("with one call"));
  a.mpi.back().calls = 4000;
  EXPECT_FALSE(found());
}

TEST(Losses, AMessageOrTwoPerIterationAreNeeded) {
  Application a = one_late_rank();
  a.call_sites[0].function = a.waiting.critical_path[1].function = a.mpi[0].function = "MPI_Sendrecv";
  a.mpi[0].category = "point-to-point";
  a.waiting.call_sites.clear();
  a.call_sites[0].calls = 4000;
  a.call_sites[0].bytes = 4000 * 64;
  a.waiting.critical_path[0].seconds = a.waiting.critical_path[0].rank_seconds = 7;
  a.waiting.critical_path[1].seconds = a.waiting.critical_path[1].rank_seconds = 3;
  a.edges = {{0, 1, 1000, 64000, 0}, {1, 0, 1000, 64000, 0}};
  SnapshotSeries& steps = a.snapshots.series.emplace_back();
  steps.trigger = "iteration";
  const auto is_usual = [&](std::uint64_t rounds) {
    steps.rounds.assign(10, rounds / 10);
    steps.seconds.assign(10, 1.0);
    for (const Loss& loss : losses_of(RunView(a))) {
      if (loss.code == "ovh.tiny") return loss.is_usual;
    }
    ADD_FAILURE() << "no ovh.tiny";
    return false;
  };
  EXPECT_TRUE(is_usual(1000));
  EXPECT_TRUE(is_usual(500));
  EXPECT_FALSE(is_usual(100));
}

TEST(Account, TheWaitingIsChargedToTheLateRank) {
  const Application a = one_late_rank();
  const RunView view(a);
  std::map<std::pair<std::string, std::string>, std::int64_t> rows;
  for (const AccountRow& row : account_of(view, losses_of(view)).rows) rows[{row.part, row.code}] += row.nanoseconds;
  EXPECT_NEAR(1e-9 * static_cast<double>(rows[{"waiting", "late.static"}]), 17, 1.5);
  EXPECT_GT(rows[std::pair("work", "")], 0);
}

TEST(Account, EveryProgramOfASyntheticRunHasOne) {
  const reports::Run run = testing::synthetic_run(64);
  for (const Application& a : run.applications) {
    const RunView view(a);
    const Account account = account_of(view, losses_of(view));
    EXPECT_EQ(sum_of(account), account.nanoseconds) << a.name;
  }
}

TEST(Placement, PairsOnDifferentHostsCouldShareOne) {
  Application a;
  a.ranks = 4;
  a.hosts = {"a", "b"};
  a.per_rank.host = {0, 0, 1, 1};
  a.edges = {{0, 2, 10, 1000, 0}, {1, 3, 10, 1000, 0}, {0, 1, 10, 10, 0}};
  EXPECT_NEAR(bytes_saved_by_placement(a), 1 - 10.0 / 2000, 1e-9);
  a.per_rank.host = {0, 1, 0, 1};
  EXPECT_NEAR(bytes_saved_by_placement(a), 0, 1e-9) << "they share one";
  a.hosts = {"a"};
  EXPECT_EQ(bytes_saved_by_placement(a), 0);
}

TEST(Words, RanksAreNamedAsASet) {
  Application a;
  a.ranks = 8;
  a.world_ranks = 12;
  a.first_rank = 4;
  EXPECT_EQ(ranks_in_words(a, {2}), "rank 6");
  EXPECT_EQ(ranks_in_words(a, {7, 0, 1}), "ranks 4, 5, 11 (3 of 8)");
  EXPECT_EQ(ranks_in_words(a, {}), "all 8 ranks");
}

}  // namespace
}  // namespace ardoise::reports

// Each rule speaks when it should, with its numbers, and is silent when it should be.
#include "reports/findings/findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

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

TEST(Findings, QuietProgramGetsItsSharesAndNothingElse) {
  const auto all = findings_of(plain(8));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].id, "time_shares");
  EXPECT_THAT(all[0].text, HasSubstr("95 %"));
  EXPECT_EQ(all[1].id, "dominating_call");
  EXPECT_EQ(all[1].severity, Severity::note);
}

TEST(Findings, NothingRecordedIsSaidOnce) {
  const auto all = findings_of(testing::empty_run().applications[0]);
  EXPECT_NE(find(all, "nothing_recorded"), nullptr);
  EXPECT_EQ(find(all, "load_imbalance"), nullptr);
  EXPECT_EQ(find(all, "time_shares"), nullptr);
}

TEST(Findings, ImbalanceNamesTheSlowestRankAndTheGain) {
  Application a = plain(4, 5);
  a.per_rank.mpi_seconds[2] = 0;  // computes for 10 s, the others for 5
  const auto all = findings_of(a);
  const Finding* f = find(all, "load_imbalance");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->severity, Severity::high);
  EXPECT_EQ(evidence(*f, "slowest_rank"), 2);
  EXPECT_NEAR(evidence(*f, "load_balance"), 0.625, 1e-12);
  EXPECT_THAT(f->text, HasSubstr("rank 2"));
  EXPECT_THAT(f->text, HasSubstr("3.75 s"));
  EXPECT_THAT(f->text, HasSubstr("estimate"));
}

TEST(Findings, OneRankIsNeverUnbalanced) {
  const auto all = findings_of(plain(1, 4));
  for (const char* id : {"load_imbalance", "hot_rank", "one_rank_io", "collective_waiting", "collective_transfer"}) {
    EXPECT_EQ(find(all, id), nullptr) << id;
  }
}

TEST(Findings, CommunicationEfficiencyFollowsThePopDefinition) {
  const auto all = findings_of(plain(4, 6));
  const Finding* f = find(all, "communication_efficiency");
  ASSERT_NE(f, nullptr);
  EXPECT_NEAR(evidence(*f, "communication_efficiency"), 0.4, 1e-12);
}

TEST(Findings, CollectivesTellWaitingFromTransfer) {
  Application a = plain(4);
  add(a, "MPI_Allreduce", "collective", 6, 4000);
  a.density = {DensityMap{"MPI_Allreduce", {1000, 1000, 1000, 1000}, {0.1, 1.9, 2, 2}, {}}};
  const auto waiting = findings_of(a);
  ASSERT_NE(find(waiting, "collective_waiting"), nullptr);
  EXPECT_NEAR(evidence(*find(waiting, "collective_waiting"), "waiting_share_estimate"), 1 - 4 * 0.1 / 6, 1e-9);
  a.density[0].seconds = {1.5, 1.5, 1.5, 1.5};
  const auto transfer = findings_of(a);
  EXPECT_EQ(find(transfer, "collective_waiting"), nullptr);
  EXPECT_NE(find(transfer, "collective_transfer"), nullptr);
}

TEST(Findings, ACallThatHasItsOwnFindingIsNotTheDominatingOne) {
  Application a = plain(4);
  add(a, "MPI_Allreduce", "collective", 6, 4000);
  add(a, "MPI_Wait", "point-to-point", 4, 4000);
  EXPECT_THAT(find(findings_of(a), "dominating_call")->text, HasSubstr("MPI_Allreduce"));
  a.density = {DensityMap{"MPI_Allreduce", {1000, 1000, 1000, 1000}, {0.1, 1.9, 2, 2}, {}}};
  EXPECT_THAT(find(findings_of(a), "dominating_call")->text, HasSubstr("MPI_Wait"));
}

TEST(Findings, ManySmallMessagesAreNoticed) {
  Application a = plain(4);
  FunctionProfile& send = add(a, "MPI_Send", "point-to-point", 4, 400000);
  send.bytes = send.bytes_sent = 400000 * 8;
  send.sizes.calls = {0, 0, 0, 0, 400000};
  a.call_sites.push_back({"MPI_Send", "push(Cell&)", "/src/halo.cpp", 17, "", 0, 1, 1, 1, 0, 0, 0, 4});
  const auto all = findings_of(a);
  const Finding* f = find(all, "small_messages");
  ASSERT_NE(f, nullptr);
  EXPECT_THAT(f->text, HasSubstr("push (halo.cpp:17)"));
  a.mpi.back().sizes.calls = std::vector<std::uint64_t>(20, 0);
  a.mpi.back().sizes.calls.back() = 400000;  // now half a megabyte each
  EXPECT_EQ(find(findings_of(a), "small_messages"), nullptr);
}

TEST(Findings, HotRankIsTheOneEverybodyTalksTo) {
  Application a = plain(16);
  for (std::uint32_t r = 1; r < 16; ++r) a.edges.push_back({r, 0, 10, 1 << 20, 0.1});
  const auto all = findings_of(a);
  ASSERT_NE(find(all, "hot_rank"), nullptr);
  EXPECT_EQ(evidence(*find(all, "hot_rank"), "rank"), 0);
  a.edges.clear();
  for (std::uint32_t r = 0; r < 16; ++r) a.edges.push_back({r, (r + 1) % 16, 10, 1 << 20, 0.1});
  EXPECT_EQ(find(findings_of(a), "hot_rank"), nullptr);
}

TEST(Findings, OneRankDoingAllIoAndSmallRequests) {
  Application a = plain(8);
  a.per_rank.io_seconds[3] = 4;
  FunctionProfile f;
  f.function = "write";
  f.calls = 10000;
  f.bytes = f.bytes_sent = 10000 * 100;
  f.seconds = 4;
  a.posix = {f};
  const auto all = findings_of(a);
  ASSERT_NE(find(all, "one_rank_io"), nullptr);
  EXPECT_THAT(find(all, "one_rank_io")->text, HasSubstr("Rank 3 does all"));
  ASSERT_NE(find(all, "small_io"), nullptr);
  EXPECT_NEAR(evidence(*find(all, "small_io"), "mean_bytes"), 100, 1e-9);
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

TEST(Findings, BlockingAndOverheadAreSaid) {
  Application a = plain(4);
  a.quality.blocked_seconds = 4;  // of 40
  a.quality.overhead_seconds = 4.1;
  EXPECT_EQ(find(findings_of(a), "measurement_blocked")->severity, Severity::high);
  EXPECT_EQ(find(findings_of(a), "overhead"), nullptr);  // it is the blocking, said already
  a.quality.blocked_seconds = 0;
  EXPECT_NE(find(findings_of(a), "overhead"), nullptr);
}

TEST(Findings, PollingIsNoticed) {
  Application a = plain(4);
  add(a, "MPI_Iprobe", "point-to-point", 8, 1000000);
  EXPECT_NE(find(findings_of(a), "polling"), nullptr);
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
  EXPECT_EQ(base_name("/a/b//"), "b");
  EXPECT_EQ(base_name("///"), "///");
}

}  // namespace
}  // namespace ardoise::reports

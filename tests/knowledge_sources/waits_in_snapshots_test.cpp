// Waiting in the profile over time: each wait is in the snapshot, and at the call site, of the call that waited, in any
// order of packs and from any analyzer; over a whole series it equals the waits of the program.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "fixture.hpp"
#include "reports/model_check.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CompletionRecord;
using testing::Each;
using testing::SizeIs;
using namespace std::string_view_literals;

constexpr std::uint32_t kRanks = 4, kSteps = 60;
constexpr std::uint64_t kStepTicks = 1'000'000;

// Each step: a sum at call site 1 with a late rank, a message to the next rank at call site 2, received at 3, and two
// operations that are completed together at 4; then a snapshot. The late rank is random, except in step 40: there rank
// 2 alone is late, by 400 us.
std::vector<replay::Pack> packs_of(std::uint32_t rank) {
  std::mt19937_64 random(rank);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  PackMaker maker({.rank = rank}, 7);
  const instrument::RankRange all{0, kRanks, 1};
  maker.define(
      instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 77, 0, kRanks, rank, 0, 1, 0, 0, 1},
      std::span(&all, 1), ""sv);
  maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 0, 0, 0}, "tsc"sv, "boot"sv);
  const auto next = static_cast<std::int32_t>((rank + 1) % kRanks),
             before = static_cast<std::int32_t>((rank + kRanks - 1) % kRanks);
  for (std::uint32_t step = 1; step <= kSteps; ++step) {
    const std::uint64_t begin = kStepTicks * step;
    const std::uint64_t late = step == 40 ? (rank == 2 ? 400'000 : 0) : below(100'000);
    maker.call(FunctionId::kAllreduce, Shape::kCollective, begin + late, static_cast<std::uint32_t>(450'000 - late),
               instrument::kNoPeer, 8, 8, 1);
    const std::uint64_t sent = begin + 500'000 + below(50'000);
    maker.call(FunctionId::kSend, Shape::kSend, sent, 10'000, next, 1, 8, 2);
    maker.call(FunctionId::kRecv, Shape::kReceive, sent + 10'000, 80'000, before, 1, 8, 3);
    const std::uint64_t started = begin + 700'000 + below(50'000);
    maker.call(FunctionId::kIsend, Shape::kSend, started, 100, next, 2, 8, 5);
    maker.call(FunctionId::kIrecv, Shape::kPostReceive, started + 200, 100, before, 2, 8, 6);
    maker.call(FunctionId::kWaitall, Shape::kCompletes, started + 1000, 90'000, -1, 2, 0, 4);
    maker.mpi_extension(CompletionRecord{started, 0, 1, -1, 0, 0,
                                         instrument::make_word(0, id(FunctionId::kIsend), Shape::kCompletion)});
    maker.mpi_extension(CompletionRecord{started + 200, 0, 1, before, 2, 8,
                                         instrument::make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)});
    maker.mpi_extension(instrument::MarkExtension{
        begin + 900'000, step, 9, 0, instrument::MarkKind::kSnapshot, {}, instrument::kMarkWord});
  }
  maker.finish();
  return maker.take();
}

reports::Application application_of(unsigned workers, std::size_t analyzers, std::uint32_t lot,
                                    const std::vector<std::string>& plugins = replay::kAllPlugins) {
  std::vector<replay::Pack> packs;
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    for (auto& pack : packs_of(rank)) packs.push_back(std::move(pack));
  }
  std::mt19937 random(lot);
  if (lot != 0) std::ranges::shuffle(packs, random);
  Session session({{0, "program", kRanks}}, workers, analyzers, replay::load_plugins(plugins));
  for (auto& pack : packs) session.submit(pack, (pack.header().rank + lot) % analyzers);
  const auto run = session.finish();
  EXPECT_EQ(reports::check_model(run).error, "");
  return run.applications.at(0);
}

double sum(const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); }

// Waiting by function.
std::map<std::string, double> of_waits(const reports::Application& application) {
  std::map<std::string, double> sums;
  for (const reports::WaitSite& site : application.waiting.call_sites) sums[site.function] += site.waiting_seconds;
  return sums;
}
std::map<std::string, double> of_series(const reports::SnapshotSeries& series) {
  std::map<std::string, double> sums;
  for (const reports::SnapshotCalls& calls : series.calls) {
    if (const double waiting = sum(calls.waiting_seconds); waiting != 0) sums[calls.function] += waiting;
  }
  return sums;
}
void expect_all_of_it(const reports::SnapshotSeries& series, const reports::Application& application) {
  const auto expected = of_waits(application), got = of_series(series);
  ASSERT_EQ(got.size(), expected.size()) << series.trigger;
  for (const auto& [function, seconds] : expected)
    EXPECT_NEAR(got.at(function), seconds, 1e-12) << series.trigger << " " << function;
}

class WaitsInSnapshots : public testing::TestWithParam<std::tuple<unsigned, std::size_t>> {};

TEST_P(WaitsInSnapshots, AreThoseOfTheProgramHoweverPacksCome) {
  const auto [workers, analyzers] = GetParam();
  const auto reference = application_of(0, 1, 0);
  ASSERT_THAT(of_waits(reference), SizeIs(4));  // a sum, a message at both ends, a call that completes two
  for (std::uint32_t lot = 0; lot < 4; ++lot) {
    const auto application = application_of(workers, analyzers, lot);
    const auto* const step = reports::find_series(application.snapshots, "snapshot");
    ASSERT_NE(step, nullptr);
    ASSERT_THAT(step->waiting_seconds, SizeIs(kSteps + 1));
    expect_all_of_it(*step, application);
    expect_all_of_it(*reports::find_series(application.snapshots, "timer"), application);
    EXPECT_EQ(step->waiting_seconds, reports::find_series(reference.snapshots, "snapshot")->waiting_seconds);
    // Also by rank: each rank is a group.
    ASSERT_EQ(step->groups, kRanks);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const auto begin = step->group_waiting_seconds.begin() + rank * (kSteps + 1);
      EXPECT_NEAR(std::accumulate(begin, begin + kSteps + 1, 0.0), application.waiting.per_rank.waiting_seconds[rank],
                  1e-12);
    }
    for (std::size_t i = 0; i < step->calls.size(); ++i) {
      const reports::SnapshotCalls& calls = step->calls[i];
      for (std::size_t at = 0; at < calls.seconds.size(); ++at)
        EXPECT_LE(calls.waiting_seconds[at], calls.seconds[at] + 1e-12) << calls.function << " " << at;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(WorkersAndAnalyzers, WaitsInSnapshots,
                         testing::Combine(testing::Values(0u, 3u), testing::Values(std::size_t{1}, std::size_t{3})));

TEST(WaitsInSnapshots, AreAtTheirStepAndOfTheirRanks) {
  const auto application = application_of(0, 2, 0);
  const auto& step = *reports::find_series(application.snapshots, "snapshot");
  const auto& reduce = find(step.calls, "MPI_Allreduce");
  EXPECT_NEAR(reduce.waiting_seconds[40 - 1], 3 * 400e-6, 1e-12);
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
    const double waiting = step.group_waiting_seconds[rank * (kSteps + 1) + 40 - 1];
    if (rank == 2) {
      EXPECT_LT(waiting, 200e-6);
    } else {
      EXPECT_GE(waiting, 400e-6 - 1e-12);
    }
  }
  EXPECT_EQ(std::ranges::max_element(step.waiting_seconds) - step.waiting_seconds.begin(), 40 - 1);
}

// An analyzer dies after the packs of three ranks; another one continues from its state with the fourth. Results that
// were not yet sent are part of the state.
TEST(WaitsInSnapshots, GoOnFromTheStateOfAnAnalyzer) {
  Session first({{0, "program", kRanks}}), second({{0, "program", kRanks}});
  for (std::uint32_t rank = 0; rank + 1 < kRanks; ++rank) first.submit(packs_of(rank));
  first.board().drain();
  second.reduction().absorb(first.reduction().partial());
  second.submit(packs_of(kRanks - 1));
  const auto application = second.application();
  EXPECT_EQ(of_waits(application), of_waits(application_of(0, 1, 0)));
  expect_all_of_it(*reports::find_series(application.snapshots, "snapshot"), application);
  expect_all_of_it(*reports::find_series(application.snapshots, "timer"), application);
}

TEST(WaitsInSnapshots, EitherWorksAlone) {
  std::vector<std::string> others = replay::kAllPlugins;
  std::erase(others, "waits");
  const auto without = application_of(0, 3, 0, others);
  const auto& step = *reports::find_series(without.snapshots, "snapshot");
  EXPECT_THAT(step.waiting_seconds, Each(0.0));
  EXPECT_GT(sum(step.seconds), 0);
  others = replay::kAllPlugins;
  std::erase(others, "snapshots");
  EXPECT_EQ(of_waits(application_of(0, 3, 0, others)), of_waits(application_of(0, 3, 0)));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

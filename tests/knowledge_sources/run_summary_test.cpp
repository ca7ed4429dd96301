// Identity, ranks and quality of a run.
#include <map>

#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_view_literals;

constexpr std::uint64_t kRealtime = 1'700'000'000'000'000'000;

PackMaker process(std::uint32_t rank, std::string_view command = "./solver\0in put.cfg\0it's\0$x"sv,
                  std::uint64_t seconds_later = 0) {
  PackMaker maker({.rank = rank, .origin_tick = 1'000'000});
  maker.define(instrument::ProcessDefinition{2, rank, 9, 1 + rank * 2, 1'000'000, 200'000 + rank, 0, 0, 2}, "solver"sv,
               command, rank == 0 ? "alpha"sv : "beta"sv, "/home/user"sv);
  maker.define(instrument::ClockDefinition{1'000'000, kRealtime + seconds_later * 1'000'000'000, 1e9, 0, 2e-6 * rank,
                                           3'000'000 + rank * 500'000, 40},
               "tsc"sv, "boot"sv);
  return maker;
}

TEST(RunSummary, IdentityAndRanks) {
  Session session({{0, "solver", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto maker = process(rank);
    maker.call(FunctionId::kSend, Shape::kSend, 1'500'000, 1000 * (rank + 1), 1, 0, 8);
    maker.sending_ticks = 300 * rank;
    maker.finish();
    session.submit(maker.take());
  }
  const auto run = session.finish();
  EXPECT_EQ(run.started, "2023-11-14T22:13:19Z") << "the begin of MPI_Init";
  const auto& application = run.applications.at(0);
  EXPECT_EQ(application.name, "solver");
  EXPECT_EQ(application.command, "./solver 'in put.cfg' 'it'\\''s' '$x'");
  EXPECT_EQ(application.working_directory, "/home/user");
  EXPECT_EQ(application.ranks, 2u);
  EXPECT_EQ(application.threads, 1u);
  EXPECT_EQ(application.thread_level, "MPI_THREAD_MULTIPLE");
  EXPECT_THAT(application.hosts, ElementsAre("alpha", "beta"));
  EXPECT_THAT(application.per_rank.host, ElementsAre(0, 1));
  EXPECT_THAT(application.per_rank.wall_seconds, ElementsAre(DoubleNear(2e-3, 1e-12), DoubleNear(2.5e-3, 1e-12)));
  EXPECT_THAT(application.per_rank.mpi_seconds, ElementsAre(DoubleNear(1e-6, 1e-15), DoubleNear(2e-6, 1e-15)));
  EXPECT_NEAR(application.wall_seconds, 2.5e-3, 1e-12);
  EXPECT_NEAR(application.init_seconds, 200'001e-9, 1e-12);
  EXPECT_EQ(application.start_seconds, 0);
  EXPECT_EQ(application.quality.clock, "tsc");
  EXPECT_DOUBLE_EQ(application.quality.clock_error_seconds, 2e-6);
  EXPECT_EQ(application.quality.ranks_complete, 2u);
  EXPECT_NEAR(application.quality.record_cost_seconds, 40e-9, 1e-15);
  EXPECT_NEAR(application.quality.recording_seconds, 2 * 40e-9, 1e-15);
  EXPECT_NEAR(application.quality.sending_seconds, 300e-9, 1e-15);
  EXPECT_NEAR(application.quality.overhead_seconds, 2 * 40e-9 + 300e-9, 1e-15);
}

TEST(RunSummary, TellsTheCallsOfTheFirstThreadApart) {
  Session session({{0, "solver", 1}});
  auto first = process(0);
  first.call(FunctionId::kSend, Shape::kSend, 1'500'000, 1000, 1, 0, 8);
  first.finish();
  session.submit(first.take());
  PackMaker helper({.rank = 0, .origin_tick = 1'000'000});
  helper.call(FunctionId::kSend, Shape::kSend, 1'500'000, 3000, 1, 0, 8);
  helper.flush();
  auto packs = helper.take();
  for (auto& pack : packs) pack.header().thread = 1;
  session.submit(packs);
  const auto run = session.finish();
  const auto& per_rank = run.applications.at(0).per_rank;
  EXPECT_THAT(per_rank.mpi_seconds, ElementsAre(DoubleNear(4e-6, 1e-15)));
  EXPECT_THAT(per_rank.first_mpi_seconds, ElementsAre(DoubleNear(1e-6, 1e-15)));
  EXPECT_THAT(per_rank.first_io_seconds, ElementsAre(0.0));
}

// The cost of one call times the number of calls is the recording time, even if the costs of ranks differ.
TEST(RunSummary, CostOfACallIsTheMeanOverTheCalls) {
  Session session({{0, "solver", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank, .origin_tick = 1'000'000});
    maker.define(instrument::ProcessDefinition{2, rank, 9, 1, 1'000'000, 200'000, 0, 0, 2}, "solver"sv, "solver"sv,
                 "alpha"sv, "/"sv);
    maker.define(instrument::ClockDefinition{1'000'000, kRealtime, 1e9, 0, 0, 3'000'000, rank == 0 ? 40.0 : 400.0},
                 "tsc"sv, "boot"sv);
    for (std::uint32_t i = 0; i < (rank == 0 ? 9u : 1u); ++i)
      maker.call(FunctionId::kSend, Shape::kSend, 1'500'000 + 2000 * i, 1000, 1, 0, 8);
    maker.finish();
    session.submit(maker.take());
  }
  const auto quality = session.finish().applications.at(0).quality;
  EXPECT_NEAR(quality.recording_seconds, 760e-9, 1e-15);
  EXPECT_NEAR(quality.record_cost_seconds, 76e-9, 1e-15);
}

TEST(RunSummary, ProgramsStartRelativeToTheFirst) {
  Session session({{0, "late", 1}, {3, "early", 1}});
  auto late = process(0, "late"sv, 7);
  late.finish();
  session.submit(late.take());
  PackMaker early({.partition = 3});
  early.define(instrument::ProcessDefinition{1, 0, 9, 0, 1'000'000, 200'000, 0, 0, 1}, "early"sv, "early"sv, "h"sv,
               "/"sv);
  early.define(instrument::ClockDefinition{1'000'000, kRealtime, 1e9, 0, 0, 2'000'000, 0}, "tsc"sv, "boot"sv);
  early.finish();
  session.submit(early.take());
  const auto run = session.finish();
  ASSERT_EQ(run.applications.size(), 2u);
  EXPECT_EQ(run.applications[0].name, "late");
  EXPECT_NEAR(run.applications[0].start_seconds, 7, 1e-6);
  EXPECT_EQ(run.applications[1].start_seconds, 0);
  EXPECT_EQ(run.applications[1].name, "early");
}

TEST(RunSummary, TheLedgerAddsUp) {
  auto maker = process(0);
  for (int i = 0; i < 5; ++i) maker.call(FunctionId::kSend, Shape::kSend, 1'500'000, 10, 0, 0, 8);
  maker.posix({1'600'000, 10, 1, 1, 0, 0, 0});
  maker.drop(3, 1);
  maker.finish();
  Session session({{0, "solver", 1}});
  session.submit(maker.take());
  const auto quality = session.application().quality;
  ASSERT_EQ(quality.ledger.size(), 2u);
  EXPECT_EQ(quality.ledger[0].recorded, 8u);
  EXPECT_EQ(quality.ledger[0].received, 5u);
  EXPECT_EQ(quality.ledger[0].dropped, 3u);
  EXPECT_EQ(quality.ledger[0].lost, 0u);
  EXPECT_EQ(quality.ledger[1].recorded, 2u);
  EXPECT_EQ(quality.ledger[1].lost, 0u);
  EXPECT_EQ(quality.packs, 4u);
  EXPECT_TRUE(quality.notices.empty()) << quality.notices.front();
}

TEST(RunSummary, AMissingPackIsSeen) {
  auto maker = process(0);
  for (int i = 0; i < 5; ++i) maker.call(FunctionId::kSend, Shape::kSend, 1'500'000, 10, 0, 0, 8);
  maker.finish();
  auto packs = maker.take();
  packs.erase(packs.begin() + 1);
  Session session({{0, "solver", 1}});
  session.submit(packs);
  const auto quality = session.application().quality;
  EXPECT_EQ(quality.ledger[0].lost, 5u);
  EXPECT_THAT(quality.notices, Contains(HasSubstr("1 numbered pack did not arrive")));
}

// The process may still hold packs, and the ledger counts their records.
TEST(RunSummary, ARankThatIsNotCompleteMissesNoPacks) {
  auto maker = process(0);
  for (int i = 0; i < 5; ++i) maker.call(FunctionId::kSend, Shape::kSend, 1'500'000, 10, 0, 0, 8);
  maker.finish();
  auto packs = maker.take();
  packs.pop_back();
  packs.erase(packs.begin() + 1);
  Session session({{0, "solver", 1}});
  session.submit(packs);
  EXPECT_EQ(session.application().quality.ranks_complete, 0u);
  EXPECT_THAT(session.application().quality.notices, ::testing::IsEmpty());
}

TEST(RunSummary, ARankThatDiedEndsWithItsLastRecord) {
  auto maker = process(1);
  maker.flush();
  (void)maker.take();
  PackMaker dying({.origin_tick = 1'000'000});
  dying.define(instrument::ProcessDefinition{2, 0, 9, 0, 1'000'000, 0, 0, 0, 2}, "solver"sv, "x"sv, "h"sv, "/"sv);
  dying.call(FunctionId::kSend, Shape::kSend, 1'400'000, 100'000, 0, 0, 8);
  dying.flush();
  Session session({{0, "solver", 2}});
  session.submit(dying.take());
  const auto application = session.application();
  EXPECT_NEAR(application.per_rank.wall_seconds[0], 0.5e-3, 1e-12);
  EXPECT_EQ(application.quality.ranks_complete, 0u);
}

TEST(RunSummary, CommunicatorsOfTheProgram) {
  Session session({{0, "solver", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto maker = process(rank);
    const instrument::RankRange all{0, 2, 1}, self{static_cast<std::int32_t>(rank), 1, 1};
    const auto kIntra = instrument::CommunicatorKind::kIntra;
    maker.define(instrument::CommunicatorDefinition{0, kIntra, 1, 0, 2, rank, 0, 1, 0, 0, 1}, std::span(&all, 1),
                 "MPI_COMM_WORLD"sv);
    maker.define(instrument::CommunicatorDefinition{1, kIntra, 10 + rank, 0, 1, 0, 0, 1, 0, 0, 1}, std::span(&self, 1),
                 "MPI_COMM_SELF"sv);
    maker.finish();
    session.submit(maker.take());
  }
  const auto communicators = session.application().communicators;
  ASSERT_EQ(communicators.size(), 2u);
  EXPECT_EQ(communicators[0].name, "MPI_COMM_WORLD");
  EXPECT_EQ(communicators[0].size, 2u);
  EXPECT_EQ(communicators[0].count, 1u);
  EXPECT_EQ(communicators[1].name, "MPI_COMM_SELF");
  EXPECT_EQ(communicators[1].count, 2u);
}

// MPI_Comm_dup and MPI_Comm_split over all ranks create further communicators of the same group, without a name.
TEST(RunSummary, CommunicatorsOfTheGroupOfTheWorldAreNotTheWorld) {
  Session session({{0, "solver", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto maker = process(rank);
    const instrument::RankRange all{0, 2, 1};
    for (std::uint32_t number = 0; number < 50; ++number)
      maker.define(instrument::CommunicatorDefinition{number, instrument::CommunicatorKind::kIntra, 1, number, 2, rank,
                                                      0, 1, 0, 0, 1},
                   std::span(&all, 1),
                   number == 0                ? "MPI_COMM_WORLD"sv
                   : number == 7 && rank == 1 ? "named by one"sv
                                              : ""sv);
    maker.finish();
    session.submit(maker.take());
  }
  const auto communicators = session.application().communicators;
  std::map<std::string, std::uint64_t> counts;
  for (const auto& each : communicators) counts[each.name] += each.count;
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.at("MPI_COMM_WORLD"), 1u);
  EXPECT_EQ(counts.at(""), 48u);
  EXPECT_EQ(counts.at("named by one"), 1u);
}

// Rows and columns of a grid of four ranks, none of which has a name: numbers 2 and 3 in each rank.
TEST(RunSummary, CommunicatorsThatShareRanksAreToldApart) {
  Session session({{0, "solver", 4}});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    auto maker = process(rank);
    const auto first_of_row = static_cast<std::int32_t>(rank / 2 * 2), column = static_cast<std::int32_t>(rank % 2);
    const instrument::RankRange row{first_of_row, 2, 1}, columns{column, 2, 2};
    const auto kIntra = instrument::CommunicatorKind::kIntra;
    maker.define(instrument::CommunicatorDefinition{2, kIntra, 90u - rank / 2, 0, 2, rank % 2, 0, 1, 0, 0, 1},
                 std::span(&row, 1), ""sv);
    maker.define(instrument::CommunicatorDefinition{3, kIntra, 20u + rank % 2, 0, 2, rank / 2, 0, 1, 0, 0, 1},
                 std::span(&columns, 1), ""sv);
    maker.finish();
    session.submit(maker.take());
  }
  const auto communicators = session.application().communicators;
  ASSERT_EQ(communicators.size(), 2u);
  EXPECT_EQ(communicators[0].count, 2u);
  EXPECT_THAT(communicators[0].group_of_rank, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(communicators[1].group_of_rank, ElementsAre(1, 2, 1, 2));
}

// A separate name for each of 1,000 duplicates, and 1,000 groups with a name each.
TEST(RunSummary, ManyNamesOfCommunicatorsAreCounted) {
  Session session({{0, "solver", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto maker = process(rank);
    const instrument::RankRange all{0, 2, 1};
    const auto kIntra = instrument::CommunicatorKind::kIntra;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      maker.define(instrument::CommunicatorDefinition{2 * i, kIntra, 1, i, 2, rank, 0, 1, 0, 0, 1}, std::span(&all, 1),
                   std::string_view(fmt::format("duplicate {:03}", i)));
      maker.define(instrument::CommunicatorDefinition{2 * i + 1, kIntra, 100 + i, 0, 2, rank, 0, 1, 0, 0, 1},
                   std::span(&all, 1), std::string_view(fmt::format("group {:03}", i)));
    }
    maker.finish();
    session.submit(maker.take());
  }
  const auto communicators = session.application().communicators;
  std::size_t count = 0, longest = 0, further = 0;
  for (const auto& each : communicators) {
    count += each.count;
    longest = std::max(longest, each.name.size());
    if (each.name == "(further communicators)") further = each.count;
  }
  EXPECT_EQ(count, 2000u) << "all are counted";
  EXPECT_EQ(communicators.size(), 257u);
  EXPECT_EQ(further, 2000u - 256);
  EXPECT_LT(longest, 200u);
}

TEST(RunSummary, NoticesOfProcessesAreCounted) {
  Session session({{0, "solver", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto maker = process(rank);
    maker.define(instrument::NoticeDefinition{1, 0}, "Something was not seen."sv);
    maker.finish();
    session.submit(maker.take());
  }
  EXPECT_THAT(session.application().quality.notices, ElementsAre("Something was not seen. (2 times)"));
}

// Also if the two definitions reached different analyzers.
TEST(RunSummary, CallSitesThatShareAnIdAreSaid) {
  Session session({{0, "solver", 2}}, 0, 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto maker = process(rank);
    maker.define(instrument::CallSiteDefinition{70, 0, 0x1000});
    maker.define(instrument::CallSiteDefinition{71, 0, 0x2000 + rank});
    maker.finish();
    session.submit(maker.take(), rank);
  }
  EXPECT_THAT(session.application().quality.notices,
              ElementsAre("1 call site id stands for different places (hash collisions), whose calls are shown "
                          "together, at one of the places."));
}

TEST(RunSummary, AProgramThatSentNothing) {
  Session session({{0, "silent", 4}});
  const auto application = session.application();
  EXPECT_EQ(application.name, "silent");
  EXPECT_EQ(application.ranks, 4u);
  EXPECT_EQ(application.per_rank.wall_seconds.size(), 4u);
  EXPECT_TRUE(application.mpi.empty());
}

}  // namespace
}  // namespace ardoise::knowledge_sources

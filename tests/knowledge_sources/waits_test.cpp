// Waiting in collectives: the patterns by their definitions, and sums from packs in any order.
#include <algorithm>
#include <random>

#include "fixture.hpp"
#include "knowledge_sources/interface/in_order.hpp"
#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/plugins/waits/origins.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::RankRange;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_view_literals;

TEST(InOrder, DeliversInOrderAndNamesWhatIsMissing) {
  blackboard::Blackboard board({.workers = 0, .byte_limit = 100, .on_failure = {}});
  InOrder<int> values;
  values.count_on(board);
  std::vector<std::pair<int, bool>> got;
  const auto deliver = [&](int value, bool after_gap) { got.emplace_back(value, after_gap); };
  values.add(1, 10, 1, deliver);
  EXPECT_THAT(got, IsEmpty());
  values.add(0, 0, 1, deliver);
  values.add(1, 99, 1, deliver);  // a second time
  EXPECT_THAT(got, ElementsAre(std::pair(0, false), std::pair(10, false)));
  values.add(3, 30, 1, deliver);
  EXPECT_EQ(got.size(), 2u);
  std::vector<int> waiting;
  values.for_each_waiting([&](std::uint64_t, int value) { waiting.push_back(value); });
  EXPECT_THAT(waiting, ElementsAre(30));
  values.add(9, 90, 100, deliver);
  EXPECT_EQ(got.size(), 2u) << "what is missing may still be on the board, …";
  EXPECT_TRUE(board.over_limit()) << "… which takes no more packs then";
  values.give_up_missing(deliver);
  EXPECT_EQ(got.back(), std::pair(30, true));
  EXPECT_EQ(board.bytes(), 100u);
  values.add(2, 20, 1, deliver);
  EXPECT_EQ(got.size(), 3u) << "it was given up";
  values.give_up_missing(deliver);
  EXPECT_EQ(got.back(), std::pair(90, true));
  EXPECT_EQ(board.bytes(), 0u);
  values.give_up_missing(deliver);
  EXPECT_EQ(got.size(), 4u);
}

using WaitTuple = std::tuple<WaitPattern, std::uint32_t, std::uint32_t, std::uint64_t>;
std::vector<WaitTuple> waits_of(CollectiveKind kind, std::vector<Arrival> arrivals) {
  std::vector<Wait> waits;
  find_waits(kind, false, arrivals, waits);
  std::vector<WaitTuple> result;
  for (const Wait& wait : waits) result.emplace_back(wait.pattern, wait.waiter, wait.awaited, wait.ns);
  return result;
}
// Rank r of the program is r - 10 in the communicator.
Arrival arrival(std::uint32_t rank, double begin, double end, std::int32_t root = -1) {
  return {{begin, begin, end, 0, 0, 1, rank, 7, 0, 0, {}}, rank - 10, root};
}

TEST(WaitPatterns, AllWaitForTheLastButNoLongerThanTheyStay) {
  using enum WaitPattern;
  EXPECT_THAT(
      waits_of(CollectiveKind::kAllToAll, {arrival(10, 100, 500), arrival(11, 400, 510), arrival(12, 150, 300)}),
      ElementsAre(WaitTuple{kAllToAll, 10, 11, 300}, WaitTuple{kAllToAll, 12, 11, 150}));
}

TEST(WaitPatterns, ABarrierHasItsCompletion) {
  using enum WaitPattern;
  EXPECT_THAT(waits_of(CollectiveKind::kBarrier, {arrival(10, 100, 420), arrival(11, 400, 410), arrival(12, 400, 450)}),
              ElementsAre(WaitTuple{kBarrier, 10, 11, 300}, WaitTuple{kBarrierCompletion, 10, kNobody, 10},
                          WaitTuple{kBarrierCompletion, 12, kNobody, 40}));
}

TEST(WaitPatterns, RootsAndThoseWhoWaitForThem) {
  using enum WaitPattern;
  EXPECT_THAT(waits_of(CollectiveKind::kFromRoot,
                       {arrival(10, 100, 500, 1), arrival(11, 400, 410, 1), arrival(12, 450, 500, 1)}),
              ElementsAre(WaitTuple{kLateRoot, 10, 11, 300}));
  EXPECT_THAT(
      waits_of(CollectiveKind::kToRoot, {arrival(10, 100, 110, 1), arrival(11, 200, 500, 1), arrival(12, 450, 500, 1)}),
      ElementsAre(WaitTuple{kEarlyRoot, 11, 12, 250}));
  EXPECT_THAT(waits_of(CollectiveKind::kToRoot, {arrival(10, 100, 110, 5), arrival(11, 200, 500, 5)}), IsEmpty())
      << "the root is not there";
}

// The standard lets them go on, and so do libraries with room for the data.
TEST(WaitPatterns, SendersThatLeaveSoonAfterTheirReceiverCameHaveWaitedForIt) {
  using enum WaitPattern;
  EXPECT_THAT(waits_of(CollectiveKind::kToRoot, {arrival(10, 100, 410, 1), arrival(11, 400, 420, 1),
                                                 arrival(12, 390, 430, 1), arrival(13, 100, 399, 1)}),
              ElementsAre(WaitTuple{kLateRoot, 10, 11, 300}));
  EXPECT_THAT(waits_of(CollectiveKind::kFromRoot,
                       {arrival(10, 100, 510, 0), arrival(11, 300, 400, 0), arrival(12, 500, 520, 0)}),
              ElementsAre(WaitTuple{kEarlyRoot, 10, 12, 400}));
}

TEST(WaitPatterns, AScanWaitsForLowerRanksOnly) {
  using enum WaitPattern;
  EXPECT_THAT(waits_of(CollectiveKind::kFromLower,
                       {arrival(12, 100, 500), arrival(10, 300, 310), arrival(11, 200, 400), arrival(13, 600, 610)}),
              ElementsAre(WaitTuple{kEarlyScan, 11, 10, 100}, WaitTuple{kEarlyScan, 12, 10, 200}));
}

TEST(WaitPatterns, RanksThatLeaveEarlyDoNotWaitWhereThatIsPossible) {
  using enum WaitPattern;
  EXPECT_THAT(waits_of(CollectiveKind::kWindow, {arrival(10, 100, 500), arrival(11, 400, 510), arrival(12, 150, 300)}),
              ElementsAre(WaitTuple{kFence, 10, 11, 300}));
}

TEST(WaitPatterns, FunctionsAreOfTheirKind) {
  EXPECT_EQ(collective_kind(id(FunctionId::kIallreduce)), CollectiveKind::kAllToAll);
  EXPECT_EQ(collective_kind(id(FunctionId::kIbarrier)), CollectiveKind::kBarrier);
  EXPECT_EQ(collective_kind(id(FunctionId::kNeighbor_allgather)), CollectiveKind::kNeighbours);
  EXPECT_EQ(collective_kind(id(FunctionId::kAllreduce_init)), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(id(FunctionId::kStart)), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(id(FunctionId::kSend)), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(id(FunctionId::kComm_dup)), CollectiveKind::kObject);
  EXPECT_EQ(collective_kind(id(FunctionId::kComm_rank)), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(id(FunctionId::kWin_fence)), CollectiveKind::kWindow);
  EXPECT_EQ(collective_kind(id(FunctionId::kWin_lock)), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(id(FunctionId::kFile_write_all)), CollectiveKind::kFile);
  EXPECT_EQ(collective_kind(id(FunctionId::kFile_write)), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(60000), CollectiveKind::kNone);
  EXPECT_EQ(collective_kind(id(FunctionId::kAllreduce_c)), CollectiveKind::kAllToAll);
}

TEST(WaitPatterns, NeighboursWaitForThoseThatSendToThem) {
  std::vector<Arrival> arrivals{arrival(13, 100, 500), arrival(11, 450, 510), arrival(12, 150, 480),
                                arrival(10, 400, 520)};
  const std::vector<Neighbours> line{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {9, 2}, {2, 2}};
  std::vector<Wait> waits;
  find_neighbour_waits(false, arrivals, line, waits);
  std::vector<WaitTuple> result;
  for (const Wait& wait : waits) result.emplace_back(wait.pattern, wait.waiter, wait.awaited, wait.ns);
  using enum WaitPattern;
  EXPECT_THAT(result, ElementsAre(WaitTuple{kAllToAll, 10, 11, 50}, WaitTuple{kAllToAll, 12, 11, 300},
                                  WaitTuple{kAllToAll, 13, 12, 50}));
}

void define(PackMaker& maker, std::uint32_t comm, std::uint64_t hash, std::uint32_t size, std::uint32_t rank,
            CommunicatorKind kind = CommunicatorKind::kIntra) {
  CommunicatorDefinition definition{comm, kind, hash, 0, size, rank, 0, 1, 0, 0, 1};
  if (kind == CommunicatorKind::kInter) {
    definition.remote_size = 1;
    definition.remote_ranges = 1;
    definition.range_count = 2;
  }
  const std::vector<RankRange> ranges(definition.range_count, RankRange{0, size, 1});
  maker.define(definition, std::span<const RankRange>(ranges), ""sv);
}

// Rank r is r microseconds late to each of `calls` sums; packs of `records_per_pack`.
std::vector<replay::Pack> late_by_rank(std::uint32_t rank, std::uint32_t ranks, std::uint64_t calls,
                                       std::size_t records_per_pack = 3) {
  PackMaker maker({.rank = rank}, records_per_pack);
  define(maker, instrument::kWorldComm, 77, ranks, rank);
  maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 1e-7, 0, 0}, "tsc"sv, "boot"sv);
  for (std::uint64_t i = 0; i < calls; ++i) {
    const std::uint64_t begin = 1'000'000 + 100'000 * i + 1000 * rank;
    maker.call(FunctionId::kAllreduce, Shape::kCollective, begin, static_cast<std::uint32_t>(1000 * (ranks - rank)),
               instrument::kNoPeer, 8, 8);
    maker.call(FunctionId::kSend, Shape::kSend, begin + 50'000, 10, 0, 0, 8);
  }
  maker.finish();
  return maker.take();
}

std::vector<replay::Pack> of_all(std::uint32_t ranks, std::uint64_t calls) {
  std::vector<replay::Pack> packs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (auto& pack : late_by_rank(rank, ranks, calls)) packs.push_back(std::move(pack));
  }
  return packs;
}

void expect_late_by_rank(const reports::Waiting& waiting, std::uint32_t ranks, std::uint64_t calls) {
  const auto n = static_cast<double>(calls);
  const double all = n * ranks * (ranks - 1) / 2 * 1e-6;
  ASSERT_EQ(waiting.patterns.size(), 1u);
  EXPECT_EQ(waiting.patterns[0].pattern, "wait_nxn");
  EXPECT_NEAR(waiting.patterns[0].seconds, all, 1e-12);
  EXPECT_EQ(waiting.patterns[0].occurrences, calls * (ranks - 1));
  EXPECT_NEAR(waiting.patterns[0].longest.seconds, 1e-6 * (ranks - 1), 1e-15);
  ASSERT_EQ(waiting.call_sites.size(), 1u);
  EXPECT_EQ(waiting.call_sites[0].function, "MPI_Allreduce");
  EXPECT_EQ(waiting.edges.size(), ranks - 1);
  EXPECT_EQ(waiting.edges[0].waiter, 0u);
  EXPECT_EQ(waiting.edges[0].awaited, ranks - 1);
  EXPECT_NEAR(waiting.per_rank.waiting_seconds[1], n * (ranks - 2) * 1e-6, 1e-12);
  EXPECT_NEAR(waiting.per_rank.caused_seconds[ranks - 1], all, 1e-12);
  EXPECT_EQ(waiting.resolved_calls, calls * ranks);
  EXPECT_EQ(waiting.unresolved.collective_calls.incomplete, 0u);
}

TEST(Waits, PacksInAnyOrderGiveTheSameSums) {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    auto packs = of_all(4, 10);
    std::ranges::shuffle(packs, random);
    Session session({{0, "program", 4}});
    session.submit(packs);
    expect_late_by_rank(session.application().waiting, 4, 10);
  }
}

TEST(Waits, RanksOfOneCommunicatorMeetOverSeveralAnalyzers) {
  for (const std::size_t analyzers : {2U, 3U}) {
    Session session({{0, "program", 4}}, 0, analyzers);
    for (auto& pack : of_all(4, 10)) session.submit(pack, pack.header().rank % analyzers);
    expect_late_by_rank(session.application().waiting, 4, 10);
  }
}

TEST(Waits, WorkersMayTakeThePacksOfARankAtTheSameTime) {
  Session session({{0, "program", 4}}, 4);
  session.submit(of_all(4, 2000));
  expect_late_by_rank(session.application().waiting, 4, 2000);
}

TEST(Waits, AfterRecordsBecameSumsNothingIsGuessed) {
  auto packs = of_all(2, 9);  // 3 records in each pack: six packs of events a rank
  for (auto& pack : packs) {
    if (pack.header().rank == 1 &&
        pack.header().pack_class == static_cast<std::uint16_t>(instrument::PackClass::kMpi) && pack.header().order == 2)
      pack.header().flags |= instrument::kFolded;
  }
  Session session({{0, "program", 2}});
  session.submit(packs);
  const auto waiting = session.application().waiting;
  EXPECT_EQ(waiting.resolved_calls, 6u) << "the first two packs of rank 1 have three sums";
  EXPECT_EQ(waiting.unresolved.collective_calls.folded, 6u);
  EXPECT_EQ(waiting.unresolved.collective_calls.incomplete, 6u);
  EXPECT_NEAR(waiting.patterns[0].seconds, 3e-6, 1e-12);
}

TEST(Waits, APackThatNeverComesLeavesTheRestUnresolved) {
  auto packs = of_all(2, 9);
  std::erase_if(packs, [](replay::Pack& pack) {
    return pack.header().rank == 1 &&
           pack.header().pack_class == static_cast<std::uint16_t>(instrument::PackClass::kMpi) &&
           pack.header().order == 2;
  });
  Session session({{0, "program", 2}});
  session.submit(packs);
  const auto waiting = session.application().waiting;
  EXPECT_EQ(waiting.resolved_calls, 6u);
  EXPECT_EQ(waiting.unresolved.collective_calls.folded + waiting.unresolved.collective_calls.incomplete, 10u)
      << "but for the two that were in it";
}

TEST(Waits, ShorterThanTheErrorOfTheClocksIsNotCounted) {
  std::vector<replay::Pack> packs;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    define(maker, 0, 77, 2, rank);
    maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 2e-6, 0, 0}, "tsc"sv, "boot"sv);
    maker.call(FunctionId::kBcast, Shape::kRooted, 10'000 - 3000 * rank, 5000, 0, 8, 8);
    maker.finish();
    for (auto& pack : maker.take()) packs.push_back(std::move(pack));
  }
  Session session({{0, "program", 2}});
  session.submit(packs);
  const auto waiting = session.application().waiting;
  EXPECT_THAT(waiting.patterns, IsEmpty());
  EXPECT_NEAR(waiting.unresolved.below_clock_seconds, 3e-6, 1e-12);
}

TEST(Waits, RanksThatCallDifferentFunctionsAndIntercommunicatorsAreUnresolved) {
  std::vector<replay::Pack> packs;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    define(maker, 0, 77, 2, rank);
    define(maker, 1, 88, 1, 0, CommunicatorKind::kInter);
    maker.call(rank == 0 ? FunctionId::kBarrier : FunctionId::kAllreduce, Shape::kCollective, 9000, 100, -1, 0, 0);
    maker.call(FunctionId::kBarrier, Shape::kCollective, 19'000, 100, -1, 0, 0, 1, 1);
    maker.finish();
    for (auto& pack : maker.take()) packs.push_back(std::move(pack));
  }
  Session session({{0, "program", 2}});
  session.submit(packs);
  const auto waiting = session.application().waiting;
  EXPECT_EQ(waiting.resolved_calls, 0u);
  EXPECT_EQ(waiting.unresolved.collective_calls.incomplete, 2u);
  EXPECT_EQ(waiting.unresolved.collective_calls.other, 2u);
}

// Rank 0 sends `sent` messages, of which rank 1 receives two.
reports::Waiting after_sends(std::uint32_t sent, bool folded) {
  Session session({{0, "program", 2}}, 0, 2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    define(maker, 0, 77, 2, rank);
    for (std::uint32_t i = 0; i < (rank == 0 ? sent : 2); ++i) {
      const auto [function, shape] =
          rank == 0 ? std::pair(FunctionId::kSend, Shape::kSend) : std::pair(FunctionId::kRecv, Shape::kReceive);
      maker.call(function, shape, 10'000 + 1000 * i, 100, rank == 0 ? 1 : 0, 5, 8);
    }
    maker.finish();
    for (auto& pack : maker.take()) {
      if (folded && rank == 1) pack.header().flags |= instrument::kFolded;
      session.submit(pack, rank);
    }
  }
  return session.application().waiting;
}

TEST(Waits, MessagesThatNobodyReceivesAreNamed) {
  EXPECT_THAT(after_sends(2, false).unreceived, IsEmpty());
  const auto waiting = after_sends(5, false);
  ASSERT_EQ(waiting.unreceived.size(), 1u);
  EXPECT_EQ(waiting.unreceived[0].function, "MPI_Send");
  EXPECT_EQ(waiting.unreceived[0].messages, 3u);
  EXPECT_EQ(waiting.unreceived[0].source, 0u);
  EXPECT_EQ(waiting.unreceived[0].tag, 5);
  EXPECT_THAT(after_sends(5, true).unreceived, IsEmpty()) << "what rank 1 received is not known";
}

TEST(Origins, ChainsOfWaitsEndWhereARankIsLateByItself) {
  // 2 waits 3 s for 1, which is late since it waits for 0; 3 waits 1 s for 2, which is half late by itself.
  const std::vector<reports::WaitEdge> edges{{1, 0, 3}, {2, 1, 3}, {3, 2, 1}};
  const std::vector<double> caused{3, 3, 1, 0}, held_up{0, 1, 0.5, 0};
  EXPECT_THAT(origins_of(caused, held_up, edges), ElementsAre(6.5, 0, 0.5, 0));
}

TEST(Origins, ARingThatTurnsForEverLosesNothing) {
  const std::vector<reports::WaitEdge> edges{{0, 1, 2}, {1, 0, 4}};
  const auto origins = origins_of(std::vector<double>{4, 2}, std::vector<double>{1, 1}, edges);
  EXPECT_NEAR(origins[0] + origins[1], 6, 1e-9);
  EXPECT_THAT(origins_of({}, {}, {}), IsEmpty());
}

// A ring of four ranks, of which one is late in each step; the packs end with a collective.
reports::Waiting of_ring(std::size_t analyzers, bool nonblocking) {
  Session session({{0, "program", 4}}, 0, analyzers);
  const auto function = nonblocking ? FunctionId::kIneighbor_alltoall : FunctionId::kNeighbor_alltoall;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    PackMaker maker({.rank = rank});
    define(maker, 0, 77, 4, rank);
    for (std::uint32_t step = 0; step < 3; ++step) {
      const std::uint64_t begin = 1'000'000 * (step + 1) + (rank == step ? 500'000 : 0);
      const auto duration = static_cast<std::uint32_t>(800'000 - begin % 1'000'000);
      maker.call(function, Shape::kNeighbour, begin, nonblocking ? 100 : duration, -1, 8, 8);
      for (const std::uint32_t to : {(rank + 1) % 4, (rank + 3) % 4}) {
        const std::uint32_t word = extension_word(ExtensionKind::kNeighbourPart, function);
        maker.mpi_extension(instrument::NeighbourExtension{8, static_cast<std::int32_t>(to), 0, begin, 0, word});
      }
      if (!nonblocking) continue;
      maker.call(FunctionId::kWait, Shape::kCompletes, begin + 200, duration - 200, -1, 1, 0);
      maker.mpi_extension(instrument::CompletionRecord{begin, 0, 0, -1, 0, 0,
                                                       instrument::make_word(0, id(function), Shape::kCompletion)});
    }
    maker.finish();
    session.submit(maker.take(), rank % analyzers);
  }
  return session.application().waiting;
}

TEST(Waits, NeighbourhoodCollectivesAreWaitedForByNeighbours) {
  for (const std::size_t analyzers : {1U, 2U, 3U}) {
    for (const bool nonblocking : {false, true}) {
      SCOPED_TRACE(analyzers);
      const auto waiting = of_ring(analyzers, nonblocking);
      EXPECT_EQ(waiting.resolved_calls, 12u);
      EXPECT_EQ(waiting.unresolved.collective_calls, reports::UnresolvedCounts{});
      ASSERT_EQ(waiting.edges.size(), 6u) << "two wait for each that is late";
      for (const reports::WaitEdge& edge : waiting.edges) {
        EXPECT_EQ((edge.waiter + edge.awaited) % 2, 1u);
        EXPECT_LT(edge.awaited, 3u);
        EXPECT_NEAR(edge.seconds, nonblocking ? 499.8e-6 : 500e-6, 1e-9);
      }
      ASSERT_EQ(waiting.patterns.size(), 1u);
      EXPECT_EQ(waiting.patterns[0].pattern, nonblocking ? "nonblocking_collective" : "wait_nxn");
    }
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// The communication matrix: every kind of call that makes an edge, every kind of communicator.
#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::RankRange;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_view_literals;

void define(PackMaker& maker, CommunicatorDefinition comm, std::vector<RankRange> ranges) {
  comm.range_count = static_cast<std::uint32_t>(ranges.size());
  maker.define(comm, std::span<const RankRange>(ranges), ""sv);
}

reports::Application analyze(PackMaker& maker, std::uint32_t ranks = 8) {
  maker.flush();
  Session session({{0, "program", ranks}});
  session.submit(maker.take());
  return session.application();
}

TEST(Topology, SendsCountOnceAtTheSender) {
  PackMaker maker({.rank = 2});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, 3, 0, 64);
  maker.call(FunctionId::kIsend, Shape::kSend, 3000, 50, 3, 0, 36);
  maker.call(FunctionId::kSend, Shape::kSend, 4000, 70, 5, 0, 1);
  maker.call(FunctionId::kRecv, Shape::kReceive, 5000, 70, 5, 0, 1000);
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 6000, 70, 5, 0, 1000);
  maker.call(FunctionId::kBcast, Shape::kRooted, 7000, 70, 1, 0, 1000);
  maker.call(FunctionId::kSend, Shape::kSend, 8000, 70, instrument::kNoPeer, 0, 10);  // MPI_PROC_NULL
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{2, 3, 2, 100, 150}, EdgeTuple{2, 5, 1, 1, 70}));
}

TEST(Topology, OneSidedCallsCountAtTheOrigin) {
  PackMaker maker({.rank = 1});
  maker.call(FunctionId::kPut, Shape::kPut, 2000, 100, 4, 0, 64);
  maker.call(FunctionId::kGet, Shape::kGet, 3000, 30, 4, 0, 16);
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{1, 4, 1, 64, 100}, EdgeTuple{4, 1, 1, 16, 30}));
}

TEST(Topology, SendrecvIsAnEdgeToItsDestinationOnly) {
  PackMaker maker({});
  maker.mpi({2000, 100, 1, 5, 0, 40, instrument::make_word(0, id(FunctionId::kSendrecv), Shape::kSend)});
  maker.mpi_extension(instrument::ReceiveHalfExtension{
      60, 7, 0, 0, 0, extension_word(ExtensionKind::kReceiveHalf, FunctionId::kSendrecv)});
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{0, 5, 1, 40, 100}));
}

TEST(Topology, WideBytesOfASend) {
  PackMaker maker({});
  const std::uint64_t bytes = (std::uint64_t{1} << 35) + 3;
  maker.mpi({2000, 100, 1, 5, 0, instrument::kWide, instrument::make_word(0, id(FunctionId::kSend), Shape::kSend)});
  maker.mpi_extension(
      instrument::WideExtension{100, bytes, 0, 0, extension_word(ExtensionKind::kWideValues, FunctionId::kSend)});
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{0, 5, 1, bytes, 100}));
}

TEST(Topology, NeighbourhoodPartsShareTheTimeOfTheirCall) {
  PackMaker maker({});
  const auto part = [&](std::int32_t destination, std::uint64_t bytes) {
    maker.mpi_extension(instrument::NeighbourExtension{
        bytes, destination, 0, 2000, 0, extension_word(ExtensionKind::kNeighbourPart, FunctionId::kNeighbor_alltoall)});
  };
  maker.mpi({2000, 100, 1, -1, 0, 30, instrument::make_word(0, id(FunctionId::kNeighbor_alltoall), Shape::kNeighbour)});
  part(1, 10);
  part(2, 10);
  part(instrument::kNoPeer, 0);  // beyond the border of a grid that is not periodic
  part(3, 10);
  maker.call(FunctionId::kSend, Shape::kSend, 4000, 7, 1, 0, 1);
  EXPECT_THAT(edges_of(analyze(maker)),
              ElementsAre(EdgeTuple{0, 1, 2, 11, 34 + 7}, EdgeTuple{0, 2, 1, 10, 33}, EdgeTuple{0, 3, 1, 10, 33}));
}

TEST(Topology, NeighbourhoodPartsInALaterPackStandAlone) {
  PackMaker maker({}, 1);
  maker.mpi({2000, 100, 1, -1, 0, 30, instrument::make_word(0, id(FunctionId::kNeighbor_alltoall), Shape::kNeighbour)});
  maker.mpi_extension(instrument::NeighbourExtension{
      10, 6, 0, 2000, 0, extension_word(ExtensionKind::kNeighbourPart, FunctionId::kNeighbor_alltoall)});
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{0, 6, 1, 10, 0}));
}

TEST(Topology, StartallStartsItsSends) {
  PackMaker maker({});
  maker.call(FunctionId::kStartall, Shape::kLocal, 2000, 100, -1, 0, 0);
  const auto started = [&](std::int32_t peer, std::uint64_t bytes, FunctionId function, Shape shape) {
    maker.mpi_extension(instrument::StartedExtension{2000, bytes, peer, 0,
                                                     instrument::make_word(0, id(function), shape),
                                                     extension_word(ExtensionKind::kStarted, FunctionId::kStartall)});
  };
  started(3, 99, FunctionId::kSend_init, Shape::kSend);
  started(4, 0, FunctionId::kRecv_init, Shape::kPostReceive);
  const auto application = analyze(maker);
  EXPECT_THAT(edges_of(application), ElementsAre(EdgeTuple{0, 3, 1, 99, 0}));
  EXPECT_EQ(find(application.mpi, "MPI_Startall").bytes_sent, 99u);
}

TEST(Topology, RanksOfASubCommunicatorBecomeRanksOfTheWorld) {
  PackMaker maker({.rank = 4});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 1, 1, 1);
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 2, 0, 2, 1, 1);
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 3, 0, 4, 1, 1);
  // 6, 4, 2 and then 7: (start 6, 3 of them, stride -2), (7).
  define(maker, {1, CommunicatorKind::kIntra, 123, 0, 4, 1, 0, 2, 0, 0, 0}, {{6, 3, -2}, {7, 1, 1}});
  EXPECT_THAT(edges_of(analyze(maker)),
              ElementsAre(EdgeTuple{4, 2, 1, 2, 10}, EdgeTuple{4, 6, 1, 1, 10}, EdgeTuple{4, 7, 1, 4, 10}));
}

TEST(Topology, OneMembersRangesServeAllMembers) {
  Session session({{0, "program", 8}});
  PackMaker first({.rank = 0}), second({.rank = 1});
  // Rank 1 uses another number for it, and its definition has no ranges.
  second.call(FunctionId::kSend, Shape::kSend, 2000, 10, 1, 0, 5, 1, 9);
  define(second, {9, CommunicatorKind::kIntra, 55, 0, 2, 0, 0, 2, 0, 0, 0}, {});
  second.flush();
  session.submit(second.take());
  // In two parts, the second one first.
  define(first, {3, CommunicatorKind::kIntra, 55, 0, 2, 1, 0, 2, 0, 1, 0}, {{7, 1, 1}});
  first.flush();
  define(first, {3, CommunicatorKind::kIntra, 55, 0, 2, 1, 0, 2, 0, 0, 0}, {{1, 1, 1}});
  first.flush();
  session.submit(first.take());
  EXPECT_THAT(edges_of(session.application()), ElementsAre(EdgeTuple{1, 7, 1, 5, 10}));
}

TEST(Topology, PeersInAnIntercommunicatorAreOfTheRemoteGroup) {
  PackMaker maker({.rank = 1});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 5, 1, 2);
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 1, 0, 6, 1, 2);
  maker.call(FunctionId::kBcast, Shape::kRooted, 2000, 10, instrument::kRootGroup, 0, 6, 1, 2);
  define(maker, {2, CommunicatorKind::kInter, 99, 0, 2, 1, 2, 1, 1, 0, 0}, {{0, 2, 1}, {5, 2, 2}});
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{1, 5, 1, 5, 10}, EdgeTuple{1, 7, 1, 6, 10}));
}

TEST(Topology, BothSidesOfAnIntercommunicatorHaveOneHashAndPeersOfTheirOwn) {
  PackMaker even({.rank = 0}), odd({.rank = 1});
  even.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 5, 1, 2);
  odd.call(FunctionId::kSend, Shape::kSend, 2000, 10, 1, 0, 6, 1, 2);
  define(even, {2, CommunicatorKind::kInter, 99, 0, 2, 0, 1, 1, 1, 0, 0}, {{0, 2, 2}, {1, 1, 1}});
  define(odd, {2, CommunicatorKind::kInter, 99, 0, 1, 0, 2, 1, 1, 0, 0}, {{1, 1, 1}, {0, 2, 2}});
  even.flush();
  odd.flush();
  replay::Session session({{.name = "program", .ranks = 8}});
  session.submit(even.take());
  session.submit(odd.take());
  EXPECT_THAT(edges_of(session.application()), ElementsAre(EdgeTuple{0, 1, 1, 5, 10}, EdgeTuple{1, 2, 1, 6, 10}));
}

TEST(Topology, OnePairOverTwoCommunicatorsIsOneEdge) {
  PackMaker maker({});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 1, 0, 5);
  maker.call(FunctionId::kSend, Shape::kSend, 3000, 20, 1, 0, 6, 1, 1);
  define(maker, {1, CommunicatorKind::kIntra, 5, 0, 8, 0, 0, 1, 0, 0, 0}, {{0, 8, 1}});
  EXPECT_THAT(edges_of(analyze(maker)), ElementsAre(EdgeTuple{0, 1, 2, 11, 30}));
}

TEST(Topology, ProcessesOutsideTheWorldAreSaidAndLeftOut) {
  PackMaker maker({});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 5, 1, 1);
  define(maker, {1, CommunicatorKind::kInter, 5, 0, 1, 0, 4, 1, 1, 0, 0}, {{0, 1, 1}, {instrument::kNoPeer, 4, 0}});
  const auto application = analyze(maker);
  EXPECT_THAT(application.edges, IsEmpty());
  EXPECT_THAT(application.quality.notices, testing::Contains(testing::HasSubstr("1 message to processes outside")));
}

TEST(Topology, UnknownCommunicatorsAndRanksAreSaidAndLeftOut) {
  PackMaker maker({});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 5, 1, 77);  // never defined
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 5, 1, instrument::kUnnamedComm);
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 8, 0, 5);        // beyond the world
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 2, 0, 5, 1, 1);  // beyond the communicator
  define(maker, {1, CommunicatorKind::kIntra, 5, 0, 2, 0, 0, 1, 0, 0, 0}, {{0, 2, 1}});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 1, 0, 5, 1, 2);  // ranges that lead out of the world
  define(maker, {2, CommunicatorKind::kIntra, 6, 0, 2, 0, 0, 1, 0, 0, 0}, {{0, 2, 2'000'000'000}});
  const auto application = analyze(maker);
  EXPECT_THAT(application.edges, IsEmpty());
  EXPECT_THAT(application.quality.notices, testing::Contains(testing::HasSubstr("5 messages are not in the")));
}

TEST(Topology, ARankThatSendsToEverybody) {
  constexpr std::uint32_t kRanks = 5000;
  PackMaker maker({});
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t peer = 0; peer < kRanks; ++peer) {
      const auto shuffled = static_cast<std::int32_t>(peer * 1237 % kRanks);
      maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, shuffled, 0, 3);
    }
  }
  const auto application = analyze(maker, kRanks);
  ASSERT_EQ(application.edges.size(), kRanks);
  const auto edges = edges_of(application);
  for (std::uint32_t i = 0; i < kRanks; ++i) ASSERT_EQ(edges[i], (EdgeTuple{0, i, 2, 6, 20}));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

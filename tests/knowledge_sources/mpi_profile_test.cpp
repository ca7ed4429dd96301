// The profile of MPI calls, from packs written by hand.
#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

TEST(MpiProfile, SumsAndExtremesOfAFunction) {
  Session session({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, 1, 0, 64);
    maker.call(FunctionId::kSend, Shape::kSend, 3000, 300 + rank, 1, 0, 0);
    maker.call(FunctionId::kRecv, Shape::kReceive, 4000, 50, 1, 0, 1000);
    maker.finish();
    session.submit(maker.take());
  }
  const auto application = session.application();
  const auto& send = find(application.mpi, "MPI_Send");
  EXPECT_EQ(send.category, "point-to-point");
  EXPECT_EQ(send.calls, 4u);
  EXPECT_NEAR(send.seconds, 801 * kNs, 1e-15);
  EXPECT_NEAR(send.min_seconds, 100 * kNs, 1e-15);
  EXPECT_NEAR(send.mean_seconds, 801 * kNs / 4, 1e-15);
  EXPECT_NEAR(send.max_seconds, 301 * kNs, 1e-15);
  EXPECT_EQ(send.bytes, 128u);
  EXPECT_EQ(send.bytes_sent, 128u);
  EXPECT_EQ(send.bytes_received, 0u);
  EXPECT_THAT(send.calls_by_size, testing::ElementsAre(2, 0, 0, 0, 0, 0, 0, 2));  // 64 lies in [2^6, 2^7)
  const auto& recv = find(application.mpi, "MPI_Recv");
  EXPECT_EQ(recv.bytes_received, 2000u);
  EXPECT_EQ(recv.bytes, 2000u);
  EXPECT_EQ(application.mpi.front().function, "MPI_Send") << "sorted by seconds";
}

TEST(MpiProfile, TotalsCountWhereRecordsWereDropped) {
  Session session({{0, "program", 1}});
  PackMaker maker({});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, 0, 0, 8);
  maker.total(instrument::PackClass::kMpi, id(FunctionId::kSend), 9, 900, 72, 0);
  maker.drop(9, 0);
  maker.finish();
  session.submit(maker.take());
  const auto application = session.application();
  const auto& send = find(application.mpi, "MPI_Send");
  EXPECT_EQ(send.calls, 10u);
  EXPECT_EQ(send.bytes, 80u);
  EXPECT_NEAR(send.seconds, 1000 * kNs, 1e-15);
  EXPECT_EQ(application.call_sites.at(0).calls, 1u) << "call sites know the recorded calls only";
}

TEST(MpiProfile, OnlyTheLatestTotalsCount) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, -1, 0, 0);
  maker.flush();
  maker.send_totals();
  maker.call(FunctionId::kBarrier, Shape::kCollective, 3000, 100, -1, 0, 0);
  maker.finish();
  auto packs = maker.take();
  std::ranges::reverse(packs);
  Session session({{0, "program", 1}});
  session.submit(packs);
  EXPECT_EQ(find(session.application().mpi, "MPI_Barrier").calls, 2u);
}

TEST(MpiProfile, RecordedEventsCountWhereNoTotalsArrived) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, -1, 0, 0);
  maker.flush();
  maker.send_totals();  // an early one
  for (int i = 0; i < 4; ++i) maker.call(FunctionId::kBarrier, Shape::kCollective, 3000, 100, -1, 0, 0);
  maker.call(FunctionId::kSend, Shape::kSend, 3000, 10, 0, 0, 5);
  maker.flush();  // and then the process died
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  EXPECT_EQ(find(application.mpi, "MPI_Barrier").calls, 5u);
  EXPECT_EQ(find(application.mpi, "MPI_Send").bytes, 5u);
  EXPECT_EQ(application.quality.ranks_complete, 0u);
}

TEST(MpiProfile, WideValuesComeFromTheExtension) {
  PackMaker maker({});
  const std::uint64_t duration = 5'000'000'000, bytes = std::uint64_t{3} << 32, received = std::uint64_t{1} << 33;
  maker.mpi({2000, instrument::kWide, 7, -1, 0, instrument::kWide,
             instrument::make_word(0, id(FunctionId::kAllgather), Shape::kCollective)});
  maker.mpi_extension(instrument::WideExtension{
      duration, bytes, received, 0,
      instrument::make_word(static_cast<std::uint32_t>(instrument::ExtensionKind::kWideValues),
                            id(FunctionId::kAllgather), Shape::kExtension)});
  maker.flush();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  const auto& gather = find(application.mpi, "MPI_Allgather");
  EXPECT_EQ(gather.calls, 1u);
  EXPECT_NEAR(gather.seconds, 5.0, 1e-9);
  EXPECT_NEAR(gather.max_seconds, 5.0, 1e-9);
  EXPECT_EQ(gather.bytes_sent, bytes);
  EXPECT_EQ(gather.bytes_received, received);
  EXPECT_EQ(gather.bytes, bytes);
  EXPECT_EQ(gather.calls_by_size.size(), 35u);  // 3 * 2^32 lies in [2^33, 2^34)
}

TEST(MpiProfile, OperationsAreUnderWayUntilTheirCompletionEnds) {
  PackMaker maker({});
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2000, 10, 3, 0, 1 << 20, 42);
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2100, 10, 3, 0, 1 << 20, 42);
  maker.call(FunctionId::kWaitall, Shape::kCompletes, 3000, 500, -1, 2, 0, 43);
  for (const std::uint64_t posted : {2000u, 2100u}) {
    maker.mpi_extension(instrument::CompletionRecord{
        posted, 0, 42, 3, 0, 100, instrument::make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)});
  }
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  const auto site = std::ranges::find(application.call_sites, "MPI_Irecv", &reports::CallSite::function);
  ASSERT_NE(site, application.call_sites.end());
  EXPECT_EQ(site->operations, 2u);
  EXPECT_NEAR(site->flight_seconds, (1500 + 1400) * kNs, 1e-15);
  EXPECT_NEAR(site->waited_seconds, 1000 * kNs, 1e-15);
}

TEST(MpiProfile, PostedReceivesGetTheBytesOfTheirCompletion) {
  PackMaker maker({}, 2);  // the completion comes in a pack of its own
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2000, 10, 3, 0, 1 << 20, 42);
  maker.call(FunctionId::kWait, Shape::kCompletes, 3000, 500, -1, 1, 0, 43);
  maker.mpi_extension(instrument::CompletionRecord{
      2000, 0, 42, 3, 0, 100, instrument::make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)});
  maker.mpi_extension(instrument::CompletionRecord{
      2000, 0, 42, instrument::kNoPeer, 0, 0, instrument::make_word(0, id(FunctionId::kIsend), Shape::kCompletion)});
  maker.flush();
  Session session({{0, "program", 4}});
  session.submit(maker.take());
  const auto application = session.application();
  const auto& irecv = find(application.mpi, "MPI_Irecv");
  EXPECT_EQ(irecv.calls, 1u);
  EXPECT_EQ(irecv.bytes, 100u) << "what arrived, not the capacity";
  EXPECT_EQ(irecv.bytes_received, 100u);
  EXPECT_THAT(irecv.calls_by_size, testing::ElementsAre(0, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_EQ(find(application.call_sites, "MPI_Irecv").bytes, 100u);
  EXPECT_EQ(find(application.call_sites, "MPI_Irecv").calls, 1u);
  EXPECT_EQ(find(application.mpi, "MPI_Wait").calls, 1u);
}

TEST(MpiProfile, SendrecvReceivesInItsExtension) {
  PackMaker maker({});
  maker.mpi({2000, 100, 1, 1, 0, 40, instrument::make_word(0, id(FunctionId::kSendrecv), Shape::kSend)});
  maker.mpi_extension(instrument::ReceiveHalfExtension{
      60, 1, 0, 0, 0,
      instrument::make_word(static_cast<std::uint32_t>(instrument::ExtensionKind::kReceiveHalf),
                            id(FunctionId::kSendrecv), Shape::kExtension)});
  maker.flush();
  Session session({{0, "program", 2}});
  session.submit(maker.take());
  const auto application = session.application();
  EXPECT_EQ(find(application.mpi, "MPI_Sendrecv").bytes_sent, 40u);
  EXPECT_EQ(find(application.mpi, "MPI_Sendrecv").bytes_received, 60u);
  EXPECT_EQ(find(application.mpi, "MPI_Sendrecv").calls, 1u);
}

TEST(MpiProfile, CallSitesAreApartByFunctionAndCountTheirRanks) {
  Session session({{0, "program", 200}});
  for (std::uint32_t rank = 0; rank < 200; rank += 2) {
    PackMaker maker({.rank = rank});
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 100 + rank, 1, 0, 64, 5);
    if (rank < 100) maker.call(FunctionId::kBarrier, Shape::kCollective, 3000, 10, -1, 0, 0, 5);
    maker.finish();
    session.submit(maker.take());
  }
  const auto application = session.application();
  ASSERT_EQ(application.call_sites.size(), 2u);
  const auto& send = find(application.call_sites, "MPI_Send");
  EXPECT_EQ(send.calls, 100u);
  EXPECT_EQ(send.ranks, 100u);
  EXPECT_EQ(send.bytes, 6400u);
  EXPECT_NEAR(send.seconds, (100 * 100 + 99 * 100) * kNs, 1e-12);
  EXPECT_NEAR(send.min_seconds, 100 * kNs, 1e-15);
  EXPECT_NEAR(send.max_seconds, 298 * kNs, 1e-15);
  EXPECT_EQ(find(application.call_sites, "MPI_Barrier").ranks, 50u);
  EXPECT_EQ(application.quality.unresolved_call_sites, 2u);
}

TEST(MpiProfile, ManyCallSitesInOnePack) {
  PackMaker maker({}, 100'000);
  for (std::uint32_t i = 0; i < 30'000; ++i) {
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 0, 1, 1 + i % 3000);
  }
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  ASSERT_EQ(application.call_sites.size(), 3000u);
  for (const auto& site : application.call_sites) EXPECT_EQ(site.calls, 10u);
}

TEST(MpiProfile, WeightMultipliesWhatRecordsCount) {
  PackMaker maker({.weight = 4});
  maker.mpi({2000, 100, 1, 0, 0, 8, instrument::make_word(0, id(FunctionId::kSend), Shape::kSend)});
  maker.flush();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  const auto& send = find(application.mpi, "MPI_Send");
  EXPECT_EQ(send.calls, 4u);
  EXPECT_EQ(send.bytes, 32u);
  EXPECT_NEAR(send.max_seconds, 100 * kNs, 1e-15);
  EXPECT_THAT(edges_of(application), testing::ElementsAre(EdgeTuple{0, 0, 4, 32, 400}));
}

TEST(MpiProfile, EachRanksClockHasItsOwnRate) {
  Session session({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank, .ticks_per_second = rank == 0 ? 1e9 : 2e9});
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 1000, 1, 0, 8, 5);
    maker.finish();
    session.submit(maker.take());
  }
  const auto application = session.application();
  EXPECT_NEAR(find(application.mpi, "MPI_Send").seconds, 1500 * kNs, 1e-15);
  EXPECT_NEAR(find(application.call_sites, "MPI_Send").seconds, 1500 * kNs, 1e-15);
  EXPECT_NEAR(find(application.mpi, "MPI_Send").min_seconds, 500 * kNs, 1e-15);
}

TEST(MpiProfile, MpiIoCountsInItsFile) {
  PackMaker maker({});
  using namespace std::string_view_literals;
  maker.call(FunctionId::kFile_write_at, Shape::kFileWrite, 2000, 100, 3, 0, 4096);
  maker.call(FunctionId::kFile_read_all, Shape::kFileRead, 3000, 200, 3, 0, 512);
  maker.define(instrument::FileDefinition{3, 0}, "/scratch/mpi.dat"sv);
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  ASSERT_EQ(application.files.size(), 1u);
  const auto& file = application.files[0];
  EXPECT_EQ(file.path, "/scratch/mpi.dat");
  EXPECT_EQ(file.writes, 1u);
  EXPECT_EQ(file.reads, 1u);
  EXPECT_EQ(file.bytes_written, 4096u);
  EXPECT_EQ(file.bytes_read, 512u);
  EXPECT_NEAR(file.seconds, 300 * kNs, 1e-15);
  EXPECT_EQ(find(application.mpi, "MPI_File_write_at").category, "io");
}

}  // namespace
}  // namespace ardoise::knowledge_sources

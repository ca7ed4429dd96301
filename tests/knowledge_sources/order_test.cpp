// The fundamental property: the model depends neither on the order of packs nor on their distribution over workers and
// analyzers.
#include <random>

#include "fixture.hpp"
#include "replay/synthetic.hpp"
#include "reports/model_check.hpp"
#include "reports/model_json.hpp"

namespace ardoise::knowledge_sources {
namespace {

using namespace std::string_view_literals;

// Two programs: the synthetic one, with clocks of several rates, and one with a bit of everything.
std::vector<replay::Pack> all_packs() {
  std::vector<replay::Pack> packs;
  const replay::SyntheticProgram program{
      .partition = 0, .ranks = 27, .steps = 11, .records_per_pack = 150, .samples = 7};
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    for (auto& pack : replay::synthetic_packs(program, rank)) {
      pack.header().ticks_per_second = 1e9 + rank * 1.7e7;
      packs.push_back(std::move(pack));
    }
  }
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    PackMaker maker({.partition = 1, .rank = rank, .origin_tick = 500 * rank + 1, .ticks_per_second = 3.1e9}, 20);
    maker.define(instrument::ProcessDefinition{3, 27 + rank, 1, 0, 1000, 10, 0, 0, 3}, "b"sv, "b"sv, "host"sv, "/"sv);
    maker.define(instrument::NoticeDefinition{1, 0}, rank == 0 ? "first"sv : "other"sv);
    const instrument::RankRange odd{1, 2, 1};
    maker.define(
        instrument::CommunicatorDefinition{5 + rank, instrument::CommunicatorKind::kIntra, 8, 0, 2, 0, 0, 1, 0, 0, 1},
        std::span(&odd, 1), "odd"sv);
    for (std::uint32_t i = 0; i < 300; ++i) {
      const std::uint64_t now = 2000 + i * 100'000 * (rank + 1);
      maker.call(FunctionId::kSend, Shape::kSend, now, 100 + i * 7, 1, 0, i, i % 5, 5 + rank);
      maker.call(FunctionId::kGet, Shape::kGet, now + 5000, 90 + i, static_cast<std::int32_t>(i % 3), 0, 2 * i, 77);
      maker.posix({now + 9000, 50 + i, 3, i % 4, static_cast<std::uint16_t>(i % 10), 0, i});
      if (i % 100 == 50) {
        maker.flush();
        maker.send_totals();
      }
    }
    maker.call(FunctionId::kBarrier, Shape::kCollective, std::uint64_t{1} << 40, 1000, -1, 0, 0);  // bins widen late
    maker.finish();
    for (auto& pack : maker.take()) packs.push_back(std::move(pack));
  }
  return packs;
}

const std::vector<Program> kPrograms{{0, "synthetic", 27}, {1, "b", 3}};

class Order : public testing::TestWithParam<std::tuple<unsigned, std::size_t>> {};

TEST_P(Order, DoesNotMatter) {
  const auto [workers, analyzers] = GetParam();
  auto packs = all_packs();
  Session reference(kPrograms);
  reference.submit(packs);
  const reports::Run expected_run = reference.finish();
  EXPECT_EQ(reports::check_model(expected_run).error, "");
  const std::string expected = reports::profile_to_json(expected_run);

  std::mt19937 random(workers * 10 + static_cast<unsigned>(analyzers));
  for (int round = 0; round < 3; ++round) {
    std::ranges::shuffle(packs, random);
    Session session(kPrograms, workers, analyzers);
    // All packs of a process are with one analyzer.
    const auto shift = random();
    for (auto& pack : packs) session.submit(pack, (pack.header().rank * 7 + shift) % analyzers);
    EXPECT_EQ(reports::profile_to_json(session.finish()), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(WorkersAndAnalyzers, Order,
                         testing::Combine(testing::Values(0u, 1u, 2u, 4u),
                                          testing::Values(std::size_t{1}, std::size_t{2}, std::size_t{3})));

TEST(SyntheticProgram, CountsByHand) {
  Session session({{0, "synthetic", 27}}, 2, 2);
  const replay::SyntheticProgram program{.ranks = 27, .steps = 20};
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank)
    session.submit(replay::synthetic_packs(program, rank), rank % 2);
  const auto application = session.application();
  constexpr std::uint64_t kSteps = 27 * 20, kMessages = kSteps * 26;
  EXPECT_EQ(find(application.mpi, "MPI_Isend").calls, kMessages);
  EXPECT_EQ(find(application.mpi, "MPI_Isend").bytes, kMessages * 8192);
  EXPECT_NEAR(find(application.mpi, "MPI_Isend").seconds, kMessages * replay::kIsendTicks * kNs, 1e-12);
  EXPECT_EQ(find(application.mpi, "MPI_Irecv").bytes_received, kMessages * 8192);
  EXPECT_EQ(find(application.mpi, "MPI_Waitall").calls, kSteps);
  EXPECT_EQ(find(application.mpi, "MPI_Allreduce").bytes, kSteps * 8);
  EXPECT_EQ(find(application.mpi, "MPI_Barrier").calls, 27u * 2);
  EXPECT_EQ(find(application.posix, "write").bytes, 27u * 2 << 20);
  ASSERT_EQ(application.edges.size(), 27u * 26);
  for (const auto& edge : edges_of(application)) {
    EXPECT_EQ(std::get<2>(edge), 20u);
    EXPECT_EQ(std::get<3>(edge), 20u * 8192);
    EXPECT_EQ(std::get<4>(edge), 20l * replay::kIsendTicks);
  }
  EXPECT_THAT(application.layout.extents, testing::ElementsAre(3, 3, 3));
  EXPECT_TRUE(application.layout.cartesian);
  EXPECT_NEAR(application.wall_seconds, 20 * replay::kStepTicks * kNs, 1e-12);
  EXPECT_EQ(application.quality.ledger[0].lost, 0u);
  EXPECT_EQ(application.quality.ranks_complete, 27u);
  EXPECT_EQ(application.call_sites.size(), 6u);
  EXPECT_EQ(find(application.call_sites, "MPI_Isend").module, "/opt/synthetic");
  EXPECT_EQ(find(application.call_sites, "MPI_Isend").offset, 0x1000u + replay::kSiteIsend);
  EXPECT_EQ(application.command, "./synthetic --steps ten");
  EXPECT_EQ(application.files.at(0).path, "/scratch/out.bin");
  EXPECT_EQ(application.files.at(0).ranks, 27u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Packs that a worker takes long after later ones: the analysis waits for them as long as the blackboard has room.
#include "knowledge_sources/plugins/traces/trace_rank.hpp"
#include "replay/synthetic.hpp"
#include "reports/model_json.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::PackClass;
using ::testing::IsEmpty;

class LatePacks : public TracesFixture, public ::testing::WithParamInterface<PackClass> {
 protected:
  static bool is_of(PackClass pack_class, replay::Pack& pack) {
    return pack.header().pack_class == static_cast<std::uint16_t>(pack_class);
  }
};

// The first pack of rank 0 of this class arrives when the board is full, or last of all.
TEST_P(LatePacks, AreWaitedFor) {
  constexpr std::size_t kLimit = 4u << 20;
  bool was_full = false;
  const replay::SyntheticProgram program{.ranks = 2, .steps = 200'000};
  plugins_ = {"traces", "waits", "snapshots", "run_summary"};
  begin({{.name = "program", .ranks = 2}}, "functions=MPI_Barrier", 1, kLimit);
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    PackMaker world({.rank = rank, .origin_tick = replay::synthetic_origin(rank)});
    const instrument::RankRange all{0, program.ranks, 1};
    world.define(instrument::CommunicatorDefinition{instrument::kWorldComm, instrument::CommunicatorKind::kIntra, 5, 0,
                                                    program.ranks, rank, 0, 1, 0, 0, 1},
                 std::span(&all, 1), std::string_view("MPI_COMM_WORLD"));
    world.flush();
    session_->submit(world.take());
  }
  std::optional<replay::Pack> late;
  for (std::uint32_t rank = program.ranks; rank-- > 0;) {
    for (auto& pack : replay::synthetic_packs(program, rank)) {
      if (rank == 0 && !late && is_of(GetParam(), pack)) {
        late = pack;
        continue;
      }
      session_->submit(pack);
      session_->board().drain();
      if (rank != 0 || !session_->board().over_limit()) continue;
      EXPECT_LE(session_->board().bytes(), 2 * kLimit);
      ASSERT_FALSE(was_full);
      was_full = true;
      session_->submit(*late);
      session_->board().drain();
      EXPECT_FALSE(session_->board().over_limit());
    }
  }
  EXPECT_TRUE(was_full);
  session_->submit(*late);  // once more
  finish();
  EXPECT_THAT(complaints_, IsEmpty());
  EXPECT_THAT(finished_.notices, IsEmpty());
  const auto calls = read().calls();
  EXPECT_EQ(calls.at("MPI_Barrier"), 2u * program.steps / 10);
  EXPECT_EQ(calls.contains("MPI_Init"), false);  // not among the chosen functions
  const auto& waiting = run_.applications.at(0).waiting;
  EXPECT_EQ(waiting.unresolved.message_ends, reports::UnresolvedCounts{});
  EXPECT_EQ(waiting.unresolved.collective_calls, reports::UnresolvedCounts{});
}

INSTANTIATE_TEST_SUITE_P(OfClass, LatePacks,
                         ::testing::Values(PackClass::kMpi, PackClass::kDefinitions, PackClass::kPosix));

}  // namespace
}  // namespace ardoise::knowledge_sources

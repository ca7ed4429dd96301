// Density maps and their layout.
#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using testing::ElementsAre;
using namespace std::string_view_literals;

TEST(Density, OneCellARankForEveryFunction) {
  Session session({{0, "program", 3}});
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    PackMaker maker({.rank = rank});
    for (std::uint32_t i = 0; i <= rank; ++i) maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, 1, 0, 10);
    if (rank == 1) {
      maker.posix({2000, 30, 1, 1, id(instrument::PosixFunction::kWrite), 0, 7});
      maker.total(instrument::PackClass::kPosix, id(instrument::PosixFunction::kWrite), 1, 30, 7, 0);
    }
    maker.finish();
    session.submit(maker.take());
  }
  const auto density = session.application().density;
  EXPECT_EQ(density.size(), 4u);
  EXPECT_THAT(find(density, "MPI_Send").calls, ElementsAre(1, 2, 3));
  EXPECT_THAT(find(density, "MPI_Send").bytes, ElementsAre(10, 20, 30));
  EXPECT_NEAR(find(density, "MPI_Send").seconds[2], 300 * kNs, 1e-15);
  EXPECT_THAT(find(density, "MPI").calls, ElementsAre(1, 2, 3));
  EXPECT_THAT(find(density, "write").bytes, ElementsAre(0, 7, 0));
  EXPECT_THAT(find(density, "POSIX").calls, ElementsAre(0, 1, 0));
}

TEST(Density, NearSquareWithoutATopology) {
  for (const auto& [ranks, rows, columns] : {std::tuple{1u, 1u, 1u}, {2u, 1u, 2u}, {12u, 3u, 4u}, {1000u, 32u, 32u}}) {
    Session session({{0, "program", ranks}});
    const auto layout = session.application().layout;
    EXPECT_THAT(layout.extents, ElementsAre(rows, columns)) << ranks;
    EXPECT_FALSE(layout.cartesian);
    EXPECT_TRUE(layout.rank_of_cell.empty());
  }
}

TEST(Density, TheProgramsOwnTopologyWithItsOrderOfRanks) {
  const instrument::RankRange reversed{5, 6, -1};
  PackMaker maker({});
  const std::vector<instrument::TopologyDimension> row{{6, 0}}, small{{2, 0}, {2, 0}}, plane{{2, 0}, {3, 1}};
  maker.define(instrument::TopologyDefinition{1, 1}, std::span<const instrument::TopologyDimension>(row));
  maker.define(instrument::TopologyDefinition{2, 2}, std::span<const instrument::TopologyDimension>(small));
  maker.define(instrument::TopologyDefinition{3, 2}, std::span<const instrument::TopologyDimension>(plane));
  maker.define(instrument::CommunicatorDefinition{3, instrument::CommunicatorKind::kIntra, 7, 0, 6, 5, 0, 1, 0, 0, 1},
               std::span(&reversed, 1), "plane"sv);
  maker.finish();
  Session session({{0, "program", 6}});
  session.submit(maker.take());
  const auto layout = session.application().layout;
  EXPECT_TRUE(layout.cartesian);
  EXPECT_THAT(layout.extents, ElementsAre(2, 3));
  EXPECT_THAT(layout.rank_of_cell, ElementsAre(5, 4, 3, 2, 1, 0));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

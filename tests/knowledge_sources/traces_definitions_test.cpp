// The definitions of processes in a trace, beside their calls: MPI_Init, grids.
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::ProcessDefinition;
using instrument::RankRange;
using instrument::TopologyDimension;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::string_view_literals;

class TracesOfProcesses : public TracesFixture {};

// Independent of the time of the definition.
TEST_F(TracesOfProcesses, BeginWithMpiInit) {
  for (const bool late : {false, true}) {
    PackMaker process({}), maker({}, 1);
    process.define(ProcessDefinition{1, 0, 1, 0, 1000, 400, 0, 0, 1}, "p"sv, "p"sv, "host"sv, "/"sv);
    process.flush();
    for (std::uint64_t i = 0; i < 3; ++i)
      maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 100 * i, 10, instrument::kNoPeer, 0, 0);
    begin({{.name = "program", .ranks = 1}});
    if (!late) session_->submit(process.take());
    session_->board().drain();
    session_->submit(maker.take());
    session_->board().drain();
    if (late) session_->submit(process.take());
    finish();
    const auto trace = read();
    EXPECT_THAT(trace.calls(), ElementsAre(std::pair("MPI_Barrier", 3), std::pair("MPI_Init", 1)));
    ASSERT_EQ(trace.events[0].of("Region"), "MPI_Init");
    EXPECT_EQ(trace.events[0].time, trace_time(600));
    EXPECT_EQ(trace.events[1].kind, "LEAVE");
    EXPECT_EQ(trace.events[1].time, trace_time(1000));
    EXPECT_THAT(finished_.notices, IsEmpty());
    std::filesystem::remove_all(folder_ / "trace");
  }
}

TEST_F(TracesOfProcesses, GridsHaveTheCoordinatesOfTheirRanks) {
  std::vector<PackMaker> makers;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    PackMaker& maker = makers.emplace_back(replay::Origin{.rank = rank});
    const std::vector<RankRange> all{{5, 6, -1}};  // the last rank first
    const std::vector<TopologyDimension> grid{{2, 1}, {3, 0}}, wrong{{2, 1}, {4, 0}};
    for (const std::uint32_t comm : {1u, 2u})
      maker.define(CommunicatorDefinition{comm, CommunicatorKind::kIntra, 50, comm, 6, 5 - rank, 0, 1, 0, 0, 1},
                   std::span<const RankRange>(all), comm == 1 ? "grid"sv : "other"sv);
    maker.define(instrument::TopologyDefinition{1, 2}, std::span<const TopologyDimension>(grid));
    maker.define(instrument::TopologyDefinition{2, 2}, std::span<const TopologyDimension>(wrong));
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 1, 8, 1, 1);
  }
  std::vector<PackMaker*> all;
  for (PackMaker& maker : makers) all.push_back(&maker);
  const auto trace = traced(all);
  const auto topologies = trace.defined("CART_TOPOLOGY");
  ASSERT_THAT(topologies, SizeIs(1));
  EXPECT_THAT(topologies[0], HasSubstr("\"grid\""));
  const auto dimensions = trace.defined("CART_DIMENSION");
  ASSERT_THAT(dimensions, SizeIs(2));
  EXPECT_THAT(dimensions[0], HasSubstr("Size: 2"));
  EXPECT_THAT(dimensions[1], HasSubstr("Size: 3"));
  const auto coordinates = trace.defined("CART_COORDINATE");
  ASSERT_THAT(coordinates, SizeIs(6));
  EXPECT_THAT(coordinates[4], HasSubstr("Rank: 4"));
  EXPECT_THAT(coordinates[4], HasSubstr("(1, 1)"));
}

TEST_F(TracesOfProcesses, MarkersCoverTheirTime) {
  PackMaker maker({});
  for (std::uint64_t i = 0; i < 2; ++i)
    maker.call(FunctionId::kBarrier, Shape::kCollective, 1000 + 1'000'000 * i, 1'000'000, instrument::kNoPeer, 0, 0);
  using Severity = TraceMarker::Severity;
  markers_ = {{"program", "finding", "load_imbalance", Severity::kHigh, 0, 60, "rank 1 waits"},
              {"program", "snapshot", "iteration", Severity::kNone, 0.0005, 0.0001, "iteration 7"},
              {"program", "snapshot", "iteration", Severity::kNone, 1, 0.0001, "iteration 8"},  // after the trace
              {"other", "finding", "load_imbalance", Severity::kHigh, 0, 60, "of no program"}};
  const auto trace = traced({&maker});
  EXPECT_THAT(trace.markers, HasSubstr("load_imbalance"));
  EXPECT_THAT(trace.markers, HasSubstr("HIGH"));
  EXPECT_THAT(trace.markers, HasSubstr("rank 1 waits"));
  EXPECT_THAT(trace.markers, HasSubstr("iteration 7"));
  EXPECT_THAT(trace.markers, HasSubstr(std::to_string(kTraceLead + 500'000)));
  EXPECT_THAT(trace.markers, ::testing::Not(HasSubstr("iteration 8")));
  EXPECT_THAT(trace.markers, ::testing::Not(HasSubstr("of no program")));
}

TEST_F(TracesOfProcesses, TooManyMarkersAreCounted) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
  markers_.assign(WorldArchive::kMostMarkers + 3, {"program", "snapshot", "iteration", {}, 0, 0, "one"});
  EXPECT_THAT(traced({&maker}).properties, HasSubstr("ARDOISE::FURTHER_MARKERS"));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// The temporal map.
#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint64_t kBin = 65'536;  // ns: the narrowest bin
using namespace std::string_view_literals;

float share(const reports::TemporalMap& map, const std::string& name, std::uint32_t group, std::uint32_t bin) {
  const auto row = static_cast<std::size_t>(std::ranges::find(map.classes, name) - map.classes.begin());
  return map.share.at((row * map.groups + group) * map.bins + bin);
}

// A rank with an arbitrary clock origin that ends with MPI_Finalize at `end_ns` of its own time.
PackMaker rank_until(std::uint32_t rank, std::uint64_t origin, std::uint64_t end_ns, double rate = 1e9) {
  PackMaker maker({.rank = rank, .origin_tick = origin, .ticks_per_second = rate});
  const auto end = origin + static_cast<std::uint64_t>(static_cast<double>(end_ns) * rate * 1e-9);
  maker.define(instrument::ProcessDefinition{2, rank, 1, 0, origin, 0, 0, 0, 2}, "p"sv, "p"sv, "h"sv, "/"sv);
  maker.define(instrument::ClockDefinition{origin, 1, rate, 0, 0, end, 0}, "tsc"sv, "node"sv);
  return maker;
}

TEST(Temporal, SharesOfClassesOverTime) {
  Session session({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::uint64_t origin = 1'000'000'000 * (rank + 1);
    auto maker = rank_until(rank, origin, 4 * kBin);
    maker.call(FunctionId::kSend, Shape::kSend, origin, static_cast<std::uint32_t>(kBin / 4), 1, 0, 8);
    maker.call(FunctionId::kAllreduce, Shape::kCollective, origin + kBin / 2, static_cast<std::uint32_t>(kBin), -1, 8,
               8);
    maker.call(FunctionId::kNeighbor_allgather, Shape::kCollective, origin + 2 * kBin,
               static_cast<std::uint32_t>(kBin / 8), -1, 8, 8);
    if (rank == 1)
      maker.call(FunctionId::kWait, Shape::kCompletes, origin + 3 * kBin, static_cast<std::uint32_t>(kBin / 2), -1, 0,
                 0);
    maker.posix(
        {origin + 3 * kBin, static_cast<std::uint32_t>(kBin / 4), 1, 0, id(instrument::PosixFunction::kRead), 0, 1});
    maker.finish();
    session.submit(maker.take());
  }
  const auto map = session.application().temporal;
  EXPECT_DOUBLE_EQ(map.bin_seconds, 65'536e-9);
  EXPECT_EQ(map.groups, 2u);
  EXPECT_EQ(map.ranks_per_group, 1u);
  ASSERT_GE(map.bins, 4u);
  for (std::uint32_t group = 0; group < 2; ++group) {
    EXPECT_FLOAT_EQ(share(map, "point-to-point", group, 0), 0.25f);
    EXPECT_FLOAT_EQ(share(map, "collective", group, 0), 0.5f);
    EXPECT_FLOAT_EQ(share(map, "collective", group, 1), 0.5f);
    EXPECT_FLOAT_EQ(share(map, "collective", group, 2), 0.125f) << "neighbourhood collectives are collectives";
    EXPECT_FLOAT_EQ(share(map, "wait", group, 3), group == 1 ? 0.5f : 0.0f);
    EXPECT_FLOAT_EQ(share(map, "io", group, 3), 0.25f);
  }
}

TEST(Temporal, ClocksOfAnyRateAndOffsetMeet) {
  Session session({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const double rate = rank == 0 ? 1e9 : 2.5e9;
    const std::uint64_t origin = rank == 0 ? 5 : std::uint64_t{1} << 50;
    const auto ticks = [&](std::uint64_t ns) {
      return static_cast<std::uint64_t>(static_cast<double>(ns) * rate * 1e-9);
    };
    auto maker = rank_until(rank, origin, 10 * kBin, rate);
    maker.call(FunctionId::kBarrier, Shape::kCollective, origin + ticks(5 * kBin),
               static_cast<std::uint32_t>(ticks(kBin)), -1, 0, 0);
    maker.finish();
    session.submit(maker.take());
  }
  const auto map = session.application().temporal;
  for (std::uint32_t group = 0; group < 2; ++group) {
    EXPECT_NEAR(share(map, "collective", group, 5), 1.0f, 1e-4);
    EXPECT_NEAR(share(map, "collective", group, 4), 0.0f, 1e-4);
    EXPECT_NEAR(share(map, "collective", group, 6), 0.0f, 1e-4);
  }
}

TEST(Temporal, ALongRunNeedsNoMoreBins) {
  auto maker = rank_until(0, 1000, 100'000'000'000'000);  // more than a day
  for (std::uint64_t hour = 0; hour < 27; ++hour) {
    maker.call(FunctionId::kBarrier, Shape::kCollective, 1000 + hour * 3'600'000'000'000, 4'000'000'000, -1, 0, 0);
  }
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto map = session.application().temporal;
  EXPECT_GT(map.bins, 512u);
  EXPECT_LE(map.bins, 1024u);
  double seconds = 0;
  for (std::uint32_t bin = 0; bin < map.bins; ++bin) seconds += share(map, "collective", 0, bin) * map.bin_seconds;
  EXPECT_NEAR(seconds, 27 * 4.0, 0.1);
}

TEST(Temporal, ManyRanksShareGroups) {
  Session session({{0, "program", 1000}});
  for (std::uint32_t rank = 0; rank < 1000; ++rank) {
    auto maker = rank_until(rank, 1000, kBin);
    if (rank < 8)
      maker.call(FunctionId::kBarrier, Shape::kCollective, 1000, static_cast<std::uint32_t>(kBin), -1, 0, 0);
    maker.finish();
    session.submit(maker.take());
  }
  const auto map = session.application().temporal;
  EXPECT_EQ(map.ranks_per_group, 16u);
  EXPECT_EQ(map.groups, 63u);
  EXPECT_FLOAT_EQ(share(map, "collective", 0, 0), 0.5f);
  EXPECT_FLOAT_EQ(share(map, "collective", 1, 0), 0.0f);
}

TEST(Temporal, CallsBegunInMpiInitCountFromTheOrigin) {
  auto maker = rank_until(0, 100'000, 2 * kBin);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 50'000, 50'000 + static_cast<std::uint32_t>(kBin / 2), -1, 0, 0);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 10, 20, -1, 0, 0);
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_FLOAT_EQ(share(session.application().temporal, "collective", 0, 0), 0.5f);
}

TEST(Temporal, ThreadsDoNotExceedTheWhole) {
  auto maker = rank_until(0, 1000, kBin);
  for (int thread = 0; thread < 3; ++thread) {
    maker.call(FunctionId::kBarrier, Shape::kCollective, 1000, static_cast<std::uint32_t>(kBin), -1, 0, 0);
  }
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_FLOAT_EQ(share(session.application().temporal, "collective", 0, 0), 1.0f);
}

TEST(Temporal, PacksWithoutAnOriginAreSaidAndLeftOut) {
  PackMaker maker({.origin_tick = 0});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 1000, 10, -1, 0, 0);
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  const auto application = session.application();
  EXPECT_EQ(application.temporal.bins, 0u);
  EXPECT_THAT(application.quality.notices,
              testing::Contains(testing::HasSubstr("1 record is not in the temporal map")));
}

TEST(Temporal, AbsurdTimesDoNoHarm) {
  auto maker = rank_until(0, 1000, kBin);
  maker.mpi({~std::uint64_t{0} - 5, 100, 1, 0, 0, 0, instrument::make_word(0, 3, Shape::kLocal)});  // wraps around
  maker.mpi({std::uint64_t{1} << 62, 100, 1, 0, 0, 0, instrument::make_word(0, 3, Shape::kLocal)});
  maker.mpi({2000, instrument::kWide, 1, 0, 0, 0, instrument::make_word(0, 3, Shape::kLocal)});
  maker.finish();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_LE(session.application().temporal.bins, 1024u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

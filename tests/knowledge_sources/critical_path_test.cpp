// The critical path: from waits to ranks, with all of them in memory and with few, and the activity of ranks at points
// in time.
#include "knowledge_sources/plugins/waits/critical_path.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "fixture.hpp"
#include "knowledge_sources/plugins/waits/rank_timeline.hpp"

namespace ardoise::knowledge_sources {
namespace {

using testing::ElementsAre;

TEST(TimeGrid, HasOnePointInEachPartAndHalfOfThemStay) {
  for (unsigned shift = kFirstGridShift; shift < kFirstGridShift + 8; ++shift) {
    for (std::uint64_t slot = 0; slot < 100; ++slot) {
      const auto point = static_cast<std::uint64_t>(grid_point(slot, shift));
      EXPECT_EQ(point >> shift, slot);
      EXPECT_EQ(grid_point(slot, shift + 1), grid_point(grid_half(slot, shift + 1), shift));
    }
  }
}

TEST(TimeGrid, PointsFavourNoPlaceInTheirParts) {
  std::array<int, 8> eighths{};
  constexpr int kPoints = 8000;
  for (std::uint64_t slot = 0; slot < kPoints; ++slot)
    ++eighths[static_cast<std::uint64_t>(grid_point(slot, 20)) >> 17 & 7];
  for (const int each : eighths) EXPECT_NEAR(each, kPoints / 8, 5 * std::sqrt(kPoints / 8));
}

TEST(RankTimeline, KnowsCallsAndWhatSamplesReach) {
  RankTimeline timeline(16384);
  std::mt19937 random(1);
  struct Truth {
    std::int64_t end;
    Activity::Kind kind;
    std::uint32_t where;
  };
  std::vector<Truth> truth;
  std::int64_t now = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    now += 1 + random() % 200'000;
    if (i % 3 != 2) {
      timeline.add_sample(now, 1'000'000, 1 + i % 7);  // reaches back to the sample before
      truth.push_back({now, Activity::kSampled, 1 + i % 7});
    } else {
      timeline.add_sample(now, 0, 9);  // asleep
      truth.push_back({now, Activity::kOther, 0});
    }
    const std::int64_t begin = now;
    now += random() % 100'000;
    timeline.add_call(begin, now, 5, i);
    truth.push_back({now, Activity::kInMpi, i});
  }
  timeline.end_at(now);
  const auto& values = timeline.values();
  EXPECT_GT(values.size(), 8000u);
  auto at = truth.begin();
  for (std::uint64_t slot = 0; slot < values.size(); ++slot) {
    const std::int64_t point = grid_point(slot, values.shift());
    if (point >= now) break;
    while (at->end <= point) ++at;
    EXPECT_EQ(values.at(slot).kind, at->kind) << slot;
    EXPECT_EQ(values.at(slot).where, at->where) << slot;
  }
}

TEST(CriticalPath, GoesThroughThoseThatAreWaitedFor) {
  CriticalPath path(3);
  path.add(0, 1, 4000);
  path.add(2, 0, 7000);
  path.add(1, 0, 2000);
  path.add(2, 1, 9500);  // after its end
  const auto found = path.take_path(2, 9000);
  EXPECT_THAT(found.ns_by_rank, ElementsAre(2000 + 3000, 2000, 2000)) << "0 to 2000, 1 to 4000, 0 to 7000, 2";
  EXPECT_EQ(found.unsettled_ns, 0u);
  EXPECT_EQ(found.late, 0u);
}

TEST(CriticalPath, RanksThatWaitForEachOtherAtOneTimeEndIt) {
  CriticalPath path(2);
  path.add(0, 1, 5000);
  path.add(1, 0, 5000);
  const auto found = path.take_path(0, 6000);
  EXPECT_EQ(found.ns_by_rank[0] + found.ns_by_rank[1], 6000u);
}

struct Wait3 {
  std::uint32_t waiter, awaited;
  std::int64_t time;
};
// Waits of random ranks for each other; all ranks meet every `together` waits, if it is not 0.
std::vector<Wait3> random_waits(std::mt19937& random, std::uint32_t ranks, std::size_t number, std::size_t together) {
  std::vector<Wait3> waits;
  for (std::size_t i = 1; i <= number; ++i) {
    const auto time = static_cast<std::int64_t>(1000 * i);
    const auto waiter = static_cast<std::uint32_t>(random() % ranks);
    if (together != 0 && i % together == 0) {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (rank != waiter) waits.push_back({rank, waiter, time});
      }
    } else {
      waits.push_back({waiter, static_cast<std::uint32_t>((waiter + 1 + random() % (ranks - 1)) % ranks), time});
    }
  }
  return waits;
}

TEST(CriticalPath, IsTheSameWithLittleMemory) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    const auto ranks = static_cast<std::uint32_t>(2 + random() % 9);
    auto waits = random_waits(random, ranks, 5000, round % 2 == 0 ? 0 : 100);
    CriticalPath whole(ranks), little(ranks, 1000);
    // Nearly in order, as on arrival.
    for (std::size_t i = 0; i + 20 < waits.size(); i += 20)
      std::shuffle(waits.begin() + static_cast<std::ptrdiff_t>(i), waits.begin() + static_cast<std::ptrdiff_t>(i) + 20,
                   random);
    for (const auto& each : waits) {
      whole.add(each.waiter, each.awaited, each.time);
      little.add(each.waiter, each.awaited, each.time);
    }
    const auto expected = whole.take_path(0, 5'001'000), found = little.take_path(0, 5'001'000);
    EXPECT_EQ(std::accumulate(expected.ns_by_rank.begin(), expected.ns_by_rank.end(), std::uint64_t{0}), 5'001'000u);
    EXPECT_EQ(found.unsettled_ns, 0u);
    EXPECT_EQ(found.late, 0u);
    EXPECT_EQ(found.ns_by_rank, expected.ns_by_rank);
    ASSERT_EQ(found.rank_at.size(), expected.rank_at.size());
    for (std::uint64_t slot = 0; slot < found.rank_at.size(); ++slot)
      EXPECT_EQ(found.rank_at.at(slot), expected.rank_at.at(slot));
  }
}

// Two pairs that never meet: it is unknown which of them determines the end.
TEST(CriticalPath, WhereRanksDoNotMeetTheOlderPartIsUnsettled) {
  CriticalPath path(4, 1000);
  for (std::uint32_t i = 1; i <= 5000; ++i) path.add(i % 4, (i % 4) ^ 1u, 1000 * std::int64_t{i});
  const auto found = path.take_path(3, 5'001'000);
  EXPECT_GT(found.unsettled_ns, 4'000'000u);
  EXPECT_EQ(std::accumulate(found.ns_by_rank.begin(), found.ns_by_rank.end(), found.unsettled_ns), 5'001'000u);
  EXPECT_EQ(found.ns_by_rank[0] + found.ns_by_rank[1], 0u);
}

TEST(CriticalPath, WhatComesBeforeTheLatestCanBeGivenUp) {
  std::mt19937 random(11);
  const auto waits = random_waits(random, 4, 5000, 50);
  CriticalPath whole(4), latest(4);
  for (CriticalPath* const path : {&whole, &latest}) {
    for (const auto& each : waits) path->add(each.waiter, each.awaited, each.time);
  }
  latest.keep_latest(1000);
  ByteWriter all, few;
  whole.write(all);
  latest.write(few);
  EXPECT_LT(few.take().size() * 4, all.take().size());
  const auto found = latest.take_path(0, 5'001'000);
  EXPECT_NEAR(static_cast<double>(found.unsettled_ns), 4'000'000, 300'000);
  EXPECT_EQ(std::accumulate(found.ns_by_rank.begin(), found.ns_by_rank.end(), found.unsettled_ns), 5'001'000u);
}

TEST(CriticalPath, WaitsThatComeTooLateAreCounted) {
  CriticalPath path(2, 100);
  for (std::uint32_t i = 1; i <= 1000; ++i) path.add(i % 2, (i + 1) % 2, 1000 * std::int64_t{i});
  path.add(0, 1, 1500);
  EXPECT_EQ(path.take_path(0, 2'000'000).late, 1u);
}

TEST(CriticalPath, TravelsAsBytesAndMerges) {
  std::mt19937 random(3);
  const auto waits = random_waits(random, 4, 900, 50);
  CriticalPath whole(4), half(4), other(4, 500);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    whole.add(waits[i].waiter, waits[i].awaited, waits[i].time);
    other.add(waits[i].waiter, waits[i].awaited, waits[i].time);
  }
  ByteWriter out;
  other.write(out);
  const auto bytes = out.take();
  CriticalPath back(4);
  ByteReader in(bytes, "test");
  back.read(in);
  in.expect_end();
  half.merge(back);
  EXPECT_EQ(half.take_path(1, 901'000).ns_by_rank, whole.take_path(1, 901'000).ns_by_rank);
}

// MPI_COMM_WORLD of two ranks, which end 10 ms after their first tick, 1000.
void define_world(PackMaker& maker, std::uint32_t rank) {
  maker.define(instrument::CommunicatorDefinition{instrument::kWorldComm, instrument::CommunicatorKind::kIntra, 77, 0,
                                                  2, rank, 0, 1, 0, 0, 1},
               std::span<const instrument::RankRange>(std::array{instrument::RankRange{0, 2, 1}}),
               std::string_view(""));
  maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 1e-7, 10'001'000, 0}, std::string_view("tsc"),
               std::string_view("boot"));
}

// Rank 1 comes 40 us late to each of ten sums, all that time in MPI_Type_commit; rank 0 is asleep.
reports::Waiting late_in_mpi(std::size_t analyzers) {
  Session session({{0, "program", 2}}, 0, analyzers);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    define_world(maker, rank);
    for (std::uint64_t step = 0; step < 10; ++step) {
      const std::uint64_t begin = 1000 + 1'000'000 * step;
      if (rank == 1) maker.call(FunctionId::kType_commit, Shape::kLocal, begin + 100'000, 800'000, -1, 0, 0);
      const std::uint64_t enter = begin + (rank == 1 ? 900'000 : 10'000);
      maker.call(FunctionId::kAllreduce, Shape::kCollective, enter, static_cast<std::uint32_t>(begin + 950'000 - enter),
                 -1, 8, 8);
    }
    maker.finish();
    session.submit(maker.take(), rank % analyzers);
  }
  return session.application().waiting;
}

TEST(CriticalPath, FromPacksToTheModel) {
  for (const std::size_t analyzers : {1U, 2U, 3U}) {
    const auto waiting = late_in_mpi(analyzers);
    EXPECT_NEAR(waiting.critical_path_seconds, 10e-3, 1e-9);
    ASSERT_EQ(waiting.per_rank.critical_path_seconds.size(), 2u);
    EXPECT_NEAR(waiting.per_rank.critical_path_seconds[1], 9.9e-3, 0.11e-3) << "but for the end";
    ASSERT_FALSE(waiting.critical_path.empty());
    const auto& first = waiting.critical_path[0];
    EXPECT_EQ(first.function, "MPI_Type_commit");
    EXPECT_EQ(first.kind, "mpi");
    EXPECT_EQ(first.rank, 1u);
    EXPECT_NEAR(first.seconds, 8e-3, first.error);
    EXPECT_LT(first.error, 1e-3);
    double sum = 0;
    for (const auto& part : waiting.critical_path) sum += part.seconds;
    EXPECT_NEAR(sum, waiting.critical_path_seconds, 1e-9);
  }
}

// Rank 0 asks for a message every 100 us, and takes it when rank 1, which works until then, has sent it at 9 ms.
// work: ns of CPU time of rank 0 between two questions.
reports::Waiting asked_for(std::size_t analyzers, std::uint64_t work, bool by_test) {
  Session session({{0, "program", 2}}, 0, analyzers);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    define_world(maker, rank);
    if (rank == 1) maker.call(FunctionId::kSend, Shape::kSend, 9'001'000, 5'000, 0, 8, 0);
    const std::uint64_t posted = 1200;
    if (rank == 0 && by_test) maker.call(FunctionId::kIrecv, Shape::kPostReceive, posted, 100, 1, 8, 0);
    for (std::uint64_t begin = 2000; rank == 0 && begin < 9'000'000; begin += 100'000) {
      if (work > 0)
        maker.mpi_extension(instrument::SampledExtension{begin - 50, work, 1, 0, 0, 0, 0,
                                                         extension_word(ExtensionKind::kSampled, FunctionId::kIprobe)});
      maker.call(by_test ? FunctionId::kTest : FunctionId::kIprobe, by_test ? Shape::kCompletes : Shape::kProbe, begin,
                 200, -1, 0, 0);
    }
    if (rank == 0 && by_test) {
      maker.call(FunctionId::kTest, Shape::kCompletes, 9'050'000, 200, -1, 1, 0);
      maker.mpi_extension(instrument::CompletionRecord{
          posted, 0, 1, 1, 8, 0, instrument::make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)});
    } else if (rank == 0) {
      maker.call(FunctionId::kIprobe, Shape::kProbe, 9'050'000, 200, 1, 8, 0);
      maker.call(FunctionId::kRecv, Shape::kReceive, 9'051'000, 500, 1, 8, 0);
    }
    maker.finish();
    session.submit(maker.take(), rank % analyzers);
  }
  return session.application().waiting;
}

TEST(CriticalPath, ARankThatOnlyAsksForAMessageAwaitsItsSender) {
  for (const std::size_t analyzers : {1U, 2U}) {
    for (const bool by_test : {false, true}) {
      const auto path_of = [&](std::uint64_t work) {
        return asked_for(analyzers, work, by_test).per_rank.critical_path_seconds.at(1);
      };
      EXPECT_NEAR(path_of(0), 9e-3, 0.1e-3);
      EXPECT_NEAR(path_of(10'000), 9e-3, 0.1e-3) << "a tenth of its time";
      EXPECT_NEAR(path_of(80'000), 0, 0.1e-3) << "it works meanwhile";
    }
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

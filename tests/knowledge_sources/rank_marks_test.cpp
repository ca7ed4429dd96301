// The marks of a rank become snapshots with the sums of its calls, in very little memory.
#include "knowledge_sources/plugins/snapshots/rank_marks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

namespace ardoise::knowledge_sources {
namespace {

using instrument::MarkKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A program of one rank: a call of 1 ns, 8 bytes, every 10 ns.
class MarkedProgram {
 public:
  explicit MarkedProgram(std::size_t room = 100'000) : marks(room) {}
  void call(std::uint64_t key) {
    marks.add(key, time, {1, 1, 8});
    ++before[key].calls;
    before[key] += {0, 1, 8};
    time += 10;
  }
  void mark(MarkKind kind, std::uint32_t name, std::uint64_t value = 0) {
    marks.mark({kind, name, 7, time, value}, [&](auto&& use) {
      for (const auto& [key, sums] : before) use(key, sums);
    });
  }
  void value(std::uint32_t name, double x) { mark(MarkKind::kValue, name, std::bit_cast<std::uint64_t>(x)); }
  [[nodiscard]] std::vector<Snapshot> snapshots(std::size_t series = 0) const {
    return marks.snapshots_of(marks.series()[series], time);
  }
  // The calls of a key over some snapshots.
  [[nodiscard]] std::uint64_t calls_of(const std::vector<Snapshot>& snapshots, std::uint64_t key) const {
    std::uint64_t calls = 0;
    for (const Snapshot& each : snapshots) {
      for (const CallCell& cell : each.calls) calls += marks.keys()[cell.id] == key ? cell.sums.calls : 0;
    }
    return calls;
  }

  RankMarks marks;
  std::map<std::uint64_t, CallSums> before;
  std::int64_t time = 0;
};

TEST(RankMarks, ASnapshotIsAllSinceTheOneBefore) {
  MarkedProgram program;
  program.call(1);
  program.call(2);
  program.mark(MarkKind::kSnapshot, 5, 100);
  program.call(2);
  program.mark(MarkKind::kSnapshot, 5, 200);
  program.call(3);
  const auto all = program.snapshots();
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_THAT(all[0].calls, SizeIs(2));
  EXPECT_EQ(all[0].number, 100);
  EXPECT_EQ(all[1].number, 200);
  EXPECT_EQ(all[1].begin, all[0].end);
  EXPECT_EQ(program.calls_of({all[1]}, 2), 1u);
  EXPECT_EQ(program.calls_of({all[2]}, 3), 1u);  // calls after the last snapshot
}

TEST(RankMarks, APhaseLiesBetweenItsMarks) {
  MarkedProgram program;
  program.call(1);
  program.mark(MarkKind::kPhaseBegin, 5);
  program.call(2);
  program.mark(MarkKind::kPhaseBegin, 5);  // in itself: only the outer one counts
  program.call(2);
  program.mark(MarkKind::kPhaseEnd, 5);
  program.mark(MarkKind::kPhaseBegin, 6);
  program.call(3);
  program.mark(MarkKind::kPhaseEnd, 5);
  program.call(4);
  program.mark(MarkKind::kPhaseEnd, 6);
  program.call(1);
  const auto outer = program.snapshots(0), other = program.snapshots(1);
  ASSERT_THAT(outer, SizeIs(1));
  EXPECT_EQ(outer[0].ns, 30u);
  EXPECT_EQ(program.calls_of(outer, 2), 2u);
  EXPECT_EQ(program.calls_of(outer, 3), 1u);
  EXPECT_EQ(program.calls_of(outer, 4) + program.calls_of(outer, 1), 0u);
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_EQ(program.calls_of(other, 3) + program.calls_of(other, 4), 2u);
}

TEST(RankMarks, PhasesWithoutAnEndOrABeginAreCounted) {
  MarkedProgram program;
  program.mark(MarkKind::kPhaseEnd, 5);
  program.mark(MarkKind::kPhaseBegin, 5);
  program.mark(MarkKind::kPhaseEnd, 5);
  program.mark(MarkKind::kPhaseEnd, 5);
  program.mark(MarkKind::kPhaseBegin, 5);
  EXPECT_EQ(program.marks.complaints().unbegun_phases, 2u);
  EXPECT_EQ(program.marks.complaints().unfinished_phases, 1u);
  EXPECT_THAT(program.snapshots(), SizeIs(1));
}

TEST(RankMarks, ValuesBelongToOpenSections) {
  MarkedProgram program;
  program.value(9, 4.0);  // no section is open
  program.mark(MarkKind::kPhaseBegin, 5);
  program.value(9, 1.0);
  program.value(9, -3.0);
  program.mark(MarkKind::kPhaseEnd, 5);
  const auto all = program.snapshots();
  ASSERT_THAT(all[0].values, SizeIs(1));
  const ValueSums& sums = all[0].values[0].sums;
  EXPECT_THAT((std::vector{sums.sum, sums.least, sums.most}), ElementsAre(-2.0, -3.0, 1.0));
  EXPECT_EQ(sums.count, 2u);
}

TEST(RankMarks, ALateCallGoesToTheSnapshotOfItsTime) {
  MarkedProgram program;
  for (std::uint64_t i = 1; i <= 4; ++i) {
    program.call(1);
    program.mark(MarkKind::kSnapshot, 5, i);
  }
  program.marks.add(77, 25, {1, 1, 8});
  program.marks.add(77, 5, {1, 1, 8});
  const auto all = program.snapshots();
  EXPECT_EQ(program.calls_of({all[2]}, 77), 1u);
  EXPECT_EQ(program.calls_of({all[0]}, 77), 1u);
}

TEST(RankMarks, FurtherSeriesAndNamesAreCountedAndShared) {
  MarkedProgram program;
  for (std::uint32_t name = 0; name < 2 * RankMarks::kMostSeries; ++name) program.mark(MarkKind::kSnapshot, name, 1);
  EXPECT_THAT(program.marks.series(), SizeIs(RankMarks::kMostSeries));
  EXPECT_EQ(program.marks.complaints().further_series, RankMarks::kMostSeries);
  for (std::uint64_t key = 0; key < 2 * RankMarks::kMostIds; ++key) program.call(key);
  EXPECT_THAT(program.marks.keys(), SizeIs(RankMarks::kMostIds));
  const auto all = program.snapshots();
  EXPECT_EQ(program.calls_of(all, RankMarks::kFurther), RankMarks::kMostIds + 1);
}

// Random snapshots under pressure, written and read in the middle, with late calls: the sums are exact.
TEST(RankMarks, SumsAreExactWhateverTheMemory) {
  std::mt19937 random(7);
  for (const std::size_t room : {20u, 300u, 100'000u}) {
    MarkedProgram program(room);
    std::map<std::uint64_t, std::uint64_t> calls;
    std::uint64_t taken = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t key = random() % 12;
      program.call(key);
      ++calls[key];
      if (random() % 20 == 0) program.mark(MarkKind::kSnapshot, 5, ++taken);
      if (taken != 0 && random() % 50 == 0) {
        program.marks.add(99, static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(program.time)),
                          {1, 1, 8});
        ++calls[99];
      }
      if (i == 9'000) {
        ByteWriter out;
        program.marks.write(out);
        const auto bytes = out.take();
        ByteReader in(bytes, "marks");
        RankMarks copy(room);
        copy.read(in);
        in.expect_end();
        program.marks = copy;
      }
    }
    const auto all = program.snapshots();
    for (const auto& [key, expected] : calls) EXPECT_EQ(program.calls_of(all, key), expected) << key;
    std::uint64_t rounds = 0;
    std::int64_t end = 0;
    for (const Snapshot& each : all) {
      EXPECT_EQ(each.begin, end);
      EXPECT_EQ(each.ns, static_cast<std::uint64_t>(each.end - each.begin));
      end = each.end;
      rounds += each.rounds;
    }
    EXPECT_EQ(rounds, taken + 1);
    EXPECT_EQ(end, program.time);
    EXPECT_EQ(all[all.size() - 2].number, static_cast<std::int64_t>(taken));
    if (room == 100'000) {
      EXPECT_THAT(all, SizeIs(taken + 1));
    }
  }
}

TEST(RankMarks, DamagedBytesAreRefused) {
  MarkedProgram program;
  program.call(1);
  program.mark(MarkKind::kSnapshot, 5, 1);
  program.call(1);
  ByteWriter out;
  program.marks.write(out);
  const auto bytes = out.take();
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    auto damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<std::byte>(1u << random() % 8);
    ByteReader in(damaged, "marks");
    RankMarks read(1000);
    try {
      read.read(in);
      for (const auto& series : read.series()) {
        for (const Snapshot& each : read.snapshots_of(series, 1000)) {
          for (const CallCell& cell : each.calls) EXPECT_LT(cell.id, read.keys().size());
        }
      }
    } catch (const std::runtime_error&) {
    }
  }
}

// Sums without exact times are spread over the sections they may belong to, by length, and none is lost.
TEST(RankMarks, SumsAreSpreadOverTheSectionsInTheirTime) {
  MarkedProgram program;
  program.mark(MarkKind::kPhaseBegin, 6);
  for (program.time = 0; program.time < 400;) {
    program.time += 100;
    if (program.time == 200) program.mark(MarkKind::kPhaseEnd, 6);
    program.mark(MarkKind::kSnapshot, 5, static_cast<std::uint64_t>(program.time));
  }
  program.marks.spread(9, 50, 450, {401, 4'000, 40'000});
  const auto all = program.snapshots(1);
  ASSERT_THAT(all, SizeIs(5));
  std::vector<std::uint64_t> calls;
  for (const Snapshot& each : all) calls.push_back(program.calls_of({each}, 9));
  EXPECT_THAT(calls, ElementsAre(50, 100, 100, 100, 51));
  EXPECT_EQ(program.calls_of(program.snapshots(0), 9), 150u) << "of the phase from 0 to 200";
}

TEST(RankMarks, SpreadSumsAddUp) {
  std::mt19937_64 random(3);
  const auto below = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random); };
  for (const std::size_t room : {std::size_t{16}, std::size_t{100'000}}) {
    MarkedProgram program(room);
    CallSums given;
    for (int i = 0; i < 2'000; ++i) {
      program.time += static_cast<std::int64_t>(below(100));
      program.mark(MarkKind::kSnapshot, 5, static_cast<std::uint64_t>(i));
      if (below(10) != 0) continue;
      const CallSums sums{below(1000), below(1u << 30), below(1u << 30)};
      const auto length = static_cast<std::int64_t>(below(5'000));
      program.marks.spread(below(5), program.time - length, program.time, sums);
      program.marks.spread(below(5), program.time, program.time, sums);
      given += sums;
      given += sums;
    }
    CallSums all;
    for (const Snapshot& each : program.snapshots()) {
      for (const CallCell& cell : each.calls) all += cell.sums;
    }
    EXPECT_EQ(all, given);
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

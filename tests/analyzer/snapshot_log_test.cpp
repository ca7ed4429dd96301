// The activity of ranks is written to the file completely, in spite of late data.
#include "analyzer/results/snapshot_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "knowledge_sources/plugins/snapshots/rank_series.hpp"
#include "knowledge_sources/snapshot_files/snapshot_reader.hpp"
#include "knowledge_sources/snapshot_files/snapshot_table.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using namespace knowledge_sources;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class SnapshotLogTest : public ::testing::Test {
 protected:
  SnapshotLogTest() : folder_(fs::temp_directory_path() / ("snapshot_log_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    fs::permissions(folder_, fs::perms{0700});
  }
  ~SnapshotLogTest() override { fs::remove_all(folder_); }
  SnapshotTable table() const {
    SnapshotTable table;
    (void)for_each_block((folder_ / "snapshots-0.ards").string(),
                         [&](SnapshotBlock&& block, std::span<const std::byte>) { table.add(block); });
    EXPECT_EQ(table.finish(), 0u);
    return table;
  }
  // Calls and bytes of all snapshots of a kind.
  static CallSums sums(const SnapshotTable& table, SeriesKind kind) {
    CallSums all;
    for (const auto& [key, snapshots] : table.series()) {
      if (key.kind != kind) continue;
      for (const auto& [rank, records] : snapshots.ranks) {
        for (const auto& record : records) {
          for (const CallCell& cell : record.calls) all += cell.sums;
        }
      }
    }
    return all;
  }

  const fs::path folder_;
  std::vector<std::string> complaints_;
  SnapshotLog log_{[this](const std::string& sentence) { complaints_.push_back(sentence); },
                   std::chrono::milliseconds(0)};
};

// Calls of the first thread come in order, those of I/O and waits up to ten snapshots later, with flushes in between.
TEST_F(SnapshotLogTest, SumsAreThoseOfTheCallsHoweverLateTheyCome) {
  std::mt19937_64 random(25112026);
  const auto below = [&](std::uint64_t n) { return std::uniform_int_distribution<std::uint64_t>(0, n - 1)(random); };
  log_.begin(folder_.string(), 0, 1);
  log_.add_program({.partition = 3, .name = "solver", .ranks = 2});
  CallSums given;
  std::int64_t time = 0;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    RankSeries series(512, {}, {&log_, 3, rank}, 1'000);
    std::vector<Moment> late;
    std::vector<std::pair<std::int64_t, std::uint64_t>> waits;
    std::uint64_t packs = 0;
    time = 0;
    for (int i = 0; i < 5'000; ++i) {
      time += static_cast<std::int64_t>(1 + below(50));
      const CallSums one{1, below(10), below(1000)};
      given += one;
      Moment moment{.kind = Moment::Kind::kVisit, .begin = time, .key = key_of_call(false, 1, 7), .sums = one};
      if (below(3) == 0) {
        moment.kind = Moment::Kind::kCall;
        moment.key = key_of_call(true, 2, static_cast<std::uint32_t>(below(5)));
        late.push_back(moment);
        continue;
      }
      std::vector<Moment> moments{moment};
      if (below(20) == 0)
        moments.push_back(
            {.kind = Moment::Kind::kMark, .begin = time, .key = 9, .sums = {0, static_cast<std::uint64_t>(i), 0}});
      series.add_first_thread(packs++, moments);
      // Its wait becomes known even later.
      waits.emplace_back(time, below(10));
      given.waited += waits.back().second;
      if (below(300) == 0) {
        for (const auto& [begin, ns] : waits) series.add_wait(moment.key, begin, ns);
        waits.clear();
      }
      if (below(200) == 0) {
        for (const Moment& each : late) series.add_other(each);
        late.clear();
      }
      if (below(500) == 0) log_.flush();
    }
    for (const Moment& each : late) series.add_other(each);
    for (const auto& [begin, ns] : waits) series.add_wait(key_of_call(false, 1, 7), begin, ns);
    series.marks().send_rest(time + 1, false, false);
  }
  log_.name_mark(3, 9, "step");
  log_.name_call(3, 0, key_of_call(false, 1, 7), {"/opt/solver", 0x1234, "main", "/src/solver.c", 12});
  log_.finish();
  EXPECT_THAT(complaints_, SizeIs(0));
  const SnapshotTable all = table();
  EXPECT_EQ(sums(all, SeriesKind::kSnapshot), given);
  EXPECT_EQ(sums(all, SeriesKind::kTimer), given);
  EXPECT_EQ(all.series().at({3, SeriesKind::kSnapshot, 9}).name, "step");
  for (const auto& call : all.calls()) {
    if (call.kind == SnapshotBlock::CallKind::kMpi) {
      EXPECT_EQ(call.symbol, "main");
    }
  }
}

// A pipe without a reader is the slowest of all disks.
TEST_F(SnapshotLogTest, WorkersDoNotWaitForTheDisk) {
  const std::string path = (folder_ / "snapshots-0.ards").string();
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  log_.begin(folder_.string(), 0, 1, pipe[1]);
  log_.add_program({.partition = 3, .name = "solver", .ranks = 1});
  constexpr std::uint64_t kSnapshots = 40'000;  // some blocks
  const std::array<std::uint64_t, 1> keys{key_of_call(false, 1, 7)};
  for (std::uint64_t i = 0; i < kSnapshots; ++i) {
    Snapshot snapshot;
    snapshot.number = snapshot.begin = static_cast<std::int64_t>(i);
    snapshot.end = snapshot.begin + 1;
    snapshot.calls.push_back({0, 0, {1, 1, 1}});
    log_.take({3, 0, SeriesKind::kSnapshot, 9}, {i}, snapshot, keys, {});
    if (i % 1000 == 0) log_.flush();
  }
  std::thread reader([&] {
    std::ofstream to(path, std::ios::binary);
    std::array<char, 65536> some;
    for (ssize_t bytes; (bytes = ::read(pipe[0], some.data(), some.size())) > 0;) to.write(some.data(), bytes);
  });
  log_.finish();
  reader.join();
  ::close(pipe[0]);
  EXPECT_THAT(complaints_, SizeIs(0));
  EXPECT_EQ(sums(table(), SeriesKind::kSnapshot).calls, kSnapshots);
}

// A wait that is reported long after its call, or before it, is in the snapshot of the call.
TEST(RankSeries, AWaitIsInTheSnapshotOfItsCallWheneverItIsTold) {
  const std::uint64_t key = key_of_call(false, 1, 7);
  const auto visit = [&](std::int64_t begin) {
    return Moment{.kind = Moment::Kind::kVisit, .begin = begin, .key = key, .sums = {1, 50, 8}};
  };
  const auto mark = [](std::int64_t begin, std::uint64_t number) {
    return Moment{.kind = Moment::Kind::kMark, .begin = begin, .key = 9, .sums = {0, number, 0}};
  };
  for (const bool early : {false, true}) {
    RankSeries series(512, {});
    const auto tell = [&] {
      for (std::int64_t i = 0; i < 10; ++i) series.add_wait(key, 100 * i, static_cast<std::uint64_t>(i));
    };
    if (early) tell();
    std::vector<Moment> moments;
    for (std::int64_t i = 0; i < 10; ++i) {
      moments.push_back(visit(100 * i));
      moments.push_back(mark(100 * i + 60, static_cast<std::uint64_t>(i)));
    }
    series.add_first_thread(0, moments);
    if (!early) tell();
    const RankMarks& marks = series.marks();
    const auto snapshots = marks.snapshots_of(marks.series().at(0), 1000);
    ASSERT_THAT(snapshots, SizeIs(11));
    for (std::size_t i = 0; i < 10; ++i) {
      ASSERT_THAT(snapshots[i].calls, SizeIs(1));
      EXPECT_EQ(snapshots[i].calls[0].sums, (CallSums{1, 50, 8, i}));
    }
    std::uint64_t waited = 0;
    for (const auto& piece : series.series().pieces())
      series.series().for_each_call(piece, [&](std::uint32_t, const CallSums& sums) { waited += sums.waited; });
    EXPECT_EQ(waited, 45u);
  }
}

TEST_F(SnapshotLogTest, ACopyOfTheProcessWritesNothing) {
  log_.begin(folder_.string(), 0, 1);
  log_.add_program({.partition = 0, .name = "solver", .ranks = 1});
  RankMarks marks(100, {&log_, 0, 0});
  marks.mark({instrument::MarkKind::kSnapshot, 1, 0, 10, 1}, [](auto&&) {});
  const pid_t copy = ::fork();
  if (copy == 0) {
    log_.finish();
    ::_exit(0);
  }
  ::waitpid(copy, nullptr, 0);
  EXPECT_TRUE(fs::is_empty(folder_));
  log_.finish();
  EXPECT_FALSE(fs::is_empty(folder_));
}

TEST_F(SnapshotLogTest, WhatCannotBeWrittenIsSaidOnce) {
  log_.begin((folder_ / "not there").string(), 0, 1);
  log_.add_program({.partition = 0, .name = "solver", .ranks = 1});
  RankMarks marks(100, {&log_, 0, 0});
  for (std::int64_t i = 1; i < 10; ++i) {
    marks.mark({instrument::MarkKind::kSnapshot, 1, 0, i, 1}, [](auto&&) {});
    log_.finish();
  }
  ASSERT_THAT(complaints_, SizeIs(1));
  EXPECT_THAT(complaints_[0], HasSubstr("cannot be written: No such file or directory"));
}

}  // namespace
}  // namespace ardoise::analyzer

// Settings change while a program computes without calling MPI; wrong settings are reported.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ControlTest : public LaunchFixture {
 protected:
  [[nodiscard]] Captured control(Words words) const {
    words.insert(words.begin(), {ARDOISE, "control", output_});
    return run_and_read(words);
  }
  // Calls `during` when all ranks are at work. They continue until the file `end` exists.
  Captured launch(const Words& options, const Words& arguments, const std::function<void()>& during) {
    const std::string begin = (folder_ / "begin").string(), end = (folder_ / "end").string();
    std::jthread watcher([&] {
      while (::access(begin.c_str(), F_OK) != 0) ::usleep(10'000);
      during();
      std::ofstream(end) << "now";
    });
    Words line{"-n", "3", STEERED_PROGRAM, begin, end};
    line.insert(line.end(), arguments.begin(), arguments.end());
    return ardoise(options, line);
  }
};

TEST_F(ControlTest, TheRateChangesWhileRanksCompute) {
  Captured first, second, history, unknown, fixed, range, ranks, event;
  const auto result = launch({"--rate", "400", "--sample-share", "0"}, {}, [&] {
    first = control({"rate=50"});
    ::usleep(300'000);
    second = control({"rate=80", "flush-every=0.25", "--ranks", "1-5"});
    ::usleep(300'000);
    history = control({});
    unknown = control({"speed=3"});
    fixed = control({"policy=block"});
    range = control({"rate=1e9"});
    ranks = control({"rate=50", "--ranks", "7"});
    event = control({"period=1000"});
  });
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(first.status, 0);
  EXPECT_THAT(first.output, StartsWith("rate=50: done on 3 of 3 ranks in "));
  EXPECT_THAT(second.output, StartsWith("rate=80 flush-every=0.25: done on 2 of 2 ranks in "));
  EXPECT_THAT(history.output,
              AllOf(HasSubstr("1  rate=50  ranks all"), HasSubstr("2  rate=80 flush-every=0.25  ranks 1-5")));
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.output,
              StartsWith("ardoise control: there is no option 'speed'; what can change while a launch runs: rate,"));
  EXPECT_THAT(fixed.output, HasSubstr("'policy' cannot change while a launch runs"));
  EXPECT_THAT(range.output, HasSubstr("a number from 0.1 to 100000"));
  EXPECT_THAT(ranks.output, HasSubstr("this launch has no rank '7'"));
  EXPECT_EQ(event.status, 1) << "CPU time is sampled, not an event";
  EXPECT_THAT(event.output, HasSubstr("period=1000: done on 0 of 3 ranks"));
  EXPECT_THAT(event.output, HasSubstr("not possible on rank 0 of mpi_steered, rank 1 of mpi_steered, rank 2 of"));

  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1u);
  for (const std::uint32_t rank : {0u, 1u, 2u}) {
    std::vector<double> by_user;
    for (const auto& change : run.applications[0].samples.rate_changes) {
      if (change.rank == rank && change.cause == "user") by_user.push_back(change.hertz);
    }
    ASSERT_EQ(by_user.size(), rank == 0 ? 1u : 2u) << rank;
    EXPECT_DOUBLE_EQ(by_user[0], 50);
    if (rank != 0) {
      EXPECT_DOUBLE_EQ(by_user[1], 80);
    }
  }
  EXPECT_THAT(run.applications[0].quality.notices,
              ::testing::Contains(HasSubstr("Set while the program ran (ardoise control): rate=50.")));
  // The files are removed, and there is no launch to control any more.
  for (const auto& entry : std::filesystem::directory_iterator(output_))
    EXPECT_THAT(entry.path().filename().string(), Not(StartsWith(".control")));
  const auto late = control({"rate=50"});
  EXPECT_EQ(late.status, 1);
  EXPECT_THAT(late.output, HasSubstr("no running launch writes to"));
}

// --wait takes a unit like other durations; a bare number is in seconds.
TEST_F(ControlTest, WaitTakesATimeWithItsUnit) {
  for (const char* const time : {"3", "500ms", "10s", "2m"})
    EXPECT_THAT(control({"rate=50", "--wait", time}).output, HasSubstr("no running launch writes to")) << time;
  const auto wrong = control({"rate=50", "--wait", "soon"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.output, HasSubstr("--wait soon is not a time from 0 s to 10000 h"));
}

// An unpacked archive or a former writer may have left links and FIFOs in the folder.
TEST_F(ControlTest, LinksInTheFolderAreNotFollowedAndAFifoIsNotWaitedFor) {
  namespace fs = std::filesystem;
  const fs::path victim = folder_ / "victim", output = output_;
  std::ofstream(victim) << "precious";
  Captured done, asked;
  const auto result = launch({"--hang", "1s"}, {}, [&] {
    for (const char* const name : {".control-done-0-0.part", ".control-done-0-1", ".process-state-0-0.part",
                                   ".process-state-0-1", "profile.json", "summary.txt", ".analyzer-state-0"})
      fs::create_symlink(victim, output / name);
    ASSERT_EQ(::mkfifo((output / ".state-request").c_str(), 0666), 0);
    done = control({"rate=50"});
    ::usleep(500'000);  // all ranks have checked for a request
    fs::remove(output / ".state-request");
    asked = run_and_read({ARDOISE, "status", output_});
  });
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(done.output, StartsWith("rate=50: done on 3 of 3 ranks in "));
  EXPECT_EQ(asked.status, 0) << asked.output;
  EXPECT_EQ(content("victim"), "precious");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(output / "profile.json")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(output / "summary.txt")));
  EXPECT_EQ(profile().applications.size(), 1u);
}

class SumsTest : public ControlTest, public ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(FromTheBeginOrLater, SumsTest, ::testing::Bool());

// Calls become sums, and records again: all are counted.
TEST_P(SumsTest, LoseNoCall) {
  Captured sums, events;
  const auto result = launch(GetParam() ? Words{"--record", "sums"} : Words{}, {"calls"}, [&] {
    if (!GetParam()) sums = control({"record=sums"});
    ::usleep(300'000);
    if (!GetParam()) events = control({"record=events"});
    ::usleep(100'000);
  });
  EXPECT_EQ(result.status, 0) << result.output;
  if (!GetParam()) {
    EXPECT_THAT(sums.output, StartsWith("record=sums: done on 3 of 3 ranks in "));
    EXPECT_THAT(events.output, StartsWith("record=events: done on 3 of 3 ranks in "));
  }
  const auto told = result.output.find("probes ");
  ASSERT_NE(told, std::string::npos);
  const std::uint64_t calls = std::stoull(result.output.substr(told + 7));
  EXPECT_GT(calls, 0u);
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1u);
  const auto& application = run.applications[0];
  EXPECT_EQ(function(application.mpi, "MPI_Iprobe").calls, calls);
  for (const auto& ledger : application.quality.ledger) EXPECT_EQ(ledger.lost + ledger.dropped, 0u);
  const auto* const timed = reports::find_series(application.snapshots, "timer");
  ASSERT_NE(timed, nullptr);
  std::uint64_t in_intervals = 0;
  for (const auto& each : timed->calls) {
    for (const std::uint64_t n : each.calls) in_intervals += each.function == "MPI_Iprobe" ? n : 0;
  }
  EXPECT_EQ(in_intervals, calls);
}

// Only calls of one function become sums; a snapshot is taken at the next call of each rank.
TEST_F(ControlTest, OneFunctionBecomesSumsAndSnapshotsAreTaken) {
  Captured snapshot, again, wrong;
  const auto result = launch({"--record", "sums:MPI_Iprobe,io"}, {"calls"}, [&] {
    ::usleep(200'000);
    snapshot = control({"snapshot=warm"});
    ::usleep(300'000);
    again = control({"snapshot=warm", "record=events"});
    wrong = control({"record=sums:MPI_Probes"});
    ::usleep(100'000);
  });
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(snapshot.output, StartsWith("snapshot=warm: done on 3 of 3 ranks in "));
  EXPECT_THAT(again.output, StartsWith("snapshot=warm record=events: done on 3 of 3 ranks in "));
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.output, HasSubstr("'sums:MPI_Probes' is not allowed for record: it has to be events, sums, or"));
  const std::uint64_t calls = std::stoull(result.output.substr(result.output.find("probes ") + 7));
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1u);
  EXPECT_EQ(function(run.applications[0].mpi, "MPI_Iprobe").calls, calls);
  EXPECT_EQ(run.applications[0].snapshots.ranks_with_sums, 3u);
  const auto* const series = reports::find_series(run.applications[0].snapshots, "snapshot");
  ASSERT_NE(series, nullptr);
  EXPECT_EQ(series->name, "warm");
  EXPECT_EQ(series->ranks, 3u);
  EXPECT_THAT(series->numbers, ::testing::ElementsAre(1, 2, 3)) << "the last one is of what came after them";
  EXPECT_GT(series->seconds[1], 0.25);
  EXPECT_LT(series->seconds[1], series->seconds[0] + series->seconds[2] + 60);
  std::uint64_t in_snapshots = 0;
  for (const auto& each : series->calls) {
    for (const std::uint64_t n : each.calls) in_snapshots += each.function == "MPI_Iprobe" ? n : 0;
  }
  EXPECT_EQ(in_snapshots, calls);
}

}  // namespace
}  // namespace ardoise::launcher

// Races are recorded in one launch and forced in another: programs print their results, which must be the same.
#include <gmock/gmock.h>

#include <sstream>

#include "instrument/format/race_format.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Hydra may drop output that a process wrote just before MPI_Abort.
constexpr bool kDropsOutputBeforeAbort = MPI_IS_MPICH;

class RacesTest : public LaunchFixture {
 protected:
  void SetUp() override {
    LaunchFixture::SetUp();
    record_ = (folder_ / "record").string();
  }
  [[nodiscard]] Captured recorded(const Words& launch) const {
    return launched(
        {"timeout", "100", ARDOISE, "--no-report", "--quiet", "--output", output_, "--record-races", record_}, launch);
  }
  [[nodiscard]] Captured forced(const Words& launch, const Words& options = {}) const {
    Words words{"timeout",        "100",  ARDOISE, "--no-report", "--quiet", "--output", output_ + "-forced",
                "--replay-races", record_};
    words.insert(words.end(), options.begin(), options.end());
    return launched(words, launch);
  }
  // Lines with the results of programs.
  static Words seen(const std::string& output) {
    Words lines;
    std::istringstream text(output);
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("seed ") || line.starts_with("hash ") || line.starts_with("sum ")) lines.push_back(line);
    }
    return lines;
  }
  void expect_same_again(const Words& launch, std::size_t lines) const { expect_same_again(launch, launch, lines); }
  // `other`: the same program with other delays.
  void expect_same_again(const Words& launch, const Words& other, std::size_t lines) const {
    const auto first = recorded(launch);
    ASSERT_EQ(first.status, 0) << first.output;
    ASSERT_EQ(seen(first.output).size(), lines) << first.output;
    const auto again = forced(other);
    EXPECT_EQ(again.status, 0) << again.output;
    EXPECT_EQ(seen(again.output), seen(first.output)) << again.output;
    EXPECT_THAT(again.output, Not(HasSubstr("diverges")));
  }

  std::string record_;
};

TEST_F(RacesTest, ProgramsSeeWhatWasRecorded) {
  const Words launch{"-n", "4", RACES_PROGRAM, "1", "150", "first"};
  const Words other{"-n", "4", RACES_PROGRAM, "1", "150", "last"};
  expect_same_again(launch, other, 150);
  const auto first = seen(by_hand(launch).output), second = seen(by_hand(other).output);
  ASSERT_EQ(first.size(), second.size());
  int different = 0;
  for (std::size_t i = 0; i < first.size(); ++i) different += first[i] != second[i] ? 1 : 0;
  EXPECT_GT(different, 30);  // otherwise the test proves nothing
}

TEST_F(RacesTest, AndSoDoProgramsWithThreads) {
  expect_same_again({"-n", "2", RACES_PROGRAM, "1", "60", "threads"}, 120);
}

TEST_F(RacesTest, AFloatingPointSumInTheOrderOfArrivalIsTheSame) {
  for (const char* way : {"wildcard", "test", "waitany"}) {
    fs::remove_all(record_);
    expect_same_again({"-n", "4", FARM_PROGRAM, "2000", "1", way}, 1);
  }
}

TEST_F(RacesTest, AndSoDoProgramsInFortran) {
  std::istringstream programs(FORTRAN_PROGRAMS);
  for (std::string program; programs >> program;) {
    fs::remove_all(record_);
    expect_same_again({"-n", "3", program, "20"}, 1);
  }
}

TEST_F(RacesTest, WhereAProgramDivergesIsNamed) {
  ASSERT_EQ(recorded({"-n", "3", RACES_PROGRAM, "1", "20"}).status, 0);
  const auto other = forced({"-n", "3", RACES_PROGRAM, "1", "20", "extra"}, {"--replay-divergence", "stop"});
  EXPECT_NE(other.status, 0);
  EXPECT_THAT(other.output, HasSubstr("rank 0 has diverged from the record in MPI_Iprobe at play in mpi_races.c:"));
  if (!kDropsOutputBeforeAbort) {
    EXPECT_THAT(other.output, AllOf(HasSubstr("ardoise: rank 0 diverges from the record at decision "),
                                    HasSubstr(" of its thread 0: recorded: MPI_"), HasSubstr("mpi_races.c:"),
                                    HasSubstr("; now: MPI_Iprobe at "), HasSubstr("The program is stopped")));
  }
  const auto shorter = forced({"-n", "3", RACES_PROGRAM, "1", "10"});
  EXPECT_EQ(shorter.status, 0);
  EXPECT_THAT(shorter.output, HasSubstr("; now: MPI_Finalize."));
  const auto longer = forced({"-n", "3", RACES_PROGRAM, "1", "21"}, {"--replay-divergence", "stop"});
  EXPECT_NE(longer.status, 0);
  if (!kDropsOutputBeforeAbort) {
    EXPECT_THAT(longer.output, HasSubstr("recorded: no further decision; now: MPI_"));
  }
}

// Each worker has sent all its messages and is in MPI_Finalize.
TEST_F(RacesTest, ARecordWhoseSendersHaveEndedMakesTheRunDiverge) {
  ASSERT_EQ(recorded({"-n", "3", FARM_PROGRAM, "50", "100", "stream"}).status, 0);
  const auto shorter = forced({"-n", "3", FARM_PROGRAM, "10", "100", "stream"});
  EXPECT_EQ(shorter.status, 0) << shorter.output;
  EXPECT_EQ(seen(shorter.output).size(), 1u) << shorter.output;
  EXPECT_THAT(shorter.output, ContainsRegex("ardoise: rank 0 diverges from the record in MPI_Recv at .*mpi_farm.c:.*: "
                                            "rank [12], whose message it waits for, has ended MPI[.] "
                                            "Nothing is forced on this rank from here on[.]"));
  fs::remove_all(record_);
  ASSERT_EQ(recorded({"-n", "3", FARM_PROGRAM, "50", "100", "posted"}).status, 0);
  const auto posted = forced({"-n", "3", FARM_PROGRAM, "10", "100", "posted"});
  EXPECT_EQ(posted.status, 3) << posted.output;
  EXPECT_THAT(posted.output, HasSubstr("rank 0 has diverged from the record in MPI_Wait at gather in mpi_farm.c:"));
  if (kDropsOutputBeforeAbort) return;
  EXPECT_THAT(posted.output,
              ContainsRegex("rank 0 diverges from the record in MPI_Wait at .*: rank [12], whose message it waits for, "
                            "has ended MPI[.] The receive was posted for that message and cannot get another one: the "
                            "program is stopped[.]"));
}

TEST_F(RacesTest, AMessageThatNeverComesIsTold) {
  ASSERT_EQ(recorded({"-n", "3", FARM_PROGRAM, "10", "0", "wildcard"}).status, 0);
  const auto waits = forced({"-n", "3", FARM_PROGRAM, "10", "0", "wildcard", "lost"},
                            {"--hang", "1", "--time-limit", "4", "--no-report"});
  EXPECT_EQ(waits.status, 124) << waits.output;
  EXPECT_THAT(waits.output, AllOf(HasSubstr("ardoise: rank 0 has waited 1 s for the message from rank "),
                                  HasSubstr(" with tag 1, in MPI_Recv at "), HasSubstr("mpi_farm.c:")));
}

// The master has a task out for each worker: each receive but the last could have received another result. The number
// of others depends on the run.
TEST_F(RacesTest, TracesTellWhichReceivesCouldHaveHadAnotherMessage) {
  const auto run = launched(
      {"timeout", "100", ARDOISE, "--no-report", "--quiet", "--output", output_, "--trace", "all,attributes=arguments"},
      {"-n", "3", FARM_PROGRAM, "50", "0", "wildcard"});
  ASSERT_EQ(run.status, 0) << run.output;
  const auto races = run_and_read({ARDOISE, "trace", "races", output_});
  EXPECT_EQ(races.status, 3);
  EXPECT_THAT(races.output,
              AllOf(ContainsRegex("          50            49        [12]  MPI_Recv"), HasSubstr("mpi_farm.c:"),
                    HasSubstr("49 of 50 receives with wildcards could have had"), Not(HasSubstr("Note:"))));
}

TEST_F(RacesTest, RecordsOfAnotherLaunchAreRefusedBeforeItStarts) {
  const Words launch{"-n", "2", RACES_PROGRAM, "1", "2"};
  EXPECT_THAT(forced(launch).output, HasSubstr("there is no record of races in '" + record_ + "'"));
  ASSERT_EQ(recorded(launch).status, 0);
  const auto expect_refused = [](const Captured& run, const std::string& sentence) {
    EXPECT_EQ(run.status, 2) << run.output;
    EXPECT_THAT(run.output, HasSubstr(sentence));
    EXPECT_THAT(seen(run.output), IsEmpty());
  };
  expect_refused(recorded(launch), "has a record of races already");
  expect_refused(forced({"-n", "3", RACES_PROGRAM, "1", "2"}), "is of 2 ranks, and the launch line starts 3");
  expect_refused(forced({"-n", "2", FARM_PROGRAM, "1", "2"}), "is of mpi_races, and the launch line starts mpi_farm");
  expect_refused(forced(launch, {"--record-races", record_ + "-2"}), "are for two launches");
  expect_refused(forced(launch, {"--disable"}), "races cannot be forced");
  // The same name, another build.
  const fs::path other = folder_ / "mpi_races";
  fs::copy_file(FARM_PROGRAM, other);
  expect_refused(forced({"-n", "2", other.string(), "1", "2"}), "is of another build of mpi_races");
  const fs::path one = fs::path(record_) / "0-1.races";
  std::ifstream file(one, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  std::string garbled = whole;
  constexpr std::size_t kEnd = sizeof(instrument::RaceBlock) + sizeof(instrument::RaceEnd);
  garbled[garbled.size() - kEnd - 1] ^= 1;  // in the checksum of the last block
  std::ofstream(one, std::ios::binary) << garbled;
  expect_refused(forced(launch), "is damaged");
  fs::resize_file(one, whole.size() - 5);
  expect_refused(forced(launch), "is cut off");
  fs::resize_file(one, 20);
  expect_refused(forced(launch), "is cut off in its header");
  fs::remove(one);
  expect_refused(forced(launch), "has files of 1 of 2 ranks");
}

}  // namespace
}  // namespace ardoise::launcher

// The whole chain under mpirun: launcher, preload library, streams, analyzer, profile. The expected numbers are counted
// by hand.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <future>
#include <map>
#include <thread>

#include "reports/extensions.hpp"
#include "tests/tools/launch_fixture.hpp"
#include "tools/ardoise/common/exit_status.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class LaunchTest : public LaunchFixture {
 protected:
  [[nodiscard]] bool is_analyzer(const std::string& process) const {
    std::ifstream file("/proc/" + process + "/cmdline");
    const std::string words((std::istreambuf_iterator<char>(file)), {});
    // The launcher names the analyzer by its resolved path.
    return words.starts_with(fs::canonical(ANALYZER).string()) && words.find(output_) != std::string::npos;
  }
  static std::string parent_of(const std::string& process) {
    std::ifstream file("/proc/" + process + "/status");
    for (std::string word; file >> word;) {
      if (word == "PPid:" && file >> word) return word;
    }
    return "";
  }
  // Process of this test's analyzer, a child of its guardian. Waits until it receives events.
  [[nodiscard]] pid_t running_analyzer() const {
    for (std::string state; state != "running"; ::usleep(1000)) std::ifstream(output_ + "/.analyzer-status") >> state;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string process = entry.path().filename();
      if (is_analyzer(process) && is_analyzer(parent_of(process))) return std::stoi(process);
    }
    throw std::runtime_error("there is no analyzer");
  }

  static void wait_for_two_bytes(const std::string& file) {
    for (std::error_code none; fs::file_size(file, none) != 2 || none; ::usleep(1000)) continue;
  }
  // Both ranks of ring_program, started with `held FILE`, have left MPI_Init.
  static void wait_for_begun_ranks(const std::string& file) { wait_for_two_bytes(file + ".begun"); }

  static void expect_ring(const reports::Application& application, std::uint32_t ranks, std::uint64_t rounds) {
    EXPECT_EQ(application.ranks, ranks);
    EXPECT_EQ(function(application.mpi, "MPI_Send").calls, ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Send").bytes, 1000 * ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Irecv").calls, ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Irecv").bytes_received, 1000 * ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Wait").calls, ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Allreduce").calls, ranks * ((rounds + 9) / 10));
    EXPECT_EQ(function(application.mpi, "MPI_Allreduce").bytes, 8 * ranks * ((rounds + 9) / 10));
    ASSERT_EQ(application.edges.size(), ranks);
    for (const auto& edge : application.edges) {
      EXPECT_EQ(edge.target, (edge.source + 1) % ranks);
      EXPECT_EQ(edge.messages, rounds);
      EXPECT_EQ(edge.bytes, 1000 * rounds);
    }
    EXPECT_EQ(application.quality.ranks_complete, ranks);
    for (const auto& ledger : application.quality.ledger) {
      EXPECT_EQ(ledger.lost, 0U);
      // Samples of a closed level are dropped: sampling adapts this way.
      EXPECT_TRUE(ledger.dropped == 0 || ledger.record_class == "samples") << ledger.dropped << ledger.record_class;
    }
  }
};

TEST_F(LaunchTest, TwoProgramsHaveWorldsAndNumbersOfTheirOwn) {
  const auto result = ardoise({"--separate"}, {"-n", "2", RING, "200", ":", "-n", "3", RING, "50"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("ring of 2 ranks, sum 2"));
  EXPECT_THAT(result.output, HasSubstr("ring of 3 ranks, sum 3"));
  const auto run = profile();
  EXPECT_EQ(run.universe_ranks, 6U);
  EXPECT_EQ(run.analyzer_ranks, 1U);
  EXPECT_THAT(run.command, HasSubstr(launcher_words().back() + " -n 2"));
  // Six processes run here: if the machine has fewer processors, a notice says so.
  if (::sysconf(_SC_NPROCESSORS_ONLN) < 6) {
    EXPECT_THAT(run.notices, ElementsAre(HasSubstr("6 processes")));
  } else {
    EXPECT_THAT(run.notices, IsEmpty());
  }
  ASSERT_THAT(run.applications, SizeIs(2));
  expect_ring(run.applications[0], 2, 200);
  expect_ring(run.applications[1], 3, 50);
  EXPECT_NE(run.applications[0].name, run.applications[1].name);
}

TEST_F(LaunchTest, SeveralAnalyzersFindTheSameNumbers) {
  const auto result = ardoise({"--analyzers", "3", "--workers", "2"}, {"-n", "4", RING, "3000"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  EXPECT_EQ(run.analyzer_ranks, 3U);
  EXPECT_EQ(run.analyzer_workers, 2U);
  ASSERT_THAT(run.applications, SizeIs(1));
  expect_ring(run.applications[0], 4, 3000);
}

// Little memory, and a plug-in whose messages between analyzers exceed it.
TEST_F(LaunchTest, WhatAnalyzersSendEachOtherIsUsedOnceHoweverMuchItIs) {
  const auto result = ardoise({"--analyzers", "3", "--memory", "1M", "--plugin", FLOODING_SOURCE, "--policy", "block"},
                              {"-n", "2", RING, "4000"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1));
  expect_ring(run.applications[0], 2, 4000);
  const auto row = reports::extensions_of(run.applications[0]).at("flooding").at("rows").at(0);
  EXPECT_GT(row.at(0), 20 * 2 * 3 * 4000);
  EXPECT_EQ(row.at(0), row.at(2));
  EXPECT_EQ(row.at(1), row.at(3));
}

TEST_F(LaunchTest, MoreAnalyzersThanRanks) {
  const auto result = ardoise({"--analyzers", "3"}, {"-n", "1", RING, "20"});
  EXPECT_EQ(result.status, 0) << result.output;
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 1, 20);
}

TEST_F(LaunchTest, ExitStatusIsThatOfTheProgramAndTheReportIsThere) {
  const auto result = ardoise({}, {"-n", "2", RING, "20", "exit", "3"});
  EXPECT_EQ(result.status, 3) << result.output;
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 2, 20);
}

TEST_F(LaunchTest, AKilledProgramGivesTheStatusOfItsSignal) {
  const auto result = ardoise({}, {"-n", "2", RING, "20", "signal", "9"});
  EXPECT_EQ(result.status, MPI_IS_MPICH ? 9 : 128 + 9) << result.output;
  EXPECT_FALSE(fs::exists(output_ + "/profile.json.tmp"));
}

TEST_F(LaunchTest, ALaunchThatIsEndedHasTheReportOfAllThatWasRecorded) {
  for (const std::string analyzers : {"1", "2"}) {
    output_ = (folder_ / ("report" + analyzers)).string();
    const auto result = ardoise({"--analyzers", analyzers}, {"-n", "2", RING, "5000", "signal", "9"});
    EXPECT_EQ(result.status, MPI_IS_MPICH ? 9 : 128 + 9) << result.output;
    const auto run = profile();
    ASSERT_THAT(run.applications, SizeIs(1)) << result.output;
    // Hydra kills all processes at once, so the first one is unknown.
    EXPECT_THAT(run.notices,
                Contains(HasSubstr(MPI_IS_MPICH ? "The launch was ended before its programs had finished MPI"
                                                : "rank 0 of ring_program ended first, without MPI_Finalize; mpirun's "
                                                  "status is that of signal 9")));
    EXPECT_EQ(run.applications[0].quality.ranks_complete, 2u);
    EXPECT_EQ(function(run.applications[0].mpi, "MPI_Send").calls, 10'000u);
    for (const auto& ledger : run.applications[0].quality.ledger) {
      EXPECT_EQ(ledger.recorded, ledger.received + ledger.dropped + ledger.lost);
      // With MPICH a pack may have left its sender without reaching the analyzer.
      EXPECT_TRUE(MPI_IS_MPICH || ledger.lost == 0) << ledger.lost;
    }
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(output_)) left.push_back(entry.path().filename().string());
    EXPECT_THAT(left, UnorderedElementsAre("profile.json", "summary.txt"));
  }
}

TEST_F(LaunchTest, AProgramThatIsKilledIsInTheReportWhereOthersLiveOn) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "natively, too, Hydra 4.0 ends before those that live on";
  const auto result =
      ardoise({"--separate"}, {"--enable-recovery", "-n", "1", RING, "20", "signal", "9", ":", "-n", "2", RING, "50"});
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(2)) << result.output;
  expect_ring(run.applications[0], 1, 20);
  expect_ring(run.applications[1], 2, 50);
}

TEST_F(LaunchTest, AKilledAnalyzerIsNotBlamedOnThePrograms) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "Hydra kills all processes at once, so there is no telling which died first";
  for (const std::string analyzers : {"1", "2"}) {  // two have entries for each other
    output_ = (folder_ / ("report" + analyzers)).string();
    const auto begun = (folder_ / ("ranks" + analyzers)).string();
    std::jthread killer([&] {
      const pid_t analyzer = running_analyzer();
      wait_for_begun_ranks(begun);  // before, they have recorded nothing
      ::kill(analyzer, SIGKILL);
      std::ofstream{begun};
    });
    const auto result = ardoise({"--analyzers", analyzers}, {"-n", "2", RING, "100000000", "held", begun});
    EXPECT_EQ(result.status, 128 + 9) << result.output;
    EXPECT_THAT(profile().notices,
                Contains(HasSubstr("1 of " + analyzers + (analyzers == "1" ? " analyzer" : " analyzers") +
                                   " was killed: the data received there is lost.")));
    EXPECT_EQ(profile().applications.at(0).quality.ranks_complete, 2u);
  }
}

TEST_F(LaunchTest, AStoppedAnalyzerHoldsNoProgram) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "its MPI_Finalize itself waits for all processes of a launch";
  const auto late = (folder_ / "late").string();
  std::jthread stopper([&] {
    const pid_t analyzer = running_analyzer();
    wait_for_begun_ranks(late);  // no rank is in MPI_Init, which needs the analyzer
    ::kill(analyzer, SIGSTOP);
    std::ofstream{late};
    wait_for_two_bytes(late);
    ::kill(analyzer, SIGCONT);
  });
  const auto result = ardoise({"--finalize-timeout", "0.5"}, {"-n", "2", RING, "20000", "held", late});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("the analyzer took nothing for 0.5 s (--finalize-timeout)"));
  EXPECT_THAT(result.output, HasSubstr("2 of 2 processes of ring_program ended without finishing their measurement"));
}

// An analyzer that reads nothing for longer than --finalize-timeout, where MPI_Finalize waits for all of the launch.
TEST_F(LaunchTest, AHeldAnalyzerLosesNothingWhereFinalizeWaitsForIt) {
  ::setenv("OMPI_MCA_async_mpi_finalize", "0", 1);
  const auto late = (folder_ / "late").string();
  std::jthread stopper([&] {
    const pid_t analyzer = running_analyzer();
    wait_for_begun_ranks(late);
    ::kill(analyzer, SIGSTOP);
    std::ofstream{late};
    ::usleep(2'000'000);
    ::kill(analyzer, SIGCONT);
  });
  const auto result =
      ardoise({"--finalize-timeout", "0.2", "--policy", "block"}, {"-n", "2", RING, "2000", "held", late});
  ::unsetenv("OMPI_MCA_async_mpi_finalize");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("took nothing")));
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 2, 2000);
}

TEST_F(LaunchTest, LaunchesSideBySideHaveReportsOfTheirOwn) {
  auto other = std::async(std::launch::async, [&] { return ardoise({}, {"-n", "2", RING, "30"}); });
  const auto result = ardoise({}, {"-n", "2", RING, "30"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(other.get().status, 0);
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 2, 30);
  output_ += "-2";
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 2, 30);
}

TEST_F(LaunchTest, StandardOutputIsTheProgramsAlone) {
  const auto output = (folder_ / "output").string();
  (void)launched({"sh", "-c", "exec \"$@\" > " + output, "sh", ARDOISE, "--no-report", "--output", output_},
                 {"-n", "2", RING, "20"});
  EXPECT_EQ(content("output"), "ring of 2 ranks, sum 2\n");
}

TEST_F(LaunchTest, AnInterruptedRenderingLeavesNothingRunning) {
  const auto pid_file = (folder_ / "pid").string(), latex = (folder_ / "xelatex").string();
  std::ofstream(latex) << "#!/bin/sh\necho $$ > " << pid_file << "\nexec sleep 1000\n";
  fs::permissions(latex, fs::perms::owner_all);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
  // ardoise replaces the shell and keeps its process id.
  const auto own = (folder_ / "own").string();
  auto launch = std::async(std::launch::async, [&] {
    return launched({"sh", "-c", "echo $$ > " + own + "; exec \"$@\"", "sh", ARDOISE, "--output", output_},
                    {"-n", "2", RING, "20", "exit", "3"});
  });
  int rendering = 0;
  while (!(std::ifstream(pid_file) >> rendering)) ::usleep(1000);
  int ardoise_id = 0;
  std::ifstream(own) >> ardoise_id;
  ::kill(ardoise_id, SIGINT);
  const auto result = launch.get();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, HasSubstr("The report was interrupted; to make it, run: ardoise report"));
  EXPECT_NE(::kill(rendering, 0), 0);
  EXPECT_TRUE(fs::exists(output_ + "/profile.json"));
}

TEST_F(LaunchTest, ProgramsWorkOnAfterFinalizeUndisturbed) {
  const auto file = (folder_ / "late").string();
  const auto result = ardoise({"--plugin", FAILING_SOURCE}, {"-n", "3", RING, "20", "late", file});
  EXPECT_EQ(fs::file_size(file), 3U) << result.output;
}

TEST_F(LaunchTest, AThrowingPluginCostsItsOwnPartOnly) {
  const auto result = ardoise({"--plugin", FAILING_SOURCE}, {"-n", "2", RING, "20"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("failing@"));
  EXPECT_THAT(result.output, HasSubstr("on purpose"));
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1));
  expect_ring(run.applications[0], 2, 20);
  EXPECT_THAT(run.notices, Not(IsEmpty()));
}

// A slow analyzer with little memory: data that programs cannot send becomes aggregates, and every sum stays exact.
TEST_F(LaunchTest, ASlowAnalyzerCostsSingleTimesButNoSumAndNoWaiting) {
  constexpr int kRounds = 20000;  // some 160 packs a rank: waiting for the analyzer would take it half a minute
  const std::string library = std::string("LD_PRELOAD=") + PRELOAD_LIBRARY;
  const auto result =
      by_hand({"-n", "2", "env", library, "ARDOISE_BUDGET=256k", "ARDOISE_BIN=16k", RING, std::to_string(kRounds), ":",
               "-n", "1", ANALYZER, "--memory", "1MB", "--plugin", SLOW_SOURCE, "--output", output_});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1));
  const auto& application = run.applications[0];
  expect_ring(application, 2, kRounds);
  EXPECT_EQ(application.quality.blocked_seconds, 0);
  EXPECT_THAT(application.quality.notices, ::testing::Contains(HasSubstr("arrived as aggregates")));
  std::uint64_t calls = 0;
  for (const auto& site : application.call_sites) calls += site.function.starts_with("MPI_") ? site.calls : 0;
  EXPECT_EQ(calls, 2U * (3 * kRounds + kRounds / 10 + 2))
      << "call sites are exact too; rank and size were asked as well";
}

TEST_F(LaunchTest, ShellScriptsAndWrappersAreMeasured) {
  const auto script = folder_ / "wrapper.sh";
  std::ofstream(script) << "#!/bin/sh\necho before\n" << RING << " \"$@\"\nstatus=$?\necho after\nexit $status\n";
  fs::permissions(script, fs::perms::owner_all);
  const auto result =
      ardoise({"--separate"}, {"-n", "2", script.string(), "20", ":", "-n", "1", "env", "A=B", RING, "30"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("after"));
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(2));
  expect_ring(run.applications[0], 2, 20);
  expect_ring(run.applications[1], 1, 30);
}

TEST_F(LaunchTest, ProgramsThatStartMpiLateAreMeasured) {
  const auto result = ardoise({}, {"-n", "2", "sh", "-c", std::string("sleep 4; exec '") + RING + "' 20"});
  EXPECT_EQ(result.status, 0) << result.output;
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 2, 20);
}

TEST_F(LaunchTest, ProgramsWithoutMpiEndAsTheyWould) {
  const auto result = ardoise({}, {"-n", "2", "echo", "hello"});
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("hello\nhello\n"));
  EXPECT_THAT(result.output, HasSubstr("MPI_Init"));
  EXPECT_FALSE(fs::exists(output_));
  EXPECT_EQ(ardoise({}, {"-n", "2", "sh", "-c", "exit 5"}).status, 5);
}

TEST_F(LaunchTest, NamesWithEverythingInThem) {
  const auto program = folder_ / "r_%&#$\\{} ü'\"g";
  fs::create_symlink(RING, program);
  const auto result = ardoise({}, {"-n", "2", program.string(), "20", "it's", "50% & $more\\{}"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1));
  EXPECT_THAT(run.applications[0].command, HasSubstr("50% & $more\\{}"));
}

TEST_F(LaunchTest, SecretsOfTheCommandLineAreInNoFile) {
  Words line{"-n", "2"};
  const Words variable = exported("NOT_SHOWN", "secret-of-a-variable");
  line.insert(line.end(), variable.begin(), variable.end());
  line.insert(line.end(),
              {RING, "20", "--api-key=secret-of-an-argument", "--password", "secret-of-an-option", "shown"});
  const auto capture = (folder_ / "capture").string();
  const auto result = ardoise({"--capture", capture, "--trace", "all"}, line);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("secret-of")));
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1));
  EXPECT_THAT(run.command, AllOf(HasSubstr("NOT_SHOWN"), HasSubstr("--api-key=… --password … shown")));
  EXPECT_THAT(run.applications[0].command, ::testing::EndsWith(" 20 --api-key=… --password … shown"));
  const auto expect_none = [&](const char* text) {
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      EXPECT_EQ(bytes.find(text), bytes.npos) << text << " is in " << entry.path();
    }
  };
  expect_none("secret-of");

  fs::remove_all(output_);
  fs::remove_all(capture);
  EXPECT_EQ(ardoise({"--capture", capture, "--no-command"}, line).status, 0);
  EXPECT_EQ(profile().applications[0].command, RING);
  expect_none("api-key");
}

TEST_F(LaunchTest, SlotsForTheAnalyzersAreNotNeeded) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "Hydra knows no slots";
  // As many ranks as slots, without --oversubscribe: the launch runs natively, so it must run under Ardoise.
  const Words hosts{"-H", "localhost:2"};
  Words words{ARDOISE, "--no-report", "--output", output_, "--verbose", "mpirun",
              "-H",    "localhost:2", "-n",       "2",     RING,        "20"};
  const auto result = run_and_read(words);
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("mpirun --oversubscribe "), HasSubstr(" -H localhost:2 ")));
  words = {ARDOISE, "--no-report", "--output", output_, "mpirun", "--nooversubscribe",
           "-H",    "localhost:2", "-n",       "2",     RING,     "20"};
  EXPECT_EQ(run_and_read(words).status, kUsageStatus);
}

// A rank that waits keeps its processor, as natively, if the programs have slots for their ranks.
TEST_F(LaunchTest, AnalyzersAreNoReasonToYield) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "Hydra knows no slots";
  for (const std::string options : {"-H localhost:2 -n 2", "-H localhost:2 --oversubscribe -n 2",
                                    "-H localhost:1 --oversubscribe -n 2", "-H localhost:4 -n 2"}) {
    Words line{"mpirun"};
    std::istringstream words(options);
    line.insert(line.end(), std::istream_iterator<std::string>(words), {});
    const auto program = std::string("echo yields: $OMPI_MCA_mpi_oversubscribe; exec '") + RING + "' 20";
    line.insert(line.end(), {"sh", "-c", program});
    const auto yields = [](const std::string& output) {
      const auto at = output.find("yields: ");
      return at == output.npos ? output : output.substr(at, 9);
    };
    const auto native = run_and_read(line);
    ASSERT_EQ(native.status, 0) << native.output;
    line.insert(line.begin(), {ARDOISE, "--no-report", "--quiet", "--output", output_});
    const auto result = run_and_read(line);
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(yields(result.output), yields(native.output)) << options;
  }
}

TEST_F(LaunchTest, AFullDiskCostsTheReportAndLeavesNoHalfFile) {
  const auto disk = (folder_ / "disk").string();
  fs::create_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=12k") != 0) GTEST_SKIP() << "mounting a small disk needs root";
  output_ = disk + "/report";
  const auto result = ardoise({}, {"-n", "2", RING, "20"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("profile.json"));
  EXPECT_THAT(result.output, HasSubstr("ring of 2 ranks"));
  EXPECT_FALSE(fs::exists(output_ + "/profile.json"));
  ::umount(disk.c_str());
}

TEST_F(LaunchTest, OneCaptureReplaysToTheSameNumbers) {
  const auto packs = (folder_ / "packs").string();
  ASSERT_EQ(ardoise({"--capture", packs}, {"-n", "3", RING, "500"}).status, 0);
  const auto live = profile();
  const auto again = (folder_ / "again").string();
  const auto result = run_and_read({ARDOISE, "report", packs, "--output", again, "--no-report"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto replayed = reports::read_profile_json(again + "/profile.json");
  ASSERT_TRUE(replayed) << replayed.error;
  ASSERT_THAT(replayed.value->applications, SizeIs(1));
  expect_ring(replayed.value->applications[0], 3, 500);
  EXPECT_EQ(replayed.value->applications[0].wall_seconds, live.applications[0].wall_seconds);
}

TEST_F(LaunchTest, ByHandTheAnalyzerDoesItAll) {
  const auto result = by_hand({"-n", "2", "env", std::string("LD_PRELOAD=") + PRELOAD_LIBRARY, RING, "20", ":", "-n",
                               "1", ANALYZER, "--output", output_, "--no-report"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("Ardoise"));
  ASSERT_THAT(profile().applications, SizeIs(1));
  expect_ring(profile().applications[0], 2, 20);
}

TEST_F(LaunchTest, AnAnalyzerAloneSaysSo) {
  const auto result = by_hand({"-n", "2", ANALYZER, "--output", output_});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("no program"));
}

TEST_F(LaunchTest, AProgramWithoutTheLibraryBesideTheAnalyzerIsToldAndDoesNotHang) {
  const auto result = by_hand({"-n", "2", RING, "20", ":", "-n", "1", ANALYZER, "--output", output_});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("without libardoise.so"));
}

// If anything on the way removes the library from LD_PRELOAD, the launch starts again as it was written, even if other
// processes have been in MPI_Init for long.
TEST_F(LaunchTest, AProgramThatLosesTheLibraryOnTheWayRunsWithoutIt) {
  const Words bare{"env", "-u", "LD_PRELOAD", RING, "20"};
  Words late{"-n", "1", RING, "20", ":", "-n", "1", "sh", "-c", "sleep 2; unset LD_PRELOAD; exec '" RING "' 20"};
  Words both{"-n", "2"};
  both.insert(both.end(), bare.begin(), bare.end());
  for (const Words& launch : {both, late}) {
    const auto result = ardoise({}, launch);
    EXPECT_EQ(result.status, 0) << result.output;
    const auto said = result.output.find("ardoise: ");
    ASSERT_NE(said, std::string::npos) << result.output;
    EXPECT_THAT(result.output, HasSubstr("'ring_program' was started without libardoise.so"));
    EXPECT_EQ(result.output.find("ardoise: ", said + 1), std::string::npos) << result.output;
    EXPECT_THAT(result.output, HasSubstr("ring of 2 ranks, sum 2"));
    EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 2) << result.output;
    EXPECT_FALSE(fs::exists(output_)) << "nothing was measured";
  }
}

TEST_F(LaunchTest, ALaunchThatStartsAgainReadsItsInputFromTheBeginning) {
  const auto input = (folder_ / "input").string();
  std::ofstream(input) << "first\nsecond\n";
  const auto launcher = launcher_words();
  std::string line = "read -r word; echo \"read $word\"; unset LD_PRELOAD; exec '" RING "' 20";
  std::string words = "'" ARDOISE "' --no-report --output '" + output_ + "'";
  for (const auto& word : launcher) words += " '" + word + "'";
  const auto result =
      run_and_read({"sh", "-c", words + " -n 1 sh -c \"$0\" : -n 1 '" RING "' 20 <'" + input + "'", line});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto first = result.output.find("read first\n");
  ASSERT_NE(first, std::string::npos) << result.output;
  EXPECT_NE(result.output.find("read first\n", first + 1), std::string::npos) << result.output;
}

TEST_F(LaunchTest, SwitchedOffItRunsUntouched) {
  ::setenv("ARDOISE_DISABLE", "1", 1);
  const auto result = ardoise({}, {"-n", "2", RING, "20"});
  ::unsetenv("ARDOISE_DISABLE");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("ring of 2 ranks"));
  EXPECT_THAT(result.output, HasSubstr("ARDOISE_DISABLE"));
}

TEST_F(LaunchTest, OptionsReachTheProgramsAndTheRecord) {
  ::setenv("ARDOISE_SAMPLE_SHARE", "0", 1);
  const auto result = ardoise({"--sample", "off"}, {"-n", "2", RING, "20"});
  ::unsetenv("ARDOISE_SAMPLE_SHARE");
  EXPECT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  std::map<std::string, std::string> settings;
  for (const auto& s : run.settings) settings[s.name] = s.value + ", " + s.set_by;
  EXPECT_EQ(settings["sample"], "off, command line");
  EXPECT_EQ(settings["sample-share"], "0, environment");
  EXPECT_EQ(settings["rate"], "10000, default");
  ASSERT_THAT(run.applications, SizeIs(1));
  EXPECT_EQ(run.applications[0].samples.unit, "");
}

TEST_F(LaunchTest, ABadValueEndsWithOneSentenceAndStatusTwoBeforeAnythingRuns) {
  ::setenv("ARDOISE_RATE", "abc", 1);
  const auto result = ardoise({}, {"-n", "2", RING, "20"});
  ::unsetenv("ARDOISE_RATE");
  EXPECT_EQ(result.status, kUsageStatus);
  EXPECT_EQ(result.output, "ardoise: ARDOISE_RATE=abc is not a number from 0.1 to 100000.\n");
}

TEST_F(LaunchTest, ReportOfABrokenProfileIsOneSentence) {
  std::ofstream(folder_ / "profile.json") << "{\"schema_version\": 1, ";
  const auto result = run_and_read({ARDOISE, "report", (folder_ / "profile.json").string()});
  EXPECT_EQ(result.status, kFailedStatus);
  EXPECT_EQ(std::ranges::count(result.output, '\n'), 1) << result.output;
}

}  // namespace
}  // namespace ardoise::launcher

// Programs that start and end in many ways: through env, timeout, stdbuf or scripts, with their own preloads, bound at
// start or symbolically, opening MPI themselves, with another MPI; with every kind of end. Each is compared with the
// same launch without Ardoise.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

class WaysTest : public LaunchFixture {
 protected:
  static Captured natively(const Words& launch) { return launched({"timeout", "60"}, launch); }
  // By default each program has its own world; with {} they share one.
  [[nodiscard]] Captured observed(const Words& launch, const Words& options = {"--separate"}) const {
    Words words{"timeout", "100", ARDOISE, "--no-report", "--output", output_};
    words.insert(words.end(), options.begin(), options.end());
    return launched(words, launch);
  }
  static Words sorted_lines(const std::string& text) {
    Words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  }
  [[nodiscard]] std::string script(const std::string& name, const std::string& text) const {
    const auto path = folder_ / name;
    std::ofstream(path) << "#!/bin/sh\n" << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
};

// One way to start a program: two processes of `command` write their output into a file.
struct Way {
  std::string name;
  std::string command;
};

TEST_F(WaysTest, StartedInAnyWayProgramsSayTheSameAndAreMeasured) {
  const std::string program = WAYS_PROGRAM;
  const std::string wrapped = script("wrapper", "'" + program + "'\nexit $?\n");
  std::vector<Way> ways{
      {"plain", "exec '" + program + "'"},
      {"env", "exec env A=B '" + program + "'"},
      {"timeout", "exec timeout 60 '" + program + "'"},
      {"stdbuf", "exec stdbuf -oL '" + program + "'"},
      {"script", "exec '" + wrapped + "'"},
      {"shell", "'" + program + "'; exit $?"},
      {"symbolic", "exec '" + std::string(SYMBOLIC_PROGRAM) + "'"},
      {"bound_now", "LD_BIND_NOW=1 exec '" + program + "'"},
  };
#ifdef SANITIZED_PROGRAM
  ways.push_back({"sanitized", "ASAN_OPTIONS=detect_leaks=0 exec '" + std::string(SANITIZED_PROGRAM) + "'"});
#endif
  Words all;
  for (const auto& way : ways) {
    const auto file = (folder_ / (way.name + ".observed")).string();
    if (!all.empty()) all.emplace_back(":");
    for (const auto& word : Words{"-n", "2", "sh", "-c", "(" + way.command + ") >'" + file + "' 2>&1"})
      all.push_back(word);
  }
  const auto result = observed(all);
  EXPECT_EQ(result.status, 0) << result.output;
  for (const auto& way : ways) {
    const auto native = natively({"-n", "2", "sh", "-c", way.command});
    EXPECT_EQ(native.status, 0) << way.name << ": " << native.output;
    EXPECT_THAT(native.output, HasSubstr("world of 2, sum 1")) << way.name;
    EXPECT_EQ(content(way.name + ".observed"), native.output) << way.name;
  }
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const auto& application = run.applications[i];
    EXPECT_EQ(application.ranks, 2U) << ways[i].name;
    EXPECT_EQ(application.quality.ranks_complete, 2U) << ways[i].name;
    EXPECT_EQ(function(application.mpi, "MPI_Allreduce").calls, 2U) << ways[i].name;
  }
}

TEST_F(WaysTest, PreloadsOfTheUserStayAndSeeTheCalls) {
  // The tool is preloaded by the launch line or by the program's own environment. The program's children see both
  // libraries.
  const std::string tool = NEXT_TOOL;
  const auto native = natively({"-n", "2", "env", "LD_PRELOAD=" + tool, WAYS_PROGRAM});
  ASSERT_EQ(native.status, 0) << native.output;
  ASSERT_THAT(native.output, HasSubstr("preload " + tool));
  Words by_option = exported("LD_PRELOAD", tool);
  by_option.insert(by_option.end(), {"-n", "2", WAYS_PROGRAM});
  for (const Words& launch : {Words{"-n", "2", "env", "LD_PRELOAD=" + tool, WAYS_PROGRAM}, by_option}) {
    fs::remove_all(output_);
    Words to_file = launch;
    to_file.pop_back();
    for (const auto& word : Words{
             "sh", "-c", std::string("exec '") + WAYS_PROGRAM + "' >'" + (folder_ / "out").string() + "' 2>/dev/null"})
      to_file.push_back(word);
    const auto result = observed(to_file);
    EXPECT_EQ(result.status, 0) << result.output;
    // The tool prints to standard error at the end; only the program's output is compared.
    std::string expected;
    std::istringstream lines(native.output);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("next tool")) expected += line + "\n";
    }
    EXPECT_EQ(content("out"), expected);
  }
}

#ifdef SANITIZER_LIBRARY_PROGRAM
TEST_F(WaysTest, ASanitizerThatWantsToBeTheFirstLibraryIs) {
  Words launch = exported("ASAN_OPTIONS", "detect_leaks=0");
  launch.insert(launch.end(), {"-n", "2", SANITIZER_LIBRARY_PROGRAM});
  const auto native = natively(launch);
  ASSERT_EQ(native.status, 0) << native.output;
  const auto result = launched({ARDOISE, "--no-report", "--quiet", "--output", output_}, launch);
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.output, native.output);
  ASSERT_EQ(profile().applications.size(), 1u);
  EXPECT_EQ(function(profile().applications[0].mpi, "MPI_Allreduce").calls, 2U);
}
#endif

TEST_F(WaysTest, EveryEndHasTheStatusOfTheNativeRun) {
  for (const std::string how : {"abort", "zero", "self", "half", "return", "signal", "kill"}) {
    auto result = observed({"-n", "2", END_PROGRAM, how});
    auto native = natively({"-n", "2", END_PROGRAM, how});
    // On a busy machine Open MPI 4.1 sometimes returns 1 for processes that leave without MPI_Finalize. Hydra sometimes
    // returns 1 for a process whose connection closes before the process ends.
    for (int i = 0; i < 3 && native.status != result.status; ++i) {
      native = natively({"-n", "2", END_PROGRAM, how});
      if (MPI_IS_MPICH) result = observed({"-n", "2", END_PROGRAM, how});
    }
    EXPECT_EQ(native.status == 0, how == "zero") << how << ": the comparison means nothing";
    EXPECT_NE(native.status, 124) << how << ": a hang";
    EXPECT_NE(result.status, 124) << how << ": a hang\n" << result.output;
    EXPECT_EQ(result.status, native.status) << how << "\n" << result.output;
  }
}

// Background jobs of a script ignore SIGINT at their start; mpirun handles it nevertheless.
TEST_F(WaysTest, InterruptedInTheBackgroundOfAScriptALaunchEndsAsNatively) {
  const auto waiting = (folder_ / "waiting").string();
  const auto interrupted = [&](const Words& first) {
    fs::remove(waiting);
    Words words{"timeout",
                "100",
                "sh",
                "-c",
                "\"$@\" & job=$!; until [ -e '" + waiting + "' ]; do sleep 0.1; done; kill -INT $job; wait $job",
                "sh"};
    words.insert(words.end(), first.begin(), first.end());
    return launched(words, {"-n", "2", END_PROGRAM, "wait", waiting});
  };
  const auto result = interrupted({ARDOISE, "--no-report", "--output", output_});
  EXPECT_NE(result.status, 124) << result.output;
  // MPICH's launcher returns 0 or 2, depending on the process that reports first.
  std::set<int> native;
  for (int i = 0; i < 20 && !native.contains(result.status); ++i) native.insert(interrupted({}).status);
  EXPECT_THAT(native, Contains(result.status)) << result.output;
}

TEST_F(WaysTest, TheEnvironmentDescribesTheProgramAlone) {
  // Started directly, and by a shell that starts before the variables are set.
  const std::string file = (folder_ / "observed").string();
  const std::string shell = std::string("echo $PMI_RANK $PMI_SIZE $OMPI_COMM_WORLD_RANK; '") + LAUNCH_PROGRAM + "'";
  const auto native = natively({"-n", "3", "sh", "-c", shell});
  ASSERT_EQ(native.status, 0) << native.output;
  const auto result =
      observed({"-n", "1", LAUNCH_PROGRAM, ":", "-n", "3", "sh", "-c", "(" + shell + ") >>'" + file + "'"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(sorted_lines(content("observed")), sorted_lines(native.output));
}

TEST_F(WaysTest, TheEnvironmentOfASharedWorldIsTheNativeOne) {
  const Words launch{"-n", "1", LAUNCH_PROGRAM, ":", "-n", "2", "sh", "-c", std::string("'") + LAUNCH_PROGRAM + "'"};
  const auto native = natively(launch);
  ASSERT_EQ(native.status, 0) << native.output;
  const auto result = observed(launch, {"--quiet"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(sorted_lines(result.output), sorted_lines(native.output));
}

TEST_F(WaysTest, ProgramsWithSessionsOnlyHaveTheirOwnSetAndAreMeasured) {
  const Words alone{"-n", "2", SESSIONS_PROGRAM};
  const auto native = natively(alone);
  ASSERT_EQ(native.status, 0) << native.output;
  if (native.output.empty()) GTEST_SKIP() << "this MPI has no sessions";
  const auto result = observed({"-n", "2", SESSIONS_PROGRAM, ":", "-n", "1", WAYS_PROGRAM});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr(native.output));
  EXPECT_THAT(result.output, HasSubstr("world of 1, sum 0"));
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 2U);
  EXPECT_EQ(run.applications[0].quality.ranks_complete, 2U);
  EXPECT_EQ(function(run.applications[0].mpi, "MPI_Allreduce").calls, 2U);
}

TEST_F(WaysTest, AnotherMpiRunsUntouchedWithOneSentence) {
  for (const std::string program : {FOREIGN_MPI_PROGRAM, STATIC_MPI_PROGRAM}) {
    const auto native = natively({"-n", "2", program});
    const auto result = observed({"-n", "2", program});
    EXPECT_EQ(native.status, 0) << native.output;
    EXPECT_THAT(result.output, HasSubstr(fs::path(program).filename().string()));
    EXPECT_FALSE(fs::exists(output_ + "/profile.json"));
    // Ardoise prints one message, not one from each process.
    EXPECT_LE(std::ranges::count(result.output, '\n'), 2) << result.output;
  }
}

}  // namespace
}  // namespace ardoise::launcher

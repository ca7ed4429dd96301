// Tests the report of programs that did not reach MPI_Finalize, and that the detection is invisible to programs.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

using EndingsTest = LaunchFixture;

struct Kind {
  std::string argument, cause, signal;
  int code;
  int status;  // of the launch with Open MPI
};

class EveryEnding : public LaunchFixture, public ::testing::WithParamInterface<Kind> {};

TEST_P(EveryEnding, IsNamedWithItsPlaceAndThatOfTheOthers) {
  const Kind& kind = GetParam();
  if (MPI_IS_MPICH && kind.argument == "user") GTEST_SKIP() << "MPICH handles SIGUSR1 itself";
  const auto result = ardoise({}, {"-n", "3", ENDINGS_PROGRAM, kind.argument});
  if (!MPI_IS_MPICH) {
    EXPECT_EQ(result.status, kind.status) << result.output;
  }
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1)) << result.output;
  const reports::Application& application = run.applications[0];
  ASSERT_THAT(application.ending.ends, Not(IsEmpty())) << result.output;
  const auto end = std::ranges::find_if(
      application.ending.ends, [](const auto& each) { return std::ranges::find(each.ranks, 1u) != each.ranks.end(); });
  ASSERT_NE(end, application.ending.ends.end());
  EXPECT_EQ(end->cause, kind.cause);
  EXPECT_EQ(end->signal, kind.signal);
  EXPECT_EQ(end->status, kind.code);
  // Hydra may end the other processes at the same moment.
  if (!MPI_IS_MPICH) {
    EXPECT_EQ(end, application.ending.ends.begin());
  }

  const bool is_seen = kind.cause != "killed" && kind.argument != "return";
  if (is_seen) {
    ASSERT_THAT(end->stack, Not(IsEmpty()));
    EXPECT_THAT(end->stack, Contains(::testing::Field(&reports::StackPlace::symbol, "crash")));
    EXPECT_THAT(end->stack, Contains(::testing::Field(&reports::StackPlace::symbol, "main")));
  }
  EXPECT_THAT(end->last_calls, Contains(::testing::Field(&reports::LastCall::function, "MPI_Barrier")));

  const auto position = std::ranges::find_if(application.ending.stands, [](const auto& each) {
    return std::ranges::find(each.ranks, 0u) != each.ranks.end();
  });
  ASSERT_NE(position, application.ending.stands.end());
  EXPECT_THAT(position->ranks, ElementsAre(0, 2));
  EXPECT_EQ(position->call.function, "MPI_Recv");
  EXPECT_EQ(position->call.place.symbol, "main");
  EXPECT_EQ(position->call.peer, 1);
  EXPECT_EQ(position->call.tag, 5);
  EXPECT_EQ(position->call.bytes, 4u);
  EXPECT_THAT(position->stack, Contains(::testing::Field(&reports::StackPlace::symbol, "main")));
}

INSTANTIATE_TEST_SUITE_P(
    Ways, EveryEnding,
    ::testing::Values(Kind{"segv", "signal", "SIGSEGV", 0, 139}, Kind{"abort", "signal", "SIGABRT", 0, 134},
                      Kind{"mpi_abort", "abort", "", 42, 42}, Kind{"exit", "exit", "", 3, 3},
                      Kind{"_exit", "immediate exit", "", 4, 4}, Kind{"exec", "exec", "", 0, 6},
                      Kind{"fexecve", "exec", "", 0, 6}, Kind{"return", "exit", "", 7, 7},
                      Kind{"kill", "killed", "SIGKILL", 0, 137}, Kind{"left_exit", "exit", "", 3, 3},
                      Kind{"left_kill", "killed", "SIGKILL", 0, 137}, Kind{"user", "killed", "SIGUSR1", 0, 138}),
    [](const auto& kind) { return kind.param.argument; });

TEST_F(EndingsTest, AnErrorThatMpiFindsIsOneOfTheCall) {
  const auto result = ardoise({}, {"-n", "2", ENDINGS_PROGRAM, "error"});
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1)) << result.output;
  ASSERT_THAT(run.applications[0].ending.ends, Not(IsEmpty()));
  const auto end = std::ranges::find_if(run.applications[0].ending.ends, [](const auto& each) {
    return std::ranges::find(each.ranks, 1u) != each.ranks.end();
  });
  ASSERT_NE(end, run.applications[0].ending.ends.end());
  EXPECT_EQ(end->cause, "error");
  EXPECT_EQ(end->call.function, "MPI_Send");
  EXPECT_EQ(end->call.place.symbol, "crash");
  EXPECT_EQ(end->call.tag, 7);
}

TEST_F(EndingsTest, AFaultInALibraryThatWasOpenedAfterTheLastCallHasItsPlace) {
  const auto result = ardoise({}, {"-n", "2", ENDINGS_PROGRAM, "plugin"});
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1)) << result.output;
  ASSERT_THAT(run.applications[0].ending.ends, Not(IsEmpty()));
  const auto& stack = run.applications[0].ending.ends[0].stack;
  ASSERT_THAT(stack, Not(IsEmpty()));
  EXPECT_EQ(stack[0].symbol, "crash_in_plugin");
  EXPECT_THAT(stack[0].module, HasSubstr("mpi_endings_plugin"));
}

struct Hang {
  std::string argument, sentence;
};
class EveryHang : public LaunchFixture, public ::testing::WithParamInterface<Hang> {};

// The launch is ended after the hang was reported.
TEST_P(EveryHang, IsToldWithItsReasonWhileItLasts) {
  const auto result = ardoise_until_it_hangs({"--hang", "1"}, {"-n", "3", HANGS_PROGRAM, GetParam().argument});
  EXPECT_THAT(result.output, HasSubstr("no rank has made progress in MPI for"));
  EXPECT_THAT(result.output, HasSubstr(GetParam().sentence));
  EXPECT_THAT(profile().notices, Contains(HasSubstr(GetParam().sentence)));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(output_))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("profile.json", "summary.txt"));
}

INSTANTIATE_TEST_SUITE_P(Ways, EveryHang,
                         ::testing::Values(Hang{"ring", "deadlock: rank 0 waits in MPI_Recv in main (mpi_hangs.c:"},
                                           Hang{"order", "deadlock: rank 0 waits in MPI_Barrier"},
                                           Hang{"missing", "for rank 1, which is in MPI_Finalize"},
                                           Hang{"sleep", "no fault seen: rank 1 sleeps or is blocked outside MPI"}),
                         [](const auto& hang) { return hang.param.argument; });

TEST_F(EndingsTest, AProgramThatGoesOnInTimeIsNotSaidToHang) {
  const auto result = ardoise({"--hang", "20"}, {"-n", "2", HANGS_PROGRAM, "slow"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("progress")));
}

TEST_F(EndingsTest, AProgramSeesItsSignalsAsNatively) {
  const auto native = by_hand({"-n", "1", SIGNALS_PROGRAM});
  const auto observed = ardoise({}, {"-n", "1", SIGNALS_PROGRAM});
  EXPECT_EQ(observed.status, native.status);
  constexpr std::array kLines{"at first", "before", "set",     "handled", "signal()", "by signal",
                              "ignored",  "after",  "refused", "stack",   "children", "at last"};
  const auto lines = [&](const std::string& text) {
    std::vector<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
      // Skips the output of MPI's own handlers.
      if (std::ranges::any_of(kLines, [&](const char* begin) { return line.starts_with(begin); })) all.push_back(line);
    }
    return all;
  };
  ASSERT_THAT(lines(native.output), Contains(HasSubstr("at last")));
  const auto expected = lines(native.output);
  std::size_t found = 0;
  for (const std::string& line : lines(observed.output)) {
    if (found < expected.size() && line == expected[found]) ++found;
  }
  EXPECT_EQ(found, expected.size()) << (found < expected.size() ? expected[found] : "") << "\n" << observed.output;
}

}  // namespace
}  // namespace ardoise::launcher

// Program behaviour that tools tend to break: names of their own, jumps out of MPI, MPI before main, threads that may
// not call MPI, sanitizers. libardoise.so in such programs, mostly without an analyzer.
#include <unistd.h>

#include "tests/instrument/preload_fixture.hpp"

namespace ardoise::instrument {
namespace {

class ProgramFirstTest : public PreloadFixture {
 protected:
  // It runs as without the library, and prints nothing.
  void expect_runs(int ranks, const std::string& program, const std::string& arguments = "") {
    const Outcome outcome = run_captured(ranks, program + " " + arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output, "");
  }
  std::uint64_t calls(const std::string& program, const char* function, int rank = 0) {
    const Capture capture = captured(program, rank);
    EXPECT_EQ(capture.fault(), "");
    const auto found = capture.totals.find(function);
    return found != capture.totals.end() ? found->second.calls : 0;
  }
};

#ifdef HAS_OWN_NAMES
TEST_F(ProgramFirstTest, FunctionsOfItsOwnWithNamesOfTheCLibraryAreItsOwn) {
  expect_runs(2, "own_names");
  EXPECT_EQ(calls("own_names", "MPI_Barrier"), 1000u);
}

// The survivor writes the report's data about the end of the program.
TEST_F(ProgramFirstTest, FunctionsOfItsOwnAreNotCalledWhenItDies) {
  const Outcome outcome =
      shell(fmt::format("timeout 100 '{}' --output '{}/report' --no-report {} -n 2 '{}'/own_names die", ARDOISE,
                        directory_.string(), MPIEXEC, PROGRAM_DIRECTORY));
  EXPECT_NE(outcome.status, 0);
  EXPECT_NE(outcome.output.find("ended by SIGTERM"), std::string::npos) << outcome.output;
}
#endif

#if defined(__x86_64__)
TEST_F(ProgramFirstTest, ALinkedLibraryMayHaveNamesOfHookedFunctions) { expect_runs(2, "own_functions_user"); }
#endif

TEST_F(ProgramFirstTest, SignalsOfAVforkChildAreTheChilds) {
  expect_runs(2, "vfork_signals");
  EXPECT_EQ(calls("vfork_signals", "MPI_Barrier"), 1u);
}

TEST_F(ProgramFirstTest, ALinkedLibraryMayHaveNamesOfMpisFortranRoutines) {
  expect_runs(2, "own_mpi_names_linked");
  EXPECT_EQ(calls("own_mpi_names_linked", "MPI_Barrier"), 1u) << "what is not MPI's is not recorded";
  EXPECT_EQ(calls("own_mpi_names_linked", "MPI_Send"), 0u);
}

TEST_F(ProgramFirstTest, ALibraryThatItOpensMayHaveNamesOfMpisFortranRoutines) {
  expect_runs(2, "own_mpi_names_user", PROGRAM_DIRECTORY);
  EXPECT_EQ(calls("own_mpi_names_user", "MPI_Barrier"), 1u);
}

TEST_F(ProgramFirstTest, CallsAreRecordedAfterAJumpOutOfMpi) {
  expect_runs(2, "left_calls");
  for (const int rank : {0, 1}) {
    EXPECT_EQ(calls("left_calls", "MPI_Allreduce", rank), 4000u);
    EXPECT_EQ(calls("left_calls", "MPI_Send", rank), 2u) << "those that were left";
  }
}

// Its handler runs in the thread that it belongs to, sampled or not, and no call of MPI is lost.
TEST_F(ProgramFirstTest, AHandlerMayLeaveIoByAJump) {
  for (const std::string sample : {"cpu", "off"}) {
    SCOPED_TRACE(sample);
    const Outcome outcome = run_captured(1, "jumping_handler", "ARDOISE_SAMPLE=" + sample);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.output, "barriers 200\n");
    const Capture capture = captured("jumping_handler");
    ASSERT_TRUE(capture.totals.contains("MPI_Barrier"));
    EXPECT_EQ(capture.totals.at("MPI_Barrier").calls, 200u);
    EXPECT_EQ(capture.last.mpi.recorded - capture.last.mpi.dropped, 0u) << "the handler leaves the library at once";
  }
}

TEST_F(ProgramFirstTest, AConstructorMayInitialiseMpi) {
  expect_runs(2, "early_init");
  EXPECT_EQ(calls("early_init", "MPI_Barrier", 1), 100u);
}

// Its destructor runs after those of the preloaded library.
TEST_F(ProgramFirstTest, ADestructorMayFinaliseMpi) {
  const Outcome outcome = shell(fmt::format("timeout 100 '{}' --output '{}/report' --no-report {} -n 2 '{}'/{} late",
                                            ARDOISE, directory_.string(), MPIEXEC, PROGRAM_DIRECTORY, "early_init"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output.find("can no longer be sent"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("without finishing"), std::string::npos) << outcome.output;
}

TEST_F(ProgramFirstTest, OnlyThreadsThatMayCallMpiSend) {
  const Outcome outcome =
      shell(fmt::format("timeout 100 '{}' --output '{}/report' --no-report {} -n 2 '{}'/{}", ARDOISE,
                        directory_.string(), MPIEXEC, PROGRAM_DIRECTORY, "funneled_queries"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

#if defined(__x86_64__)
// No process with the program's memory keeps rights that the program has given up.
TEST_F(ProgramFirstTest, TheSurvivorEndsBeforeRightsAreGivenUp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has rights to give up";
  for (const char* const way :
       {"setuid", "setresuid", "seteuid", "setgroups", "capset", "unshare", "sandbox", "child", "name"}) {
    const Outcome outcome =
        shell(fmt::format("timeout 100 '{}' --output '{}/report' --no-report {} -n 1 '{}'/drops_rights {}", ARDOISE,
                          directory_.string(), MPIEXEC, PROGRAM_DIRECTORY, way));
    EXPECT_EQ(outcome.status, 0) << way << ": " << outcome.output;
  }
}
#endif

#ifdef HAS_THREAD_SANITIZER
TEST_F(ProgramFirstTest, AProgramUnderTheThreadSanitizerMayStartThreads) {
  const std::string quiet = "TSAN_OPTIONS=report_bugs=0:atexit_sleep_ms=0";
  const std::string program = "sanitized_threads";
  const Outcome alone = shell(fmt::format("{} -n 2 env {} '{}'/{}", MPIEXEC, quiet, PROGRAM_DIRECTORY, program));
  if (alone.status != 0) GTEST_SKIP() << "fails natively: " << alone.output;
  const Outcome outcome = shell(fmt::format("timeout 100 '{}' --output '{}/report' --no-report {} -n 2 env {} '{}'/{}",
                                            ARDOISE, directory_.string(), MPIEXEC, quiet, PROGRAM_DIRECTORY, program));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}
#endif

}  // namespace
}  // namespace ardoise::instrument

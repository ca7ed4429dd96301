// Requests that the kernel refuses: libardoise.so in programs with an environment that fails on demand
// (programs/failing_environment.c). The program runs as without the library. The capture is complete by its own ledger,
// or recording ended with a sentence.
#include <cerrno>

#include "tests/instrument/preload_fixture.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::string_view kUnobserved = "ardoise: no memory to record into; the program runs unobserved.\n";

class FailingEnvironmentTest : public PreloadFixture {
 protected:
  FailingEnvironmentTest() { before_ = FAILING_ENVIRONMENT_LIBRARY ":"; }

  // The messages, without lines of the program (which prints none).
  std::string run_without(const std::string& call, const std::string& how, const std::string& program) {
    const Outcome outcome = run_captured(1, program, fmt::format("FAIL_CALL={} {}", call, how));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    return outcome.output;
  }
  void expect_whole_or_said(const std::string& output, const std::string& program) {
    if (output.empty()) {
      EXPECT_EQ(captured(program).fault(), "");
    } else {
      EXPECT_TRUE(output.starts_with("ardoise: ")) << output;
      EXPECT_EQ(output.find('\n'), output.size() - 1) << "one line: " << output;
    }
    std::filesystem::remove(directory_ / (program + ".0.packs"));
  }
};

TEST_F(FailingEnvironmentTest, WithoutMemoryFromTheBeginningItIsSwitchedOffAndSaysSo) {
  EXPECT_EQ(run_without("mmap", "FAIL_AT=1", "counted_io"), kUnobserved);
}

TEST_F(FailingEnvironmentTest, MemoryThatEndsAnywhereDoesNoHarm) {
  for (int at = 2; at <= 10; at += 2) {
    SCOPED_TRACE(at);
    expect_whole_or_said(run_without("mmap", fmt::format("FAIL_AT={}", at), "counted_io"), "counted_io");
  }
}

// Four threads with 9,001 MPI calls each, including the one for the communicator. A thread without memory tries again
// at each call.
TEST_F(FailingEnvironmentTest, CallsOfThreadsWithoutMemoryAreCountedAsDropped) {
  bool any = false;
  for (int at = 10; at <= 20; at += 2) {
    SCOPED_TRACE(at);
    const Outcome outcome = run_captured(1, "threaded_calls", fmt::format("FAIL_CALL=mmap FAIL_AT={}", at));
    if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    if (outcome.output == kUnobserved) continue;
    EXPECT_EQ(outcome.output, "");
    const Capture capture = captured("threaded_calls");
    ASSERT_EQ(capture.fault(), "");
    std::uint64_t calls = capture.last.mpi.dropped;
    for (const auto& [name, total] : capture.totals) calls += name.starts_with("MPI_") ? total.calls : 0;
    EXPECT_EQ(calls, 36004u);
    any = any || capture.last.mpi.dropped != 0;
  }
  EXPECT_TRUE(any);
}

TEST_F(FailingEnvironmentTest, OneRefusalOfMemoryDoesNoHarm) {
  for (int at = 1; at <= 10; at += 3) {
    SCOPED_TRACE(at);
    expect_whole_or_said(run_without("mmap", fmt::format("FAIL_ONCE=1 FAIL_AT={}", at), "counted_io"), "counted_io");
  }
}

TEST_F(FailingEnvironmentTest, WithoutPerfEventsTimersSample) {
  EXPECT_EQ(run_without("perf_event_open", fmt::format("FAIL_ERRNO={}", EACCES), "counted_io"), "");
  EXPECT_EQ(captured("counted_io").fault(), "");
}

TEST_F(FailingEnvironmentTest, PerfEventsThatEndDoNoHarm) {
  for (int at = 2; at <= 5; ++at) {
    SCOPED_TRACE(at);
    const std::string how = fmt::format("FAIL_ERRNO={} FAIL_AT={}", EMFILE, at);
    expect_whole_or_said(run_without("perf_event_open", how, "threaded_calls"), "threaded_calls");
  }
}

TEST_F(FailingEnvironmentTest, WithoutTimersNothingIsSampledAndThatIsSaid) {
  const std::string output =
      run_without("timer_create", fmt::format("ARDOISE_PERF=0 FAIL_ERRNO={}", EAGAIN), "counted_io");
  EXPECT_EQ(output, "ardoise: no timers are left (ulimit -i): some threads are not sampled.\n");
  EXPECT_EQ(captured("counted_io").fault(), "");
}

TEST_F(FailingEnvironmentTest, WithoutMembarrierThreadsAreStillWaitedFor) {
  EXPECT_EQ(run_without("membarrier", fmt::format("FAIL_ERRNO={}", EPERM), "threaded_calls"), "");
  EXPECT_EQ(captured("threaded_calls").fault(), "");
}

TEST_F(FailingEnvironmentTest, WithoutNamesFilesAreStillCounted) {
  EXPECT_EQ(run_without("readlinkat", fmt::format("FAIL_ERRNO={}", EACCES), "counted_io"), "");
  const Capture capture = captured("counted_io");
  EXPECT_EQ(capture.fault(), "");
  EXPECT_GT(capture.totals.at("write").calls, 10u);
}

TEST_F(FailingEnvironmentTest, ADiskThatFillsUpEndsTheCaptureWithASentence) {
  EXPECT_EQ(run_without("write", fmt::format("FAIL_ONCE=1 FAIL_AT=2 FAIL_ERRNO={}", ENOSPC), "counted_io"),
            "ardoise: packs can no longer be sent or written; recording ends here.\n");
}

}  // namespace
}  // namespace ardoise::instrument

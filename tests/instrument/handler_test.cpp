// Programs with signal handlers that write, and vfork() children: neither may hang or fail, and their writes are in the
// totals (instrument/machine/activity.hpp).
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/instrument/preload_fixture.hpp"

namespace ardoise::instrument {
namespace {

struct Writes {
  unsigned long handler = 0, own = 0;
};

Writes told(const std::string& output) {
  Writes writes;
  const auto at = output.find("handler ");
  if (at != std::string::npos) std::sscanf(output.c_str() + at, "handler %lu own %lu", &writes.handler, &writes.own);
  return writes;
}

class Handler : public PreloadFixture, public testing::WithParamInterface<const char*> {};

// With and without sampling: the sampling signal may interrupt the handler.
TEST_P(Handler, ThatWritesEndsAndIsCounted) {
  for (const std::string sample : {"off", "cpu"}) {
    SCOPED_TRACE(sample);
    const Outcome outcome = run_captured(1, std::string("handler_io ") + GetParam(), "ARDOISE_SAMPLE=" + sample);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    const Writes writes = told(outcome.output);
    const Capture capture = captured("handler_io");
    ASSERT_EQ(capture.fault(), "");
    ASSERT_TRUE(capture.totals.contains("write")) << outcome.output;
    EXPECT_EQ(capture.totals.at("write").calls, writes.handler + writes.own) << outcome.output;
    // Lost records are declared.
    std::uint64_t calls = 0;
    for (const auto& [function, total] : capture.totals) calls += function.starts_with("MPI_") ? 0 : total.calls;
    EXPECT_EQ(capture.last.posix.recorded, calls);
  }
}

INSTANTIATE_TEST_SUITE_P(In, Handler, testing::Values("malloc", "io", "many", "threads", "loader"),
                         [](const auto& where) { return std::string(where.param); });

class HandlerInside : public PreloadFixture, public testing::WithParamInterface<const char*> {};

// A handler that interrupts an MPI call looks like I/O of MPI: it is not counted, and the program does not hang.
TEST_P(HandlerInside, OfMpiEnds) {
  for (const std::string sample : {"off", "cpu"}) {
    SCOPED_TRACE(sample);
    const Outcome outcome = run_captured(2, std::string("handler_io ") + GetParam(), "ARDOISE_SAMPLE=" + sample);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(captured("handler_io").fault(), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, HandlerInside, testing::Values("mpi", "queries", "end"),
                         [](const auto& where) { return std::string(where.param); });

using HandlerTest = PreloadFixture;

// The C library's message and the end by SIGABRT, as without the library.
TEST_F(HandlerTest, BrokenHeapAbortsAsNatively) {
  const Outcome native = shell(std::string("timeout 60 ") + MPIEXEC + " -n 1 '" PROGRAM_DIRECTORY "'/handler_io abort");
  const Outcome observed = run_captured(1, "handler_io abort", "", 60);
  EXPECT_NE(observed.status, 124) << "hangs";
  EXPECT_EQ(observed.status, native.status) << observed.output;
  ASSERT_NE(native.output.find("free(): invalid pointer"), std::string::npos) << native.output;
  EXPECT_NE(observed.output.find("free(): invalid pointer"), std::string::npos) << observed.output;
}

TEST_F(HandlerTest, VforkChildrenLeaveTheirParentAlone) {
  const Outcome outcome = run_captured(1, "handler_io vfork");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("handler_io");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(capture.posix_count("write", "/dev/null"), told(outcome.output).own);
  EXPECT_EQ(capture.totals.at("write").calls, told(outcome.output).own);
  EXPECT_FALSE(capture.totals.contains("close"));
}

}  // namespace
}  // namespace ardoise::instrument

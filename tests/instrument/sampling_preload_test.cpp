// Sampling in real MPI programs under libardoise.so: the truth program's shares, the calling contexts of MPI calls, and
// the torture program, all from captures.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/instrument/preload_fixture.hpp"
#include "tests/instrument/share_error.hpp"

namespace ardoise::instrument {
namespace {

using SamplingPreloadTest = PreloadFixture;

TEST_F(SamplingPreloadTest, SharesAreTrueInAnMpiProgram) {
  const Outcome outcome = run_captured(1, "sampled_truth 4000", "ARDOISE_SAMPLE_SHARE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "") << "nothing is printed";
  const Capture capture = captured("sampled_truth");
  ASSERT_EQ(capture.fault(), "");

  std::map<std::uint64_t, double> by_offset;
  double all = 0, user = 0, squares = 0;
  for (const CapturedSample& sample : capture.samples) {
    if (sample.thread != 0) continue;
    all += sample.time();
    if (sample.is_rest()) continue;
    user += sample.user();
    squares += sample.user() * sample.user();
    const auto context = capture.contexts.find({0, sample.record.context});
    ASSERT_NE(context, capture.contexts.end());
    by_offset[context->second.offset] += sample.user();
  }
  const double samples = user * user / squares;
  std::ifstream truth(directory_ / "truth.0");
  std::string line;
  int functions = 0;
  while (std::getline(truth, line)) {
    std::istringstream words(line);
    std::string kind, name;
    std::uint64_t offset = 0;
    double value = 0;
    words >> kind;
    if (kind == "function") {
      words >> name >> offset >> value;
      const double share = value / 100;
      EXPECT_NEAR(by_offset[offset] / user, share, kShareErrors * std::sqrt(share * (1 - share) / samples) + 0.002)
          << name;
      ++functions;
    } else {
      words >> value;
      EXPECT_NEAR(all / value, 1, 0.01) << "weights sum to the thread's CPU time";
    }
  }
  EXPECT_EQ(functions, 4);
}

// Exact sums by context add up to the exact totals, and every context leads to the program's main().
void check_contexts(const Capture& capture, std::string_view program, PackClass record_class) {
  ASSERT_EQ(capture.fault(), "");
  std::uint64_t calls = 0, ticks = 0, sent = 0, received = 0;
  for (const auto& [thread, totals] : capture.context_totals) {
    if (totals.record_class != static_cast<std::uint16_t>(record_class)) continue;
    calls += totals.calls;
    ticks += totals.ticks;
    sent += totals.bytes_sent;
    received += totals.bytes_received;
    ASSERT_NE(totals.context, 0u);
    bool in_program = false;
    for (std::uint32_t context = totals.context; context != 0;) {
      const auto found = capture.contexts.find({thread, context});
      ASSERT_NE(found, capture.contexts.end());
      in_program = in_program || capture.modules.at(found->second.module).ends_with(program);
      EXPECT_FALSE(capture.modules.at(found->second.module).ends_with("libardoise.so")) << "no wrapper";
      context = found->second.parent;
    }
    EXPECT_TRUE(in_program);
  }
  std::uint64_t total_calls = 0, total_ticks = 0, total_sent = 0, total_received = 0;
  for (const auto& [name, totals] : capture.totals) {
    if (name.starts_with("MPI_") != (record_class == PackClass::kMpi)) continue;
    total_calls += totals.calls;
    total_ticks += totals.ticks;
    total_sent += totals.bytes_sent;
    total_received += totals.bytes_received;
  }
  EXPECT_EQ(calls, total_calls);
  EXPECT_EQ(ticks, total_ticks);
  EXPECT_EQ(sent, total_sent);
  EXPECT_EQ(received, total_received);
}

TEST_F(SamplingPreloadTest, CallsHaveTheirContexts) {
  const Outcome outcome = run_captured(2, "counted_calls");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const int rank : {0, 1}) {
    SCOPED_TRACE(rank);
    check_contexts(captured("counted_calls", rank), "counted_calls", PackClass::kMpi);
  }
}

TEST_F(SamplingPreloadTest, PosixCallsHaveTheirContexts) {
  const Outcome outcome = run_captured(1, "counted_io");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  check_contexts(captured("counted_io"), "counted_io", PackClass::kPosix);
}

void check_torture(const Capture& capture) {
  ASSERT_EQ(capture.fault(), "");
  // Samples inside MPI name the call; samples of all threads have a context.
  std::size_t inside = 0, partial = 0;
  for (const CapturedSample& sample : capture.samples) {
    if ((sample.record.flags & kInsideMpi) != 0) {
      ++inside;
      EXPECT_NE(sample.record.function, 0);
    }
    partial += (sample.record.flags & kPartialUnwind) != 0 ? 1u : 0u;
    if (sample.record.context != 0) {
      EXPECT_TRUE(capture.contexts.contains({sample.thread, sample.record.context}));
    }
  }
  EXPECT_GT(inside, 0u);
  EXPECT_LT(partial * 10, capture.samples.size()) << partial << " of " << capture.samples.size() << " are partial";
  std::uint64_t calls = 0, total_calls = 0;
  for (const auto& [thread, totals] : capture.context_totals) calls += totals.calls;
  for (const auto& [name, totals] : capture.totals) total_calls += totals.calls;
  EXPECT_EQ(calls, total_calls);
}

// On some processors its smallest threads have no room for the signal frame.
std::string without_small_stacks(std::string output) {
  constexpr std::string_view kSentence =
      "ardoise: threads whose stacks have no room for a signal handler are not sampled.\n";
  if (const std::size_t at = output.find(kSentence); at != std::string::npos) output.erase(at, kSentence.size());
  return output;
}

TEST_F(SamplingPreloadTest, TortureChangesNothing) {
  const Outcome outcome = run_captured(1, "sampled_torture 4", "ARDOISE_SAMPLE_SHARE=0");
  if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(without_small_stacks(outcome.output), "torture: 0 wrong\n");
  check_torture(captured("sampled_torture"));
}

// This program excludes modes in which system calls are interrupted; page faults are allowed.
TEST_F(SamplingPreloadTest, TortureByPageFaultsWithCounters) {
  const Outcome outcome =
      run_captured(1, "sampled_torture 2", "ARDOISE_SAMPLE=page-faults ARDOISE_COUNTERS=task-clock,page-faults");
  if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(captured("sampled_torture").fault(), "");
}

// ctest -L torture: for TORTURE_SECONDS, by default an hour.
TEST_F(SamplingPreloadTest, DISABLED_TortureForAnHour) {
  const char* const asked = std::getenv("TORTURE_SECONDS");
  const int seconds = asked != nullptr ? std::atoi(asked) : 3600;
  // The capture of an hour would fill a disk: most of it is discarded.
  std::filesystem::create_symlink("/dev/null", directory_ / "sampled_torture.0.packs");
  const Outcome outcome =
      run_captured(1, fmt::format("sampled_torture {}", seconds), "ARDOISE_SAMPLE_SHARE=0", seconds + 120);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(without_small_stacks(outcome.output), "torture: 0 wrong\n");
}

TEST_F(SamplingPreloadTest, SamplingCanBeSwitchedOff) {
  const Outcome outcome = run_captured(1, "sampled_truth 50", "ARDOISE_SAMPLE=off");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("sampled_truth");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_TRUE(capture.samples.empty());
  EXPECT_TRUE(capture.contexts.empty());
  EXPECT_EQ(capture.totals.at("MPI_Comm_rank").calls, 1u);
}

TEST_F(SamplingPreloadTest, BadSettingsAreNamed) {
  const Outcome outcome = run_captured(1, "sampled_truth 10", "ARDOISE_SAMPLE=flops ARDOISE_RATE=fast");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(outcome.output.starts_with("ardoise: ARDOISE_SAMPLE=flops is not off, cpu or an event ("))
      << outcome.output;
}

}  // namespace
}  // namespace ardoise::instrument

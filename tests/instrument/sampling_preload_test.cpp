// Sampling in real MPI programs under libardoise.so: the truth program's shares, the calling contexts of MPI calls, and
// the torture program, all from what was captured.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "instrument/posix_functions.hpp"
#include "tests/instrument/capture.hpp"

namespace ardoise::instrument {
namespace {

struct Outcome {
  int status = -1;
  std::string output;  // both streams
};

Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) outcome.output.append(buffer, got);
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

class SamplingPreloadTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    directory_ = std::filesystem::temp_directory_path() /
                 fmt::format("ardoise_sampling_{}_{}", ::getpid(),
                             testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Outcome run_captured(int ranks, const std::string& program, const std::string& settings = "", int timeout = 100) {
    return shell(fmt::format(
        "timeout {0} {1} -n {2} env TEST_DIRECTORY='{3}' ARDOISE_CAPTURE='{3}' "
        "PROGRAM_DIRECTORY='{4}' {5} LD_PRELOAD='{6}' '{4}'/{7}",
        timeout, MPIEXEC, ranks, directory_.string(), PROGRAM_DIRECTORY, settings, ARDOISE_PRELOAD_LIBRARY, program));
  }
  Capture captured(const std::string& program, int rank = 0) {
    return read_capture(directory_ / fmt::format("{}.{}.packs", program, rank));
  }

  std::filesystem::path directory_;
};

double weight(const CapturedSample& sample) { return static_cast<double>(sample.record.weight) * sample.weight; }

TEST_F(SamplingPreloadTest, SharesAreTrueInAnMpiProgram) {
  const Outcome outcome = run_captured(1, "sampled_truth 4000", "ARDOISE_SAMPLE_SHARE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "") << "nothing is printed";
  const Capture capture = captured("sampled_truth");
  ASSERT_EQ(capture.fault(), "");

  std::map<std::uint64_t, double> by_offset;
  double all = 0, squares = 0;
  for (const CapturedSample& sample : capture.samples) {
    if (sample.thread != 0) continue;
    all += weight(sample);
    squares += weight(sample) * weight(sample);
    const auto context = capture.contexts.find({0, sample.record.context});
    ASSERT_NE(context, capture.contexts.end());
    by_offset[context->second.offset] += weight(sample);
  }
  const double samples = all * all / squares;
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
      EXPECT_NEAR(by_offset[offset] / all, share, 3.02 * std::sqrt(share * (1 - share) / samples) + 0.002) << name;
      // 99 % for the four together.
      ++functions;
    } else {
      words >> value;
      EXPECT_NEAR(all / value, 1, 0.01) << "weights sum to the thread's CPU time";
    }
  }
  EXPECT_EQ(functions, 4);
}

// What kernel_truth has told of one rank, beside what was sampled.
struct KernelTruth {
  struct Function {
    std::uint64_t offset = 0;
    double ns = 0;
  };
  std::map<std::string, Function> functions;
  double cpu = 0, kernel = 0;

  explicit KernelTruth(const std::filesystem::path& path) {
    std::ifstream truth(path);
    std::string kind, name;
    while (truth >> kind) {
      if (kind == "cpu") {
        truth >> cpu >> kernel;
      } else {
        truth >> name;
        truth >> functions[name].offset >> functions[name].ns;
      }
    }
  }
};

struct SampledShare {
  double given = 0, squares = 0;  // to what was asked for
  double all = 0, all_squares = 0;
  // The binomial error of `given` for 99 % in four comparisons.
  [[nodiscard]] double error() const {
    const double p = given / all;
    return 3.02 * std::sqrt((1 - p) * (1 - p) * squares + p * p * (all_squares - squares));
  }
};
// Of the main thread.
template <class Belongs>
SampledShare share_of(const Capture& capture, Belongs&& belongs) {
  SampledShare share;
  for (const CapturedSample& sample : capture.samples) {
    if (sample.thread != 0) continue;
    const double w = weight(sample);
    share.all += w;
    share.all_squares += w * w;
    if (!belongs(sample.record)) continue;
    share.given += w;
    share.squares += w * w;
  }
  return share;
}
SampledShare share_of_function(const Capture& capture, std::uint64_t offset) {
  return share_of(capture, [&](const SampleRecord& record) {
    const auto context = capture.contexts.find({0, record.context});
    return record.function == 0 && context != capture.contexts.end() && (context->second.flags & 1) != 0 &&
           context->second.offset == offset;
  });
}

// Four ranks that yield to each other in MPI, a third of the time in the kernel: the user's function gets its own.
TEST_F(SamplingPreloadTest, KernelTimeOfMpiCallsIsNotGivenToTheFunctionAfterThem) {
  const Outcome outcome = run_captured(4, "kernel_truth mpi 1500", "ARDOISE_SAMPLE_SHARE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  double attributed = 0, in_kernel = 0;
  for (int rank = 0; rank < 4; ++rank) {
    SCOPED_TRACE(rank);
    const Capture capture = captured("kernel_truth", rank);
    ASSERT_EQ(capture.fault(), "");
    if (capture.rates.empty() || capture.rates[0].hertz < 5000) GTEST_SKIP() << "no perf events";
    const KernelTruth truth(directory_ / fmt::format("truth.{}", rank));
    const auto& user = truth.functions.at("user");
    const SampledShare sampled = share_of_function(capture, user.offset);
    EXPECT_GT(sampled.all, 0.99 * truth.cpu) << "and what it waited for the others at the start";
    // Where the machine is crowded the kernel changes threads within the function, too: up to 2 %.
    EXPECT_NEAR(sampled.given, user.ns, sampled.error() + 0.02 * user.ns) << "of " << truth.cpu;
    const SampledShare flagged =
        share_of(capture, [](const SampleRecord& record) { return (record.flags & kKernelTime) != 0; });
    EXPECT_LT(flagged.given, truth.cpu - user.ns);
    attributed += flagged.given;
    in_kernel += truth.kernel / truth.cpu / 4;
  }
  // Not every MPI yields while it waits.
  EXPECT_TRUE(attributed > 0 || in_kernel < 0.1);
}

TEST_F(SamplingPreloadTest, KernelTimeOfReadingIsGivenToTheCallAndItsCaller) {
  const Outcome outcome = run_captured(1, "kernel_truth io 4000", "ARDOISE_SAMPLE_SHARE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("kernel_truth");
  ASSERT_EQ(capture.fault(), "");
  if (capture.rates.empty() || capture.rates[0].hertz < 5000) GTEST_SKIP() << "no perf events";
  const KernelTruth truth(directory_ / "truth.0");
  const double user = truth.functions.at("user").ns, io = truth.functions.at("io").ns;
  EXPECT_GT(io, 0.05 * user) << "not what the test is about";
  const SampledShare of_user = share_of_function(capture, truth.functions.at("user").offset);
  EXPECT_NEAR(of_user.all / truth.cpu, 1, 0.01);
  // Interrupts in `user`, as far as reading took time without the processor: little, but on a crowded machine.
  EXPECT_NEAR(of_user.given, user, of_user.error() + 0.05 * user);
  std::set<std::uint32_t> contexts;
  const SampledShare reading = share_of(capture, [&](const SampleRecord& record) {
    const bool reads =
        (record.flags & kPosixCall) != 0 && record.function == static_cast<std::uint16_t>(PosixFunction::kPread) + 1;
    if (reads) contexts.insert(record.context);
    return reads;
  });
  EXPECT_NEAR(reading.given, io, reading.error() + 0.05 * user);
  // One call site, which the exact sums have, too.
  ASSERT_EQ(contexts.size(), 1u);
  std::uint64_t calls = 0;
  for (const auto& [thread, totals] : capture.context_totals) {
    if (totals.context == *contexts.begin()) calls += totals.calls;
  }
  EXPECT_EQ(calls, 16000u);
}

// A function beside another one that is mostly in the kernel, for other reasons than MPI and I/O.
TEST_F(SamplingPreloadTest, KernelTimeOfOtherSystemCallsStaysWithTheirFunction) {
  constexpr int kRounds = 20;
  const Outcome outcome = run_captured(1, fmt::format("kernel_truth own {}", kRounds), "ARDOISE_SAMPLE_SHARE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("kernel_truth");
  ASSERT_EQ(capture.fault(), "");
  if (capture.rates.empty() || capture.rates[0].hertz < 5000) GTEST_SKIP() << "no perf events";
  const KernelTruth truth(directory_ / "truth.0");
  const auto &user = truth.functions.at("user"), &own = truth.functions.at("own");
  const SampledShare sampled = share_of_function(capture, own.offset);
  EXPECT_NEAR(sampled.all / truth.cpu, 1, 0.01);
  // Once in a round the last ticks in the kernel go to `user`: as many as it takes `own` to be met in user mode.
  const double ticks = own.ns / (own.ns - truth.kernel);
  EXPECT_GT(truth.kernel, 0.5 * own.ns) << "not what the test is about";
  EXPECT_NEAR(sampled.given, own.ns, sampled.error() + kRounds * 2 * ticks * 1e5);
  EXPECT_NEAR(share_of_function(capture, user.offset).given, user.ns, sampled.error() + kRounds * 2 * ticks * 1e5);
}

// Where perf is forbidden no time is known to be the kernel's.
TEST_F(SamplingPreloadTest, WithoutPerfNothingIsGivenToCallsBefore) {
  const Outcome outcome = run_captured(2, "kernel_truth mpi 1000", "ARDOISE_SAMPLE_SHARE=0 ARDOISE_PERF=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("kernel_truth");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_FALSE(capture.samples.empty());
  for (const CapturedSample& sample : capture.samples) EXPECT_EQ(sample.record.flags & kKernelTime, 0);
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
  // Samples inside MPI know the call, and those of all threads their contexts.
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

// Its smallest threads have room for the signal frames of some processors, not for those of others.
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

// The modes in which system calls are interrupted are not for this program; page faults are.
TEST_F(SamplingPreloadTest, TortureByPageFaultsWithCounters) {
  const Outcome outcome =
      run_captured(1, "sampled_torture 2", "ARDOISE_SAMPLE=page-faults ARDOISE_COUNTERS=task-clock,page-faults");
  if (outcome.status == 77) GTEST_SKIP() << "MPI has no MPI_THREAD_MULTIPLE";
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(captured("sampled_torture").fault(), "");
}

// ctest -L torture: as long as TORTURE_SECONDS says, else an hour.
TEST_F(SamplingPreloadTest, DISABLED_TortureForAnHour) {
  const char* const asked = std::getenv("TORTURE_SECONDS");
  const int seconds = asked != nullptr ? std::atoi(asked) : 3600;
  // What is captured in an hour would fill a disk: most of it goes nowhere.
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
  EXPECT_TRUE(outcome.output.starts_with("ardoise: ARDOISE_SAMPLE=flops is not off, cpu, wall or an event ("))
      << outcome.output;
}

}  // namespace
}  // namespace ardoise::instrument

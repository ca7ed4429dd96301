// The attribution of kernel time in real MPI programs: samples are compared with the CPU time that the program measured
// around its own functions (programs/kernel_truth.c).
#include <cmath>
#include <fstream>
#include <map>

#include "tests/instrument/preload_fixture.hpp"
#include "tests/instrument/share_error.hpp"

namespace ardoise::instrument {
namespace {

using KernelTimeTest = PreloadFixture;

// The measurements of kernel_truth for one rank, beside its samples.
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
  // The binomial error of `given`.
  [[nodiscard]] double error() const {
    const double p = given / all;
    return kShareErrors * std::sqrt((1 - p) * (1 - p) * squares + p * p * (all_squares - squares));
  }
};
// Share of samples in the main thread; `part`: ns of a sample that count.
template <class Part>
SampledShare share_of(const Capture& capture, Part&& part) {
  SampledShare share;
  for (const CapturedSample& sample : capture.samples) {
    if (sample.thread != 0) continue;
    const double given = part(sample);
    share.all += sample.time();
    share.all_squares += sample.user() * sample.user() + sample.kernel() * sample.kernel();
    share.given += given;
    share.squares += given * given;
  }
  return share;
}
// With kernel time that is known to be the function's own.
SampledShare share_of_function(const Capture& capture, std::uint64_t offset) {
  return share_of(capture, [&](const CapturedSample& sample) {
    const auto context = capture.contexts.find({0, sample.record.context});
    if (sample.record.function != 0 || context == capture.contexts.end() || (context->second.flags & 1) == 0 ||
        context->second.offset != offset) {
      return 0.0;
    }
    return (sample.record.flags & kKernelOfCalls) != 0 ? sample.user() : sample.time();
  });
}
// Also with its callees. Its code is shorter than kMostBytes.
SampledShare share_with_callees(const Capture& capture, std::uint64_t offset) {
  constexpr std::uint64_t kMostBytes = 512;
  return share_of(capture, [&](const CapturedSample& sample) {
    for (auto context = capture.contexts.find({0, sample.record.context}); context != capture.contexts.end();
         context = capture.contexts.find({0, context->second.parent})) {
      if (context->second.offset - offset < kMostBytes) return sample.time();
    }
    return 0.0;
  });
}
SampledShare kernel_of_calls(const Capture& capture) {
  return share_of(capture, [](const CapturedSample& sample) {
    return (sample.record.flags & kKernelOfCalls) != 0 ? sample.kernel() : 0.0;
  });
}

// Four ranks that yield to each other in MPI, a third of the time in the kernel: the user's function gets its own time.
TEST_F(KernelTimeTest, OfMpiCallsIsNotGivenToTheFunctionAfterThem) {
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
    // On a crowded machine the kernel also switches threads within the function: up to 2 %.
    EXPECT_NEAR(sampled.given, user.ns, sampled.error() + 0.02 * user.ns) << "of " << truth.cpu;
    const SampledShare kernel = kernel_of_calls(capture);
    EXPECT_LT(kernel.given, truth.cpu - user.ns + kernel.error() + 0.02 * user.ns);
    attributed += kernel.given;
    in_kernel += truth.kernel / truth.cpu / 4;
  }
  // Not every MPI yields while it waits.
  EXPECT_TRUE(attributed > 0 || in_kernel < 0.1);
}

TEST_F(KernelTimeTest, OfReadingIsNotGivenToTheFunctionAfterIt) {
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
  EXPECT_NEAR(of_user.given, user, of_user.error() + 0.05 * user);
  // Interrupts in `user` count as well, but matter only on a crowded machine.
  const SampledShare kernel = kernel_of_calls(capture);
  EXPECT_NEAR(kernel.given, io, kernel.error() + 0.05 * user);
}

// A function beside another one that is mostly in the kernel, for reasons other than MPI and I/O.
TEST_F(KernelTimeTest, OfOtherSystemCallsStaysWithTheirFunction) {
  constexpr int kRounds = 20;
  const Outcome outcome = run_captured(1, fmt::format("kernel_truth own {}", kRounds), "ARDOISE_SAMPLE_SHARE=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("kernel_truth");
  ASSERT_EQ(capture.fault(), "");
  if (capture.rates.empty() || capture.rates[0].hertz < 5000) GTEST_SKIP() << "no perf events";
  const KernelTruth truth(directory_ / "truth.0");
  const auto &user = truth.functions.at("user"), &own = truth.functions.at("own");
  const SampledShare of_user = share_of_function(capture, user.offset);
  EXPECT_NEAR(of_user.all / truth.cpu, 1, 0.01);
  EXPECT_GT(truth.kernel, 0.5 * own.ns) << "not what the test is about";
  // Once in a round the last kernel ticks are attributed to `user`: as many as it takes until `own` is hit in user
  // mode, where it works a quarter as long as `user`.
  const double ticks = own.ns / (user.ns / 4);
  EXPECT_NEAR(of_user.given, user.ns, of_user.error() + kRounds * 2 * ticks * 1e5);
  // The rest belongs to `own` and the system's library beneath it: the more expensive system calls are, the larger it
  // is.
  EXPECT_GT(share_with_callees(capture, own.offset).given, 0.75 * own.ns);
}

// Without perf no time is known to be kernel time.
TEST_F(KernelTimeTest, WithoutPerfNoneIsKnown) {
  const Outcome outcome = run_captured(2, "kernel_truth mpi 1000", "ARDOISE_SAMPLE_SHARE=0 ARDOISE_PERF=0");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Capture capture = captured("kernel_truth");
  ASSERT_EQ(capture.fault(), "");
  EXPECT_FALSE(capture.samples.empty());
  for (const CapturedSample& sample : capture.samples) EXPECT_EQ(sample.record.kernel, 0u);
}

}  // namespace
}  // namespace ardoise::instrument

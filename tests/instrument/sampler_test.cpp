// The sampler in this process, without MPI: arriving packs are compared with the known activity of the threads.
#include "instrument/sampling/sampler.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "instrument/machine/clock.hpp"
#include "instrument/machine/thread_tasks.hpp"
#include "tests/instrument/capture.hpp"
#include "tests/instrument/fake_transport.hpp"
#include "tests/instrument/share_error.hpp"

extern "C" {
void truth_run(int rounds, void (*late)(int), long long cpu[4]);
void truth_half(int);
void truth_third(int);
void truth_fortran(const int* units);
}

namespace ardoise::instrument {
namespace {

std::vector<std::string> sentences;
void note(std::string_view sentence) { sentences.emplace_back(sentence); }

std::uint64_t cpu_ns(clockid_t clock = CLOCK_THREAD_CPUTIME_ID) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

double tick_rate() {
  static const double rate = [] {
    const std::uint64_t begin = cpu_ns(CLOCK_MONOTONIC), first = now();
    ::usleep(20'000);
    return static_cast<double>(now() - first) / static_cast<double>(cpu_ns(CLOCK_MONOTONIC) - begin) * 1e9;
  }();
  return rate;
}

[[gnu::noinline]] void burn_ns(std::uint64_t ns) {
  for (const std::uint64_t end = cpu_ns() + ns; cpu_ns() < end;) {
    for (int i = 0; i < 20'000; ++i) asm volatile("" ::: "memory");
  }
}

// The activity of a thread after its last sample is not recorded; on shared processors a timer may be late by ticks.
void burn_until_a_sample() {
  const std::atomic<std::uint64_t>& taken = current_sampled->counts.taken;
  for (const std::uint64_t before = taken.load(); taken.load() == before;) burn_ns(10'000);
}

// A recorder with a sampler of the calling thread.
class Sampled {
 public:
  explicit Sampled(const SamplerSettings& settings, std::size_t budget = std::size_t{16} << 20) {
    sentences.clear();
    Settings memory;
    memory.budget_bytes = budget;
    recorder.emplace(memory, transport, PackIdentity{1, 0, 0, 0, tick_rate()}, std::uint64_t{1} << 62, true);
    thread = recorder->threads.adopt(now());
    sampling.emplace(*recorder, settings, tick_rate(), note);
    started = sampling->start();
    if (started) adopted = sampling->adopt_current(*thread);
  }
  ~Sampled() { sampling->stop(); }

  // Changes the rate of the calling thread, as memory or cost would.
  void set_rate_shift(std::uint32_t shift) {
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, sampling->signal());
    ::pthread_sigmask(SIG_BLOCK, &ours, &before);
    thread->samples.set_rate_shift(shift, SamplingCause::kUser, now());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  Capture finish() {
    sampling->stop();
    sampling->finish(now());
    recorder->finish(now());
    return read_capture(std::as_bytes(std::span(bytes = transport.bytes())));
  }

  FakeTransport transport;
  std::optional<Recorder> recorder;
  std::optional<Sampler> sampling;
  ThreadRecorder* thread = nullptr;
  bool started = false, adopted = false;
  std::vector<std::uint64_t> bytes;
};

SamplerSettings at_full_rate() {
  SamplerSettings settings;
  settings.share = 0;
  return settings;
}

struct Place {
  std::string module;
  std::uint64_t offset;
  auto operator<=>(const Place&) const = default;
};

template <class Function>
Place place_of(Function* function) {
  Dl_info info{};
  void* module = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(function), &info, &module, RTLD_DL_LINKMAP) == 0) return {};
  const auto* const map = static_cast<const link_map*>(module);
  return {std::filesystem::path(info.dli_fname).filename(), reinterpret_cast<std::uint64_t>(function) - map->l_addr};
}

// Sums of samples, by the start of the innermost function: weight, number of samples, depth.
struct Leaf {
  double weight = 0;
  double squares = 0;
  std::map<std::size_t, long> depths;
};
std::map<Place, Leaf> by_function(const Capture& capture, std::uint32_t thread, std::uint64_t from = 0,
                                  std::uint64_t to = ~std::uint64_t{0}) {
  std::map<Place, Leaf> leaves;
  for (const CapturedSample& sample : capture.samples) {
    if (sample.thread != thread || sample.is_rest()) continue;
    if (sample.record.tick < from || sample.record.tick >= to) continue;
    const auto found = capture.contexts.find({thread, sample.record.context});
    EXPECT_NE(found, capture.contexts.end());
    if (found == capture.contexts.end()) continue;
    std::size_t depth = 0;
    for (std::uint32_t context = sample.record.context; context != 0; ++depth) {
      context = capture.contexts.at({thread, context}).parent;
    }
    const ContextRecord& leaf = found->second;
    const auto module = capture.modules.find(leaf.module);
    Leaf& sum = leaves[{
        module == capture.modules.end() ? "" : std::filesystem::path(module->second).filename().string(), leaf.offset}];
    const double weight = sample.user();
    sum.weight += weight;
    sum.squares += weight * weight;
    ++sum.depths[depth];
  }
  return leaves;
}

double weight_of(const Capture& capture, std::uint32_t thread) {
  double sum = 0;
  for (const CapturedSample& sample : capture.samples) {
    if (sample.thread == thread) sum += sample.time();
  }
  return sum;
}

struct Truth {
  Place half, third, late, fortran;
  void* library = nullptr;
  void (*late_function)(int) = nullptr;

  Truth() : half(place_of(&truth_half)), third(place_of(&truth_third)), fortran(place_of(&truth_fortran)) {
    library = ::dlopen(TRUTH_LATE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr);
    late_function = reinterpret_cast<void (*)(int)>(::dlsym(library, "truth_late"));
    late = place_of(late_function);
  }
  ~Truth() { ::dlclose(library); }
};

// CPU time of each function of truth_run(), ns.
using TrueTimes = std::array<long long, 4>;

// Shares within the binomial error; with weights, for the number of equal samples of the same variance.
void expect_truth(const std::map<Place, Leaf>& leaves, const Truth& truth, const TrueTimes& times, const char* when) {
  SCOPED_TRACE(when);
  double all = 0, squares = 0;
  for (const auto& [place, leaf] : leaves) all += leaf.weight, squares += leaf.squares;
  ASSERT_GT(all, 0);
  const double samples = all * all / squares;
  const auto true_sum = static_cast<double>(std::accumulate(times.begin(), times.end(), 0LL));
  const auto expect = [&](const char* name, const Place& place, std::size_t function, std::size_t least_depth) {
    const double share = static_cast<double>(times[function]) / true_sum;
    SCOPED_TRACE(name);
    ASSERT_TRUE(leaves.contains(place));
    const Leaf& leaf = leaves.at(place);
    EXPECT_NEAR(leaf.weight / all, share, kShareErrors * std::sqrt(share * (1 - share) / samples))
        << samples << " samples";
    EXPECT_EQ(leaf.depths.size(), 1u) << "always called from the same place";
    EXPECT_GE(leaf.depths.begin()->first, least_depth);
  };
  expect("at depth", truth.half, 0, 6);
  expect("with an inlined function", truth.third, 1, 3);
  expect("in a library opened late", truth.late, 2, 3);
  expect("in Fortran", truth.fortran, 3, 3);
  EXPECT_EQ(leaves.at(truth.half).depths.begin()->first, leaves.at(truth.third).depths.begin()->first + 3);
}

TEST(Sampler, SharesAreTrueBeforeAndAfterChangesOfRate) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  const Truth truth;
  constexpr int kRounds = 1500;
  std::array<std::uint64_t, 5> ticks{};
  std::array<TrueTimes, 4> times{};
  const std::uint64_t begin = cpu_ns();
  const std::array<std::uint32_t, 4> shifts{0, 3, 5, 1};
  for (std::size_t phase = 0; phase < shifts.size(); ++phase) {
    ticks[phase] = now();
    sampled.set_rate_shift(shifts[phase]);
    truth_run(kRounds * (phase == 0 ? 1 : 2), truth.late_function, times[phase].data());
  }
  ticks[4] = now();
  const std::uint64_t used = cpu_ns() - begin;
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_TRUE(sentences.empty()) << sentences[0];
  const std::uint32_t thread = sampled.thread->number();
  const std::array<const char*, 4> names{"at full rate", "after three halvings", "after five", "after a rise"};
  for (std::size_t phase = 0; phase < shifts.size(); ++phase) {
    const auto leaves = by_function(capture, thread, ticks[phase], ticks[phase + 1]);
    expect_truth(leaves, truth, times[phase], names[phase]);
  }
  TrueTimes all{};
  for (const TrueTimes& phase : times)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += phase[i];
  expect_truth(by_function(capture, thread), truth, all, "in all");
  EXPECT_NEAR(weight_of(capture, thread) / static_cast<double>(used), 1, 0.01);
  EXPECT_GE(capture.rates.size(), 4u);
  const SamplerTotalsDefinition& totals = capture.sampler_totals.at(thread);
  EXPECT_EQ(totals.stored, capture.samples.size());
  EXPECT_EQ(totals.taken, totals.stored + totals.discarded + totals.lost);
  // Two in some thousand were seen once, on a machine that had just been busy.
  EXPECT_LE(totals.partial, totals.taken / 1000);
}

// Memory for few samples: levels are dropped meanwhile, and the remaining shares are as accurate.
TEST(Sampler, SharesAreTrueWhenMemoryIsShort) {
  Sampled sampled(at_full_rate(), 24 * (std::size_t{64} << 10));
  sampled.transport.arrives_at_once = false;
  ASSERT_TRUE(sampled.adopted);
  const Truth truth;
  const std::uint64_t begin = cpu_ns();
  TrueTimes times{};
  truth_run(5000, truth.late_function, times.data());
  const std::uint64_t used = cpu_ns() - begin;
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  expect_truth(by_function(capture, sampled.thread->number()), truth, times, "in all");
  EXPECT_NEAR(weight_of(capture, sampled.thread->number()) / static_cast<double>(used), 1, 0.02);
}

// Counts an MPI call of the program from address 0.
void count_a_call(Sampled& sampled, std::uint64_t ticks) {
  observed_frame.return_address = 0x1000;
  observed_frame.function = 5;
  const ActivityScope scope(current_sampled->recorder->activity, Activity::kRecording, sampled.recorder->active);
  sampled.sampling->count_call(*current_sampled, observed_frame, {1, ticks, 0, 0});
  observed_frame.function = 0;
}

// Called before the record of a call of MPI or I/O.
void tell_a_call(Sampled& sampled, std::uint64_t return_address, CalledFunction function, std::uint64_t begin) {
  ObservedFrame frame = observed_frame;
  frame.return_address = return_address;
  frame.function = function;
  const ActivityScope scope(current_sampled->recorder->activity, Activity::kRecording, sampled.recorder->active);
  sampled.sampling->record_context(*current_sampled, frame, begin, begin + 10);
}

TEST(Sampler, CallsAreRecordedWithTheirContexts) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  const auto write = kPosixCalls + static_cast<CalledFunction>(PosixFunction::kWrite) + 1;
  tell_a_call(sampled, 0x1000, write, 100);  // before the first call of MPI
  tell_a_call(sampled, 0x1000, 5, 200);
  tell_a_call(sampled, 0x2000, 5, 300);
  tell_a_call(sampled, 0x1000, 5, 400);
  tell_a_call(sampled, 0x3000, 5, 500);
  sampled.thread->drop_context();  // it has no record
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  const auto& told = capture.call_contexts;
  ASSERT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0].record_class, static_cast<std::uint16_t>(PackClass::kPosix));
  EXPECT_EQ(told[0].function, static_cast<std::uint16_t>(PosixFunction::kWrite));
  EXPECT_EQ(told[0].begin, 100u);
  EXPECT_EQ(told[1].record_class, static_cast<std::uint16_t>(PackClass::kMpi));
  EXPECT_EQ(told[1].function, 4u);
  EXPECT_NE(told[1].context, 0u);
  EXPECT_EQ(told[0].context, told[1].context);
  EXPECT_EQ(told[3].context, told[1].context);
  EXPECT_NE(told[2].context, told[1].context);
  EXPECT_EQ(told[3].begin, 400u);
}

// Kernel time of the samples, in ns, and the part of it that may belong to calls.
struct KernelTime {
  double all = 0, of_calls = 0;
  KernelTime(const Capture& capture, std::uint32_t thread) {
    for (const CapturedSample& sample : capture.samples) {
      if (sample.thread != thread) continue;
      all += sample.kernel();
      if ((sample.record.flags & kKernelOfCalls) != 0) of_calls += sample.kernel();
    }
  }
};

// Interrupts and context switches are kernel time as well: about 1 %, on a crowded machine about 5 %.
constexpr double kInterrupted = 0.10;

// A fifth of the time passes while samples are lost. Neither changes of the period nor lost samples count as kernel
// time.
TEST(Sampler, UserTimeIsNotTakenForTheKernels) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  if (!current_sampled->timer.skips_kernel()) GTEST_SKIP() << "no perf events";
  for (int i = 0; i < 4000; ++i) {
    count_a_call(sampled, 1'000'000);
    truth_half(40);
    if (i % 400 == 0) sampled.set_rate_shift(static_cast<std::uint32_t>(i / 400 % 3));
    if (i % 4 != 0) continue;
    ThreadActivity& activity = current_sampled->recorder->activity;
    activity = Activity::kContexts;
    truth_half(40);
    activity = Activity::kProgram;
  }
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  const SamplerTotalsDefinition& totals = capture.sampler_totals.at(sampled.thread->number());
  EXPECT_GT(totals.lost, 100u);
  const std::uint32_t thread = sampled.thread->number();
  EXPECT_LT(KernelTime(capture, thread).all / weight_of(capture, thread), kInterrupted)
      << totals.lost << " of " << totals.taken << " lost";
}

// With and without a call beside it, so that the function's own time is distinguished from time that may be the call's.
TEST(Sampler, KernelTimeIsSeparate) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  if (!current_sampled->timer.skips_kernel()) GTEST_SKIP() << "no perf events";
  const auto use_kernel = [] {
    constexpr std::size_t kBytes = 1024 * 4096;
    const std::uint64_t begin = cpu_ns();
    void* const memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    ::munmap(memory, kBytes);
    return static_cast<double>(cpu_ns() - begin);
  };
  double of_calls = 0, own = 0;
  constexpr int kCalls = 200;
  constexpr std::uint64_t kLongCall = 20'000'000;  // ticks
  for (int i = 0; i < kCalls; ++i) {
    // Counted before and after: an interrupt that was held up in the kernel comes at its end, where a real call is
    // open.
    count_a_call(sampled, kLongCall);
    of_calls += use_kernel();
    count_a_call(sampled, kLongCall);
    truth_half(200);
    count_a_call(sampled, 1000);  // too short to be in the kernel for so long
    own += use_kernel();
    truth_half(200);
  }
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  const double all = weight_of(capture, sampled.thread->number());
  const KernelTime kernel(capture, sampled.thread->number());
  EXPECT_GT(of_calls, 0.05 * all);
  // The sampler takes the period of each late interrupt for the program's own time.
  const double held_up = kCalls * 1e9 / at_full_rate().hertz;
  EXPECT_GT(kernel.of_calls, 0.85 * of_calls - held_up);
  EXPECT_LT(kernel.of_calls, of_calls + kInterrupted * all);
  EXPECT_GT(kernel.all - kernel.of_calls, 0.85 * own - held_up);
  EXPECT_LT(kernel.all - kernel.of_calls, own + kInterrupted * all);
}

TEST(Sampler, PosixTimersServeWherePerfIsForbidden) {
  SamplerSettings settings = at_full_rate();
  settings.use_perf = false;
  Sampled sampled(settings);
  ASSERT_TRUE(sampled.adopted);
  const std::uint64_t begin = cpu_ns();
  // Under load, other threads may run at most of the kernel's ticks, at which it checks these timers.
  for (int i = 0; i < 20 || current_sampled->counts.taken < 20; ++i) {
    burn_ns(20'000'000);
    count_a_call(sampled, 1'000'000);
  }
  burn_until_a_sample();
  const std::uint64_t used = cpu_ns() - begin;
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_EQ(KernelTime(capture, sampled.thread->number()).all, 0) << "these find it in the kernel, too";
  EXPECT_NEAR(weight_of(capture, sampled.thread->number()) / static_cast<double>(used), 1, 0.05);
}

// The cost limit is so low that interrupts are expensive on every machine: a hundred of them a second.
SamplerSettings with_expensive_interrupts() {
  SamplerSettings settings;
  settings.hertz = 600;
  settings.share = 100 * Sampled(settings).sampling->interrupt_seconds();
  return settings;
}

// Pins the calling thread, and those that it starts, to the current processor.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;
  ~OnOneProcessor() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

TEST(Sampler, ExpensiveInterruptsArePaidForWhereAProcessorIsShared) {
  const SamplerSettings settings = with_expensive_interrupts();
  Sampled sampled(settings);
  ASSERT_TRUE(sampled.adopted);
  const std::uint64_t begin = cpu_ns();
  burn_ns(200'000'000);
  if (!current_sampled->timer.is_event()) GTEST_SKIP() << "no perf events";
  std::optional<OnOneProcessor> pinned(std::in_place);
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!ended.load(std::memory_order_relaxed)) {
    }
  });
  burn_ns(1'000'000'000);
  EXPECT_TRUE(current_sampled->timer.is_event());
  ended = true;
  other.join();
  pinned.reset();
  burn_until_a_sample();
  const std::uint64_t used = cpu_ns() - begin;
  const auto period = static_cast<double>(current_sampled->timer.armed());
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_GT(capture.samples.size(), 20u);
  EXPECT_NEAR(weight_of(capture, sampled.thread->number()), static_cast<double>(used), 2 * period)
      << "but for what came after the last sample";
}

// Two threads that hand one processor to each other all the time, like processes that wait in MPI: events would make
// each switch too expensive.
TEST(Sampler, AThreadThatYieldsAllTheTimeHasNoExpensiveEvent) {
  const SamplerSettings settings = with_expensive_interrupts();
  Sampled sampled(settings);
  ASSERT_TRUE(sampled.adopted);
  if (!SampleTimer::timers_spare_system_calls()) GTEST_SKIP() << "timers of this kernel interrupt system calls";
  std::optional<OnOneProcessor> pinned(std::in_place);
  const std::uint64_t begin = cpu_ns();
  std::atomic<bool> ended = false;
  std::thread other([&] {
    while (!ended.load(std::memory_order_relaxed)) ::sched_yield();
  });
  const auto yield_for = [](std::uint64_t ns) {
    for (const std::uint64_t from = cpu_ns(); cpu_ns() - from < ns;) {
      for (int i = 0; i < 100; ++i) ::sched_yield();
    }
  };
  yield_for(1'500'000'000);
  EXPECT_FALSE(current_sampled->timer.is_event());
  yield_for(1'000'000'000);
  ended = true;
  other.join();
  pinned.reset();
  burn_until_a_sample();
  const std::uint64_t used = cpu_ns() - begin;
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  EXPECT_NEAR(weight_of(capture, sampled.thread->number()) / static_cast<double>(used), 1, 0.1);
  double marked = 0;
  for (const CapturedSample& sample : capture.samples) {
    if ((sample.record.flags & kTimerInterrupt) != 0) marked += sample.time();
  }
  EXPECT_GT(marked, 0.5 * static_cast<double>(used)) << "the report says what this means";
}

TEST(Sampler, CpuTimeInterruptsNoSystemCall) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  int interrupted = 0;
  for (int i = 0; i < 300; ++i) {
    const timespec little{0, 100'000};
    interrupted += ::nanosleep(&little, nullptr) != 0 ? 1 : 0;
    burn_ns(300'000);
  }
  const Capture capture = sampled.finish();
  EXPECT_EQ(interrupted, 0);
  EXPECT_GT(capture.samples.size(), 300u);
}

std::atomic<bool> is_told = false;

// A signal without a handler wakes a thread in vain if the main thread blocks it. The kernel then restarts the thread's
// call, and the timer's signal may arrive in between: a signal of the program must still be able to end the wait.
TEST(Sampler, SignalsReachAThreadWhoseCallsAreRestarted) {
  sigset_t urgent, before;
  sigemptyset(&urgent);
  sigaddset(&urgent, SIGURG);
  ::pthread_sigmask(SIG_BLOCK, &urgent, &before);
  struct sigaction tells {
  }, old{};
  tells.sa_handler = [](int) { is_told = true; };
  ::sigaction(SIGUSR1, &tells, &old);
  is_told = false;
  std::thread waits([&] {
    ::pthread_sigmask(SIG_UNBLOCK, &urgent, nullptr);
    Sampled sampled(at_full_rate());
    EXPECT_TRUE(sampled.adopted);
    while (!is_told) ::poll(nullptr, 0, -1);
  });
  for (int i = 0; i < 200'000; ++i) ::kill(::getpid(), SIGURG);
  while (!is_told) {
    ::pthread_kill(waits.native_handle(), SIGUSR1);
    ::usleep(1000);
  }
  waits.join();
  ::sigaction(SIGUSR1, &old, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Sampler, SampledEventsAreCounted) {
  SamplerSettings settings = at_full_rate();
  settings.mode = SampleMode::kEvent;
  settings.event = find_perf_event("page-faults");
  settings.period = 8;
  Sampled sampled(settings);
  if (!sentences.empty()) GTEST_SKIP() << sentences[0];
  constexpr std::size_t kPages = 4000;
  auto* const memory = static_cast<volatile char*>(
      ::mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ::madvise(const_cast<char*>(memory), kPages * 4096, MADV_NOHUGEPAGE);
  for (std::size_t page = 0; page < kPages; ++page) memory[page * 4096] = 1;
  const Capture capture = sampled.finish();
  ::munmap(const_cast<char*>(memory), kPages * 4096);
  ASSERT_EQ(capture.fault(), "");
  EXPECT_NEAR(weight_of(capture, sampled.thread->number()) / kPages, 1, 0.05);
}

TEST(Sampler, CountersAreReadWithEverySample) {
  SamplerSettings settings = at_full_rate();
  settings.counters = {find_perf_event("task-clock"), find_perf_event("page-faults")};
  Sampled sampled(settings);
  if (!sentences.empty()) GTEST_SKIP() << sentences[0];
  burn_ns(200'000'000);
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  ASSERT_EQ(capture.counters, (std::vector<std::string>{"task-clock", "page-faults"}));
  double clock = 0;
  for (const auto& sample : capture.samples) {
    ASSERT_EQ(sample.counters.size(), 2u);
    clock += static_cast<double>(sample.counters[0]) * sample.weight;
  }
  // Both are the thread's CPU time; perf counts time stolen by the hypervisor and spent in interrupts, the clock does
  // not.
  EXPECT_NEAR(clock / weight_of(capture, sampled.thread->number()), 1, 0.25);
}

TEST(Sampler, ThreadsAreFollowedFromBeginToEnd) {
  SamplerSettings settings = at_full_rate();
  std::atomic<bool> stop = false;
  std::atomic<std::uint32_t> tid = 0;
  // Runs already when sampling begins.
  std::thread early([&] {
    tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    while (!stop) burn_ns(1'000'000);
  });
  while (tid == 0) ::usleep(100);
  Sampled sampled(settings);
  ASSERT_TRUE(sampled.adopted);
  sampled.sampling->adopt_all_running(running_tasks());
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      ThreadRecorder* const own = sampled.recorder->threads.adopt(now());
      EXPECT_TRUE(sampled.sampling->adopt_current(*own));
      burn_ns(50'000'000);
      if (SampledThread* const left = sampled.sampling->leave_current()) {
        const ActivityScope scope(left->recorder->activity, Activity::kRecording, sampled.recorder->active);
        sampled.sampling->retire(*left);
      }
      own->flush();
      sampled.recorder->threads.retire(own);
    });
  }
  for (auto& thread : threads) thread.join();
  burn_ns(50'000'000);
  stop = true;
  early.join();
  sampled.sampling->flush(*current_sampled);  // finds the ended thread
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  std::map<std::uint32_t, double> weights;
  for (const auto& sample : capture.samples) {
    weights[sample.thread] += sample.time();
    // Kernel time that remains at the end is recorded at the root.
    const bool is_rest = sample.record.context == 0 && sample.user() == 0 && sample.kernel() > 0;
    EXPECT_TRUE(is_rest || capture.contexts.contains({sample.thread, sample.record.context}));
  }
  ASSERT_EQ(weights.size(), 5u);
  for (const auto& thread : capture.threads) {
    EXPECT_GT(weights[thread.thread], thread.tid == tid ? 20e6 : 40e6) << thread.thread;
    EXPECT_TRUE(capture.sampler_totals.contains(thread.thread));
  }
}

// Threads that live for less than a period, one after the other: their samples cover their CPU time.
TEST(Sampler, ShortThreadsHaveTheirShare) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  ThreadRecorder* recorder = nullptr;
  SampledThread* left = nullptr;
  std::uint64_t burnt = 0;
  for (int i = 0; i < 2000; ++i) {
    std::thread([&] {
      if (left == nullptr) {
        recorder = sampled.recorder->threads.adopt(now());
        ASSERT_TRUE(sampled.sampling->adopt_current(*recorder));
      } else {
        sampled.sampling->resume(*left);
      }
      const std::uint64_t begin = cpu_ns();
      burn_ns(150'000);
      burnt += cpu_ns() - begin;
      left = sampled.sampling->leave_current();
    }).join();
    ASSERT_NE(left, nullptr);
  }
  {
    const ActivityScope scope(recorder->activity, Activity::kRecording, sampled.recorder->active);
    sampled.sampling->retire(*left);
    recorder->flush();
  }
  const std::uint32_t number = recorder->number();
  sampled.recorder->threads.retire(recorder);
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  double seconds = 0;
  for (const auto& sample : capture.samples) seconds += sample.thread == number ? sample.time() * 1e-9 : 0;
  // The time after the last sample is not recorded; hooks and the start of a thread are.
  EXPECT_NEAR(seconds / (static_cast<double>(burnt) * 1e-9), 1.05, 0.25);
}

TEST(Sampler, CostIsMeasuredAndLimited) {
  SamplerSettings settings;
  settings.hertz = 20'000;
  settings.share = 0.001;
  Sampled sampled(settings);
  ASSERT_TRUE(sampled.adopted);
  burn_ns(500'000'000);
  EXPECT_GT(sampled.thread->samples.rate_shift(), 0u);
  const Capture capture = sampled.finish();
  ASSERT_EQ(capture.fault(), "");
  const SamplerTotalsDefinition& totals = capture.sampler_totals.at(sampled.thread->number());
  EXPECT_GT(totals.cost_ticks, 0u);
  EXPECT_TRUE(std::any_of(capture.rates.begin(), capture.rates.end(),
                          [](const SamplingDefinition& rate) { return rate.cause == SamplingCause::kCost; }));
}

// The sampler's estimate of a sample's cost equals the time that the thread loses to it, including the timer's
// interrupt.
TEST(Sampler, InterruptsCountAsCost) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  constexpr std::size_t kPauses = 500;
  std::vector<std::uint64_t> pauses;
  const auto short_one = static_cast<std::uint64_t>(tick_rate() * 1e-6),
             second = static_cast<std::uint64_t>(tick_rate());
  const std::uint64_t begin = now();
  for (std::uint64_t last = begin, next = 0; pauses.size() < kPauses && last < begin + second; last = next) {
    next = now();
    if (next - last > short_one) pauses.push_back(next - last);
  }
  const Capture capture = sampled.finish();
  if (pauses.size() < kPauses) GTEST_SKIP() << "no perf events";
  std::nth_element(pauses.begin(), pauses.begin() + kPauses / 2, pauses.end());
  const SamplerTotalsDefinition& totals = capture.sampler_totals.at(sampled.thread->number());
  const double cost = static_cast<double>(totals.cost_ticks) / static_cast<double>(totals.taken);
  const auto seen = static_cast<double>(pauses[kPauses / 2]);
  EXPECT_GT(cost, 0.3 * seen);
  EXPECT_LT(cost, 5 * seen);
}

TEST(Sampler, ForkedChildIsNotSampled) {
  Sampled sampled(at_full_rate());
  ASSERT_TRUE(sampled.adopted);
  const int number = sampled.sampling->signal();
  const pid_t child = ::fork();
  if (child == 0) {
    sampled.sampling->abandon();
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    burn_ns(50'000'000);
    ::_exit(action.sa_handler == SIG_DFL && sampled.thread->samples.stored() == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Sampler, LeavesASignalThatTheProgramUses) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGSTKFLT, &action, &before), 0);
  {
    Sampled sampled(at_full_rate());
    EXPECT_TRUE(sampled.adopted);
    EXPECT_NE(sampled.sampling->signal(), SIGSTKFLT);
    burn_ns(50'000'000);
    EXPECT_GT(sampled.finish().samples.size(), 100u);
  }
  ::sigaction(SIGSTKFLT, &before, nullptr);
}

TEST(Sampler, SaysOnceWhenNoTimersAreLeft) {
  rlimit before{};
  ::getrlimit(RLIMIT_SIGPENDING, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  SamplerSettings settings = at_full_rate();
  settings.use_perf = false;
  ::setrlimit(RLIMIT_SIGPENDING, &none);
  {
    Sampled sampled(settings);
    EXPECT_TRUE(sampled.adopted);
    sampled.sampling->adopt_all_running(running_tasks());
    EXPECT_EQ(sentences, std::vector<std::string>{"no timers are left (ulimit -i): some threads are not sampled."});
    burn_ns(10'000'000);
    EXPECT_EQ(sampled.finish().fault(), "");
  }
  ::setrlimit(RLIMIT_SIGPENDING, &before);
}

TEST(Sampler, SaysWhichCountersTheMachineDoesNotHave) {
  PerfEvent nonsense = *find_perf_event("page-faults");
  nonsense.name = "nonsense";
  nonsense.config = 12345;
  SamplerSettings settings = at_full_rate();
  settings.counters = {find_perf_event("page-faults"), &nonsense, find_perf_event("task-clock")};
  Sampled sampled(settings);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_TRUE(sentences[0].starts_with("nonsense is not counted: ")) << sentences[0];
  burn_ns(20'000'000);
  EXPECT_EQ(sampled.finish().counters, (std::vector<std::string>{"page-faults", "task-clock"}));
}

TEST(Sampler, SamplesCpuTimeWhereAnEventCannotBeHad) {
  PerfEvent nonsense = *find_perf_event("page-faults");
  nonsense.name = "nonsense";
  nonsense.config = 12345;
  SamplerSettings settings = at_full_rate();
  settings.mode = SampleMode::kEvent;
  settings.event = &nonsense;
  Sampled sampled(settings);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_TRUE(sentences[0].ends_with("; CPU time is sampled instead.")) << sentences[0];
  burn_ns(20'000'000);
  EXPECT_GT(sampled.finish().samples.size(), 50u);
}

// With a tracer, each sample would stop the program at a prompt.
TEST(SamplerUnderADebugger, ItIsNoticed) {
  EXPECT_FALSE(is_traced());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 && is_traced() ? 7 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

}  // namespace
}  // namespace ardoise::instrument

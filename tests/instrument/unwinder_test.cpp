// Walks compared with those of the compiler's own unwinder: from places known by hand, and from random places at which
// a timer interrupts code of many kinds.
#include "instrument/unwind/unwinder.hpp"

#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace ardoise::instrument {
namespace {

#if defined(__x86_64__)

// Static: the rules take 160 KiB.
Unwinder unwinder;

struct Walk {
  std::array<std::uint64_t, 128> frames{};
  WalkResult result;
  [[nodiscard]] std::vector<std::uint64_t> pcs() const {
    return {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(result.frames)};
  }
};

// Walks from the calling function's caller, where both unwinders have the same frames.
[[gnu::noinline]] Walk walk_here(const StackBounds& stack = {}) {
  Walk walk;
  ucontext_t context;
  ::getcontext(&context);
  std::array<std::uint64_t, 16> general{};
  walk.result = unwinder.walk(interrupted_registers(&context, general), stack, walk.frames);
  return walk;
}

std::vector<std::uint64_t> compilers_walk() {
  std::array<void*, 128> frames{};
  const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  std::vector<std::uint64_t> pcs;
  for (int i = 0; i < count; ++i) pcs.push_back(reinterpret_cast<std::uint64_t>(frames[static_cast<std::size_t>(i)]));
  return pcs;
}

// Compares both lists from their common outermost frame inwards; returns the number of equal frames.
std::size_t common_tail(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  const auto [x, y] = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  (void)y;
  return static_cast<std::size_t>(x - a.rbegin());
}

[[gnu::noinline]] std::size_t nested(int depth, const std::function<void()>& at_the_bottom) {
  if (depth == 0) {
    at_the_bottom();
    return 0;
  }
  const std::size_t below = nested(depth - 1, at_the_bottom);
  asm volatile("" ::: "memory");  // not a tail call
  return below + 1;
}

TEST(Unwinder, FindsTheFramesThatTheCompilersUnwinderFinds) {
  nested(10, [] {
    const Walk walk = walk_here();
    const auto others = compilers_walk();
    EXPECT_TRUE(walk.result.complete);
    ASSERT_GT(others.size(), 11u);
    EXPECT_GE(common_tail(walk.pcs(), others), others.size() - 2) << "all but the innermost, which are different calls";
  });
}

TEST(Unwinder, KnowsTheStartOfTheInnermostFunction) {
  const Walk walk = walk_here();
  ASSERT_GT(walk.result.frames, 1u);
  const auto start = walk.frames[0] - walk.result.function_distance;
  EXPECT_EQ(start, reinterpret_cast<std::uint64_t>(&walk_here));
}

TEST(Unwinder, StopsAtTheRoomThatItHas) {
  nested(10, [] {
    ucontext_t context;
    ::getcontext(&context);
    std::array<std::uint64_t, 16> general{};
    std::array<std::uint64_t, 4> frames{};
    const WalkResult result = unwinder.walk(interrupted_registers(&context, general), {}, frames);
    EXPECT_EQ(result.frames, 4u);
    EXPECT_FALSE(result.complete);
  });
}

TEST(Unwinder, EndsWithoutHarmOnAStackThatCannotBeRead) {
  void* const nothing = ::mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  FrameRegisters registers;
  registers.pc = reinterpret_cast<std::uint64_t>(&walk_here);
  for (const std::uint64_t sp : {std::uint64_t{0}, std::uint64_t{8}, reinterpret_cast<std::uint64_t>(nothing) + 4096,
                                 ~std::uint64_t{7}, std::uint64_t{1} << 63, std::uint64_t{12345}}) {
    registers.sp = registers.rbp = sp;
    std::array<std::uint64_t, 16> frames{};
    const WalkResult result = unwinder.walk(registers, {}, frames);
    EXPECT_EQ(result.frames, 1u);
    EXPECT_FALSE(result.complete);
  }
  ::munmap(nothing, 8192);
}

// ---- trails

TEST(Unwinder, TrailTellsWhatTheWalkDependsOn) {
  nested(5, [&] {
    ucontext_t context;
    ::getcontext(&context);
    std::array<std::uint64_t, 16> general{};
    std::array<std::uint64_t, 64> frames{};
    FrameRegisters registers = interrupted_registers(&context, general);
    registers.others = nullptr;
    const WalkResult result = unwinder.walk(registers, {}, frames);
    ASSERT_TRUE(result.complete);
    const auto trail = std::make_unique<WalkTrail>();
    EXPECT_EQ(unwinder.walk(registers, {}, *trail), result.frames);
    std::map<std::uint64_t, std::uint64_t> words;
    trail->dependencies([&](std::uint64_t address, std::uint64_t value) {
      words[address] = value;
      return true;
    });
    for (std::size_t i = 1; i < result.frames; ++i) {
      EXPECT_TRUE(std::any_of(words.begin(), words.end(), [&](const auto& word) { return word.second == frames[i]; }));
    }
    for (const auto& [address, value] : words) EXPECT_EQ(*reinterpret_cast<const std::uint64_t*>(address), value);
  });
}

// ---- from random places at which a timer interrupts

std::atomic<long> samples, equal, complete;
std::string first_difference;
std::array<std::uint64_t, 128> ours;
std::array<void*, 160> theirs;

std::string describe_difference(std::size_t at, std::size_t frames) {
  std::string text = "at frame " + std::to_string(at) + " of " + std::to_string(frames) + "; ours:";
  for (std::size_t i = 0; i < std::min<std::size_t>(at + 3, frames); ++i) {
    void* const address = reinterpret_cast<void*>(ours[i]);
    char** const symbol = ::backtrace_symbols(&address, 1);
    text += std::string("\n  ") + (symbol != nullptr ? symbol[0] : "?");
    std::free(symbol);
  }
  return text;
}

void compare(int, siginfo_t*, void* ucontext) {
  std::array<std::uint64_t, 16> general{};
  const FrameRegisters here = interrupted_registers(ucontext, general);
  const WalkResult walk = unwinder.walk(here, {}, ours);
  const int count = ::backtrace(theirs.data(), static_cast<int>(theirs.size()));
  // The compiler's walk begins with this handler and the trampoline.
  const auto end = theirs.begin() + count;
  const auto begin = std::find(theirs.begin(), end, reinterpret_cast<void*>(here.pc));
  const auto frames = static_cast<std::size_t>(end - begin);
  ++samples;
  complete += walk.complete ? 1 : 0;
  bool same = true;
  std::size_t i = 0;
  // The compiler's unwinder stops at an unknown function; this one may continue by frame pointers.
  for (; i < frames && same; ++i) {
    const auto pc = reinterpret_cast<std::uint64_t>(begin[static_cast<std::ptrdiff_t>(i)]);
    same = (i < walk.frames ? ours[i] == pc : !walk.complete) || (i + 1 == frames && pc == 0);
  }
  equal += same && frames != 0 ? 1 : 0;
  if (!same && first_difference.empty()) first_difference = describe_difference(i, frames);
}

// The stack pointer is realigned: the CFA is kept in memory.
[[gnu::noinline]] double aligned_work(std::size_t bytes) {
  alignas(64) volatile double local[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  auto* const more = static_cast<volatile char*>(__builtin_alloca(bytes + 1));
  more[0] = 1;
  double sum = 0;
  for (int i = 0; i < 200; ++i) sum += local[i % 8] * more[0];
  return sum;
}

int by_value(const void* a, const void* b) { return *static_cast<const int*>(a) - *static_cast<const int*>(b); }

[[gnu::noinline]] void throw_deep(int depth) {
  if (depth == 0) throw std::runtime_error("thrown on purpose");
  throw_deep(depth - 1);
  asm volatile("" ::: "memory");
}

void jump_out() {
  std::jmp_buf back;
  if (setjmp(back) == 0) nested(5, [&] { std::longjmp(back, 1); });
}

void mixed_work() {
  std::vector<int> numbers(2000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 2003);
  std::qsort(numbers.data(), numbers.size(), sizeof(int), by_value);
  std::map<std::string, int> words;
  for (int i = 0; i < 200; ++i) words[std::to_string(i * i)] = i;
  double sum = 0;
  for (std::size_t i = 0; i < 200; ++i) sum += aligned_work(i);
  jump_out();
  try {
    throw_deep(5);
  } catch (const std::runtime_error&) {
    sum += 1;
  }
  char text[64];
  for (int i = 0; i < 100; ++i) std::snprintf(text, sizeof(text), "%d %g %s", i, sum, "text");
}

TEST(Unwinder, AgreesWithTheCompilersUnwinderWhereverItInterrupts) {
  (void)compilers_walk();  // loads libgcc_s outside the handler
  samples = equal = complete = 0;
  struct sigaction action {
  }, before{};
  action.sa_sigaction = compare;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ASSERT_EQ(::sigaction(SIGPROF, &action, &before), 0);
  timer_t timer{};
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGPROF;
  ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec interval{{0, 150'000}, {0, 150'000}};
  ::timer_settime(timer, 0, &interval, nullptr);
  while (samples < 3000) mixed_work();
  ::timer_delete(timer);
  ::sigaction(SIGPROF, &before, nullptr);
  EXPECT_EQ(equal, samples) << first_difference;
  // The last instructions of longjmp keep the return address in a register, which is not followed.
  EXPECT_GE(complete, samples - samples / 100);
}

// ---- through signal frames and other stacks

Walk in_handler;

void walk_in_handler(int) { in_handler = walk_here(); }

TEST(Unwinder, PassesThroughASignalFrameOnAnAlternateStack) {
  const auto alternate = std::make_unique<std::array<char, 65536>>();
  stack_t stack{}, before_stack{};
  stack.ss_sp = alternate->data();
  stack.ss_size = alternate->size();
  ASSERT_EQ(::sigaltstack(&stack, &before_stack), 0);
  struct sigaction action {
  }, before{};
  action.sa_handler = walk_in_handler;
  action.sa_flags = SA_ONSTACK;
  ASSERT_EQ(::sigaction(SIGUSR2, &action, &before), 0);
  std::vector<std::uint64_t> outside;
  nested(6, [&] {
    outside = walk_here().pcs();
    ::raise(SIGUSR2);
  });
  ::sigaction(SIGUSR2, &before, nullptr);
  ::sigaltstack(&before_stack, nullptr);
  EXPECT_TRUE(in_handler.result.complete);
  EXPECT_GE(common_tail(in_handler.pcs(), outside), outside.size() - 2);
}

TEST(Unwinder, WalksACoroutinesStack) {
  static ucontext_t main_context, coroutine;
  static Walk walk;
  std::vector<char> stack(65536);
  ::getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack.data();
  coroutine.uc_stack.ss_size = stack.size();
  coroutine.uc_link = &main_context;
  ::makecontext(
      &coroutine, +[] { nested(4, [] { walk = walk_here(); }); }, 0);
  ::swapcontext(&main_context, &coroutine);
  EXPECT_GT(walk.result.frames, 6u);
}

// A function without unwind information whose caller has a frame pointer chain.
extern "C" void ardoise_test_no_cfi(void (*function)());
asm(R"(
  .text
  .type ardoise_test_no_cfi, @function
ardoise_test_no_cfi:
  push %rbp
  mov %rsp, %rbp
  call *%rdi
  pop %rbp
  ret
  .size ardoise_test_no_cfi, . - ardoise_test_no_cfi
)");

TEST(Unwinder, UsesFramePointersWhereThereIsNoUnwindInformation) {
  static Walk walk;
  nested(3, [] { ardoise_test_no_cfi([] { walk = walk_here(); }); });
  const auto pcs = walk.pcs();
  const auto inside = std::find_if(pcs.begin(), pcs.end(), [](std::uint64_t pc) {
    const auto begin = reinterpret_cast<std::uint64_t>(&ardoise_test_no_cfi);
    return pc > begin && pc < begin + 16;
  });
  ASSERT_NE(inside, pcs.end());
  // Its caller's return address is certainly at rbp + 8; the rest depends on whether that caller keeps rbp.
  EXPECT_NE(inside + 1, pcs.end());
}

TEST(Unwinder, ThreadsShareRules) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        nested(3 + i, [&] {
          const Walk walk = walk_here();
          if (!walk.result.complete) ++wrong;
        });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

#endif

}  // namespace
}  // namespace ardoise::instrument

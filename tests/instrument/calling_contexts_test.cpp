// The tree of calling contexts, and the cache of call contexts that fills it from MPI calls.
#include "instrument/sampling/calling_contexts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "instrument/sampling/call_contexts.hpp"

namespace ardoise::instrument {
namespace {

using Path = std::vector<std::uint64_t>;  // innermost first

TEST(CallingContexts, SamePathSameNumber) {
  ContextBudget budget(1000);
  CallingContexts contexts(budget);
  ASSERT_TRUE(contexts.ready());
  const auto first = contexts.find_or_add(Path{3, 2, 1}, 0);
  EXPECT_EQ(contexts.find_or_add(Path{3, 2, 1}, 0).context, first.context);
  EXPECT_EQ(contexts.size(), 4u);
  const auto& node = contexts.node(first.context);
  EXPECT_EQ(node.pc, 3u);
  EXPECT_EQ(contexts.node(node.parent).pc, 2u);
  EXPECT_EQ(contexts.node(contexts.node(node.parent).parent).parent, 0u);
}

TEST(CallingContexts, LeafIsAnotherNodeThanAReturnAddress) {
  ContextBudget budget(1000);
  CallingContexts contexts(budget);
  const auto call = contexts.find_or_add(Path{9, 1}, 0).context;
  const auto leaf = contexts.find_or_add(Path{12, 1}, 9).context;
  EXPECT_NE(call, leaf);
  EXPECT_EQ(contexts.node(leaf).pc, 9u);
  EXPECT_EQ(contexts.node(leaf).flags, CallingContexts::kLeaf);
  EXPECT_EQ(contexts.node(leaf).parent, contexts.node(call).parent);
}

// Against a std::map of whole paths, through several sizes of the index.
TEST(CallingContexts, ManyPathsKeepTheirNumbers) {
  ContextBudget budget(100'000);
  CallingContexts contexts(budget);
  std::mt19937 random(7);
  std::map<Path, std::uint32_t> known;
  for (int i = 0; i < 20'000; ++i) {
    Path path(1 + random() % 6);
    for (auto& pc : path) pc = 0x400000 + random() % 9 * 16;
    const auto found = contexts.find_or_add(path, 0);
    ASSERT_FALSE(found.truncated);
    const auto [entry, fresh] = known.try_emplace(path, found.context);
    ASSERT_EQ(entry->second, found.context);
  }
  for (const auto& [path, number] : known) {
    Path back;
    for (std::uint32_t context = number; context != 0; context = contexts.node(context).parent) {
      back.push_back(contexts.node(context).pc);
    }
    ASSERT_EQ(back, path);
  }
}

TEST(CallingContexts, WhenFullTheDeepestKnownCallerIsUsed) {
  ContextBudget budget(3);
  CallingContexts contexts(budget);
  const auto whole = contexts.find_or_add(Path{3, 2, 1}, 0);
  EXPECT_FALSE(whole.truncated);
  const auto cut = contexts.find_or_add(Path{7, 2, 1}, 0);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(contexts.node(cut.context).pc, 2u);
  const auto nothing = contexts.find_or_add(Path{8}, 0);
  EXPECT_TRUE(nothing.truncated);
  EXPECT_EQ(nothing.context, 0u);
  EXPECT_EQ(contexts.find_or_add(Path{3, 2, 1}, 0).context, whole.context);
}

TEST(CallingContexts, BudgetComesBack) {
  ContextBudget budget(10);
  for (int round = 0; round < 5; ++round) {
    CallingContexts contexts(budget);
    EXPECT_FALSE(contexts.find_or_add(Path{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0).truncated);
    EXPECT_TRUE(contexts.find_or_add(Path{11}, 0).truncated);
  }
}

TEST(CallingContexts, UnloadedModulesAreForgottenAndNumbersStay) {
  ContextBudget budget(1000);
  CallingContexts contexts(budget);
  const auto inside = contexts.find_or_add(Path{0x5010, 0x1000}, 0).context;
  const auto below = contexts.find_or_add(Path{0x2000, 0x5010, 0x1000}, 0).context;
  const auto outside = contexts.find_or_add(Path{0x3000, 0x1000}, 0).context;
  contexts.forget(0x5000, 0x6000);
  EXPECT_EQ(contexts.find_or_add(Path{0x3000, 0x1000}, 0).context, outside);
  const auto again = contexts.find_or_add(Path{0x2000, 0x5010, 0x1000}, 0).context;
  EXPECT_NE(again, below);
  EXPECT_NE(contexts.node(again).parent, inside);
  EXPECT_EQ(contexts.node(inside).pc, 0x5010u);
  EXPECT_EQ(contexts.node(contexts.node(inside).parent).pc, 0x1000u);
}

#if defined(__x86_64__)

// ---- call contexts, of real frames of this test

struct CallContextsTest : testing::Test {
  ContextBudget budget{32'000};
  CallingContexts contexts{budget};
  std::unique_ptr<CallContexts> calls = std::make_unique<CallContexts>();
  std::unique_ptr<Unwinder> unwinder = std::make_unique<Unwinder>();
  int walks = 0;
  bool checks = false;

  // As on_enter(), for a "call" made by this function's caller.
  [[gnu::noinline]] void call(std::uint32_t function, const CallSums& more) {
    ObservedFrame frame;
    frame.return_address = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
    frame.function = function;
    asm volatile("lea 0(%%rip), %%rax\n\tmov %%rax, %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2\n\tmov %%rbx, %3"
                 : "=m"(frame.registers.pc), "=m"(frame.registers.sp), "=m"(frame.registers.rbp),
                   "=m"(frame.registers.rbx)
                 :
                 : "rax");
    if (const auto known = calls->find_known(frame)) {
      EXPECT_TRUE(calls->add_known(frame, more));
      if (checks) expect_path(*known, frame);
      return;
    }
    ++walks;
    if (calls->must_drain()) drain();
    const std::uint32_t context = calls->add_new(frame, more, {}, *unwinder, contexts);
    if (checks) expect_path(context, frame);
  }
  // Expects that the context's path equals a walk of the whole stack.
  void expect_path(std::uint32_t context, const ObservedFrame& frame) {
    std::array<std::uint64_t, CallingContexts::kMaxDepth> frames{};
    const auto walk = unwinder->walk(frame.registers, {}, frames);
    const auto end = frames.begin() + static_cast<std::ptrdiff_t>(walk.frames);
    const Path expected(std::find(frames.begin(), end, frame.return_address), end);
    Path path;
    for (; context != 0; context = contexts.node(context).parent) path.push_back(contexts.node(context).pc);
    ASSERT_EQ(path, expected);
  }
  void drain() {
    std::array<ContextTotalsRecord, 64> records{};
    for (;;) {
      const std::size_t count = calls->drain(records);
      for (std::size_t i = 0; i < count; ++i) {
        CallSums& sum = sums[{records[i].context, records[i].function}];
        sum.calls += records[i].calls;
        sum.ticks += records[i].ticks;
        sum.bytes_sent += records[i].bytes_sent;
      }
      if (count < records.size()) return;
    }
  }
  std::map<std::pair<std::uint32_t, std::uint16_t>, CallSums> sums;
};

[[gnu::noinline]] void caller_a(CallContextsTest& fixture, std::uint32_t function) {
  fixture.call(function, {1, 10, 100, 0});
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] void caller_b(CallContextsTest& fixture, std::uint32_t function) {
  caller_a(fixture, function);
  asm volatile("" ::: "memory");
}
[[gnu::noinline]] void at_depth(CallContextsTest& fixture, int depth) {
  if (depth == 0) return caller_a(fixture, 5);
  at_depth(fixture, depth - 1);
  asm volatile("" ::: "memory");
}

TEST_F(CallContextsTest, RepeatedCallsAreWalkedOnce) {
  for (int i = 0; i < 1000; ++i) caller_a(*this, 5);
  EXPECT_EQ(walks, 1);
  drain();
  ASSERT_EQ(sums.size(), 1u);
  const auto& [key, sum] = *sums.begin();
  EXPECT_EQ(key.second, 4u) << "functions are counted from 0 in records";
  EXPECT_EQ(sum.calls, 1000u);
  EXPECT_EQ(sum.ticks, 10'000u);
  EXPECT_EQ(sum.bytes_sent, 100'000u);
}

// The caller of the call and its stack pointer are the same; the caller's caller is not.
TEST_F(CallContextsTest, AnotherCallerFurtherOutIsAnotherContext) {
  for (int i = 0; i < 100; ++i) {
    at_depth(*this, i % 7);
    caller_b(*this, 5);
    at_depth(*this, i % 3);
  }
  drain();
  std::uint64_t calls_in_all = 0;
  for (const auto& [key, sum] : sums) calls_in_all += sum.calls;
  EXPECT_EQ(calls_in_all, 300u);
  // Seven depths from one line, three from another, and caller_b.
  EXPECT_EQ(sums.size(), 11u);
}

TEST_F(CallContextsTest, TwoLinesThatCallTheSameAreTwoContexts) {
  for (int i = 0; i < 100; ++i) {
    caller_b(*this, 5);
    caller_b(*this, 5);
    caller_b(*this, 6);
  }
  drain();
  EXPECT_EQ(sums.size(), 3u);
  for (const auto& [key, sum] : sums) EXPECT_EQ(sum.calls, 100u);
  EXPECT_LE(walks, 300);
}

TEST_F(CallContextsTest, MoreContextsThanEntriesLoseNothing) {
  for (int round = 0; round < 3; ++round) {
    for (int depth = 0; depth < 60; ++depth) {
      for (std::uint32_t function = 1; function < 20; ++function) {
        if (depth == 0) caller_b(*this, function);
        at_depth(*this, depth);
      }
    }
  }
  drain();
  std::uint64_t calls_in_all = 0;
  for (const auto& [key, sum] : sums) calls_in_all += sum.calls;
  EXPECT_EQ(calls_in_all, 3u * (60 * 19 + 19));
}

// Functions with frames of every kind, which call each other at random: frames of a known and of an unknown size, with
// a realigned stack, and with registers that they save.
struct RandomCalls {
  CallContextsTest& fixture;
  std::mt19937 random;
  int left;

  [[gnu::noinline]] void any(int depth) {
    if (left <= 0 || fixture.HasFatalFailure()) return;
    const auto choice = random() % 8;
    if (depth == 0 || choice == 0) return leaf();
    switch (choice % 4) {
      case 0:
        return plain(depth - 1);
      case 1:
        return of_any_size(depth - 1);
      case 2:
        return realigned(depth - 1);
      default:
        return with_registers(depth - 1);
    }
  }
  [[gnu::noinline]] void leaf() {
    --left;
    if (random() % 2 == 0) {
      caller_a(fixture, 5);
    } else {
      caller_b(fixture, 6);
    }
    asm volatile("" ::: "memory");
  }
  [[gnu::noinline]] void plain(int depth) {
    any(depth);
    any(depth);
    asm volatile("" ::: "memory");
  }
  [[gnu::noinline]] void of_any_size(int depth) {
    auto* const room = static_cast<volatile char*>(__builtin_alloca(16 + random() % 512));
    room[0] = 1;
    any(depth);
    room[1] = room[0];
    any(depth);
  }
  [[gnu::noinline]] void realigned(int depth) {
    alignas(128) volatile char aligned[128];
    aligned[0] = 1;
    any(depth);
    aligned[1] = aligned[0];
  }
  [[gnu::noinline]] void with_registers(int depth) {
    for (unsigned i = 0; i < 1 + random() % 3; ++i) {
      asm volatile("" ::: "rbx", "r12", "r13", "r14", "memory");
      any(depth);
    }
    asm volatile("" ::: "memory");
  }
};

TEST_F(CallContextsTest, AWalkThatStopsWhereTheStackIsKnownFindsTheSame) {
  checks = true;
  for (const int depth : {3, 12, 40, 120}) {
    SCOPED_TRACE(depth);
    for (unsigned seed = 0; seed < 8 && !HasFatalFailure(); ++seed)
      RandomCalls{*this, std::mt19937(seed), 60}.any(depth);
  }
  // Deeper than a walk goes: the paths begin at different frames, and take up to 256 contexts each.
  RandomCalls{*this, std::mt19937(1), 40}.any(400);
  EXPECT_GT(walks, 100);
}

// The same function at the same stack pointer, called from eight others.
template <int kNumber>
[[gnu::noinline]] void one_of_many(CallContextsTest& fixture) {
  caller_a(fixture, 5);
  asm volatile("" ::"i"(kNumber) : "memory");
}
template <int... kNumbers>
void each_of_many(CallContextsTest& fixture, std::integer_sequence<int, kNumbers...>) {
  (one_of_many<kNumbers>(fixture), ...);
}

TEST_F(CallContextsTest, ContextsOfOnePlaceDoNotDriveEachOtherOut) {
  for (int round = 0; round < 10; ++round) each_of_many(*this, std::make_integer_sequence<int, 8>());
  EXPECT_EQ(walks, 8);
}

// Each call is deeper than all before it, so each walk is new.
TEST_F(CallContextsTest, CallsFromEverNewDepthsAreKnownWhenTheyComeAgain) {
  for (int round = 0; round < 3; ++round) {
    for (int depth = 0; depth < 100; ++depth) at_depth(*this, depth);
  }
  EXPECT_EQ(walks, 100);
}

TEST_F(CallContextsTest, AfterUnloadingNothingOldIsUsed) {
  caller_a(*this, 5);
  calls->forget();
  caller_a(*this, 5);
  EXPECT_EQ(walks, 2);
  drain();
  std::uint64_t calls_in_all = 0;
  for (const auto& [key, sum] : sums) calls_in_all += sum.calls;
  EXPECT_EQ(calls_in_all, 2u);
}

#endif

}  // namespace
}  // namespace ardoise::instrument

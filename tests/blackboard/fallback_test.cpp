// Code paths that a usual machine and a usual number of threads never take: fences without the kernel's help, and more
// threads than slots.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <thread>

#include "blackboard/asymmetric_fence.hpp"
#include "blackboard/blackboard.hpp"
#include "blackboard/thread_slot.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

constexpr EntryType kOther = entry_type("", "other");

// All operations that need the fences: sleeping and waking, adding and removing, waiting for bytes.
void exercise_board(unsigned workers, int rounds) {
  std::atomic<int> jobs{0}, joined{0};
  Blackboard board({.workers = workers, .byte_limit = 1000, .on_failure = {}});
  board.add({"count", {kNumber}, [&](const Context& context, std::span<EntryRef> entries) {
               if (entries[0].payload().size() == 100) context.board.submit(make_entry_of(kOther, 1));
               ++jobs;
             }});
  board.add({"join", {kOther, kOther}, [&](const Context&, std::span<EntryRef>) { ++joined; }});
  for (int round = 0; round < rounds; ++round) {
    auto state = std::make_unique<std::atomic<int>>(0);
    const SourceId passing =
        board.add({"passing", {kNumber}, [raw = state.get()](const Context&, std::span<EntryRef>) { ++*raw; }});
    ASSERT_TRUE(board.wait_below_limit(std::chrono::minutes(1)));
    board.submit(make_entry(kNumber, 100));
    board.submit(make_entry(kNumber, 2000));
    ASSERT_TRUE(board.remove(passing));
    state.reset();
    if (round % 8 == 0) board.drain();
  }
  board.drain();
  EXPECT_EQ(jobs, 2 * rounds);
  EXPECT_EQ(joined, rounds / 2);
  EXPECT_EQ(board.bytes(), 0u);
}

TEST(Fences, WorkWithTheKernel) {
  exercise_board(2, 500);
  // On a kernel that offers it; says in the log whether this run used it.
  RecordProperty("membarrier", detail::kernel_fences.load() ? "yes" : "no");
}

TEST(Fences, WorkWithoutTheKernel) {
  prepare_fences();
  const bool before = detail::kernel_fences.exchange(false);
  exercise_board(2, 500);
  detail::kernel_fences = before;
}

TEST(ThreadSlots, AreOwnWhileThereAreAndGivenBack) {
  constexpr int kThreads = 3 * kSlots;
  for (int round = 0; round < 2; ++round) {
    std::latch all(kThreads);
    std::vector<std::atomic<int>> users(kSlots);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        const ThreadSlot slot = this_thread_slot();
        ++users[slot.index];
        all.arrive_and_wait();
        EXPECT_EQ(this_thread_slot().index, slot.index);
      });
    }
    for (auto& thread : threads) thread.join();
    int own = 0;
    for (unsigned i = 0; i < kOwnSlots; ++i) {
      EXPECT_LE(users[i], 1);
      own += users[i];
    }
    // Other threads of this process may hold a few; if they were not returned, the second round would find none.
    EXPECT_GE(own, static_cast<int>(kOwnSlots) - 4);
    EXPECT_EQ(own + users[kOwnSlots], kThreads);
  }
}

TEST(ThreadSlots, MoreWorkersAndSubmittersThanSlotsLoseNothing) {
  constexpr int kThreads = kSlots;
  constexpr int kEach = 200;
  std::atomic<int> jobs{0}, joined{0};
  Blackboard board({.workers = kSlots + 4, .on_failure = {}});
  board.add({"count", {kNumber}, [&](const Context& context, std::span<EntryRef>) {
               ++jobs;
               context.board.submit(make_entry_of(kOther, 1));
             }});
  board.add({"join", {kOther, kOther}, [&](const Context&, std::span<EntryRef>) { ++joined; }});
  std::latch all(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      all.arrive_and_wait();
      for (int i = 0; i < kEach; ++i) {
        board.submit(make_entry_of(kNumber, i));
        if (i % 100 == 0) {
          EXPECT_TRUE(board.remove(board.add({"x", {kOther}, [](const Context&, std::span<EntryRef>) {}})));
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  board.drain();
  EXPECT_EQ(jobs, kThreads * kEach);
  EXPECT_EQ(joined, kThreads * kEach / 2);
  EXPECT_EQ(board.bytes(), 0u);
  EXPECT_EQ(board.counters().submitted, static_cast<std::uint64_t>(2 * kThreads * kEach));
}

}  // namespace
}  // namespace ardoise::blackboard

// Submission to a board: levels, order without workers, descendants, drain, destruction, counters.
#include "blackboard/blackboard.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

class Boards : public testing::TestWithParam<unsigned> {
 protected:
  Options options() const { return {.workers = GetParam(), .on_failure = {}}; }
};
INSTANTIATE_TEST_SUITE_P(Workers, Boards, testing::Values(0u, 1u, 2u, 5u));

TEST_P(Boards, RunsOneJobForEachEntryAndSource) {
  Blackboard board(options());
  std::atomic<int> first{0}, second{0};
  board.add({"first", {kNumber}, [&](const Context&, std::span<EntryRef> e) { first += e[0].as<int>(); }});
  board.add({"second", {kNumber}, [&](const Context&, std::span<EntryRef> e) { second += 2 * e[0].as<int>(); }});
  for (int i = 1; i <= 1000; ++i) board.submit(number(i));
  board.drain();
  EXPECT_EQ(first, 500500);
  EXPECT_EQ(second, 2 * 500500);
  const Counters counters = board.counters();
  EXPECT_EQ(counters.submitted, 1000u);
  EXPECT_EQ(counters.unmatched, 0u);
  EXPECT_EQ(counters.jobs_run, 2000u);
  EXPECT_EQ(counters.jobs_failed, 0u);
}

TEST_P(Boards, LevelsAreApart) {
  Blackboard board(options());
  std::atomic<int> a{0}, b{0};
  board.add({"x@a", {entry_type("a", "x")}, [&](const Context&, std::span<EntryRef>) { ++a; }});
  board.add({"x@b", {entry_type("b", "x")}, [&](const Context&, std::span<EntryRef>) { ++b; }});
  for (int i = 0; i < 10; ++i) board.submit(number(i, entry_type("a", "x")));
  board.submit(number(1, entry_type("b", "x")));
  board.submit(number(1, entry_type("c", "x")));
  board.drain();
  EXPECT_EQ(a, 10);
  EXPECT_EQ(b, 1);
  EXPECT_EQ(board.counters().unmatched, 1u);
}

TEST_P(Boards, UnmatchedEntriesAreLetGoAtOnce) {
  Blackboard board(options());
  EntryRef entry = number(1);
  board.submit(entry);
  EXPECT_EQ(entry.use_count(), 1u);
  EXPECT_EQ(board.counters().unmatched, 1u);
}

// Each job submits two more, eleven generations deep: 2^12 - 1 jobs, and drain() waits for all of them.
TEST_P(Boards, DrainWaitsForDescendants) {
  Blackboard board(options());
  std::atomic<int> jobs{0};
  board.add({"tree", {kNumber}, [&](const Context& context, std::span<EntryRef> entries) {
               ++jobs;
               const int depth = entries[0].as<int>();
               if (depth == 0) return;
               context.board.submit(number(depth - 1));
               context.board.submit(number(depth - 1));
             }});
  for (int round = 1; round <= 20; ++round) {
    board.submit(number(11));
    board.drain();
    ASSERT_EQ(jobs, round * 4095);
  }
}

// A chain has one job alive at any time; drain() called in the middle of it must not mistake the moment between a job's
// end and its child's begin for the end.
TEST_P(Boards, DrainFollowsAChain) {
  constexpr int kLength = 300;
  Blackboard board(options());
  std::atomic<int> left{0};
  board.add({"chain", {kNumber}, [&](const Context& context, std::span<EntryRef> entries) {
               const int value = entries[0].as<int>();
               left.store(value, std::memory_order_relaxed);
               // Jobs of several lengths, some as long as a check of the counters.
               for (int i = 0; i < 20 * (value % 16); ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
               if (value > 0) context.board.submit(number(value - 1));
             }});
  for (int round = 0; round < 2000; ++round) {
    left = kLength;
    board.submit(number(kLength));
    while (GetParam() != 0 && left.load(std::memory_order_relaxed) == kLength) std::this_thread::yield();
    board.drain();
    ASSERT_EQ(left, 0) << "in round " << round;
  }
}

TEST_P(Boards, SeveralThreadsMayDrain) {
  Blackboard board(options());
  std::atomic<int> jobs{0};
  board.add({"count", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        board.submit(number(i));
        if (i % 10 == 0) board.drain();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  board.drain();
  EXPECT_EQ(jobs, 800);
}

TEST_P(Boards, DestructionFinishesWhatIsReady) {
  std::atomic<int> jobs{0};
  {
    Blackboard board(options());
    board.add({"count", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
    for (int i = 0; i < 5000; ++i) board.submit(number(i));
  }
  EXPECT_EQ(jobs, 5000);
}

TEST_P(Boards, ALastUserIsTheSoleOwnerAndMayWrite) {
  Blackboard board(options());
  std::atomic<int> writable{0}, shared{0};
  board.add({"writer", {kNumber}, [&](const Context&, std::span<EntryRef> entries) {
               if (entries[0].writable().empty()) {
                 ++shared;
               } else {
                 ++writable;
               }
             }});
  EntryRef kept = number(1);
  board.submit(kept);
  board.drain();
  EXPECT_EQ(shared, 1);
  board.submit(std::move(kept));
  board.drain();
  EXPECT_EQ(writable, 1);
}

TEST_P(Boards, WorkerNumbersAreExclusiveSlots) {
  Blackboard board(options());
  ASSERT_GE(board.workers(), 1u);
  struct alignas(64) Slot {
    std::atomic<bool> busy{false};
    long count = 0;  // plain: the thread sanitizer checks the promise
  };
  std::vector<Slot> slots(board.workers());
  std::atomic<int> conflicts{0};
  board.add({"slots", {kNumber}, [&](const Context& context, std::span<EntryRef>) {
               Slot& slot = slots.at(context.worker);
               if (slot.busy.exchange(true)) ++conflicts;
               ++slot.count;
               slot.busy = false;
             }});
  for (int i = 0; i < 20000; ++i) board.submit(number(i));
  board.drain();
  EXPECT_EQ(conflicts, 0);
  long total = 0;
  for (const Slot& slot : slots) total += slot.count;
  EXPECT_EQ(total, 20000);
}

TEST_P(Boards, ManyThreadsSubmit) {
  Blackboard board(options());
  std::atomic<long> sum{0};
  board.add({"sum", {kNumber}, [&](const Context&, std::span<EntryRef> e) { sum += e[0].as<int>(); }});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 1; i <= 3000; ++i) board.submit(number(i));
    });
  }
  for (auto& thread : threads) thread.join();
  board.drain();
  EXPECT_EQ(sum, 4L * 3000 * 3001 / 2);
  EXPECT_EQ(board.counters().submitted, 12000u);
}

TEST_P(Boards, BoardsNest) {
  Blackboard outer(options());
  std::atomic<int> inner_jobs{0}, seen_outer{0};
  outer.add({"outer", {kNumber}, [&](const Context& context, std::span<EntryRef>) {
               Blackboard inner({.workers = 0, .on_failure = {}});
               inner.add({"inner", {kNumber}, [&](const Context& inside, std::span<EntryRef>) {
                            ++inner_jobs;
                            if (inside.worker == 0) context.board.submit(number(0, entry_type("", "seen")));
                          }});
               inner.submit(number(1));
               inner.drain();
             }});
  outer.add({"seen", {entry_type("", "seen")}, [&](const Context&, std::span<EntryRef>) { ++seen_outer; }});
  for (int i = 0; i < 50; ++i) outer.submit(number(i));
  outer.drain();
  EXPECT_EQ(inner_jobs, 50);
  EXPECT_EQ(seen_outer, 50);
}

TEST(BoardWithoutWorkers, RunsInOrderInsideDrainOnly) {
  Blackboard board({.workers = 0, .on_failure = {}});
  std::vector<int> order;
  board.add({"order", {kNumber}, [&](const Context& context, std::span<EntryRef> entries) {
               EXPECT_EQ(context.worker, 0u);
               const int value = entries[0].as<int>();
               order.push_back(value);
               if (value < 10) context.board.submit(number(value + 10));
             }});
  for (int i = 0; i < 3; ++i) board.submit(number(i));
  EXPECT_TRUE(order.empty());
  board.drain();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 10, 11, 12}));
}

// Far more than the FIFOs hold: the overflow list loses nothing.
TEST(BoardWithWorkers, OverflowLosesNothing) {
  Blackboard board({.workers = 2, .on_failure = {}});
  std::atomic<bool> go{false};
  std::mutex mutex;
  std::set<int> seen;
  board.add({"gate", {kNumber}, [&](const Context&, std::span<EntryRef> entries) {
               go.wait(false);
               const std::lock_guard lock(mutex);
               EXPECT_TRUE(seen.insert(entries[0].as<int>()).second);
             }});
  for (int i = 0; i < 20000; ++i) board.submit(number(i));
  go = true;
  go.notify_all();
  board.drain();
  EXPECT_EQ(seen.size(), 20000u);
}

// An operation itself may flood the queue: it neither blocks nor loses.
TEST(BoardWithWorkers, AnOperationMayOverflowTheQueue) {
  Blackboard board({.workers = 1, .on_failure = {}});
  std::atomic<int> jobs{0};
  board.add({"flood", {entry_type("", "flood")}, [](const Context& context, std::span<EntryRef>) {
               for (int i = 0; i < 10000; ++i) context.board.submit(number(i));
             }});
  board.add({"count", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
  board.submit(number(0, entry_type("", "flood")));
  board.drain();
  EXPECT_EQ(jobs, 10000);
}

// A lost wake-up would leave the entry of a round with sleeping workers, and drain() would hang.
TEST(BoardWithWorkers, WakesUpFromSleepEveryTime) {
  Blackboard board({.workers = 3, .on_failure = {}});
  std::atomic<int> jobs{0};
  board.add({"count", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
  for (int round = 0; round < 2000; ++round) {
    board.submit(number(round));
    if (round % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(round % 64));
    board.drain();
    ASSERT_EQ(jobs, round + 1);
  }
}

// Two workers that need each other at the same time: work brought by one operation wakes another worker.
TEST(BoardWithWorkers, WorkBroughtByAnOperationWakesAnotherWorker) {
  Blackboard board({.workers = 2, .on_failure = {}});
  std::atomic<int> met{0};
  board.add({"meet", {kNumber}, [&](const Context& context, std::span<EntryRef> entries) {
               if (entries[0].as<int>() == 0) context.board.submit(number(1));
               ++met;
               met.notify_all();
               for (int seen = met; seen < 2; seen = met) met.wait(seen);
             }});
  for (int round = 0; round < 200; ++round) {
    met = 0;
    board.submit(number(0));
    board.drain();
    ASSERT_EQ(met, 2);
  }
}

TEST(BoardWithWorkers, IdleUsesNoProcessor) {
  Blackboard board({.workers = 4, .on_failure = {}});
  board.add({"nothing", {kNumber}, [](const Context&, std::span<EntryRef>) {}});
  board.submit(number(1));
  board.drain();
  const auto processor_ms = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const long before = processor_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  // One spinning worker would use a good part of 1,000 ms even on a busy machine.
  EXPECT_LT(processor_ms() - before, 50);
}

TEST(Blackboard, DrainInsideAnOperationFailsThatJob) {
  for (const unsigned workers : {0u, 2u}) {
    std::string message;
    Blackboard board(
        {.workers = workers, .on_failure = [&](std::string_view, std::string_view what) { message = what; }});
    board.add({"drainer", {kNumber}, [](const Context& context, std::span<EntryRef>) { context.board.drain(); }});
    board.submit(number(1));
    board.drain();
    EXPECT_NE(message.find("drain() was called from inside an operation"), std::string::npos) << message;
  }
}

TEST(Blackboard, IgnoresAnEmptyReference) {
  Blackboard board({.workers = 0, .on_failure = {}});
  board.submit(EntryRef());
  EXPECT_EQ(board.counters().submitted, 0u);
}

}  // namespace
}  // namespace ardoise::blackboard

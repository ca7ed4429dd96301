// Registering and removing knowledge sources, from outside and from inside operations.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "blackboard/blackboard.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

class Registry : public testing::TestWithParam<unsigned> {
 protected:
  Options options() const { return {.workers = GetParam(), .on_failure = {}}; }
};
INSTANTIATE_TEST_SUITE_P(Workers, Registry, testing::Values(0u, 1u, 3u));

TEST_P(Registry, RemovesOnce) {
  Blackboard board(options());
  std::atomic<int> jobs{0};
  const SourceId id = board.add({"count", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
  board.submit(number(1));
  board.drain();
  EXPECT_TRUE(board.remove(id));
  EXPECT_FALSE(board.remove(id));
  EXPECT_FALSE(board.remove(SourceId{12345}));
  board.submit(number(2));
  board.drain();
  EXPECT_EQ(jobs, 1);
  EXPECT_EQ(board.counters().unmatched, 1u);
}

TEST_P(Registry, RefusesASourceThatCouldNeverRun) {
  Blackboard board(options());
  EXPECT_THROW(board.add({"deaf", {}, [](const Context&, std::span<EntryRef>) {}}), std::invalid_argument);
  EXPECT_THROW(board.add({"idle", {kNumber}, {}}), std::invalid_argument);
}

TEST_P(Registry, DropsQueuedJobsOfARemovedSource) {
  Blackboard board(options());
  std::atomic<bool> removed{false};
  std::atomic<int> late{0};
  EntryRef entry = number(1);
  const SourceId id = board.add({"late", {kNumber}, [&](const Context&, std::span<EntryRef>) { late += removed; }});
  for (int i = 0; i < 10000; ++i) board.submit(entry);
  EXPECT_TRUE(board.remove(id));
  removed = true;
  board.drain();
  EXPECT_EQ(late, 0);
  EXPECT_EQ(entry.use_count(), 1u);
}

// After remove() from outside, what the operation used may be destroyed.
TEST_P(Registry, RemoveWaitsForTheOperationThatRuns) {
  if (GetParam() == 0) GTEST_SKIP() << "without workers nothing runs while somebody else removes";
  Blackboard board(options());
  std::atomic<bool> started{false}, finished{false};
  const SourceId id = board.add({"slow", {kNumber}, [&](const Context&, std::span<EntryRef>) {
                                   started = true;
                                   started.notify_all();
                                   std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                   finished = true;
                                 }});
  board.submit(number(1));
  started.wait(false);
  board.remove(id);
  EXPECT_TRUE(finished);
}

TEST_P(Registry, RemoveMeetsOperationsThatAreJustStarting) {
  for (int round = 0; round < 200; ++round) {
    Blackboard board(options());
    auto state = std::make_unique<int>(0);
    const SourceId id =
        board.add({"user", {kNumber}, [raw = state.get()](const Context&, std::span<EntryRef>) { *raw = 1; }});
    board.submit(number(1));
    if (round % 2 == 0) std::this_thread::yield();
    board.remove(id);
    state.reset();  // a later use is a use after free, for the sanitizers
  }
}

TEST_P(Registry, ASourceMayRemoveItself) {
  Blackboard board(options());
  std::atomic<int> jobs{0};
  std::atomic<std::uint64_t> id{0};
  id = board
           .add({"once",
                 {kNumber},
                 [&](const Context& context, std::span<EntryRef>) {
                   // Another worker may have taken a second job already.
                   if (context.board.remove(SourceId{id})) ++jobs;
                 }})
           .value;
  for (int i = 0; i < 100; ++i) board.submit(number(i));
  board.drain();
  EXPECT_EQ(jobs, 1);
}

TEST_P(Registry, AnOperationMayAddSources) {
  Blackboard board(options());
  std::atomic<int> jobs{0};
  board.add({"parent", {entry_type("", "make")}, [&](const Context& context, std::span<EntryRef> entries) {
               context.board.add({"child", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
               if (entries[0].as<int>() == 9) context.board.submit(number(1));
             }});
  for (int i = 0; i < 9; ++i) board.submit(make_entry_of(entry_type("", "make"), i));
  board.drain();
  board.submit(make_entry_of(entry_type("", "make"), 9));
  board.drain();
  EXPECT_EQ(jobs, 10);
}

TEST_P(Registry, DestroysTheOperationOfARemovedSource) {
  Blackboard board(options());
  const auto captured = std::make_shared<int>(0);
  const SourceId id = board.add({"holder", {kNumber}, [captured](const Context&, std::span<EntryRef>) {}});
  for (int i = 0; i < 100; ++i) board.submit(number(i));
  EXPECT_EQ(captured.use_count(), 2);
  EXPECT_TRUE(board.remove(id));
  board.drain();
  // A worker that is becoming idle may destroy it a moment later.
  while (captured.use_count() > 1) std::this_thread::yield();
}

// A destructor in an operation's captures may call the board: no lock is held then.
TEST_P(Registry, CapturesMayUseTheBoardWhenTheyEnd) {
  Blackboard board(options());
  std::atomic<int> jobs{0};
  board.add({"count", {kNumber}, [&](const Context&, std::span<EntryRef>) { ++jobs; }});
  std::shared_ptr<void> at_end(nullptr, [&board](void*) {
    board.remove(board.add({"short", {kNumber}, [](const Context&, std::span<EntryRef>) {}}));
    board.submit(number(1));
  });
  board.remove(
      board.add({"ender", {entry_type("", "x")}, [end = std::move(at_end)](const Context&, std::span<EntryRef>) {}}));
  // A worker that is becoming idle may destroy it.
  while (board.counters().submitted == 0) std::this_thread::yield();
  board.drain();
  EXPECT_EQ(jobs, 1);
}

}  // namespace
}  // namespace ardoise::blackboard

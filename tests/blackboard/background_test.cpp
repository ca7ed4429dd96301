// Workers that leave the processors to others, until they are to hurry.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <stdexcept>

#include "blackboard/blackboard.hpp"
#include "blackboard/threads/mutex.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

int own_priority() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid))); }

class BackgroundBoards : public testing::TestWithParam<unsigned> {
 protected:
  Options options(bool in_background) const {
    return {.workers = GetParam(), .in_background = in_background, .on_failure = {}};
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, BackgroundBoards, testing::Values(0u, 1u, 2u, 5u));

TEST_P(BackgroundBoards, HaveTheLowestPriorityUntilTheyHurry) {
  for (const bool in_background : {false, true}) {
    Blackboard board(options(in_background));
    Mutex mutex;
    std::set<int> priorities;
    board.add({"source", {kNumber}, [&](const Context&, std::span<EntryRef>) {
                 const MutexLock lock(mutex);
                 priorities.insert(own_priority());
               }});
    const auto seen = [&] {
      for (int i = 0; i < 100; ++i) board.submit(number(i));
      board.drain();
      return std::exchange(priorities, {});
    };
    const std::set<int> normal{own_priority()}, lowest{19};
    EXPECT_EQ(seen(), in_background && GetParam() != 0 ? lowest : normal);
    board.hurry();
    EXPECT_EQ(seen(), normal);
    board.hurry();
    EXPECT_EQ(seen(), normal);
  }
}

TEST_P(BackgroundBoards, RunEachJobOnceOverTheChange) {
  const EntryType later = entry_type("", "later");
  for (int round = 0; round < 50; ++round) {
    Blackboard board(options(true));
    std::atomic<int> first{0}, second{0};
    board.add({"source", {kNumber}, [&](const Context& context, std::span<EntryRef>) {
                 ++first;
                 context.board.submit(number(1, later));
               }});
    board.add({"later", {later}, [&](const Context& context, std::span<EntryRef>) {
                 EXPECT_LT(context.worker, context.board.workers());
                 ++second;
               }});
    constexpr int kEntries = 1000;
    for (int i = 0; i < kEntries; ++i) {
      board.submit(number(i));
      if (i == 20 * round) board.hurry();
    }
    board.while_paused([] {});
    board.drain();
    EXPECT_EQ(first, kEntries);
    EXPECT_EQ(second, kEntries);
  }
}

TEST_P(BackgroundBoards, DoNotHurryInsideAnOperation) {
  Blackboard board(options(true));
  std::atomic<int> refused{0};
  board.add({"source", {kNumber}, [&](const Context& context, std::span<EntryRef>) {
               EXPECT_THROW(context.board.hurry(), std::logic_error);
               ++refused;
             }});
  board.submit(number(1));
  board.drain();
  EXPECT_EQ(refused, 1);
}

}  // namespace
}  // namespace ardoise::blackboard

// The bytes of a board: counted while entries live, limited per submitter, safe if the board is destroyed first.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "blackboard/blackboard.hpp"

namespace ardoise::blackboard {
namespace {

using std::chrono::milliseconds;
constexpr EntryType kPack = entry_type("", "pack");

class Bytes : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Workers, Bytes, testing::Values(0u, 2u));

TEST_P(Bytes, AreCountedFromSubmissionToTheLastReference) {
  Blackboard board({.workers = GetParam(), .on_failure = {}});
  board.add({"look", {kPack}, [](const Context&, std::span<EntryRef>) {}});
  EntryRef entry = make_entry(kPack, 1000);
  EXPECT_EQ(board.bytes(), 0u);
  board.submit(entry);
  EXPECT_EQ(board.bytes(), 1000u);
  board.submit(entry);  // counted once
  board.submit(make_entry(kPack, 0));
  board.drain();
  EXPECT_EQ(board.bytes(), 1000u);
  entry = EntryRef();
  EXPECT_EQ(board.bytes(), 0u);
}

TEST_P(Bytes, OfJobsAreGoneWhenDrained) {
  Blackboard board({.workers = GetParam(), .on_failure = {}});
  board.add({"look", {kPack}, [](const Context&, std::span<EntryRef>) {}});
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 100; ++i) board.submit(make_entry(kPack, 100));
    board.drain();
    ASSERT_EQ(board.bytes(), 0u);
  }
}

TEST_P(Bytes, OfAnEntryThatOutlivesItsBoardAreSafe) {
  EntryRef entry = make_entry(kPack, 100);
  {
    Blackboard board({.workers = GetParam(), .on_failure = {}});
    board.submit(entry);
    EXPECT_EQ(board.bytes(), 100u);
  }
  Blackboard next({.workers = GetParam(), .on_failure = {}});
  EXPECT_EQ(next.bytes(), 0u);
  next.submit(make_entry(kPack, 7));
  entry = EntryRef();
  EXPECT_EQ(next.bytes(), 0u);
}

TEST_P(Bytes, OfTheSameEntryOnTwoBoardsCountOnTheFirst) {
  Blackboard one({.workers = GetParam(), .on_failure = {}});
  Blackboard two({.workers = GetParam(), .on_failure = {}});
  const EntryRef entry = make_entry(kPack, 100);
  one.submit(entry);
  two.submit(entry);
  EXPECT_EQ(one.bytes(), 100u);
  EXPECT_EQ(two.bytes(), 0u);
}

TEST(ByteLimit, IsReachedAndLeft) {
  Blackboard board({.workers = 0, .byte_limit = 1000, .on_failure = {}});
  EntryRef first = make_entry(kPack, 1000);
  EntryRef second = make_entry(kPack, 1);
  board.submit(first);
  EXPECT_FALSE(board.over_limit());
  EXPECT_TRUE(board.wait_below_limit(milliseconds(0)));
  board.submit(second);
  EXPECT_TRUE(board.over_limit());
  EXPECT_FALSE(board.wait_below_limit(milliseconds(10)));
  second = EntryRef();
  EXPECT_FALSE(board.over_limit());
  EXPECT_TRUE(board.wait_below_limit(milliseconds(0)));
}

// As ingest does: submit, and wait whenever over the limit. With the wait the bytes never exceed limit + one pack, and
// a lost wake-up would end a wait by its time-out.
TEST(ByteLimit, HoldsBackAFastSubmitter) {
  constexpr std::size_t kLimit = 10000;
  constexpr std::size_t kSize = 1000;
  Blackboard board({.workers = 2, .byte_limit = kLimit, .on_failure = {}});
  std::atomic<std::size_t> jobs{0};
  board.add({"slow", {kPack}, [&](const Context&, std::span<EntryRef>) {
               if (++jobs % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
             }});
  std::size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(board.wait_below_limit(std::chrono::minutes(1)));
    board.submit(make_entry(kPack, kSize));
    most = std::max(most, board.bytes());
  }
  board.drain();
  EXPECT_EQ(jobs, 3000u);
  EXPECT_LE(most, kLimit + kSize);
  EXPECT_EQ(board.bytes(), 0u);
}

TEST(ByteLimit, SeveralWaitersAreAllWoken) {
  Blackboard board({.workers = 0, .byte_limit = 10, .on_failure = {}});
  for (int round = 0; round < 50; ++round) {
    EntryRef entry = make_entry(kPack, 100);
    board.submit(entry);
    std::vector<std::thread> waiters;
    std::atomic<int> below{0};
    for (int i = 0; i < 3; ++i) {
      waiters.emplace_back([&] { below += board.wait_below_limit(std::chrono::minutes(1)); });
    }
    if (round % 2 == 0) std::this_thread::sleep_for(milliseconds(1));
    entry = EntryRef();
    for (auto& waiter : waiters) waiter.join();
    ASSERT_EQ(below, 3);
  }
}

}  // namespace
}  // namespace ardoise::blackboard

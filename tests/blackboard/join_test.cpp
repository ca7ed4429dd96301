// Knowledge sources with several sensitivities.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "blackboard/blackboard.hpp"
#include "tests/blackboard/numbers.hpp"

namespace ardoise::blackboard {
namespace {

class Joins : public testing::TestWithParam<unsigned> {
 protected:
  Options options() const { return {.workers = GetParam(), .on_failure = {}}; }
};
INSTANTIATE_TEST_SUITE_P(Workers, Joins, testing::Values(0u, 1u, 3u));

TEST_P(Joins, RunWhenTheLastSensitivityIsMet) {
  Blackboard board(options());
  std::atomic<int> runs{0};
  board.add({"join", {kind(0), kind(1), kind(2)}, [&](const Context&, std::span<EntryRef>) { ++runs; }});
  board.submit(number_of_kind(0, 1));
  board.submit(number_of_kind(2, 1));
  board.submit(number_of_kind(0, 2));
  board.drain();
  EXPECT_EQ(runs, 0);
  board.submit(number_of_kind(1, 1));
  board.drain();
  EXPECT_EQ(runs, 1);
}

TEST_P(Joins, MatchInOrderAndKeepThePositions) {
  Blackboard board(options());
  std::mutex mutex;
  std::vector<std::pair<int, int>> pairs;
  board.add({"join", {kind(1), kind(0)}, [&](const Context&, std::span<EntryRef> entries) {
               ASSERT_EQ(entries.size(), 2u);
               EXPECT_EQ(entries[0].type(), kind(1));
               EXPECT_EQ(entries[1].type(), kind(0));
               const std::lock_guard lock(mutex);
               pairs.emplace_back(entries[0].as<int>(), entries[1].as<int>());
             }});
  for (int i = 0; i < 100; ++i) board.submit(number_of_kind(0, i));
  for (int i = 0; i < 100; ++i) board.submit(number_of_kind(1, i));
  board.drain();
  ASSERT_EQ(pairs.size(), 100u);
  for (const auto& [first, second] : pairs) EXPECT_EQ(first, second);
}

TEST_P(Joins, OfOneTypeTwiceTakeTwoEntriesInOrder) {
  Blackboard board(options());
  std::mutex mutex;
  std::vector<std::vector<int>> triples;
  board.add({"pairs", {kind(0), kind(1), kind(0)}, [&](const Context&, std::span<EntryRef> entries) {
               const std::lock_guard lock(mutex);
               triples.push_back({entries[0].as<int>(), entries[1].as<int>(), entries[2].as<int>()});
             }});
  for (int i = 0; i < 7; ++i) board.submit(number_of_kind(0, i));
  for (int i = 0; i < 5; ++i) board.submit(number_of_kind(1, i));
  board.drain();
  std::sort(triples.begin(), triples.end());
  EXPECT_EQ(triples, (std::vector<std::vector<int>>{{0, 0, 1}, {2, 1, 3}, {4, 2, 5}}));
  board.submit(number_of_kind(0, 7));
  board.drain();
  EXPECT_EQ(triples.size(), 4u);
}

TEST_P(Joins, ShareEntriesWithOtherSources) {
  Blackboard board(options());
  std::atomic<int> joined{0}, single{0};
  board.add({"join", {kind(0), kind(1)}, [&](const Context&, std::span<EntryRef>) { ++joined; }});
  board.add({"single", {kind(0)}, [&](const Context&, std::span<EntryRef>) { ++single; }});
  for (int i = 0; i < 50; ++i) {
    board.submit(number_of_kind(0, i));
    board.submit(number_of_kind(1, i));
  }
  board.drain();
  EXPECT_EQ(joined, 50);
  EXPECT_EQ(single, 50);
}

// N entries of each of k kinds from T threads make exactly N jobs, each entry in exactly one of them.
TEST_P(Joins, AreExactFromManyThreads) {
  constexpr int kKinds = 4;
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;  // of each kind, from each thread
  Blackboard board(options());
  std::vector<std::vector<std::atomic<int>>> seen(kKinds);
  for (auto& one : seen) one = std::vector<std::atomic<int>>(kThreads * kEach);
  std::atomic<int> jobs{0};
  std::vector<EntryType> sensitivities;
  for (int k = 0; k < kKinds; ++k) sensitivities.push_back(kind(k));
  board.add({"join", sensitivities, [&](const Context&, std::span<EntryRef> entries) {
               ++jobs;
               for (std::size_t k = 0; k < kKinds; ++k) ++seen[k][static_cast<std::size_t>(entries[k].as<int>())];
             }});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&board, t] {
      for (int i = 0; i < kEach; ++i) {
        for (int k = 0; k < kKinds; ++k) board.submit(number_of_kind((k + t) % kKinds, t * kEach + i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  board.drain();
  EXPECT_EQ(jobs, kThreads * kEach);
  for (const auto& one : seen) {
    EXPECT_TRUE(std::all_of(one.begin(), one.end(), [](const auto& count) { return count == 1; }));
  }
  EXPECT_EQ(board.bytes(), 0u);
}

TEST_P(Joins, LetWaitingEntriesGoWhenRemoved) {
  Blackboard board(options());
  const SourceId id = board.add({"join", {kind(0), kind(1)}, [](const Context&, std::span<EntryRef>) {}});
  EntryRef entry = number_of_kind(0, 1);
  board.submit(entry);
  EXPECT_EQ(entry.use_count(), 2u);
  EXPECT_TRUE(board.remove(id));
  EXPECT_EQ(entry.use_count(), 1u);
}

TEST_P(Joins, LetWaitingEntriesGoWithTheBoard) {
  EntryRef entry = number_of_kind(0, 1);
  {
    Blackboard board(options());
    board.add({"join", {kind(0), kind(1)}, [](const Context&, std::span<EntryRef>) {}});
    board.submit(entry);
    board.drain();
    EXPECT_EQ(entry.use_count(), 2u);
  }
  EXPECT_EQ(entry.use_count(), 1u);
}

}  // namespace
}  // namespace ardoise::blackboard

// Bins: the budget, the share of events, lists that are returned as one, and threads and signal handlers that take and
// give at the same time.
#include "instrument/buffer/bin_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace ardoise::instrument {
namespace {

constexpr std::size_t kPoolBin = 4096;

TEST(BinPool, HandsOutTheBudgetAndNoMore) {
  BinPool pool(8 * kPoolBin, kPoolBin);
  std::set<Bin*> bins;
  for (int i = 0; i < 8; ++i) bins.insert(pool.take(PackClass::kPosix));
  EXPECT_EQ(bins.size(), 8u);
  EXPECT_FALSE(bins.contains(nullptr));
  EXPECT_EQ(pool.take(PackClass::kPosix), nullptr);
  EXPECT_EQ(pool.used(PackClass::kPosix), 8u);
  EXPECT_EQ(pool.free_bins(), 0u);
  for (Bin* bin : bins) pool.give(bin);
  EXPECT_EQ(pool.free_bins(), 8u);
  EXPECT_EQ(pool.used(PackClass::kPosix), 0u);
}

TEST(BinPool, TheLastGivenIsTheFirstTaken) {
  BinPool pool(8 * kPoolBin, kPoolBin);
  Bin* const first = pool.take(PackClass::kMpi);
  Bin* const second = pool.take(PackClass::kMpi);
  pool.give(first);
  pool.give(second);
  EXPECT_EQ(pool.take(PackClass::kMpi), second);
  EXPECT_EQ(pool.take(PackClass::kMpi), first);
}

TEST(BinPool, EventsKeepToTheirShare) {
  BinPool pool(8 * kPoolBin, kPoolBin, 0.5);
  for (int i = 0; i < 4; ++i) EXPECT_NE(pool.take(PackClass::kMpi), nullptr);
  EXPECT_TRUE(pool.share_used_up(PackClass::kMpi));
  EXPECT_EQ(pool.take(PackClass::kMpi), nullptr);
  EXPECT_EQ(pool.used(PackClass::kMpi), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_NE(pool.take(PackClass::kPosix), nullptr);
  EXPECT_FALSE(pool.share_used_up(PackClass::kPosix));
  EXPECT_NE(pool.take(PackClass::kSamples), nullptr);
}

TEST(BinPool, OneClassOfEventsLeavesBinsForSamples) {
  BinPool pool(8 * kPoolBin, kPoolBin, 0.5);
  for (int i = 0; i < 4; ++i) EXPECT_NE(pool.take(PackClass::kPosix), nullptr);
  EXPECT_EQ(pool.take(PackClass::kPosix), nullptr);
  for (int i = 0; i < 4; ++i) EXPECT_NE(pool.take(PackClass::kSamples), nullptr);
}

TEST(BinPool, AShareOfNothingIsStillOneBin) {
  BinPool pool(8 * kPoolBin, kPoolBin, 0);
  EXPECT_NE(pool.take(PackClass::kMpi), nullptr);
  EXPECT_EQ(pool.take(PackClass::kMpi), nullptr);
}

TEST(BinPool, BeyondTheBudgetOnlyWhenItIsUsedUp) {
  BinPool pool(kPoolBin, kPoolBin);
  Bin* const inside = pool.take_beyond_budget(PackClass::kTotals);
  EXPECT_EQ(pool.beyond_budget(), 0u);
  Bin* const outside = pool.take_beyond_budget(PackClass::kTotals);
  ASSERT_NE(outside, nullptr);
  EXPECT_EQ(pool.beyond_budget(), 1u);
  pool.give(outside);
  pool.give(inside);
  EXPECT_EQ(pool.beyond_budget(), 0u);
  EXPECT_EQ(pool.free_bins(), 1u);
}

TEST(BinPool, AListGoesBackAsOne) {
  BinPool pool(8 * kPoolBin, kPoolBin);
  BinList list, other;
  std::vector<Bin*> bins;
  for (int i = 0; i < 5; ++i) {
    bins.push_back(pool.take(PackClass::kSamples));
    (i < 3 ? list : other).append(pool, bins.back());
  }
  list.append(pool, other);
  EXPECT_EQ(other.bins, 0u);
  EXPECT_EQ(list.bins, 5u);
  EXPECT_EQ(list.take_first(pool), bins[0]);
  EXPECT_EQ(list.take_first(pool), bins[1]);
  pool.give(list, PackClass::kSamples);
  EXPECT_EQ(list.take_first(pool), nullptr);
  EXPECT_EQ(pool.free_bins(), 6u);
  EXPECT_EQ(pool.used(PackClass::kSamples), 2u);
}

// Every thread, and a signal handler on top of each, marks the bins that it holds: no other may have one of them.
struct Taker {
  BinPool* pool = nullptr;
  std::atomic<std::uint64_t> taken = 0, clashes = 0;

  void take_and_give(std::uint32_t mark, std::size_t count) {
    BinList list;
    for (std::size_t i = 0; i < count; ++i) {
      Bin* const bin = pool->take(PackClass::kSamples);
      if (bin == nullptr) break;
      bin->header.thread = mark;
      list.append(*pool, bin);
      taken.fetch_add(1, std::memory_order_relaxed);
    }
    BinList checked;
    while (Bin* const bin = list.take_first(*pool)) {
      if (bin->header.thread != mark) clashes.fetch_add(1, std::memory_order_relaxed);
      if (checked.bins % 2 == 0) {
        checked.append(*pool, bin);
      } else {
        pool->give(bin);
      }
    }
    pool->give(checked, PackClass::kSamples);
  }
};

Taker taker;
thread_local std::uint32_t own_mark = 0;

void on_signal(int) {
  if (own_mark != 0) taker.take_and_give(own_mark + 100, 2);
}

TEST(BinPool, ThreadsAndHandlersNeverShareABin) {
  BinPool pool(16 * kPoolBin, kPoolBin);
  taker.pool = &pool;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = on_signal;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  constexpr int kThreads = 4;
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      own_mark = static_cast<std::uint32_t>(t) + 1;
      for (int i = 0; i < 20000; ++i) taker.take_and_give(own_mark, 1 + static_cast<std::size_t>(i % 5));
      own_mark = 0;
      running.fetch_sub(1);
    });
  }
  while (running.load() > 0) {
    for (auto& thread : threads) pthread_kill(thread.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  for (auto& thread : threads) thread.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_GT(taker.taken.load(), 10000u);
  EXPECT_EQ(taker.clashes.load(), 0u);
  EXPECT_EQ(pool.free_bins(), 16u) << "none is lost, none is there twice";
  std::set<Bin*> all;
  while (Bin* const bin = pool.take(PackClass::kMpi)) all.insert(bin);
  EXPECT_EQ(all.size(), 16u);
}

}  // namespace
}  // namespace ardoise::instrument

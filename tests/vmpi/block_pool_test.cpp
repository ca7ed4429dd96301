// The reader's memory, also with several threads that give blocks back (run under the thread sanitizer).
#include "vmpi/streams/block_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace ardoise::vmpi {
namespace {

TEST(BlockPool, HandsOutNoMoreThanItsLimit) {
  BlockPool pool(100, 3);
  std::set<void*> blocks;
  for (int i = 0; i < 3; ++i) blocks.insert(pool.acquire());
  EXPECT_EQ(blocks.size(), 3U);
  EXPECT_FALSE(blocks.contains(nullptr));
  EXPECT_EQ(pool.acquire(), nullptr);
  pool.recycle(*blocks.begin());
  EXPECT_EQ(pool.acquire(), *blocks.begin());
}

TEST(BlockPool, UsesTheBlockGivenBackLastFirst) {
  BlockPool pool(4096, 64);
  void* block = pool.acquire();
  for (int i = 0; i < 10; ++i) {
    pool.deliver(block);
    EXPECT_EQ(pool.taken_blocks(), 1);
    EXPECT_TRUE(pool.release(block));
    EXPECT_EQ(pool.taken_blocks(), 0);
    ASSERT_EQ(pool.acquire(), block);
  }
}

TEST(BlockPool, RefusesBlocksThatAreNotTaken) {
  BlockPool pool(4096, 4);
  auto* block = static_cast<char*>(pool.acquire());
  char other = 0;
  EXPECT_FALSE(pool.release(block));  // acquired, not delivered
  pool.deliver(block);
  EXPECT_FALSE(pool.release(block + 1));
  EXPECT_FALSE(pool.release(&other));
  EXPECT_FALSE(pool.release(nullptr));
  EXPECT_TRUE(pool.release(block));
  EXPECT_FALSE(pool.release(block));
}

TEST(BlockPool, BlocksReleasedByOtherThreadsComeBackWhole) {
  constexpr std::size_t block_bytes = 256;
  constexpr int threads = 4;
  constexpr int rounds = 5000;
  BlockPool pool(block_bytes, 8);
  std::mutex mutex;
  std::vector<unsigned char*> inbox;
  std::atomic<bool> done{false};
  std::atomic<int> damaged{0};
  std::vector<std::jthread> users;
  for (int t = 0; t < threads; ++t) {
    users.emplace_back([&] {
      unsigned char* block = nullptr;
      const auto pop = [&] {
        const std::lock_guard lock(mutex);
        if (inbox.empty()) return false;
        block = inbox.back();
        inbox.pop_back();
        return true;
      };
      for (bool is_done = false; !is_done;) {
        is_done = done.load();
        if (!pop()) {
          std::this_thread::yield();
          continue;
        }
        is_done = false;
        for (std::size_t i = 1; i < block_bytes; ++i) damaged += block[i] != block[0] ? 1 : 0;
        if (!pool.release(block)) ++damaged;
      }
    });
  }
  for (int round = 0; round < rounds;) {
    auto* block = static_cast<unsigned char*>(pool.acquire());
    if (block == nullptr) {
      std::this_thread::yield();
      continue;
    }
    std::memset(block, round++ % 251, block_bytes);
    pool.deliver(block);
    const std::lock_guard lock(mutex);
    inbox.push_back(block);
  }
  done = true;
  users.clear();
  EXPECT_EQ(damaged.load(), 0);
  EXPECT_EQ(pool.taken_blocks(), 0);
}

}  // namespace
}  // namespace ardoise::vmpi

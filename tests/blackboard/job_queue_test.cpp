// The array of FIFOs on its own.
#include "blackboard/job_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace ardoise::blackboard {
namespace {

// Jobs are only carried here, so numbers do for their pointers.
Job job(std::uintptr_t value) { return {nullptr, reinterpret_cast<void*>(value)}; }
std::uintptr_t value(const Job& job) { return reinterpret_cast<std::uintptr_t>(job.entries); }

TEST(JobQueue, WithoutFifosKeepsTheOrder) {
  JobQueue queue(0);
  Random random(1);
  EXPECT_FALSE(queue.maybe_filled());
  for (std::uintptr_t i = 1; i <= 1000; ++i) queue.push(job(i), random);
  EXPECT_TRUE(queue.maybe_filled());
  Job taken{};
  for (std::uintptr_t i = 1; i <= 1000; ++i) {
    ASSERT_TRUE(queue.pop(taken, random));
    EXPECT_EQ(value(taken), i);
  }
  EXPECT_FALSE(queue.pop(taken, random));
  EXPECT_FALSE(queue.maybe_filled());
}

TEST(JobQueue, HoldsMoreThanItsFifos) {
  JobQueue queue(3);
  Random random(7);
  for (std::uintptr_t i = 1; i <= 20000; ++i) queue.push(job(i), random);
  std::vector<bool> seen(20001);
  Job taken{};
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(queue.pop(taken, random));
    ASSERT_FALSE(seen[value(taken)]);
    seen[value(taken)] = true;
  }
  EXPECT_FALSE(queue.pop(taken, random));
}

TEST(JobQueue, SpreadsOverItsFifos) {
  JobQueue queue(4);
  Random random(3);
  for (std::uintptr_t i = 1; i <= 1000; ++i) queue.push(job(i), random);
  // In one FIFO they would come out in order.
  std::vector<std::uintptr_t> order;
  for (Job taken{}; queue.pop(taken, random);) order.push_back(value(taken));
  EXPECT_EQ(order.size(), 1000u);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

TEST(JobQueue, ManyProducersAndConsumersLoseNothing) {
  constexpr std::uintptr_t kEach = 20000;
  constexpr unsigned kThreads = 3;
  JobQueue queue(4);
  std::vector<std::atomic<int>> seen(kThreads * kEach + 1);
  std::atomic<std::uintptr_t> taken_count{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(t + 1);
      for (std::uintptr_t i = 1; i <= kEach; ++i) queue.push(job(t * kEach + i), random);
    });
    threads.emplace_back([&, t] {
      Random random(t + 100);
      Job taken{};
      while (taken_count.load() < kThreads * kEach) {
        if (!queue.pop(taken, random)) {
          std::this_thread::yield();
          continue;
        }
        ++seen[value(taken)];
        ++taken_count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(std::all_of(seen.begin() + 1, seen.end(), [](const auto& count) { return count == 1; }));
  EXPECT_FALSE(queue.maybe_filled());
}

}  // namespace
}  // namespace ardoise::blackboard

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

TEST(JobQueue, WithoutWorkersKeepsTheOrder) {
  JobQueue queue(0);
  JobQueue::Hand hand(0);
  EXPECT_FALSE(queue.maybe_filled());
  for (std::uintptr_t i = 1; i <= 1000; ++i) {
    if (i % 2 == 0) {
      queue.push(job(i), hand.random);
    } else {
      queue.push_home(job(i), hand);
    }
  }
  EXPECT_TRUE(queue.maybe_filled());
  Job taken{};
  for (std::uintptr_t i = 1; i <= 1000; ++i) {
    ASSERT_TRUE(queue.pop(taken, hand));
    EXPECT_EQ(value(taken), i);
  }
  EXPECT_FALSE(queue.pop(taken, hand));
  EXPECT_FALSE(queue.maybe_filled());
}

TEST(JobQueue, AHomeIsInOrder) {
  JobQueue queue(2);
  JobQueue::Hand hand(1);
  for (std::uintptr_t i = 1; i <= 500; ++i) queue.push_home(job(i), hand);
  Job taken{};
  for (std::uintptr_t i = 1; i <= 500; ++i) {
    ASSERT_TRUE(queue.pop(taken, hand));
    EXPECT_EQ(value(taken), i);
  }
  EXPECT_FALSE(queue.pop(taken, hand));
}

TEST(JobQueue, HoldsMoreThanItsFifos) {
  JobQueue queue(3);
  JobQueue::Hand hand(0);
  for (std::uintptr_t i = 1; i <= 10000; ++i) {
    queue.push(job(2 * i - 1), hand.random);
    queue.push_home(job(2 * i), hand);
  }
  std::vector<bool> seen(20001);
  Job taken{};
  for (int i = 0; i < 20000; ++i) {
    ASSERT_TRUE(queue.pop(taken, hand));
    ASSERT_FALSE(seen[value(taken)]);
    seen[value(taken)] = true;
  }
  EXPECT_FALSE(queue.pop(taken, hand));
  EXPECT_FALSE(queue.maybe_filled());
}

TEST(JobQueue, SpreadsOverItsSharedFifos) {
  JobQueue queue(4);
  JobQueue::Hand hand(0);
  for (std::uintptr_t i = 1; i <= 1000; ++i) queue.push(job(i), hand.random);
  // In one FIFO they would come out in order.
  std::vector<std::uintptr_t> order;
  for (Job taken{}; queue.pop(taken, hand);) order.push_back(value(taken));
  EXPECT_EQ(order.size(), 1000u);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

// A worker that takes no jobs is helped after two checks; a worker that takes them is left alone.
TEST(JobQueue, HelpsOnlyWhoDoesNotKeepUp) {
  JobQueue queue(2);
  JobQueue::Hand owner(0), helper(1);
  Job taken{};
  for (std::uintptr_t i = 1; i <= 10; ++i) queue.push_home(job(i), owner);
  EXPECT_FALSE(queue.pop(taken, helper));
  ASSERT_TRUE(queue.pop(taken, owner));
  EXPECT_EQ(value(taken), 1u);
  EXPECT_FALSE(queue.pop(taken, helper));  // the owner took one meanwhile
  EXPECT_TRUE(queue.maybe_filled());
  ASSERT_TRUE(queue.pop(taken, helper));  // and none since
  EXPECT_EQ(value(taken), 2u);
  // The helper took half of them, so the owner continues with the rest, and the helper has its share at home.
  EXPECT_TRUE(helper.brought_home);
  ASSERT_TRUE(queue.pop(taken, owner));
  EXPECT_EQ(value(taken), 7u);
  ASSERT_TRUE(queue.pop(taken, helper));
  EXPECT_EQ(value(taken), 3u);
}

// Jobs at home never run out; jobs from another thread are taken nevertheless.
TEST(JobQueue, ASelfSustainingHomeStarvesNobody) {
  JobQueue queue(1);
  JobQueue::Hand hand(0);
  Random visitor(5);
  for (std::uintptr_t i = 1; i <= 3000; ++i) queue.push(job(i), visitor);  // some in the overflow list
  Job taken{};
  queue.push_home(job(0), hand);
  int left = 3000;
  for (long pops = 0; left > 0; ++pops) {
    ASSERT_LT(pops, 1'000'000);
    ASSERT_TRUE(queue.pop(taken, hand));
    if (value(taken) == 0) {
      queue.push_home(taken, hand);
    } else {
      --left;
    }
  }
}

TEST(JobQueue, ManyProducersAndWorkersLoseNothing) {
  constexpr std::uintptr_t kEach = 20000;
  constexpr unsigned kThreads = 3;
  JobQueue queue(kThreads);
  // Workers push each job that came from outside home once more.
  std::vector<std::atomic<int>> seen(kThreads * kEach + 1);
  std::atomic<std::uintptr_t> taken_count{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(t + 1);
      for (std::uintptr_t i = 1; i <= kEach; ++i) queue.push(job(t * kEach + i), random);
    });
    threads.emplace_back([&, t] {
      JobQueue::Hand hand(t);
      Job taken{};
      while (taken_count.load() < 2 * kThreads * kEach) {
        if (!queue.pop(taken, hand)) {
          std::this_thread::yield();
          continue;
        }
        if (seen[value(taken)]++ == 0) queue.push_home(taken, hand);
        ++taken_count;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(std::all_of(seen.begin() + 1, seen.end(), [](const auto& count) { return count == 2; }));
  EXPECT_FALSE(queue.maybe_filled());
}

}  // namespace
}  // namespace ardoise::blackboard

// When the kernel's ticks sample a thread, and when perf events do.
#include "instrument/timer_choice.hpp"

#include <gtest/gtest.h>

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kTick = 4'000'000;  // ns

// A thread that is sampled every tick of its CPU time, of which it has `share` of a processor.
class Thread {
 public:
  // How often the timer changed.
  int run(int samples, double share) {
    int changes = 0;
    for (int i = 0; i < samples; ++i) {
      cpu_ += kTick;
      time_ += static_cast<std::uint64_t>(static_cast<double>(kTick) / share);
      changes += choice.look(cpu_, time_) ? 1 : 0;
    }
    return changes;
  }
  TimerChoice choice;

 private:
  std::uint64_t cpu_ = 123, time_ = 456'789;
};

TEST(TimerChoice, BeginsWithEventsAndLooksForAWhile) {
  Thread thread;
  EXPECT_FALSE(thread.choice.by_ticks());
  EXPECT_EQ(thread.run(16, 1), 0);
  EXPECT_EQ(thread.run(1, 1), 1);
  EXPECT_TRUE(thread.choice.by_ticks());
}

TEST(TimerChoice, AThreadThatSharesItsProcessorKeepsEvents) {
  Thread thread;
  EXPECT_EQ(thread.run(1000, 0.5), 0);
  EXPECT_FALSE(thread.choice.by_ticks());
}

TEST(TimerChoice, ChangesBackWhenTheProcessorIsShared) {
  Thread thread;
  EXPECT_EQ(thread.run(100, 0.99), 1);
  EXPECT_EQ(thread.run(100, 0.6), 1);
  EXPECT_FALSE(thread.choice.by_ticks());
}

TEST(TimerChoice, ChangesBackWhenTicksStayAway) {
  Thread thread;
  EXPECT_EQ(thread.run(100, 1), 1);
  EXPECT_FALSE(thread.choice.miss(15 * kTick, kTick));
  EXPECT_TRUE(thread.choice.by_ticks());
  EXPECT_TRUE(thread.choice.miss(16 * kTick, kTick));
  EXPECT_FALSE(thread.choice.by_ticks());
  EXPECT_FALSE(thread.choice.miss(16 * kTick, kTick)) << "events are not missed";
  EXPECT_EQ(thread.run(16, 1), 0) << "a window of its own";
  EXPECT_EQ(thread.run(1, 1), 1);
}

TEST(TimerChoice, StaysAsItIsInBetween) {
  Thread alone, sharing;
  EXPECT_EQ(alone.run(100, 1), 1);
  EXPECT_EQ(alone.run(1000, 0.93), 0);
  EXPECT_TRUE(alone.choice.by_ticks());
  EXPECT_EQ(sharing.run(1000, 0.93), 0);
  EXPECT_FALSE(sharing.choice.by_ticks());
}

TEST(TimerChoice, AMomentWithoutTheProcessorIsNoReason) {
  Thread thread;
  EXPECT_EQ(thread.run(20, 1), 1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(thread.run(60, 1) + thread.run(4, 0.5), 0);
  EXPECT_TRUE(thread.choice.by_ticks());
}

}  // namespace
}  // namespace ardoise::instrument

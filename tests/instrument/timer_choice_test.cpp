// When the kernel's ticks sample a thread, and when perf events do.
#include "instrument/sampling/timer_choice.hpp"

#include <gtest/gtest.h>

namespace ardoise::instrument {
namespace {

using Timer = TimerChoice::Timer;

constexpr std::uint64_t kTick = 4'000'000;  // ns
constexpr double kSwitchCost = 1000;        // ns

// A thread that is sampled every tick of its CPU time, of which it has `share` of a processor, and leaves it `switches`
// times a tick.
class Thread {
 public:
  // How often the timer changed.
  int run(int samples, double share, std::uint64_t switches = 0) {
    int changes = 0;
    for (int i = 0; i < samples; ++i) {
      now_.cpu += kTick;
      now_.time += static_cast<std::uint64_t>(static_cast<double>(kTick) / share);
      now_.switches += switches;
      changes += choice.look(now_, kSwitchCost) ? 1 : 0;
    }
    return changes;
  }
  TimerChoice choice;

 private:
  ThreadTimes now_{123, 456'789, 10'000'000};
};

TEST(TimerChoice, BeginsWithTicksAndKeepsThemForAThreadThatIsAlone) {
  Thread thread;
  EXPECT_EQ(thread.choice.timer(), Timer::kTicks);
  EXPECT_EQ(thread.run(1000, 0.99), 0);
}

TEST(TimerChoice, AThreadThatSharesItsProcessorSoonHasEvents) {
  Thread thread;
  EXPECT_EQ(thread.run(4, 0.5), 0);
  EXPECT_EQ(thread.run(1, 0.5), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kEvents);
  EXPECT_EQ(thread.run(1000, 0.5), 0);
}

TEST(TimerChoice, ChangesWhenTheProcessorIsSharedAndBack) {
  Thread thread;
  EXPECT_EQ(thread.run(100, 0.99), 0);
  EXPECT_EQ(thread.run(100, 0.6), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kEvents);
  EXPECT_EQ(thread.run(33, 1), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kTicks);
}

TEST(TimerChoice, ChangesToEventsWhenTicksStayAway) {
  Thread thread;
  EXPECT_EQ(thread.run(100, 1), 0);
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
  EXPECT_EQ(alone.run(100, 1), 0);
  EXPECT_EQ(alone.run(1000, 0.93), 0);
  EXPECT_TRUE(alone.choice.by_ticks());
  EXPECT_EQ(sharing.run(1000, 0.93), 1);
  EXPECT_FALSE(sharing.choice.by_ticks());
}

TEST(TimerChoice, AMomentWithoutTheProcessorIsNoReason) {
  Thread thread;
  EXPECT_EQ(thread.run(5, 1), 0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(thread.run(60, 1) + thread.run(4, 0.5), 0);
  EXPECT_TRUE(thread.choice.by_ticks());
}

// Of a tick of 4 ms, 40 changes are 1 %.
TEST(TimerChoice, VeryManyChangesOfThreadsLeaveNoEventAtOnce) {
  Thread thread;
  EXPECT_EQ(thread.run(2, 0.5, 2000), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kTicksCrowded);
  EXPECT_FALSE(thread.choice.miss(1000 * kTick, kTick)) << "that is as it must be";
  EXPECT_EQ(thread.run(1000, 0.5, 2000), 0);
}

TEST(TimerChoice, ManyChangesOfThreadsLeaveNoEventSoon) {
  Thread thread;
  EXPECT_EQ(thread.run(4, 0.5, 200), 0);
  EXPECT_EQ(thread.run(1, 0.5, 200), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kTicksCrowded);
}

TEST(TimerChoice, SomeChangesOfThreadsArePaidFor) {
  Thread thread;
  EXPECT_EQ(thread.run(1000, 0.5, 110), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kEvents);
}

TEST(TimerChoice, AThreadThatIsAloneIsNotWatchedWhereThatIsDear) {
  Thread thread;
  EXPECT_EQ(thread.run(5, 1), 0);
  EXPECT_EQ(thread.run(20, 0.95, 200), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kTicksCrowded);
}

TEST(TimerChoice, LeavesTheCrowdWhenItHasGone) {
  Thread thread;
  EXPECT_EQ(thread.run(2, 0.5, 2000), 1);
  EXPECT_EQ(thread.run(200, 0.5, 60), 0) << "1.5 %: in between";
  EXPECT_EQ(thread.run(40, 0.5, 5), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kEvents);
  EXPECT_EQ(thread.run(20, 0.5, 2000), 1);
  EXPECT_EQ(thread.run(40, 1, 0), 1);
  EXPECT_EQ(thread.choice.timer(), Timer::kTicks);
}

}  // namespace
}  // namespace ardoise::instrument

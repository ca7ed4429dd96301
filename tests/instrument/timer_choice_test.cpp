// The choice between a POSIX timer and a perf event for a thread.
#include "instrument/sampling/timer_choice.hpp"

#include <gtest/gtest.h>

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kPeriod = 4'000'000;  // ns
constexpr double kSwitchCost = 1000;          // ns: of a period, 40 changes are 1 %

class Thread {
 public:
  Thread() { choice.restart(now_); }
  // The number of changes of the timer in so many samples, between which the thread leaves its processor `switches`
  // times.
  int run(int samples, std::uint64_t switches) {
    int changes = 0;
    for (int i = 0; i < samples; ++i) {
      now_.cpu += kPeriod;
      now_.switches += switches;
      changes += choice.update(now_, kSwitchCost) ? 1 : 0;
    }
    return changes;
  }
  TimerChoice choice;

 private:
  ThreadTimes now_{456'789, 10'000'000};
};

TEST(TimerChoice, AThreadThatKeepsItsProcessorHasEvents) {
  Thread thread;
  EXPECT_TRUE(thread.choice.by_posix_timer());
  EXPECT_EQ(thread.run(5, 0), 1);
  EXPECT_FALSE(thread.choice.by_posix_timer());
  EXPECT_EQ(thread.run(1000, 0), 0);
}

TEST(TimerChoice, SomeChangesOfThreadsArePaidFor) {
  Thread thread;
  EXPECT_EQ(thread.run(5, 0), 1);
  EXPECT_EQ(thread.run(1000, 110), 0);
}

TEST(TimerChoice, ManyChangesOfThreadsSoonEndTheEvent) {
  Thread thread;
  EXPECT_EQ(thread.run(5, 0), 1);
  EXPECT_EQ(thread.run(4, 200), 0);
  EXPECT_EQ(thread.run(1, 200), 1);
  EXPECT_TRUE(thread.choice.by_posix_timer());
  EXPECT_EQ(thread.run(1000, 200), 0);
}

TEST(TimerChoice, TheEventComesBackWhenTheyAreFew) {
  Thread thread;
  EXPECT_EQ(thread.run(5, 2000), 0);
  EXPECT_EQ(thread.run(200, 60), 0) << "1.5 %: in between";
  EXPECT_EQ(thread.run(5, 30), 1);
  EXPECT_FALSE(thread.choice.by_posix_timer());
  EXPECT_EQ(thread.run(20, 60), 0) << "1.5 %: in between";
  EXPECT_EQ(thread.run(20, 2000), 1);
}

}  // namespace
}  // namespace ardoise::instrument

// The analyzer's loop: the order of its calls, and its sleep when there is no work.
#include "analyzer/run/event_loop.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <thread>
#include <vector>

namespace ardoise::analyzer {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

TEST(EventLoop, PollsUntilItIsStopped) {
  EventLoop loop;
  int polls = 0;
  const auto source = loop.poll([&] {
    if (++polls == 100) loop.stop();
    return polls % 2 == 0 ? Found::something : Found::nothing;
  });
  loop.run();
  EXPECT_EQ(polls, 100);
}

TEST(EventLoop, WhatIsNoLongerRegisteredIsNotCalled) {
  EventLoop loop;
  int calls = 0;
  {
    const auto source = loop.poll([&] { return ++calls, Found::something; });
    const auto timer = loop.every(1h, [&] { loop.stop(); });
    loop.run();
  }
  const int before = calls;
  const auto timer = loop.every(1h, [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(calls, before);
}

TEST(EventLoop, TimersComeInTheirOrderAndNotTooEarly) {
  EventLoop loop;
  std::vector<int> order;
  const auto begin = EventLoop::Clock::now();
  const auto slow = loop.every(200ms, [&] {
    order.push_back(2);
    if (order.size() > 2) loop.stop();
  });
  const auto once = loop.every(1h, [&] { order.push_back(1); });
  loop.run();
  EXPECT_GE(EventLoop::Clock::now() - begin, 200ms);
  EXPECT_THAT(order, ElementsAre(2, 1, 2));
}

TEST(EventLoop, AnIdleLoopSleeps) {
  EventLoop loop;
  int polls = 0;
  const auto source = loop.poll([&] { return ++polls, Found::nothing; });
  int turns = 0;
  const auto timer = loop.every(500ms, [&] {
    if (++turns == 2) loop.stop();
  });
  loop.run();
  EXPECT_LT(polls, 10000);  // a loop that spins polls millions of times
}

TEST(EventLoop, ASignalEndsASleepAndIsHandledInTheLoopsThread) {
  EventLoop loop;
  const auto self = std::this_thread::get_id();
  int signals = 0;
  loop.on_signal(SIGUSR1, [&] {
    EXPECT_EQ(std::this_thread::get_id(), self);
    ++signals;
    loop.stop();
  });
  std::thread sender([] {
    std::this_thread::sleep_for(20ms);
    ::kill(::getpid(), SIGUSR1);
  });
  loop.run();  // no other code would end it
  sender.join();
  EXPECT_EQ(signals, 1);
}

TEST(EventLoop, ASignalBeforeItRunsIsNotLost) {
  EventLoop loop;
  int signals = 0;
  loop.on_signal(SIGUSR1, [&] { ++signals; });
  std::raise(SIGUSR1);
  EXPECT_EQ(signals, 0);
  const auto end = loop.every(1h, [&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(signals, 1);
}

}  // namespace
}  // namespace ardoise::analyzer

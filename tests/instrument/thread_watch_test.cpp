// The kernel's time of waiting for a processor is corrected by looks at the thread, and looks are counted by place.
#include "instrument/machine/thread_watch.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <ctime>

#include "instrument/machine/thread_tasks.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A watched thread in made-up time. Each step is 50 ms, as the survivor's.
class WatchedThread {
 public:
  WatchedThread() : watch(own_tid()), now_(0) {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    now_ = static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
    time_ = watch.time();
  }
  void pass(bool is_asleep, std::uint64_t ran_ms, std::uint64_t counted_as_waiting_ms) {
    now_ += 50 * kMs;
    time_.cpu_ns += ran_ms * kMs;
    time_.waiting_ns += counted_as_waiting_ms * kMs;
    watch.note(CallPlace::kOutside, is_asleep, now_, time_);
  }
  ThreadWatch watch;

 private:
  std::uint64_t now_;
  ScheduledTime time_;
};

TEST(ThreadWatch, BelievesTheKernelWhereItCanBeTrue) {
  WatchedThread thread;
  for (int i = 0; i < 20; ++i) thread.pass(false, 10, 40);
  for (int i = 0; i < 20; ++i) thread.pass(true, 0, 0);
  thread.pass(false, 0, 0);
  thread.pass(false, 0, 0);
  thread.pass(false, 0, 140);  // it ran, after it had waited for as long as that
  EXPECT_EQ(thread.watch.wrong_ns(), 0u);
  EXPECT_EQ(thread.watch.asleep(CallPlace::kOutside), 20u);
  EXPECT_EQ(thread.watch.asleep(CallPlace::kMpi), 0u);
}

// Seen on Linux 6.18: 0.3 s of sleep were added to schedstat's second number at once.
TEST(ThreadWatch, ASleepThatTheKernelCountsAsWaitingIsSubtracted) {
  WatchedThread thread;
  thread.pass(false, 20, 30);
  for (int i = 0; i < 68; ++i) thread.pass(true, 0, 0);  // 3.4 s in a mutex
  thread.pass(false, 20, 3400);
  const auto wrong = thread.watch.wrong_ns();
  EXPECT_NEAR(static_cast<double>(wrong), 3370e6, 1e6) << "it may have waited for 30 ms since it was seen asleep";
  for (int i = 0; i < 20; ++i) thread.pass(false, 10, 40);
  EXPECT_EQ(thread.watch.wrong_ns(), wrong);
  for (int i = 0; i < 68; ++i) thread.pass(true, 0, 0);
  thread.pass(false, 20, 3400);
  EXPECT_NEAR(static_cast<double>(thread.watch.wrong_ns()), 2 * 3370e6, 2e6);
}

TEST(ThreadWatch, ReadsTheKernelsFiles) {
  ThreadWatch watch(own_tid());
  const ScheduledTime before = watch.time();
  for (const std::uint64_t begin = cpu_time_of(own_tid()); cpu_time_of(own_tid()) < begin + 30 * kMs;) continue;
  ::usleep(20'000);
  watch.look(CallPlace::kIo);
  EXPECT_GE(watch.last().cpu_ns, before.cpu_ns + 20 * kMs);
  EXPECT_EQ(watch.asleep(CallPlace::kIo), 0u) << "it looks itself";
  EXPECT_EQ(scheduled_time("/proc/no such file").cpu_ns, 0u);
}

}  // namespace
}  // namespace ardoise::instrument

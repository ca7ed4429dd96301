// The kernel's time of waiting for a processor is corrected by looks at the thread, and looks are counted by place.
#include "instrument/machine/thread_watch.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <functional>
#include <semaphore>
#include <thread>

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

TEST(ThreadWatch, KnowsTheNamesThatKernelsGiveToSleep) {
  for (const char* name : {"futex_wait_queue_me", "futex_wait_queue", "futex_do_wait"})
    EXPECT_EQ(sleep_reason(name), SleepReason::kThread) << name;
  for (const char* name : {"hrtimer_nanosleep", "do_nanosleep", "common_nsleep.nanosleep"})
    EXPECT_EQ(sleep_reason(name), SleepReason::kTime) << name;
  EXPECT_EQ(sleep_reason("do_wait"), SleepReason::kProgram);
  for (const char* name : {"locks_lock_inode_wait", "flock_lock_inode_wait", "fcntl_setlk"})
    EXPECT_EQ(sleep_reason(name), SleepReason::kFileLock) << name;
  for (const char* name : {"", "0", "poll_schedule_timeout.constprop.0", "anon_pipe_read", "sk_wait_data"})
    EXPECT_EQ(sleep_reason(name), SleepReason::kUnknown) << name;
}

// The reason that most looks find for a thread that sleeps until it is woken.
SleepReason reason_of(const std::function<void()>& sleep, const std::function<void()>& wake) {
  std::atomic<std::uint32_t> tid = 0;
  std::jthread sleeper([&] {
    tid.store(own_tid());
    tid.notify_one();
    sleep();
  });
  tid.wait(0);
  ThreadWatch watch(tid.load());
  while (watch.asleep(CallPlace::kOutside) < 100) {
    ::usleep(1000);
    watch.look(CallPlace::kOutside);
  }
  wake();
  for (const auto reason : {SleepReason::kThread, SleepReason::kTime, SleepReason::kProgram, SleepReason::kFileLock}) {
    if (watch.asleep_outside_for(reason) > 80) return reason;
  }
  return SleepReason::kUnknown;
}

TEST(ThreadWatch, SeesWhyAThreadSleeps) {
  std::atomic<bool> ends = false;
  EXPECT_EQ(reason_of(
                [&] {
                  while (!ends.load()) ::usleep(50'000);
                },
                [&] { ends.store(true); }),
            SleepReason::kTime);
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_EQ(reason_of([child] { ::waitpid(child, nullptr, 0); }, [child] { ::kill(child, SIGKILL); }),
            SleepReason::kProgram);
  std::counting_semaphore<> semaphore(0);
  EXPECT_EQ(reason_of([&] { semaphore.acquire(); }, [&] { semaphore.release(); }), SleepReason::kThread);
  const int held = ::open("/proc/self/exe", O_RDONLY), wanted = ::open("/proc/self/exe", O_RDONLY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_EQ(reason_of([wanted] { ::flock(wanted, LOCK_EX); }, [held] { ::flock(held, LOCK_UN); }),
            SleepReason::kFileLock);
  ::close(held);
  ::close(wanted);
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

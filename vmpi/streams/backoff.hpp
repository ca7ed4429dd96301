// How a thread waits for something that only polling MPI can tell: at full speed while things move, asleep when they
// don't. Waking up is what costs (45 us have been seen in a virtual machine), perhaps on a core that a program computes
// on. So sleeps grow fast, and the first one after news is the longer the longer the sleep before the news was: where
// blocks come ten times a second, seventy polls do; where they come all the time, it sleeps for microseconds.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ardoise::vmpi {

// Used by one thread. Call pause() after each poll that found nothing, reset() after one that found something. Who can
// be woken while it sleeps asks next_sleep() instead of pause() how long to.
class Backoff {
 public:
  using Microseconds = std::chrono::microseconds;
  // What the next polls are likely to find.
  enum class Expects { anything, transfer };

  explicit Backoff(Microseconds longest = Microseconds(4000)) : longest_(longest) {}

  void reset() {
    polls_ = 0;
    if (is_idle_) sleep_ = std::max(sleep_ / kShorter, kFirstSleep);
    is_idle_ = false;
  }

  // Expects::transfer: MPI is at work on a message for us.
  void pause(Expects expects = Expects::anything) {
    if (const auto sleep = next_sleep(expects); sleep > Microseconds::zero()) std::this_thread::sleep_for(sleep);
  }
  Microseconds next_sleep(Expects expects) {
    if (++polls_ <= kEagerPolls) return Microseconds::zero();
    if (!is_idle_) {
      const auto now = Clock::now();
      if (polls_ == kEagerPolls + 1) quiet_since_ = now;
      if (now - quiet_since_ < (expects == Expects::transfer ? kAwakeForTransfer : kAwake)) {
        sched_yield();
        return Microseconds::zero();
      }
      is_idle_ = true;
    }
    return std::exchange(sleep_, std::min(sleep_ * kLonger, longest_));
  }

  // For calls that must not wait: lets others run once polling seems to be in vain.
  void yield() {
    if (++polls_ > kEagerPolls) sched_yield();
  }

  // pause() sleeps from now on: nothing has happened for a while.
  bool is_idle() const { return is_idle_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kEagerPolls = 50;
  // Whoever yields a processor still takes half of it from a program that shares it.
  static constexpr Microseconds kAwake{100};
  // Longer than MPI takes for a large block (1 MB: some 100 µs): a process that slept through the end of each would
  // halve the throughput again and again.
  static constexpr Microseconds kAwakeForTransfer{1000};
  static constexpr Microseconds kFirstSleep{20};
  static constexpr int kLonger = 4, kShorter = 16;

  Microseconds longest_;
  Microseconds sleep_ = kFirstSleep;
  Clock::time_point quiet_since_{};
  bool is_idle_ = false;
  unsigned polls_ = 0;
};

}  // namespace ardoise::vmpi

// Backoff of a thread that polls MPI: full speed while messages arrive, sleeps when none do. Each wake-up has a cost
// (45 us measured in a virtual machine), perhaps on a core that a program computes on. So sleeps grow fast, and the
// first sleep after an arrival grows with the sleep before it: seventy polls suffice for ten blocks a second, and under
// constant traffic sleeps last microseconds.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ardoise::vmpi {

// For one thread. Call pause() after each poll that found nothing, reset() after one that found something. A thread
// that can be woken early calls next_sleep() instead of pause() and sleeps that long itself.
class Backoff {
 public:
  using Microseconds = std::chrono::microseconds;
  // Expected result of the next polls.
  enum class Expects { anything, transfer };

  explicit Backoff(Microseconds longest = Microseconds(4000)) : longest_(longest) {}

  void reset() {
    polls_ = 0;
    if (is_idle_) sleep_ = std::max(sleep_ / kShorter, kFirstSleep);
    is_idle_ = false;
  }

  // Expects::transfer: MPI is transferring a message to us.
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

  // For calls that must not sleep: yields the processor after some polls without success.
  void yield() {
    if (++polls_ > kEagerPolls) sched_yield();
  }

  // True: pause() sleeps from now on.
  bool is_idle() const { return is_idle_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned kEagerPolls = 50;
  // A thread that only yields still takes half of a processor that a program shares.
  static constexpr Microseconds kAwake{100};
  // Longer than MPI takes for a large block (1 MB: some 100 us). Sleeping through the end of each block would halve the
  // throughput.
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

// How a thread waits for something that only polling MPI can tell: at full speed while things move, asleep when they
// don't. An idle analyzer polls some 500 times a second, which costs it well under 2 % of a core, and a block that
// comes after a pause is seen at most two milliseconds late; the first poll that finds something is followed by fast
// ones.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace ardoise::vmpi {

// Used by one thread. Call pause() after each poll that found nothing, reset() after one that found something.
class Backoff {
 public:
  using Microseconds = std::chrono::microseconds;
  explicit Backoff(Microseconds longest = Microseconds(2000)) : longest_(longest) {}

  void reset() { polls_ = 0; }

  void pause() {
    ++polls_;
    if (polls_ <= kEagerPolls) return;
    if (polls_ <= kEagerPolls + kYields) {
      sched_yield();
      return;
    }
    if (polls_ == kEagerPolls + kYields + 1) sleep_ = kFirstSleep;
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ * 2, longest_);
  }

  // For calls that must not wait: lets others run once polling seems to be in vain.
  void yield() {
    if (++polls_ > kEagerPolls) sched_yield();
  }

  // pause() sleeps from now on: nothing has happened for a while.
  bool is_idle() const { return polls_ > kEagerPolls + kYields; }

 private:
  static constexpr unsigned kEagerPolls = 50;
  static constexpr unsigned kYields = 50;
  static constexpr Microseconds kFirstSleep{20};

  Microseconds longest_;
  Microseconds sleep_ = kFirstSleep;
  unsigned polls_ = 0;
};

}  // namespace ardoise::vmpi

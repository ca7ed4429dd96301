// Where workers sleep. The side that brings work pays one load while nobody sleeps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "blackboard/sharded.hpp"

namespace ardoise::blackboard {

// Thread safety: wake functions from all threads; park from the thread that owns the Sleeper.
class Parking {
 public:
  struct Sleeper {
    std::condition_variable condition;
    bool woken = false;
  };

  // Wakes the worker that fell asleep last, whose caches are warmest, if one sleeps. Each call wakes another.
  void wake_one() {
    // seq_cst: after the caller made its work visible, see park().
    if (sleeping_.load(std::memory_order_seq_cst) != 0) wake_last();
  }
  void wake_all();

  // Sleeps until woken, unless `stay` says there is work. `stay` is asked after the sleep was announced: work that a
  // waker brought before it looked for sleepers is seen by `stay`, or the waker sees the announcement.
  template <class Stay>
  void park(Sleeper& me, Stay stay) {
    announce(me);
    if (stay()) {
      withdraw(me);
    } else {
      sleep(me);
    }
  }

 private:
  void announce(Sleeper& me);
  void withdraw(Sleeper& me);
  void sleep(Sleeper& me);
  void wake_last();

  alignas(kCacheLine) std::atomic<unsigned> sleeping_{0};  // announced_.size(), for reading without the lock
  alignas(kCacheLine) std::mutex mutex_;
  std::vector<Sleeper*> announced_;
};

}  // namespace ardoise::blackboard

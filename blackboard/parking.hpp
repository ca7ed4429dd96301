// Sleeping workers. Submitters pay one load while no worker sleeps.
#pragma once

#include <atomic>
#include <vector>

#include "blackboard/asymmetric_fence.hpp"
#include "blackboard/thread_slot.hpp"
#include "blackboard/threads/mutex.hpp"

namespace ardoise::blackboard {

// Thread safety: wake functions from all threads; park from the thread that owns the Sleeper.
class Parking {
 public:
  struct Sleeper {
    Condition condition;
    bool woken = false;  // guarded by the mutex of the Parking
  };

  // Wakes the worker that fell asleep last, whose caches are warmest, if one sleeps. Each call wakes another one.
  void wake_one() {
    // After the caller has published its work; pairs with park()'s fence.
    fence_light();
    if (sleeping_.load(std::memory_order_relaxed) != 0) wake_last();
  }
  void wake_all();

  // Sleeps until woken, unless `stay` reports work. `stay` is called after the sleep was announced: either it sees work
  // published before a waker looked for sleepers, or the waker sees the announcement.
  template <class Stay>
  void park(Sleeper& me, Stay stay) {
    announce(me);
    fence_heavy();
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

  alignas(kCacheLine) std::atomic<unsigned> sleeping_{0};  // announced_.size(), readable without the lock
  alignas(kCacheLine) Mutex mutex_;
  std::vector<Sleeper*> announced_ GUARDED_BY(mutex_);
};

}  // namespace ardoise::blackboard

// Sleep and wake-up.
#include "blackboard/parking.hpp"

#include <algorithm>
#include <cassert>

namespace ardoise::blackboard {

void Parking::announce(Sleeper& me) {
  const MutexLock lock(mutex_);
  me.woken = false;
  announced_.push_back(&me);
  sleeping_.fetch_add(1, std::memory_order_relaxed);  // ordered by the fences of park() and wake_one()
}

void Parking::withdraw(Sleeper& me) {
  const MutexLock lock(mutex_);
  const auto mine = std::find(announced_.begin(), announced_.end(), &me);
  if (mine == announced_.end()) return;  // a waker has removed it: this worker is awake, as intended
  announced_.erase(mine);
  sleeping_.fetch_sub(1, std::memory_order_relaxed);
}

void Parking::sleep(Sleeper& me) {
  const MutexLock lock(mutex_);
  while (!me.woken) me.condition.wait(lock);
}

void Parking::wake_last() {
  const MutexLock lock(mutex_);
  if (announced_.empty()) return;
  Sleeper& last = *announced_.back();
  assert(!last.woken);
  announced_.pop_back();
  sleeping_.fetch_sub(1, std::memory_order_relaxed);  // changed under the lock only
  last.woken = true;
  last.condition.notify_one();
}

void Parking::wake_all() {
  fence_light();  // as in wake_one()
  while (sleeping_.load(std::memory_order_relaxed) != 0) wake_last();
}

}  // namespace ardoise::blackboard

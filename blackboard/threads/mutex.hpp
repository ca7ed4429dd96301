// std::mutex and std::condition_variable with the attributes of thread_annotations.hpp, which libstdc++'s own lack. Any
// layer may include this file; it includes no other layer.
//
//   Mutex mutex_;
//   Condition filled_;
//   std::vector<int> list_ GUARDED_BY(mutex_);
//
//   const MutexLock lock(mutex_);                          // to the end of the block
//   while (list_.empty()) filled_.wait(lock);              // a loop: clang cannot analyze a predicate lambda
//
//   if (!mutex_.try_lock()) return;
//   const MutexLock lock(mutex_, std::adopt_lock);
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "blackboard/threads/thread_annotations.hpp"

namespace ardoise {

class CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() { mutex_.lock(); }
  void unlock() RELEASE() { mutex_.unlock(); }
  [[nodiscard]] bool try_lock() TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // Resets the mutex to unlocked, when all threads that could hold it have died.
  void force_unlock() { new (&mutex_) std::mutex; }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds a mutex to the end of the block.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  MutexLock(Mutex& mutex, std::adopt_lock_t) REQUIRES(mutex) : mutex_(mutex) {}  // already held
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  friend class Condition;
  Mutex& mutex_;
};

// std::condition_variable. Callers hold the lock before and after; wake-ups may be spurious.
class Condition {
 public:
  void wait(const MutexLock& lock) {
    std::unique_lock native(lock.mutex_.mutex_, std::adopt_lock);
    condition_.wait(native);
    native.release();
  }
  // false: timeout.
  [[nodiscard]] bool wait_until(const MutexLock& lock, std::chrono::steady_clock::time_point time) {
    std::unique_lock native(lock.mutex_.mutex_, std::adopt_lock);
    const bool woken = condition_.wait_until(native, time) == std::cv_status::no_timeout;
    native.release();
    return woken;
  }
  void notify_one() noexcept { condition_.notify_one(); }
  void notify_all() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace ardoise

// The live payload bytes of one blackboard. Entries keep a plain pointer to their account and may outlive the board, so
// accounts are never deleted: a process has few boards, and each leaves some KiB behind. Reference counts instead would
// add one contended cache line to every entry.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "blackboard/asymmetric_fence.hpp"
#include "blackboard/thread_slot.hpp"
#include "blackboard/threads/mutex.hpp"

namespace ardoise::blackboard {

// Thread safety: all functions, any thread.
class ByteAccount {
 public:
  explicit ByteAccount(std::size_t limit) : limit_(limit) {}
  // Creates an account, which lives until the process ends.
  [[nodiscard]] static ByteAccount* open(std::size_t limit);

  void charge(std::size_t bytes) noexcept { bytes_.add(static_cast<std::int64_t>(bytes)); }
  void discharge(std::size_t bytes) noexcept {
    bytes_.add(-static_cast<std::int64_t>(bytes));
    // Either this load sees the waiter, or the waiter's sum sees the subtraction above.
    fence_light();
    if (waiters_.load(std::memory_order_relaxed) != 0) wake();
  }

  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] bool over_limit() const noexcept { return bytes() > limit_; }
  bool wait_below_limit(std::chrono::milliseconds timeout);

 private:
  void wake() noexcept;

  SlotCounter bytes_;
  std::atomic<unsigned> waiters_{0};
  const std::size_t limit_;
  Mutex mutex_;  // only for below_
  Condition below_;
};

}  // namespace ardoise::blackboard

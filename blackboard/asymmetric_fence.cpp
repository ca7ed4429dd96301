// membarrier(2) or seq_cst fences.
#include "blackboard/asymmetric_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <exception>

namespace ardoise::blackboard {

constinit std::atomic<bool> detail::kernel_fences{false};

// The thread sanitizer does not know fences, and g++ says so. Nothing it checks hangs on these: they order atomics
// among themselves; plain data is always handed over by a release and an acquire.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void detail::full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

void prepare_fences() noexcept {
  static const bool once = [] {
    const bool registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    detail::kernel_fences.store(registered, std::memory_order_relaxed);
    return true;
  }();
  static_cast<void>(once);
}

void fence_heavy() noexcept {
  if (detail::kernel_fences.load(std::memory_order_relaxed)) {
    // Cannot fail once registered; going on without the barrier could lose a wake-up or use freed memory.
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0) std::terminate();
  }
  detail::full_fence();
}

}  // namespace ardoise::blackboard

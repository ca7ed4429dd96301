// Fences by membarrier(2) or, without it, by seq_cst fences.
#include "blackboard/asymmetric_fence.hpp"

#include "blackboard/threads/thread_barrier.hpp"

namespace ardoise::blackboard {

constinit std::atomic<bool> detail::kernel_fences{false};

// The thread sanitizer does not support fences, and g++ warns. None of its checks depend on these: they order atomics
// among themselves; plain data is always handed over by a release and an acquire.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
void detail::full_fence() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

void prepare_fences() noexcept {
  static const bool once = [] {
    detail::kernel_fences.store(prepare_thread_barrier(), std::memory_order_relaxed);
    return true;
  }();
  static_cast<void>(once);
}

void fence_heavy() noexcept {
  if (detail::kernel_fences.load(std::memory_order_relaxed)) barrier_in_all_threads();
  detail::full_fence();
}

}  // namespace ardoise::blackboard

// Fences for pairs of threads of which one passes a million times more often than the other: the frequent side pays
// nothing, the rare one asks the kernel to put a barrier into every running thread of the process (membarrier(2)). The
// idea and the names are those of the C++ proposal P1202.
//
// The pattern (Dekker): the frequent side stores A, fence_light(), loads B; the rare side stores B, fence_heavy(),
// loads A. At least one of them sees the other's store. With ordinary means each submit and each job would need several
// seq_cst read-modify-writes, 5 to 7 ns each on the machine this was measured on, where a job costs about 25 ns in all.
//
// Where the kernel cannot (before Linux 4.14, some sandboxes), both sides are ordinary seq_cst fences.
#pragma once

#include <atomic>

namespace ardoise::blackboard {

namespace detail {
// relaxed in its use: set once, by prepare_fences(), before the first board exists.
extern constinit std::atomic<bool> kernel_fences;
void full_fence() noexcept;
}  // namespace detail

// Called before the first use of the fences; asks the kernel once.
void prepare_fences() noexcept;

inline void fence_light() noexcept {
  if (detail::kernel_fences.load(std::memory_order_relaxed)) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // keeps the compiler from reordering
  } else {
    detail::full_fence();
  }
}

void fence_heavy() noexcept;

}  // namespace ardoise::blackboard

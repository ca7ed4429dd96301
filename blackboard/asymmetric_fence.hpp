// Asymmetric fences, for pairs of code paths of which one runs a million times more often than the other: the frequent
// side pays nothing, the rare one makes the kernel put a barrier into every running thread of the process
// (membarrier(2)). Idea and names are those of the C++ proposal P1202.
//
// Pattern (Dekker): the frequent side stores A, calls fence_light(), loads B; the rare side stores B, calls
// fence_heavy(), loads A. At least one of them sees the other's store. Without this each submit and each job would need
// several seq_cst read-modify-writes of 5 to 7 ns, where a job costs about 25 ns in all.
//
// Without membarrier in the kernel (before Linux 4.14, some sandboxes), both sides are ordinary seq_cst fences.
#pragma once

#include <atomic>

namespace ardoise::blackboard {

namespace detail {
// Read relaxed: set once, by prepare_fences(), before the first board exists.
extern constinit std::atomic<bool> kernel_fences;
void full_fence() noexcept;
}  // namespace detail

// Queries the kernel once. Called before the first use of the fences.
void prepare_fences() noexcept;

inline void fence_light() noexcept {
  if (detail::kernel_fences.load(std::memory_order_relaxed)) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // prevents reordering by the compiler
  } else {
    detail::full_fence();
  }
}

void fence_heavy() noexcept;

}  // namespace ardoise::blackboard

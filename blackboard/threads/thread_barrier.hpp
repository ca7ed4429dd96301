// The expensive half of an asymmetric fence (membarrier(2)): every thread of the process executes a full memory
// barrier, so hot paths and signal handlers need none. Used by asymmetric_fence.cpp, and by the preload library at the
// end of recording and sampling.
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace ardoise::blackboard {

// Best called while the process has one thread, usually before MPI_Init: later the first barrier takes some 10 ms more.
// False: the kernel has no expedited barrier (before Linux 4.14, some sandboxes).
inline bool prepare_thread_barrier() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// Kernels without the expedited command have the plain one, which takes milliseconds. If a sandbox forbids both, a
// sleep gives store buffers ample time to drain.
inline void barrier_in_all_threads() noexcept {
  if (prepare_thread_barrier() && ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace ardoise::blackboard

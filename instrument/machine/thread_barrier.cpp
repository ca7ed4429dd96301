// See thread_barrier.hpp.
#include "instrument/machine/thread_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace ardoise::instrument {

namespace {

bool register_process() noexcept {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

}  // namespace

void prepare_thread_barrier() noexcept { (void)register_process(); }

void barrier_in_all_threads() {
  if (register_process() && ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) {
    return;
  }
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) == 0) return;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace ardoise::instrument

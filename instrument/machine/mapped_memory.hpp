// Memory from the kernel directly: the program may have replaced malloc, and mmap() is hooked.
#pragma once

#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

namespace ardoise::instrument {

// Zeroed pages, or nullptr.
[[nodiscard]] inline void* map_memory(std::size_t bytes) {
  const long address =
      ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
  return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}
inline void unmap_memory(void* memory, std::size_t bytes) { ::syscall(SYS_munmap, memory, bytes); }

}  // namespace ardoise::instrument

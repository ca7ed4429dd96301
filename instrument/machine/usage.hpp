// What the kernel counts of this process without being asked at every call: CPU time, time in which a thread was ready
// and waited for a processor, memory. By direct system calls: the library's open() and read() are hooked.
#pragma once

#include <cstdint>

namespace ardoise::instrument {

struct Usage {
  std::uint64_t cpu_ns = 0;             // of one thread
  std::uint64_t waiting_ns = 0;         // of that thread: ready to run, and not running (the kernel's schedstat)
  std::uint64_t process_cpu_ns = 0;     // of all threads, those that have ended too
  std::uint64_t peak_memory_bytes = 0;  // greatest resident set so far
};

// Processors that the threads of this process may use, all together.
struct Affinity {
  std::uint32_t processors = 0, first = 0;
  std::uint32_t of_host = 0;  // online
};

// `tid`: a thread of this process. What the kernel does not tell is 0.
[[nodiscard]] Usage read_usage(std::uint32_t tid) noexcept;
// Of the first 256 threads.
[[nodiscard]] Affinity read_affinity();

}  // namespace ardoise::instrument

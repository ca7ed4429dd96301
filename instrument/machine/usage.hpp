// The kernel's own counts for this process: CPU time, memory. Uses direct system calls, since the library's open() and
// read() are hooked.
#pragma once

#include <cstdint>

namespace ardoise::instrument {

struct Usage {
  std::uint64_t cpu_ns = 0;             // of one thread
  std::uint64_t process_cpu_ns = 0;     // of all threads, including those that ended
  std::uint64_t peak_memory_bytes = 0;  // greatest resident set so far
  std::uint64_t children_cpu_ns = 0;    // of processes that this one started, and whose end it has seen
};

// The processors that threads of this process may use.
struct Affinity {
  std::uint32_t processors = 0, first = 0;
  std::uint32_t of_host = 0;  // online
};

// `tid`: a thread of this process. Unknown values are 0.
[[nodiscard]] Usage read_usage(std::uint32_t tid) noexcept;
// tid: the processors of this thread; 0: those of the first 256 threads together.
[[nodiscard]] Affinity read_affinity(std::uint32_t tid);

}  // namespace ardoise::instrument

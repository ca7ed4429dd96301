// Facts about the threads of this process, from /proc and the kernel's clocks. Uses direct system calls, since the
// library's open() and read() are hooked.
#pragma once

#include <cstdint>
#include <vector>

namespace ardoise::instrument {

// Thread id of the caller. Async-signal-safe.
[[nodiscard]] std::uint32_t own_tid() noexcept;
// Thread ids of all threads of this process, including the caller's.
[[nodiscard]] std::vector<std::uint32_t> running_tasks();
// Thread `tid` blocks this signal. True also if that cannot be determined.
[[nodiscard]] bool blocks_signal(std::uint32_t tid, int signal);
// A debugger or another tracer is attached.
[[nodiscard]] bool is_traced();
// CPU time of a thread of this process, ns; 0 if it ended.
[[nodiscard]] std::uint64_t cpu_time_of(std::uint32_t tid);
// The number of context switches of the calling thread. Async-signal-safe.
[[nodiscard]] std::uint64_t own_switches() noexcept;

}  // namespace ardoise::instrument

// What /proc and the kernel's clocks tell of the threads of this process. By direct system calls: the library's open()
// and read() are hooked.
#pragma once

#include <cstdint>
#include <vector>

namespace ardoise::instrument {

// Thread ids of all threads of this process, the caller's too.
[[nodiscard]] std::vector<std::uint32_t> running_tasks();
// Thread `tid` keeps this signal from being delivered. True when it can't be found out.
[[nodiscard]] bool blocks_signal(std::uint32_t tid, int signal);
// A debugger or another tracer is attached.
[[nodiscard]] bool is_traced();
// CPU time that a thread of this process has used, ns; 0 when it has ended.
[[nodiscard]] std::uint64_t cpu_time_of(std::uint32_t tid);
// How often the calling thread has left its processor. Async-signal-safe.
[[nodiscard]] std::uint64_t own_switches() noexcept;

}  // namespace ardoise::instrument

// An MPI call that the program left by a jump. The jump may come from a signal handler that interrupted the allocator,
// so nothing is recorded there. The thread's next MPI call records it, after its own record.
#pragma once

#include <cstdint>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {

struct LeftCall {
  const void* return_address = nullptr;  // nullptr: none
  std::uint64_t begin = 0, end = 0;      // ticks
  vmpi::FunctionId function{};
};

// The one of the calling thread.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local LeftCall left_call{};

// Called before a jump to the stack pointer `target` that leaves calls, or the handler of a signal that would have
// ended the process. Async-signal-safe.
void leave_calls_below(const char* target) noexcept;

}  // namespace ardoise::instrument

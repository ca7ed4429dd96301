// A call of MPI that the program has left by a jump. The jump may come from a signal handler that interrupted the
// allocator, so nothing is recorded there: the call waits for the thread's next one, whose record comes behind its own.
#pragma once

#include <cstdint>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {

struct LeftCall {
  const void* return_address = nullptr;  // nullptr: none
  std::uint64_t begin = 0, end = 0;      // ticks
  vmpi::FunctionId function{};
};

// The calling thread's.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local LeftCall left_call{};

// A jump to the stack pointer `target` is about to be made, out of calls, or out of the handler of a signal that would
// have ended the process. Async-signal-safe.
void leave_calls_below(const char* target) noexcept;

}  // namespace ardoise::instrument

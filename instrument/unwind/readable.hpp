// Checks whether memory can be read, without a fault.
#pragma once

#include <cerrno>
#include <cstdint>

#include "instrument/machine/kernel_call.hpp"

namespace ardoise::instrument {

// Checks the page of `address`, a multiple of 8. The kernel reads a signal set of 8 bytes from there and then rejects
// the invalid operation: EINVAL. If it cannot read, it returns EFAULT. (Idea: Abseil.) Async-signal-safe.
[[nodiscard]] inline bool is_readable(std::uint64_t address) noexcept {
  return call_kernel(SYS_rt_sigprocmask, ~0, static_cast<long>(address), 0, 8) == -EINVAL;
}

}  // namespace ardoise::instrument

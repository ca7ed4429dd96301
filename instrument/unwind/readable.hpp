// Whether memory can be read, without trying.
#pragma once

#include <cerrno>
#include <cstdint>

#include "instrument/machine/kernel_call.hpp"

namespace ardoise::instrument {

// The page of `address`, which is a multiple of 8. The kernel reads a signal set of 8 bytes from there and then finds
// that it does not know how to use it: EINVAL. Where it can't read it says EFAULT. (The idea is Abseil's.)
// Async-signal-safe.
[[nodiscard]] inline bool is_readable(std::uint64_t address) noexcept {
  return call_kernel(SYS_rt_sigprocmask, ~0, static_cast<long>(address), 0, 8) == -EINVAL;
}

}  // namespace ardoise::instrument

// Whether memory can be read, without trying.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace ardoise::instrument {

// The page of `address`, which is a multiple of 8. The kernel reads a signal set of 8 bytes from there and then finds
// that it does not know how to use it: EINVAL. Where it can't read it says EFAULT. (The idea is Abseil's.)
// Async-signal-safe.
[[nodiscard]] inline bool is_readable(std::uint64_t address) noexcept {
  const int saved = errno;
  const bool readable = ::syscall(SYS_rt_sigprocmask, ~0, address, nullptr, 8) == -1 && errno == EINVAL;
  errno = saved;
  return readable;
}

}  // namespace ardoise::instrument

// Reads a small file, as those of /proc. Allocates nothing, takes no lock, leaves errno unchanged.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "instrument/machine/kernel_call.hpp"

namespace ardoise::instrument {

// The first bytes of the file; empty: it cannot be read.
[[nodiscard]] inline std::string_view read_small_file(const char* path, std::span<char> room) noexcept {
  const long file = call_kernel(SYS_openat, AT_FDCWD, argument(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const long got = call_kernel(SYS_read, file, argument(room.data()), static_cast<long>(room.size()));
  call_kernel(SYS_close, file);
  return {room.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

}  // namespace ardoise::instrument

// What the kernel did for lack of memory.
#pragma once

#include <cstdint>

namespace ardoise::analyzer {

// Processes of this host that its out-of-memory killer has ended since it was started. 0 where the kernel does not tell
// (before Linux 4.13).
[[nodiscard]] std::uint64_t memory_kills();

// Since a moment at which there were `before`. 0, too, where the host was started anew meanwhile.
[[nodiscard]] inline std::uint64_t memory_kills_since(std::uint64_t before) {
  const std::uint64_t now = memory_kills();
  return now - (now < before ? now : before);
}

}  // namespace ardoise::analyzer

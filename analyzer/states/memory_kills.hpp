// Out-of-memory kills by the kernel.
#pragma once

#include <cstdint>

namespace ardoise::analyzer {

// Number of processes of this host killed by its out-of-memory killer since boot. 0 if the kernel does not report it
// (before Linux 4.13).
[[nodiscard]] std::uint64_t memory_kills();

// Kills since a moment with `before` kills. 0 if the host has been rebooted since.
[[nodiscard]] inline std::uint64_t memory_kills_since(std::uint64_t before) {
  const std::uint64_t now = memory_kills();
  return now - (now < before ? now : before);
}

}  // namespace ardoise::analyzer

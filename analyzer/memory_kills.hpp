// What the kernel did for lack of memory.
#pragma once

#include <cstdint>

namespace ardoise::analyzer {

// Processes of this host that its out-of-memory killer has ended since it was started. 0 where the kernel does not tell
// (before Linux 4.13).
[[nodiscard]] std::uint64_t memory_kills();

}  // namespace ardoise::analyzer

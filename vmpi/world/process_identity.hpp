// Which process of which machine this is, in a few bytes that travel, and whether another one on the same machine still
// runs: what a stream needs to notice that a peer died. Linux: /proc. No MPI.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

// All zero: unknown.
struct ProcessIdentity {
  std::uint64_t space = 0;  // machine and process-id namespace: where equal, process ids mean the same
  std::int32_t process = 0;
  std::uint32_t start = 0;  // low bits of its start time: tells it from a later process with the same id
};

[[nodiscard]] ProcessIdentity own_identity();

// A process that can be watched from here as one number, 0: it cannot (another machine, another namespace, unknown).
[[nodiscard]] std::int64_t watchable(const ProcessIdentity& own, const ProcessIdentity& peer);

// `process` from watchable(). false: it has ended, also when nobody has waited for it yet or another one has its id
// now.
[[nodiscard]] bool is_running(std::int64_t process);

}  // namespace ardoise::vmpi

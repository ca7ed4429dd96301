// Identity of a process in a few bytes that can be sent, and a check whether a process of the same machine still runs,
// with which streams detect dead peers. Linux: /proc. No MPI.
#pragma once

#include <cstdint>

namespace ardoise::vmpi {

// All zero: unknown.
struct ProcessIdentity {
  std::uint64_t space = 0;  // machine and process-id namespace: equal values mean comparable process ids
  std::int32_t process = 0;
  std::uint32_t start = 0;  // low bits of its start time, against reuse of the process id
};

[[nodiscard]] ProcessIdentity own_identity();

// The watch handle of a process; 0: it cannot be watched from here (another machine, another namespace, unknown).
[[nodiscard]] std::int64_t watchable(const ProcessIdentity& own, const ProcessIdentity& peer);

// `process`: from watchable(). false: it has ended, even if it is a zombie or another process has its id now.
[[nodiscard]] bool is_running(std::int64_t process);

}  // namespace ardoise::vmpi

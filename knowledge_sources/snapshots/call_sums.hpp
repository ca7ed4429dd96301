// Of calls, or of samples: then ns is CPU time and there are no calls.
#pragma once

#include <cstdint>

namespace ardoise::knowledge_sources {

struct CallSums {
  std::uint64_t calls = 0, ns = 0, bytes = 0;
  std::uint64_t waited = 0;  // of ns, as far as the knowledge source `waits` knows
  CallSums& operator+=(const CallSums& other) {
    calls += other.calls;
    ns += other.ns;
    bytes += other.bytes;
    waited += other.waited;
    return *this;
  }
  friend bool operator==(const CallSums&, const CallSums&) = default;
};

// What sums are kept for: a function of MPI or POSIX at a call site, or a place where a rank was sampled
// (samples/rank_places.hpp).
inline constexpr std::uint64_t kIsPosix = std::uint64_t{1} << 63, kIsSampled = std::uint64_t{1} << 62;
[[nodiscard]] constexpr std::uint64_t key_of_call(bool is_posix, std::uint32_t function, std::uint32_t call_site) {
  return (is_posix ? kIsPosix : 0) | std::uint64_t{function} << 32 | call_site;
}
[[nodiscard]] constexpr std::uint32_t function_of_key(std::uint64_t key) {
  return static_cast<std::uint32_t>((key & ~(kIsPosix | kIsSampled)) >> 32);
}
// Of a call: the call site; of a sample: the place.
[[nodiscard]] constexpr std::uint32_t place_of_key(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

}  // namespace ardoise::knowledge_sources

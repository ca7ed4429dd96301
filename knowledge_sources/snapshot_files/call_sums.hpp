// Sums of calls, or of samples: then ns is CPU time and there are no calls.
#pragma once

#include <cstdint>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

struct CallSums {
  std::uint64_t calls = 0, ns = 0, bytes = 0;
  std::uint64_t waited = 0;  // part of ns, as far as the knowledge source `waits` knows
  CallSums& operator+=(const CallSums& other) {
    calls += other.calls;
    ns += other.ns;
    bytes += other.bytes;
    waited += other.waited;
    return *this;
  }
  friend bool operator==(const CallSums&, const CallSums&) = default;
};

// Key of sums: an MPI or POSIX function at a call site in a thread; a sampled place of a rank
// (contexts/rank_places.hpp), which belongs to a thread; or a counted event (--counters), whose count is in `bytes`.
//
//   bit   63 POSIX   62 sampled   61 counted   42 … 57 thread, 0 the first   32 … 41 function
//   0 … 31 call site, place, or the name of the event (instrument/format/mark_name.hpp)
inline constexpr std::uint64_t kIsPosix = std::uint64_t{1} << 63, kIsSampled = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kIsCounted = std::uint64_t{1} << 61;
inline constexpr unsigned kThreadShift = 32 + instrument::kFunctionBits;
inline constexpr std::uint64_t kMostThread = 0xFFFF;  // this and higher ones share a key
[[nodiscard]] constexpr std::uint64_t in_thread(std::uint32_t thread) {
  return (thread < kMostThread ? thread : kMostThread) << kThreadShift;
}
[[nodiscard]] constexpr std::uint64_t key_of_call(bool is_posix, std::uint32_t function, std::uint32_t call_site,
                                                  std::uint32_t thread = 0) {
  return (is_posix ? kIsPosix : 0) | in_thread(thread) | std::uint64_t{function} << 32 | call_site;
}
[[nodiscard]] constexpr std::uint32_t function_of_key(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> 32) & ((1u << instrument::kFunctionBits) - 1);
}
[[nodiscard]] constexpr std::uint32_t thread_of_key(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> kThreadShift & kMostThread);
}
// The same call in any thread.
[[nodiscard]] constexpr std::uint64_t without_thread(std::uint64_t key) { return key & ~(kMostThread << kThreadShift); }
// The call site of a call, or the place of a sample.
[[nodiscard]] constexpr std::uint32_t place_of_key(std::uint64_t key) { return static_cast<std::uint32_t>(key); }

}  // namespace ardoise::knowledge_sources

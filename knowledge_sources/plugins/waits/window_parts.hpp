// Contributions of ranks to epochs of one-sided operations: the two halves of an epoch with general active target
// synchronisation, and locks. rank_windows.hpp makes them, epochs.hpp and locks.hpp evaluate them.
#pragma once

#include <compare>
#include <cstdint>
#include <variant>

#include "knowledge_sources/matching/patterns.hpp"
#include "knowledge_sources/plugins/waits/comm_identity.hpp"

namespace ardoise::knowledge_sources {

// Identifies a window in all ranks of its communicator.
struct WindowId {
  CommIdentity comm;
  std::uint32_t number;  // index on the communicator
  friend constexpr auto operator<=>(const WindowId&, const WindowId&) = default;
};
// Ranks in the window's communicator. number: counts the epochs between the two on the window.
struct EpochKey {
  WindowId window;
  std::uint32_t target, origin;
  std::uint64_t number;
  friend constexpr auto operator<=>(const EpochKey&, const EpochKey&) = default;
};

// ns on the program's time axis, rounded.
struct WindowCall {
  double begin, end;
  std::uint32_t call_site, function;
};
inline constexpr WindowCall kNoCall{0, -1, 0, 0};

// The part of a rank's epoch that concerns one other rank.
struct EpochHalf {
  EpochKey key;
  std::uint32_t rank;            // in the world
  float clock_error;             // as in Part
  std::uint32_t others, serial;  // number of ranks of the epoch; serial: of the rank's epochs
};
// From MPI_Win_start to MPI_Win_complete; the others are targets.
struct Access : EpochHalf {
  WindowCall start, first, complete;  // first: operation on the target, or kNoCall
  double last_end;                    // of the last operation of the epoch; of `start` if there was none
  // Since the previous epoch on the window: up to `start`, up to `last_end`, from there to `complete`.
  Stretch to_start, to_last, after_last;
};
// From MPI_Win_post to MPI_Win_wait; the others are origins.
struct Exposure : EpochHalf {
  double post;               // begin of MPI_Win_post
  WindowCall wait;           // of length 0: MPI_Win_test
  Stretch to_post, to_wait;  // since the previous epoch on the window
};
inline constexpr std::uint32_t kAllTargets = 0xFFFFFFFF;
// From MPI_Win_lock to MPI_Win_unlock, or the same for all targets.
struct LockEpoch {
  WindowId window;
  std::uint32_t rank;
  float clock_error;
  std::uint32_t target;  // in the window's communicator, or kAllTargets
  std::uint32_t exclusive;
  // Calls where the library may have waited for the lock: the lock call, or `later`, the longest of the first operation
  // on the target, the first flush, or the unlock if there was none. With kAllTargets: of all calls of the epoch.
  WindowCall lock, later;
  std::uint32_t later_target;
  double unlock_begin, unlock_end;
  Stretch held;  // from the end of `lock` to the unlock
};
using WindowPart = std::variant<Access, Exposure, LockEpoch>;

// Key of the analyzer that matches them.
[[nodiscard]] inline std::uint64_t key_of(const EpochKey& key) {
  return hash_of(key.window.comm) + (std::uint64_t{key.window.number} << 32 | key.target) * 0x94D049BB133111EBu + 1;
}
[[nodiscard]] inline std::uint64_t key_of(const Access& access) { return key_of(access.key); }
[[nodiscard]] inline std::uint64_t key_of(const Exposure& exposure) { return key_of(exposure.key); }
[[nodiscard]] inline std::uint64_t key_of(const LockEpoch& epoch) {
  return hash_of(epoch.window.comm) + epoch.window.number * 0xD6E8FEB86659FD93u + 2;
}

// A wait in `call`, in [from, until); error: of the two clocks. 0 ns if there was none.
template <class Waiter>
[[nodiscard]] Wait wait_in(WaitPattern pattern, const Waiter& waiter, const WindowCall& call, double from, double until,
                           std::uint32_t awaited, double error) {
  Wait wait{};
  wait.pattern = pattern;
  wait.certain = true;
  wait.waiter = waiter.rank;
  wait.awaited = kNobody;
  wait.call_site = call.call_site;
  wait.function = call.function;
  wait.operations = 1;
  wait.call_begin = call.begin;
  wait.begin = from;
  set_length(wait, until - from, error, awaited);
  return wait;
}

}  // namespace ardoise::knowledge_sources

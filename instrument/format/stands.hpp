// What a process leaves in the output folder while it makes no progress in MPI, or while somebody asks for it: a file
// with one pack of definitions, kStand first, and one of its totals, written by its survivor
// (process/watch/standing.hpp) every few seconds and removed when it goes on, or when the request is gone. The analyzer
// reads it (analyzer/hangs/hang_watch.hpp), and who asks (analyzer/states/snapshot.hpp).
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::instrument {

inline constexpr const char* kStandPrefix = ".stand-";
// While there is such a file in the folder, all processes leave theirs. Who asks, writes a text into it that was never
// there before.
inline constexpr const char* kAskName = ".ask";

[[nodiscard]] inline std::string stand_name(std::uint32_t partition, std::uint32_t rank) {
  return kStandPrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

// How long without progress until there is such a file, of the time after which a launch is said to hang. Seconds.
[[nodiscard]] constexpr double stand_seconds(double hang_seconds) {
  return hang_seconds / 2 < 5 ? hang_seconds / 2 : 5;
}

}  // namespace ardoise::instrument

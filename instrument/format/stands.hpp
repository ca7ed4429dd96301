// What a process leaves in the output folder while it makes no progress in MPI: a file with one pack of definitions,
// kStand first, written by its survivor (process/standing.hpp) every few seconds and removed when it goes on. The
// analyzer reads it (analyzer/hang_watch.hpp), and who asks where the ranks are.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::instrument {

inline constexpr const char* kStandPrefix = ".stand-";

[[nodiscard]] inline std::string stand_name(std::uint32_t partition, std::uint32_t rank) {
  return kStandPrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

// How long without progress until there is such a file, of the time after which a launch is said to hang. Seconds.
[[nodiscard]] constexpr double stand_seconds(double hang_seconds) {
  return hang_seconds / 2 < 5 ? hang_seconds / 2 : 5;
}

}  // namespace ardoise::instrument

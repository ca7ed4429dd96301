// The file in which the survivor of a process describes a process that makes no progress in MPI
// (process/watch/process_state_writer.hpp). It lies in the output folder and has one pack of definitions, kProcessState
// first, and one pack of totals. It is rewritten every few seconds and removed when the process makes progress. All
// processes also write it while a request file exists. Readers: analyzer/hangs/hang_watch.hpp and, for requests,
// analyzer/states/snapshot.hpp.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::instrument {

inline constexpr const char* kProcessStatePrefix = ".process-state-";
// The request file. All processes write their files while it is in the folder. Each request has a new text in it.
inline constexpr const char* kStateRequestName = ".state-request";

[[nodiscard]] inline std::string process_state_name(std::uint32_t partition, std::uint32_t rank) {
  return kProcessStatePrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

// Seconds without progress after which a process writes its file, from the time after which a launch is reported as
// hung.
[[nodiscard]] constexpr double stall_seconds(double hang_seconds) {
  return hang_seconds / 2 < 5 ? hang_seconds / 2 : 5;
}

}  // namespace ardoise::instrument

// What is left of processes that ended without MPI_Finalize: for each a file of packs (pack_file.hpp) in the output
// folder, written by its survivor (process/survivor.hpp), read by who makes the report. Packs that the analyzer has
// already may be among them: these have the numbers that it knows.
#pragma once

#include <cstdint>
#include <string>

namespace ardoise::instrument {

// The launcher tells the programs the folder by this variable. None: nothing is left of a process.
inline constexpr const char* kRemainsVariable = "ARDOISE_REMAINS";

inline constexpr const char* kRemainsPrefix = ".remains-";
inline constexpr const char* kUnfinishedRemains = ".part";  // behind the name, while it is being written

[[nodiscard]] inline std::string remains_name(std::uint32_t partition, std::uint32_t rank) {
  return kRemainsPrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

}  // namespace ardoise::instrument

// Options of a replay.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ardoise::replay {

enum class PauseKind : std::uint8_t { kBusy, kSleep, kNone };

struct ReplayOptions {
  std::string trace;
  PauseKind pause = PauseKind::kBusy;
  double compute = 1;                                   // factor of pauses
  double noise = 0;                                     // relative random variation of pauses
  std::map<std::int32_t, double> slowed;                // further factor of pauses, by rank
  double bytes = 1;                                     // factor of the counts of messages and collectives
  std::vector<std::int32_t> ranks;                      // replayed ranks; empty: all
  bool open_wildcards = false;                          // MPI_ANY_SOURCE, MPI_ANY_TAG and MPI_Waitany as in the program
  std::uint64_t buffer_bytes = std::uint64_t{1} << 30;  // for messages, of each process
  std::filesystem::path scratch;                        // for prepared calls, and files that are written and read
  std::uint64_t seed = 1;
  bool quiet = false;
};

struct ReadOptions {
  std::optional<ReplayOptions> options;  // nullopt: invalid, or --help
  std::string text, complaint;           // for standard output, for standard error
};
[[nodiscard]] ReadOptions read_replay_options(int argc, char** argv);

}  // namespace ardoise::replay

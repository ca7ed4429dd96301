// How a trace is replayed.
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
  double compute = 1;                     // pauses are so many times as long
  double noise = 0;                       // and longer or shorter by up to this part of them, at random
  std::map<std::int32_t, double> slowed;  // ranks whose pauses are so many times as long, besides
  double bytes = 1;                       // counts of messages and collectives are so many times as large
  std::vector<std::int32_t> ranks;        // that are replayed; empty: all
  bool open_wildcards = false;            // MPI_ANY_SOURCE, MPI_ANY_TAG and MPI_Waitany as the program gave them
  std::uint64_t buffer_bytes = std::uint64_t{1} << 30;  // for messages, of each process
  std::filesystem::path scratch;                        // what is prepared, and files that are written and read
  std::uint64_t seed = 1;
  bool quiet = false;
};

struct ReadOptions {
  std::optional<ReplayOptions> options;  // nullopt: they are wrong, or --help
  std::string text, complaint;           // what there is to be said then, on standard output, on standard error
};
[[nodiscard]] ReadOptions read_replay_options(int argc, char** argv);

}  // namespace ardoise::replay

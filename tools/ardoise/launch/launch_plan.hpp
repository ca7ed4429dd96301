// The launch line that measures: the user's own, with the preload library in front of every program and one more app
// context, the analyzers, at its end, so that the programs keep their ranks. Pure: words in, words out.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// How a program gets the preload library. Open MPI 4's -x belongs to its own app context, so nothing but the program
// itself sees it, and mpirun still starts the user's program and not another. Open MPI 5 exports to all contexts
// (facts of both: docs/reference/ardoise.md): there the program is started by env(1).
// (Hydra's -env, too, belongs to its own app context.)
enum class PreloadBy { kExportOption, kEnvProgram, kHydraEnvOption };

struct Measurement {
  std::string preload_library;                                   // absolute path of libardoise.so
  std::vector<std::pair<std::string, std::string>> environment;  // more variables, for all processes
  std::vector<std::string> analyzer;                             // its program and arguments
  std::vector<std::optional<std::string>> partitions;            // of each context (partition_option.hpp)
  std::vector<std::string> sanitizers;  // of each context: a library that is preloaded in front of ours, or ""
  unsigned analyzers = 1;
  // Of the first context, which does not say it: beside another one Open MPI wants to be told.
  std::optional<unsigned> processes;
  bool oversubscribe = false;  // add --oversubscribe
  PreloadBy preload_by = PreloadBy::kExportOption;
};

// `user_preload`: LD_PRELOAD of the user's environment, which stays behind ours; -x LD_PRELOAD=… in a context wins.
[[nodiscard]] LaunchLine plan_launch(const LaunchLine& user, const Measurement& measurement,
                                     const std::optional<std::string>& user_preload);

// Ranks of all programs; contexts without -n get all `slots`. Nothing: the line says it in a way only mpirun can work
// out (-N, --npernode, --map-by ppr …).
[[nodiscard]] std::optional<unsigned> count_ranks(const LaunchLine& line, std::optional<unsigned> slots);

// Analyzers for so many ranks: one for every 32, at least one.
[[nodiscard]] unsigned default_analyzers(std::optional<unsigned> ranks);

// Does the user's line allow more processes than slots, or forbid it?
[[nodiscard]] bool allows_oversubscription(const LaunchLine& line);
[[nodiscard]] bool forbids_oversubscription(const LaunchLine& line);

// A launch of printenv(1) on the same hosts that prints how many slots mpirun has there, and on how many machines.
[[nodiscard]] std::vector<std::string> slot_question(const LaunchLine& line);
struct Slots {
  unsigned all = 0;
  unsigned machines = 0;  // 0: not known
};
// Its answer. Nothing: mpirun could not say.
[[nodiscard]] std::optional<Slots> read_slot_answer(const std::string& output);

}  // namespace ardoise::launcher

// Makes the launch line that measures: the user's own line, with the preload library for every program and one more app
// context for the analyzers at the end, so that the programs keep their ranks. Pure functions on words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/ardoise/launch/launch_line.hpp"

namespace ardoise::launcher {

// How a program gets the preload library. Open MPI 4's -x and Hydra's -env apply to their own app context: only the
// program gets the variable, and mpirun starts the user's program directly. Open MPI 5 exports to all contexts (facts
// of both: docs/reference/ardoise.md), so there env(1) starts the program.
enum class PreloadBy { kExportOption, kEnvProgram, kHydraEnvOption };

struct Measurement {
  std::string preload_library;                                   // absolute path of libardoise.so
  std::vector<std::pair<std::string, std::string>> environment;  // more variables, for all processes
  std::vector<std::string> analyzer;                             // program and arguments
  std::vector<std::optional<std::string>> partitions;            // of each context (partition_option.hpp)
  std::vector<std::string> sanitizers;  // for each context: a library to preload before ours, or ""
  unsigned analyzers = 1;
  // For a first context without a number of processes: Open MPI requires one beside another context.
  std::optional<unsigned> processes;
  bool oversubscribe = false;  // add --oversubscribe
  bool slots_suffice = false;  // for the programs, but not for the analyzers, too
  PreloadBy preload_by = PreloadBy::kExportOption;
};

// `user_preload`: LD_PRELOAD of the user's environment, which follows ours. -x LD_PRELOAD=… of a context has
// precedence.
[[nodiscard]] LaunchLine plan_launch(const LaunchLine& user, const Measurement& measurement,
                                     const std::optional<std::string>& user_preload);

// Ranks of all programs; contexts without -n get all `slots`. nullopt: only mpirun can compute it (-N, --npernode,
// --map-by ppr …).
[[nodiscard]] std::optional<unsigned> count_ranks(const LaunchLine& line, std::optional<unsigned> slots);

// Number of analyzers for so many ranks: one for every 32, at least one.
[[nodiscard]] unsigned default_analyzers(std::optional<unsigned> ranks);

// Whether the user's line allows or forbids more processes than slots.
[[nodiscard]] bool allows_oversubscription(const LaunchLine& line);
[[nodiscard]] bool forbids_oversubscription(const LaunchLine& line);

// Launches printenv(1) on the same hosts to print mpirun's slots there and the number of machines.
[[nodiscard]] std::vector<std::string> slot_question(const LaunchLine& line);
struct Slots {
  unsigned all = 0;
  unsigned machines = 0;  // 0: not known
};
// Parses its output. nullopt: mpirun gave no number.
[[nodiscard]] std::optional<Slots> read_slot_answer(const std::string& output);

}  // namespace ardoise::launcher

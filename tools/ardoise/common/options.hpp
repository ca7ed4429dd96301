// Options of `ardoise mpirun …`: its command line and the ARDOISE_ variables, checked by the option table before
// anything is started. Used by measure.cpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instrument/settings/option_values.hpp"
#include "tools/ardoise/common/process.hpp"

namespace ardoise::launcher {

struct Options {
  unsigned analyzers = 0;  // 0: chosen by the number of ranks
  std::string output = "ardoise-report";
  bool render = true;
  bool short_report = false;
  std::vector<std::string> plugins, snapshot_conditions;
  std::string rules;                    // file; "": none
  std::string trace;                    // what to trace; "": nothing
  std::vector<std::string> partitions;  // NAME=CONTEXT[,CONTEXT...]
  bool separate = false;                // each program has its own world
  std::optional<TimeLimit> time_limit;
  std::string capture;                     // folder; "": none
  std::string record_races, replay_races;  // folders; "": none
  std::string disabled;                    // the setting, "ARDOISE_DISABLE=1"; "": the launch is measured
  bool no_command = false;                 // profile.json has only the names of launcher and programs
  bool quiet = false;
  bool verbose = false;
  // Settings of programs and analyzers, as variables for all processes; and the names of those options that were given
  // on the command line.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> on_command_line;
};

struct ParsedCommandLine {
  Options options;
  std::vector<std::string> launch_line;
  std::optional<int> status;  // set: --help or --version was printed, end with this status
};

// Throws UsageError that names the option or variable, its value and the allowed ones.
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv, instrument::GetVariable get);

}  // namespace ardoise::launcher

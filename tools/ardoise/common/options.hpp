// The options of `ardoise mpirun …`: its command line and the ARDOISE_ variables of its environment, checked by the
// option table before anything is started. measure.cpp acts on them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "instrument/settings/option_values.hpp"
#include "tools/ardoise/common/process.hpp"

namespace ardoise::launcher {

struct Options {
  unsigned analyzers = 0;  // 0: by the number of ranks
  std::string output = "ardoise-report";
  bool render = true;
  bool short_report = false;
  std::vector<std::string> plugins, snapshot_conditions;
  std::string rules;                    // file; "": none
  std::string trace;                    // what of the run; "": nothing
  std::vector<std::string> partitions;  // NAME=CONTEXT[,CONTEXT...]
  bool separate = false;                // each program has a world of its own
  std::optional<TimeLimit> time_limit;
  std::string capture;              // folder; "": none
  std::string record_races, replay_races;  // folders; "": none
  std::string disabled;             // how the user said it, "ARDOISE_DISABLE=1"; "": the launch is measured
  bool no_command = false;          // profile.json has the names of launcher and programs alone
  bool quiet = false;
  bool verbose = false;
  // What programs and analyzers need, as variables for all processes; and which of these options (by name) stood on the
  // command line.
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> on_command_line;
};

struct ParsedCommandLine {
  Options options;
  std::vector<std::string> launch_line;
  std::optional<int> status;  // end with it: --help and --version have been printed
};

// Throws UsageError, which names the option or the variable, its value and what is allowed.
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv, instrument::GetVariable get);

}  // namespace ardoise::launcher

// The command line of ardoise-analyzer: rows of the option table, and its own options.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/rules/rule_file.hpp"
#include "reports/model.hpp"

namespace ardoise::analyzer {

struct Options {
  std::string output = "ardoise-report";
  unsigned workers = 0;  // 0: by the free cores
  std::size_t memory_bytes = std::size_t{256} << 20;
  std::vector<std::string> plugins;
  std::vector<std::string> snapshot_conditions;
  std::vector<Rule> rules;  // of a launch
  std::string rules_fault;  // why there are none, where `ardoise` could read them
  std::string command;      // the launch line, for the report
  bool render = true;
  bool short_report = false;
  bool quiet = false;
  bool check = false;            // load the plug-ins, print errors, end
  bool merge = false;            // make the report of a launch that was ended (merge_states.hpp)
  bool snapshot = false;         // make the results so far of a running launch (snapshot.hpp)
  bool control = false;          // change settings of a running launch (control.hpp)
  std::string control_settings;  // "rate=1000 flush-every=0.5"; "": print the previous settings
  std::string control_ranks = "*", control_program = "*";
  double control_wait_seconds = 10;
  bool keep = false;              // with snapshot: write profile.json and summary.txt, too
  std::string trace;              // what of the run; "": nothing
  double snapshot_seconds = 0;    // between two of each rank in a file of them; 0: no file
  double save_every_seconds = 0;  // between two of these while the programs run; 0: none
  std::optional<int> job_status;  // of mpirun, for the report of a launch that was ended
  std::string ended_by;           // of that launch, as reports::Run::ended_by
  std::string called_by;          // the command of ardoise in whose name this process speaks; "": its own
  std::string status_file;        // see ardoise_analyzer.cpp
  std::vector<std::string> replay;
  std::vector<reports::RunSetting> settings;  // of the run, for the record; empty when replaying
};

struct ParsedOptions {
  std::optional<Options> options;  // else end with `status`
  int status = 0;
};

// Prints what --help, --version and mistakes need.
[[nodiscard]] ParsedOptions parse_options(int argc, char** argv);

}  // namespace ardoise::analyzer

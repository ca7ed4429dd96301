// The command `ardoise`: measures a launch (options.cpp), or runs one of the commands in command_table.hpp.
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "tools/ardoise/commands.hpp"
#include "tools/ardoise/common/command_line.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/options.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/explain/explain.hpp"
#include "tools/ardoise/launch/measure.hpp"
#include "tools/ardoise/live/control.hpp"
#include "tools/ardoise/live/status.hpp"
#include "tools/ardoise/report/report.hpp"
#include "tools/ardoise/show/show.hpp"
#include "tools/ardoise/snapshots/snapshots.hpp"
#include "tools/ardoise/trace/export.hpp"
#include "tools/ardoise/trace/trace.hpp"

namespace {

using namespace ardoise::launcher;

int run_command(int argc, char** argv) {
  const CommandLine line(argc, argv);
  if (line.status) return *line.status;
  const std::string_view name = line.command().name;
  if (name == "report") return report(line);
  if (name == "export") return export_for_tools(line);
  if (name == "show") return show(line);
  if (name == "status") return status(line);
  if (name == "snapshots") return snapshots(line);
  if (name == "trace") return trace(line);
  if (name == "explain") return explain(line);
  return control(line);
}

int run(int argc, char** argv) {
  char help[] = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    const bool is_of_command = argc > 2 && std::string_view(argv[2]) != "help";
    if (is_of_command) {
      check_command(argv[2]);
      argv[1] = argv[2];
    }
    argc = is_of_command ? 3 : 2;
    argv[argc - 1] = help;
  }
  if (argc > 1 && command_named(argv[1]) != nullptr) {
    speaker() += ' ' + std::string(argv[1]);
    return run_command(argc - 1, argv + 1);
  }
  const auto parsed = parse_command_line(argc, argv, [](const char* name) -> const char* { return std::getenv(name); });
  if (parsed.status) return *parsed.status;
  if (parsed.launch_line.empty())
    throw UsageError("no launch line is given: ardoise mpirun -n 4 ./program; see ardoise --help.");
  check_first_word(parsed.launch_line.front());
  return measure(parsed.options, parsed.launch_line);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    say("{}", error.what());
    return kUsageStatus;
  }
}

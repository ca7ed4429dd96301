// The command `ardoise`: in front of the user's own launch line it measures the launch; `ardoise report` renders a
// report again from its data, `ardoise status` says where the ranks of a running launch are, `ardoise show` prints
// tables of a profile, `ardoise snapshots` reads files of snapshots, `ardoise trace` examines and converts
// traces, `ardoise export` writes call stacks of a profile for other tools. The options of the first are in
// options.cpp.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "reports/atomic_file.hpp"
#include "reports/model_json.hpp"
#include "reports/stack_export.hpp"
#include "tools/ardoise/commands.hpp"
#include "tools/ardoise/common/exit_status.hpp"
#include "tools/ardoise/common/message.hpp"
#include "tools/ardoise/common/options.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/launch/measure.hpp"
#include "tools/ardoise/live/control.hpp"
#include "tools/ardoise/live/status.hpp"
#include "tools/ardoise/report/finish_report.hpp"
#include "tools/ardoise/show/show.hpp"
#include "tools/ardoise/snapshots/snapshots.hpp"
#include "tools/ardoise/trace/trace.hpp"

namespace {

using namespace ardoise::launcher;
namespace reports = ardoise::reports;

int report(int argc, char** argv) {
  CLI::App app{"Renders a report again, on any machine, from the profile.json of a run.", "ardoise report"};
  std::string profile, output, length = "full";
  bool quiet = false;
  app.add_option("profile", profile, "profile.json of a run, or its folder")->required();
  app.add_option("-o,--output", output, "folder of the report [that of profile.json]");
  app.add_option("--report", length, "short: the first page, and of each program its overview and tables [full]")
      ->check(CLI::IsMember({"short", "full"}));
  app.add_flag("--quiet", quiet, "print no summary");
  if (const auto status = parse_or_end(app, argc, argv)) return *status;
  return render_again(profile, output, length == "short", quiet);
}

int export_profile(int argc, char** argv) {
  CLI::App app{"Writes the call stacks of a profile for other tools.", "ardoise export"};
  std::string profile, format, program, output = "-";
  app.add_option("profile", profile, "profile.json of a run, or its folder")->required();
  app.add_option("--format", format, "folded (flamegraph.pl, inferno) or speedscope (speedscope.app)")
      ->required()
      ->check(CLI::IsMember({"folded", "speedscope"}));
  app.add_option("--program", program, "only this program of the run");
  app.add_option("-o,--output", output, "file to write [standard output]");
  if (const auto status = parse_or_end(app, argc, argv)) return *status;
  const auto run = reports::read_profile_json(profile_in(profile));
  if (!run) return say("{}", run.error), kFailedStatus;
  const bool folded = format == "folded";
  const auto text = reports::export_stacks(*run.value, program,
                                           folded ? reports::StackFormat::folded : reports::StackFormat::speedscope);
  if (!text) return say("{}", text.error), kFailedStatus;
  if (output == "-") {
    return print(*text.value) ? 0 : kFailedStatus;
  }
  if (const auto written = reports::write_file(output, *text.value, reports::Special::kUsed); !written) {
    return say("{}", written.error), kFailedStatus;
  }
  say("the call stacks are '{}', {}.", output,
      folded ? "folded, values in microseconds (or events), summed over ranks and threads"
             : "for https://www.speedscope.app, weights summed over ranks and threads");
  return 0;
}

int run_command(std::string_view name, int argc, char** argv) {
  if (name == "report") return report(argc, argv);
  if (name == "export") return export_profile(argc, argv);
  if (name == "show") return show(argc, argv);
  if (name == "status") return status(argc, argv);
  if (name == "snapshots") return snapshots(argc, argv);
  if (name == "trace") return trace(argc, argv);
  return control(argc, argv);
}

int run(int argc, char** argv) {
  char help[] = "--help";
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    argv[1] = help;
    argc = 2;
  }
  if (argc > 1 && std::ranges::find(kCommands, std::string_view(argv[1])) != kCommands.end()) {
    speaker() += ' ' + std::string(argv[1]);
    return run_command(argv[1], argc - 1, argv + 1);
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

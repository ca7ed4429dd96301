// The command `ardoise`: in front of the user's own launch line it measures the launch; `ardoise report` renders a
// report again from its data, `ardoise export` writes them for other tools. The options of the first are in
// options.cpp.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "tools/ardoise/export_stacks.hpp"
#include "tools/ardoise/finish_report.hpp"
#include "tools/ardoise/launch_line.hpp"
#include "tools/ardoise/measure.hpp"
#include "tools/ardoise/options.hpp"

namespace {

using namespace ardoise::launcher;

int report(int argc, char** argv) {
  CLI::App app{"Renders a report again, on any machine, from the profile.json of a run.", "ardoise report"};
  std::string profile, output;
  bool quiet = false;
  app.add_option("profile", profile, "profile.json of a run")->required();
  app.add_option("--output", output, "folder of the report [that of profile.json]");
  app.add_flag("--quiet", quiet, "print no summary");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see ardoise report --help.", error.what()));
  }
  return render_again(profile, output, quiet);
}

int export_profile(int argc, char** argv) {
  CLI::App app{"Writes the call stacks of a profile for other tools.", "ardoise export"};
  std::string profile, format, program, output = "-";
  app.add_option("profile", profile, "profile.json of a run")->required();
  app.add_option("--format", format, "folded (flamegraph.pl, inferno) or speedscope (speedscope.app)")
      ->required()
      ->check(CLI::IsMember({"folded", "speedscope"}));
  app.add_option("--program", program, "only this program of the run");
  app.add_option("-o,--output", output, "file to write [standard output]");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see ardoise export --help.", error.what()));
  }
  return export_stacks(profile, format, program, output);
}

int run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "report") return report(argc - 1, argv + 1);
  if (argc > 1 && std::string_view(argv[1]) == "export") return export_profile(argc - 1, argv + 1);
  const auto parsed = parse_command_line(argc, argv, [](const char* name) -> const char* { return std::getenv(name); });
  if (parsed.status) return *parsed.status;
  if (parsed.launch_line.empty())
    throw UsageError("no launch line is given: ardoise mpirun -n 4 ./program; see ardoise --help.");
  return measure(parsed.options, parsed.launch_line);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "ardoise: " << error.what() << std::endl;
    return kUsageStatus;
  }
}

// The command `ardoise`: in front of the user's own launch line it measures the launch; `ardoise report` renders a
// report again from its data, `ardoise export` writes them for other tools. Everything but the command line is in the
// files beside this one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>

#include "tools/ardoise/export_stacks.hpp"
#include "tools/ardoise/finish_report.hpp"
#include "tools/ardoise/launch_line.hpp"
#include "tools/ardoise/measure.hpp"

namespace {

using namespace ardoise::launcher;

constexpr const char* kDescription =
    "Profiles the MPI programs of a launch while they run, without recompiling them.\n\n"
    "  ardoise [options] mpirun -n 4 ./solver in.cfg : -n 2 ./post\n"
    "  ardoise report profile.json [--output folder]\n"
    "  ardoise export --format folded|speedscope [--program name] profile.json [-o file]\n";

constexpr const char* kFooter =
    "The exit status is that of mpirun, also where there is no report; 2 when ardoise refused to start.\n"
    "Everything else: man ardoise.";

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
  CLI::App app{kDescription, "ardoise"};
  app.footer(kFooter);
  app.set_version_flag("--version", "ardoise " ARDOISE_VERSION);
  app.prefix_command();
  Options options;
  bool no_report = false;
  app.add_option("--analyzers", options.analyzers, "analyzer processes [one for every 32 ranks]")
      ->check(CLI::Range(1U, 100000U));
  app.add_option("--workers", options.workers, "worker threads of each analyzer [by the free cores]")
      ->check(CLI::Range(1U, 4096U));
  app.add_option("--output", options.output,
                 "folder of the report [ardoise-report, or the first free ardoise-report-2 ...]");
  app.add_flag("--no-report", no_report, "write profile.json and summary.txt, render no PDF");
  app.add_option("--plugin", options.plugins, "knowledge source to load, may be given several times")
      ->allow_extra_args(false);
  app.add_option("--partition", options.partitions,
                 "NAME=CONTEXT[,CONTEXT...]: programs that share one MPI_COMM_WORLD; a context is its number on\n"
                 "the launch line, from 0, or its program; may be given several times")
      ->allow_extra_args(false);
  app.add_option("--budget", options.budget, "memory of each process for events, e.g. 8M [16M]")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--sample", options.sample, "call stacks by cpu or wall time, or by an event, e.g. page-faults; off [cpu]");
  app.add_option("--counters", options.counters, "events counted with each sample, e.g. cycles,instructions: up to 8");
  app.add_option("--policy", options.policy, "when the memory is used up: adapt (record less) or block (wait) [adapt]")
      ->check(CLI::IsMember({"adapt", "block"}));
  app.add_option("--reduce", options.reduce, "events that become sums first, by class, depth or duration [class]")
      ->check(CLI::IsMember({"class", "depth", "duration"}));
  app.add_option("--mpi-share", options.mpi_share, "part of the memory that MPI events may hold [0.5]")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--capture", options.capture,
                 "folder for a copy of all event packs (ardoise-analyzer --replay reads it)");
  app.add_flag("--quiet", options.quiet, "print no summary");
  app.add_flag("--verbose", options.verbose, "print the launch line that is run");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see ardoise --help.", error.what()));
  }
  options.render = !no_report;
  const auto words = app.remaining();
  if (words.empty()) throw UsageError("no launch line is given: ardoise mpirun -n 4 ./program; see ardoise --help.");
  return measure(options, words);
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

// See options.hpp.
#include "analyzer/options.hpp"

#include <CLI/CLI.hpp>
#include <iostream>

namespace ardoise::analyzer {

ParsedOptions parse_options(int argc, char** argv) {
  CLI::App app{
      "Receives what the preload library libardoise.so records and writes the report. Usually started by ardoise; by "
      "hand:\n\n  mpirun -n 4 env LD_PRELOAD=libardoise.so ./solver : -n 1 ardoise-analyzer [options]\n",
      "ardoise-analyzer"};
  app.set_version_flag("--version", "ardoise-analyzer " ARDOISE_VERSION);
  app.footer(
      "Exit status: 0, 1 when (part of) the report could not be made, 2 for a wrong command line. See man "
      "ardoise-analyzer.");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  Options options;
  bool no_report = false;
  app.add_option("--output", options.output, "folder of the report [ardoise-report]");
  app.add_option("--workers", options.workers, "worker threads [by the free cores]")->check(CLI::Range(1U, 4096U));
  app.add_option("--memory", options.memory_bytes,
                 "bytes of events being worked on, e.g. 256MB; above it programs wait [256MB]")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1} << 20, std::size_t{1} << 50));
  app.add_option("--plugin", options.plugins, "knowledge source to load, may be given several times")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_flag("--no-report", no_report, "write profile.json and summary.txt, render no PDF");
  app.add_flag("--quiet", options.quiet, "print no summary");
  app.add_option("--command", options.command, "the launch line, as the report shows it");
  app.add_option("--status-file", options.status_file, "write the exit status into this file and exit with 0");
  app.add_flag("--check", options.check, "only load the knowledge sources and say what is wrong with them");
  app.add_option("--replay", options.replay,
                 "analyze captured packs (files or folders) instead of a running launch, without MPI")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return {std::nullopt, app.exit(success)};
  } catch (const CLI::ParseError& error) {
    std::cerr << "ardoise-analyzer: " << error.what() << "; see ardoise-analyzer --help." << std::endl;
    return {std::nullopt, 2};
  }
  options.render = !no_report;
  return {options, 0};
}

}  // namespace ardoise::analyzer

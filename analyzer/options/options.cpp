#include "analyzer/options/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "analyzer/options/option_rows.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "knowledge_sources/plugins/snapshots/condition.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::analyzer {
namespace {

using instrument::option;

// Everything that programs and analyzers were told. Under ardoise all of it is in this process's environment.
std::vector<reports::RunSetting> settings_of_run(const instrument::OptionValues& own,
                                                 const std::vector<std::string>& on_command_line,
                                                 instrument::GetVariable get) {
  std::string told_by_programs;
  const auto programs = instrument::read_program_options(get, told_by_programs);
  std::vector<reports::RunSetting> settings;
  for (const instrument::Option& row : instrument::kOptions) {
    if (!row.forwarded()) continue;
    const auto& values = row.of_analyzer() ? own : programs;
    const bool typed = values.is_on_command_line(row) ||
                       std::find(on_command_line.begin(), on_command_line.end(), row.name) != on_command_line.end();
    const std::string_view text = values.text(row);
    settings.push_back({std::string(row.name), std::string(text.empty() ? row.default_words : text),
                        !values.is_given(row) ? "default"
                        : typed               ? "command line"
                                              : "environment"});
  }
  return settings;
}

std::string help_of(const CLI::App& app) {
  std::string text =
      "Receives what the preload library libardoise.so records and writes the report.\n"
      "Usually started by ardoise; by hand:\n"
      "  mpirun -n 4 env LD_PRELOAD=libardoise.so ./solver : \\\n"
      "    -n 1 ardoise-analyzer [options]\n\n";
  for (const CLI::Option* option : app.get_options()) {
    const std::string value = option->get_type_name();
    text += help_line(option->get_name(false, true) + (value.empty() ? "" : " " + value), option->get_description());
  }
  return text +
         "\nExit status: 0; 1: the report could not be made, or not in full; 2: wrong\n"
         "command line. Everything else: man ardoise-analyzer.\n";
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  CLI::App app{"", "ardoise-analyzer"};
  app.set_version_flag("--version", "ardoise-analyzer " ARDOISE_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this");
  app.formatter_fn([](const CLI::App* self, const auto&...) { return help_of(*self); });
  Options options;
  instrument::OptionValues values;
  for (const instrument::Option& row : instrument::kOptions) {
    if (row.of_analyzer()) add_row(app, row, values);
  }
  app.add_option("--command", options.command, "the launch line, as the report shows it");
  app.add_option("--called-by", options.called_by,
                 "name to begin messages with, that of the command that runs this one");
  app.add_option("--status-file", options.status_file, "write the exit status into this file and exit with 0");
  std::vector<std::string> on_command_line;
  app.add_option("--on-command-line", on_command_line,
                 "NAME,...: options that stood on the command line of ardoise, for the record of the run")
      ->delimiter(',');
  app.add_flag("--check", options.check, "only load the knowledge sources and say what is wrong with them");
  app.add_flag(
      "--merge", options.merge,
      "make the report from what the analyzers of a launch that was ended have left in the folder of --output");
  app.add_flag("--snapshot", options.snapshot,
               "print the results so far of the running launch that writes to --output");
  app.add_flag("--control", options.control,
               "change --set in the processes of the running launch that writes to --output");
  app.add_option("--set", options.control_settings, "with --control: NAME=VALUE ..., see man ardoise");
  app.add_option("--ranks", options.control_ranks, "with --control: ranks of MPI_COMM_WORLD, 0-3,8 [all]");
  app.add_option("--program", options.control_program, "with --control: of one program only [all]");
  app.add_option("--wait", options.control_wait_seconds, "with --control: seconds, for the answers [10]");
  app.add_flag("--keep", options.keep, "with --snapshot: write profile.json and summary.txt, too");
  app.add_option("--job-status", options.job_status, "with --merge: mpirun's exit status, for the report");
  app.add_option("--ended-by", options.ended_by, "with --merge: what ended the launch, for the report");
  app.add_option(
         "--replay", options.replay,
         "analyze captured packs (files or folders), or a trace in OTF2, instead of a running launch, without MPI")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return {std::nullopt, app.exit(success)};
  } catch (const CLI::ParseError& error) {
    std::cerr << "ardoise-analyzer: " << reports::printable(error.what()) << "; see ardoise-analyzer --help."
              << std::endl;
    return {std::nullopt, 2};
  }
  const instrument::GetVariable get = [](const char* name) -> const char* { return std::getenv(name); };
  values.read_environment(get, &instrument::Option::of_analyzer);
  if (const auto bad = values.drop_bad(); !bad.empty()) {
    std::cerr << "ardoise-analyzer: " << reports::printable(bad.front()) << "; see ardoise-analyzer --help."
              << std::endl;
    return {std::nullopt, 2};
  }
  options.output = values.text(*option("output"));
  options.workers = static_cast<unsigned>(values.count(*option("workers")));
  options.memory_bytes = static_cast<std::size_t>(values.size(*option("memory")));
  options.plugins = values.texts(*option("plugin"));
  options.snapshot_conditions = values.texts(*option("snapshot-when"));
  options.trace = values.text(*option("trace"));
  try {
    for (const std::string& text : options.snapshot_conditions) {
      if (knowledge_sources::Condition(text).is_of_program())
        throw std::invalid_argument(fmt::format(
            "the condition \"{}\" is of all ranks of a program, and a snapshot of one: balance() is for --rules",
            text));
    }
    if (!options.trace.empty()) (void)knowledge_sources::TraceSelection(options.trace);
  } catch (const std::invalid_argument& wrong) {
    std::cerr << "ardoise-analyzer: " << reports::printable(wrong.what()) << "." << std::endl;
    return {std::nullopt, 2};
  }
  const std::string_view rules = values.text(*option("rules"));
  const bool is_launch = options.replay.empty() && !options.merge && !options.snapshot && !options.control;
  if (!options.replay.empty() && !rules.empty())
    std::cerr << "ardoise-analyzer: --rules has no effect on what was captured." << std::endl;
  if (is_launch && !rules.empty()) {
    try {
      options.rules = read_rules(rules);
    } catch (const std::invalid_argument& wrong) {
      options.rules_fault = wrong.what();
      // Programs that run already are not ended for it.
      if (options.status_file.empty()) {
        std::cerr << "ardoise-analyzer: " << reports::printable(wrong.what()) << "." << std::endl;
        return {std::nullopt, 2};
      }
    }
  }
  options.render = !values.is_on(*option("no-report"));
  options.short_report = values.text(*option("report")) == "short";
  options.snapshot_seconds = values.seconds(*option("snapshot-every"));
  options.save_every_seconds = values.seconds(*option("save-every"));
  options.quiet = values.is_on(*option("quiet"));
  // The settings of a captured run are not known.
  if (options.replay.empty()) options.settings = settings_of_run(values, on_command_line, get);
  return {options, 0};
}

}  // namespace ardoise::analyzer

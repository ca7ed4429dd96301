#include "tools/ardoise/common/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <stdexcept>

#include "analyzer/options/option_rows.hpp"
#include "knowledge_sources/otf2/contents/trace_selection.hpp"
#include "tools/ardoise/common/command_line.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

using instrument::Option;
using instrument::option;
using instrument::OptionValues;

std::optional<TimeLimit> time_limit(const OptionValues& values) {
  const std::string_view text = values.text(*option("time-limit"));
  if (text.empty()) return std::nullopt;
  const auto number = text.substr(0, text.find_first_of("smh"));
  const auto unit = number.size() == text.size() ? "s" : text.substr(number.size());
  return TimeLimit{std::chrono::duration<double>(values.seconds(*option("time-limit"))),
                   fmt::format("{} {}", number, unit)};
}

// The attributes that programs must record.
knowledge_sources::AttributeClasses attributes_of(const std::string& trace) {
  using namespace knowledge_sources;
  try {
    return trace.empty() ? AttributeClasses() : TraceSelection(trace).attributes();
  } catch (const std::invalid_argument& fault) {
    throw UsageError(fmt::format("{}.", fault.what()));
  }
}

Options typed(const OptionValues& values) {
  Options options;
  options.analyzers = static_cast<unsigned>(values.count(*option("analyzers")));
  options.output = values.text(*option("output"));
  options.render = !values.is_on(*option("no-report"));
  options.short_report = values.text(*option("report")) == "short";
  options.plugins = values.texts(*option("plugin"));
  options.snapshot_conditions = values.texts(*option("snapshot-when"));
  options.rules = values.text(*option("rules"));
  options.trace = values.text(*option("trace"));
  options.partitions = values.texts(*option("partition"));
  options.separate = values.is_on(*option("separate"));
  options.time_limit = time_limit(values);
  options.capture = values.text(*option("capture"));
  options.record_races = values.text(*option("record-races"));
  options.replay_races = values.text(*option("replay-races"));
  if (values.is_on(*option("disable"))) options.disabled = values.as_given(*option("disable"));
  options.no_command = values.is_on(*option("no-command"));
  options.quiet = values.is_on(*option("quiet"));
  options.verbose = values.is_on(*option("verbose"));
  for (const Option& row : instrument::kOptions) {
    if (!row.forwarded() || !values.is_given(row)) continue;
    std::string text(values.text(row));
    // Programs may start in another working directory.
    if (row.kind == instrument::OptionKind::kFolder) text = std::filesystem::absolute(text).string();
    options.environment.emplace_back(row.variable(), std::move(text));
    if (values.is_on_command_line(row)) options.on_command_line.emplace_back(row.name);
  }
  const auto attributes = attributes_of(options.trace);
  const auto turn_on = [&](const Option& row, knowledge_sources::AttributeClass by) {
    if (attributes.has(by) && !values.is_given(row)) options.environment.emplace_back(row.variable(), "on");
  };
  turn_on(*option("arguments"), knowledge_sources::AttributeClass::kArguments);
  turn_on(*option("call-stacks"), knowledge_sources::AttributeClass::kStacks);
  return options;
}

}  // namespace

ParsedCommandLine parse_command_line(int argc, const char* const* argv, instrument::GetVariable get) {
  CLI::App app{"", "ardoise"};
  app.formatter_fn(
      [](const auto*, const auto&, CLI::AppFormatMode mode) { return launch_help(mode == CLI::AppFormatMode::All); });
  app.set_help_all_flag("--help-expert");
  app.set_version_flag("--version", "ardoise " ARDOISE_VERSION);
  app.prefix_command();
  OptionValues values;
  for (const Option& row : instrument::kOptions) analyzer::add_row(app, row, values);
  ParsedCommandLine parsed;
  if ((parsed.status = parse_or_end(app, argc, argv))) return parsed;
  values.read_environment(get);
  if (const auto bad = values.drop_bad(); !bad.empty()) throw UsageError(bad.front() + '.');
  parsed.options = typed(values);
  parsed.launch_line = app.remaining();
  return parsed;
}

}  // namespace ardoise::launcher

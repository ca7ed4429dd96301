#include "tools/ardoise/common/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "analyzer/options/option_rows.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

using instrument::Option;

std::string option_line(const Option& row) { return analyzer::help_line(shown_name(row), analyzer::described(row)); }

// "PATH" and "TABLE" of "PATH TABLE".
std::vector<std::string_view> words_of(const Command& command) {
  std::vector<std::string_view> words;
  for (std::string_view rest = command.words; !rest.empty();) words.push_back(instrument::take_word(rest, ' '));
  return words;
}

void check_words(const Command& command, const std::vector<std::string>& given) {
  const auto words = words_of(command);
  const std::string hint = fmt::format("{}; see ardoise {} --help.", synopsis(command), command.name);
  if (given.size() < words.size() && !words[given.size()].starts_with('['))
    throw UsageError(fmt::format("{} is missing: {}", words[given.size()], hint));
  if (given.size() > words.size() && !command.words.ends_with("...") && !command.words.ends_with("...]"))
    throw UsageError(fmt::format("'{}' is one word too many: {}", given[words.size()], hint));
}

bool is_needed(const Option& row) { return row.has_value() && analyzer::shown_default(row).empty(); }

}  // namespace

const Command* command_named(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

CommandLine::CommandLine(int argc, const char* const* argv) : command_(*command_named(argv[0])) {
  CLI::App app{"", fmt::format("ardoise {}", command_.name)};
  app.formatter_fn([this](const auto*, auto&&...) { return help_of(command_); });
  for (const Option& row : command_.options) analyzer::add_row(app, row, values_);
  app.add_option("words", words);
  if ((status = parse_or_end(app, argc, argv))) return;
  if (const auto bad = values_.drop_bad(); !bad.empty()) throw UsageError(bad.front() + '.');
  check_words(command_, words);
  for (const Option& row : command_.options) {
    if (is_needed(row) && !values_.is_given(row))
      throw UsageError(fmt::format("--{} {} is missing; see ardoise {} --help.", row.name, row.value, command_.name));
  }
}

std::optional<std::uint64_t> CommandLine::count(std::string_view name) const {
  return is_given(name) ? std::optional(values_.count(row(name))) : std::nullopt;
}

const std::string& CommandLine::word_of(std::string_view what, std::string_view choices) const {
  if (const auto expected =
          instrument::expected_if_invalid({.kind = instrument::OptionKind::kChoice, .value = choices}, words.front()))
    throw UsageError(
        fmt::format("{} '{}' is not {}; see ardoise {} --help.", what, words.front(), *expected, command_.name));
  return words.front();
}

const Option& CommandLine::row(std::string_view name) const {
  const auto found = std::ranges::find(command_.options, name, &Option::name);
  if (found == command_.options.end()) throw std::logic_error("no such option");
  return *found;
}

std::string synopsis(const Command& command) {
  std::string text = fmt::format("ardoise {} {}", command.name, command.words);
  for (const Option& row : command.options) {
    if (is_needed(row)) text += fmt::format(" --{} {}", row.name, row.value);
  }
  return text + (command.options.empty() ? "" : " [options]");
}

std::string shown_name(const Option& row) {
  return fmt::format("{}--{}{}{}", row.letter != '\0' ? fmt::format("-{}, ", row.letter) : "", row.name,
                     row.has_value() ? " " : "", row.value);
}

std::string help_of(const Command& command) {
  std::string text = fmt::format("{}\n  {}\n\n{}", synopsis(command), command.help, command.details);
  if (!command.options.empty()) text += '\n';
  for (const Option& row : command.options) text += option_line(row);
  return text + fmt::format("\nExit status 2: wrong command line\n            {}\n", command.statuses);
}

std::string launch_help(bool expert) {
  std::string text =
      "ardoise profiles MPI programs while they run, without recompiling them:\n"
      "  ardoise [options] mpirun -n 4 ./solver in.cfg : -n 2 ./post\n"
      "\nCommands (ardoise help COMMAND):\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<10} {}\n", command.name, command.help);
  text += '\n';
  for (const auto& [group, title] : instrument::kGroups) {
    if (group == instrument::OptionGroup::kTuning && !expert) continue;
    text += fmt::format("{}:\n", title);
    for (const Option& row : instrument::kOptions) {
      if (row.group == group) text += option_line(row);
    }
  }
  return text + fmt::format(
                    "Most options are variables, too (ARDOISE_RATE for --rate). Manual: man ardoise.\n"
                    "Exit status: mpirun's, 2 when refused.{}\n",
                    expert ? "" : " For tuning: ardoise --help-expert.");
}

std::optional<int> parse_or_end(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; see {} --help.", error.what(), app.get_name()));
  }
}

}  // namespace ardoise::launcher

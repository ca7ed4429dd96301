// The documentation lists exactly the rows of the tables of options and commands. If a test fails, it prints the
// expected text. The output of --help must fit on a screen.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "analyzer/options/option_rows.hpp"
#include "tests/tools/command_words.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/show/show_rows.hpp"

namespace ardoise::launcher {
namespace {

using instrument::Option;
using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(SOURCE_DIRECTORY + ("/" + path)).rdbuf();
  return text.str();
}

void expect_in(const std::string& path, const std::string& wanted) {
  EXPECT_NE(content(path).find(wanted), std::string::npos) << path << " has to say:\n\n" << wanted;
}

std::string code(std::string_view text) {
  return text.empty() ? "" : fmt::format("`{}`", replaced(std::string(text), "|", "\\|"));
}

std::string default_of(const Option& row) {
  return row.initial.empty() ? std::string(row.default_words) : code(analyzer::shown_default(row));
}

std::string markdown_table() {
  std::string text = "| option | variable | default | meaning |\n|---|---|---|---|\n";
  for (const auto& [group, title] : instrument::kGroups) {
    text += fmt::format("| **{}** | | | |\n", title);
    for (const Option& row : instrument::kOptions) {
      if (row.group == group)
        text += fmt::format("| {} | {} | {} | {} |\n", code(shown_name(row)), code(row.variable()), default_of(row),
                            row.help);
    }
  }
  return text;
}

std::string synopses() {
  std::string text = "    ardoise [options] mpirun [mpirun's options] ./program [arguments] [: …]\n";
  for (const Command& command : kCommands) text += fmt::format("    {}\n", synopsis(command));
  return text;
}

std::string command_table() {
  std::string text = "| command | result | exit status, besides 0 and 2 |\n|---|---|---|\n";
  for (const Command& command : kCommands)
    text += fmt::format("| `{}` | {} | {} |\n", command.name, command.help, command.statuses);
  text += "\n| command | option | default | meaning |\n|---|---|---|---|\n";
  for (const Command& command : kCommands) {
    for (const Option& row : command.options)
      text += fmt::format("| `{}` | {} | {} | {} |\n", command.name, code(shown_name(row)), default_of(row), row.help);
  }
  return text;
}

std::string dashed(std::string_view text) { return replaced(std::string(text), "-", "\\-"); }

std::string manual_row(const Option& row) {
  const std::string_view shown = analyzer::shown_default(row);
  const std::string letter = row.letter != '\0' ? fmt::format("-{}, ", row.letter) : "";
  const std::string name = dashed(fmt::format("{}--{}", letter, row.name));
  const std::string help = replaced(std::string(row.help), "--", "\\-\\-");
  return (row.has_value() ? fmt::format(".TP\n.BI {} \" {}\"\n", name, row.value) : fmt::format(".TP\n.B {}\n", name)) +
         (shown.empty() ? fmt::format("{}.\n", help) : fmt::format("{} [{}].\n", help, shown));
}

std::string manual_section(bool of_analyzer) {
  std::string text = ".SH OPTIONS\n";
  for (const Option& row : instrument::kOptions) {
    if (!of_analyzer || row.of_analyzer()) text += manual_row(row);
  }
  return text;
}

std::string manual_commands() {
  std::string text = ".SH COMMANDS\n";
  for (const Command& command : kCommands) {
    text +=
        fmt::format(".SS {}\nIt {}.\n.nf\n{}.fi\n", dashed(synopsis(command)), command.help, dashed(command.details));
    for (const Option& row : command.options) text += manual_row(row);
    text += fmt::format(".PP\nExit status 2: wrong command line; {}.\n", command.statuses);
  }
  return text;
}

TEST(OptionDocs, TheTableInArdoiseMdListsTheRows) { expect_in("docs/reference/ardoise.md", markdown_table() + "\n"); }

TEST(OptionDocs, TheManualPageOfArdoiseListsTheRows) {
  expect_in("tools/ardoise/ardoise.1", manual_section(false) + ".TP\n.B \\-\\-version");
}

TEST(OptionDocs, ArdoiseMdListsTheCommands) {
  expect_in("docs/reference/ardoise.md", synopses() + "\n");
  expect_in("docs/reference/ardoise.md", command_table() + "\n");
}

TEST(OptionDocs, TheManualPageOfArdoiseListsTheCommands) {
  expect_in("tools/ardoise/ardoise.1", manual_commands() + ".SH OPTIONS\n");
}

TEST(OptionDocs, TheManualPageOfTheAnalyzerListsItsRows) {
  expect_in("analyzer/ardoise-analyzer.1", manual_section(true) + ".TP\n.BI \\-\\-command");
}

void expect_to_fit(const std::string& help, std::ptrdiff_t lines) {
  EXPECT_LE(std::ranges::count(help, '\n'), lines) << help;
  std::istringstream stream(help);
  for (std::string line; std::getline(stream, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Help, FitsOnAScreen) {
  expect_to_fit(launch_help(false), 50);
  expect_to_fit(launch_help(true), 70);
  for (const Command& command : kCommands) expect_to_fit(help_of(command), 45);
}

TEST(Help, ExpertListsAllOptions) {
  for (const Option& row : instrument::kOptions) {
    EXPECT_THAT(launch_help(true), HasSubstr("  " + shown_name(row) + " ")) << row.name;
    EXPECT_EQ(launch_help(false).find("--" + std::string(row.name) + " ") == std::string::npos,
              row.group == instrument::OptionGroup::kTuning)
        << row.name;
  }
}

TEST(Help, ShowListsItsTables) {
  for (const ShownTable& table : shown_tables()) EXPECT_THAT(help_of(kCommands[3]), HasSubstr(table.name));
}

std::string refused(const std::vector<std::string>& words) {
  try {
    (void)line_of(words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(CommandLines, AWrongOneIsOneSentence) {
  EXPECT_EQ(refused({"show", "a", "calls", "--limit", "4", "--ranks", "0-3,8"}), "");
  EXPECT_EQ(refused({"status"}), "");
  EXPECT_EQ(refused({"show", "a"}), "TABLE is missing: ardoise show PATH TABLE [options]; see ardoise show --help.");
  EXPECT_EQ(refused({"status", "a", "b"}),
            "'b' is one word too many: ardoise status [FOLDER]; see ardoise status --help.");
  EXPECT_EQ(refused({"show", "a", "calls", "--ranks", "3-1"}),
            "--ranks 3-1 is not a list of numbers and ranges, 0-3,8.");
  EXPECT_EQ(refused({"show", "a", "calls", "--limit", "-1"}), "--limit -1 is not a whole number from 0 to 1000000000.");
  EXPECT_EQ(refused({"export", "a"}),
            "--format folded|speedscope|csv|perfetto|otf2 is missing; see ardoise export --help.");
  EXPECT_EQ(refused({"export", "a", "--format", "x"}), "--format x is not folded, speedscope, csv, perfetto or otf2.");
  EXPECT_THAT(refused({"report", "a", "--rank", "1"}), HasSubstr("--rank"));
  EXPECT_THROW((void)line_of({"trace", "report", "a"}).word_of("ACTION", "info|check|races"), UsageError);
}

}  // namespace
}  // namespace ardoise::launcher

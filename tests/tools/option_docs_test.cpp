// The documentation lists the rows of the option table, no more and no less. When a test fails, it prints the text that
// belongs there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "analyzer/options/option_rows.hpp"

namespace ardoise::launcher {
namespace {

using instrument::Option;

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

std::string letter(const Option& row) { return row.letter != '\0' ? fmt::format("-{}, ", row.letter) : ""; }

std::string markdown_table() {
  std::string text = "| option | variable | default | meaning |\n|---|---|---|---|\n";
  for (const Option& row : instrument::kOptions) {
    text += fmt::format("| {} | {} | {} | {} |\n",
                        code(fmt::format("{}--{}{}{}", letter(row), row.name, row.value.empty() ? "" : " ", row.value)),
                        code(row.variable()),
                        row.initial.empty() ? std::string(row.default_words) : code(analyzer::shown_default(row)),
                        row.help);
  }
  return text;
}

std::string manual_section(bool of_analyzer) {
  std::string text = ".SH OPTIONS\n";
  for (const Option& row : instrument::kOptions) {
    if (of_analyzer && !row.of_analyzer()) continue;
    const std::string name = replaced(fmt::format("{}--{}", letter(row), row.name), "-", "\\-");
    const std::string help = replaced(std::string(row.help), "--", "\\-\\-");
    text += row.has_value()
                ? fmt::format(".TP\n.BI {} \" {}\"\n{} [{}].\n", name, row.value, help, analyzer::shown_default(row))
                : fmt::format(".TP\n.B {}\n{}.\n", name, help);
  }
  return text;
}

TEST(OptionDocs, TheTableInArdoiseMdListsTheRows) { expect_in("docs/reference/ardoise.md", markdown_table() + "\n"); }

TEST(OptionDocs, TheManualPageOfArdoiseListsTheRows) {
  expect_in("tools/ardoise/ardoise.1", manual_section(false) + ".TP\n.B \\-\\-version");
}

TEST(OptionDocs, TheManualPageOfTheAnalyzerListsItsRows) {
  expect_in("analyzer/ardoise-analyzer.1", manual_section(true) + ".TP\n.BI \\-\\-command");
}

}  // namespace
}  // namespace ardoise::launcher

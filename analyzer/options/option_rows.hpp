// Adds rows of the option table to the command line of a command, for ardoise-analyzer (options.cpp) and ardoise
// (tools/ardoise/common/options.cpp). Only these two use the library of command lines.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/settings/option_table.hpp"
#include "instrument/settings/option_values.hpp"

namespace ardoise::analyzer {

// "one for every 32 ranks", or the value: what --help and the documentation show; "" for a flag.
[[nodiscard]] inline std::string_view shown_default(const instrument::Option& row) {
  if (!row.has_value()) return {};
  return row.initial.empty() ? row.default_words : row.initial;
}

// "report folder; DIR-2 ... if it has files [ardoise-report]"
[[nodiscard]] inline std::string described(const instrument::Option& row) {
  std::string text(row.help);
  if (const auto shown = shown_default(row); !shown.empty() && shown != "none")
    text.append(" [").append(shown).append("]");
  return text;
}

// Lines of --help for an option: "  --limit N               print this many rows at most [all]"
[[nodiscard]] inline std::string help_line(const std::string& name, std::string help) {
  constexpr std::size_t kColumn = 26, kWidth = 80;
  std::string line = "  " + name;
  line.append(line.size() + 2 > kColumn ? 2 : kColumn - line.size(), ' ');
  for (std::size_t from = 0; line.size() - from + help.size() > kWidth;) {
    const std::size_t space = help.rfind(' ', kWidth - (line.size() - from));
    if (space == help.npos) break;
    line.append(help, 0, space) += '\n';
    from = line.size();
    line.append(kColumn, ' ');
    help.erase(0, space + 1);
  }
  return line + help + '\n';
}

// Adds the row to `app`; what is typed goes to `values`, which must stay until `app` has parsed.
inline void add_row(CLI::App& app, const instrument::Option& row, instrument::OptionValues& values) {
  const std::string letter = row.letter != '\0' ? std::string{'-', row.letter, ','} : std::string();
  const std::string name = letter + "--" + std::string(row.name);
  if (!row.has_value()) {
    app.add_flag_callback(
        name, [&] { values.set(row, "on"); }, described(row));
    return;
  }
  const std::string help = described(row);
  if (row.repeats()) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [&](const std::vector<std::string>& texts) {
             for (const std::string& text : texts) values.set(row, text);
           },
           help)
        ->type_name(std::string(row.value))
        ->allow_extra_args(false);
  } else {
    app.add_option_function<std::string>(
           name, [&](const std::string& text) { values.set(row, text); }, help)
        ->type_name(std::string(row.value))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

}  // namespace ardoise::analyzer

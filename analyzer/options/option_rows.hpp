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

// Lines of at most 80 characters.
[[nodiscard]] inline std::string wrapped(std::string text) {
  constexpr std::size_t kWidth = 80;
  for (std::size_t line = 0; text.size() - line > kWidth;) {
    const std::size_t space = text.rfind(' ', line + kWidth);
    if (space == std::string::npos || space <= line) break;
    text[space] = '\n';
    line = space + 1;
  }
  return text;
}

// Adds the row to `app`; what is typed goes to `values`, which must stay until `app` has parsed.
inline void add_row(CLI::App& app, const instrument::Option& row, instrument::OptionValues& values) {
  const std::string letter = row.letter != '\0' ? std::string{'-', row.letter, ','} : std::string();
  const std::string name = letter + "--" + std::string(row.name);
  if (!row.has_value()) {
    app.add_flag_callback(
        name, [&] { values.give(row, "on"); }, wrapped(std::string(row.help)));
    return;
  }
  const std::string help = wrapped(std::string(row.help) + " [" + std::string(shown_default(row)) + "]");
  if (row.repeats()) {
    app.add_option_function<std::vector<std::string>>(
           name,
           [&](const std::vector<std::string>& texts) {
             for (const std::string& text : texts) values.give(row, text);
           },
           help)
        ->type_name(std::string(row.value))
        ->allow_extra_args(false);
  } else {
    app.add_option_function<std::string>(
           name, [&](const std::string& text) { values.give(row, text); }, help)
        ->type_name(std::string(row.value))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
}

}  // namespace ardoise::analyzer

#include "tools/ardoise/launch/shown_command.hpp"

#include <algorithm>
#include <filesystem>

#include "instrument/format/command_secrets.hpp"
#include "reports/text/shell_quote.hpp"

namespace ardoise::launcher {
namespace {

using instrument::kHidden;

// Hides VALUE of NAME=VALUE.
void hide_value(std::string& setting) {
  if (const auto equals = setting.find('='); equals != std::string::npos)
    setting.replace(equals + 1, std::string::npos, kHidden);
}

void hide_variables(LauncherOption& option) {
  const std::string_view name = option.bare_name();
  if (name == "x" || name == "env" || name == "genv") {
    for (std::string& value : option.values) hide_value(value);
    // Hydra's NAME VALUE, and -env=NAME VALUE.
    if (option.values.size() == 2 || option.name.find('=') != std::string::npos) option.values.back() = kHidden;
  }
  const bool is_parameter = option.values.size() == 2 && name.ends_with("mca");
  if (is_parameter &&
      (option.values[0].find("env_list") != std::string::npos || instrument::names_a_secret(option.values[0])))
    option.values[1] = kHidden;
}

// Hides assignments of env(1) in front of a program: [OPTION]... [NAME=VALUE]... PROGRAM.
void hide_assignments(AppContext& context) {
  if (std::filesystem::path(context.program).filename() != "env") return;
  bool is_argument = false;  // of the previous option
  for (std::string& word : context.arguments) {
    const bool is_option = word.starts_with('-');
    if (!is_argument && !is_option && word.find('=') == std::string::npos) return;
    if (!is_argument && !is_option) hide_value(word);
    is_argument = !is_argument && (word == "-u" || word == "--unset" || word == "-C" || word == "--chdir");
  }
}

}  // namespace

std::string shown_command(const LaunchLine& line, bool names_only) {
  LaunchLine shown = line;
  for (AppContext& context : shown.contexts) {
    if (names_only) {
      context = {{}, context.program, {}};
      continue;
    }
    for (LauncherOption& option : context.options) hide_variables(option);
    hide_assignments(context);
  }
  auto words = to_words(shown);
  instrument::hide_secrets(words);
  return reports::shell_quote(words);
}

}  // namespace ardoise::launcher

// Parses command lines of ardoise by the rows of command_table.hpp, and makes the text of --help.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/settings/option_values.hpp"
#include "tools/ardoise/common/command_table.hpp"

namespace CLI {
class App;
}

namespace ardoise::launcher {

// nullptr: no command has this name.
[[nodiscard]] const Command* command_named(std::string_view name);

class CommandLine {
 public:
  // argv[0] must be the name of a command. Throws UsageError for wrong words or options.
  CommandLine(int argc, const char* const* argv);

  std::optional<int> status;  // set: --help was printed, end with this status
  std::vector<std::string> words;

  [[nodiscard]] const Command& command() const { return command_; }
  [[nodiscard]] const instrument::OptionValues& values() const { return values_; }
  // The next functions take the name of an option of the command and answer like those of OptionValues.
  [[nodiscard]] bool is_given(std::string_view name) const { return values_.is_given(row(name)); }
  [[nodiscard]] bool is_on(std::string_view name) const { return values_.is_on(row(name)); }
  [[nodiscard]] std::string text(std::string_view name) const { return std::string(values_.text(row(name))); }
  // The first word, which must be one of `choices` ("list|each"). Throws UsageError if it is not.
  [[nodiscard]] const std::string& word_of(std::string_view what, std::string_view choices) const;
  [[nodiscard]] std::optional<std::uint64_t> count(std::string_view name) const;

 private:
  [[nodiscard]] const instrument::Option& row(std::string_view name) const;

  const Command& command_;
  instrument::OptionValues values_;
};

// "ardoise show PATH TABLE [options]"
[[nodiscard]] std::string synopsis(const Command& command);
// "-o, --output DIR" of a row
[[nodiscard]] std::string shown_name(const instrument::Option& row);

[[nodiscard]] std::string help_of(const Command& command);
// Help for launches. expert: includes the options for tuning.
[[nodiscard]] std::string launch_help(bool expert);

// Parses the command line of a launch or of a command. Returns the exit status if the process is to end now. Throws
// UsageError.
[[nodiscard]] std::optional<int> parse_or_end(CLI::App& app, int argc, const char* const* argv);

}  // namespace ardoise::launcher

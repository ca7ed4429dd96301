// Command lines of ardoise, by the rows of command_table.hpp, and what --help prints.
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

class CommandLine {
 public:
  // argv[0] is the name of a command. Throws UsageError, which says what is wrong with the words or options.
  CommandLine(int argc, const char* const* argv);

  std::optional<int> status;  // end with it: --help has been printed
  std::vector<std::string> words;

  [[nodiscard]] const Command& command() const { return command_; }
  [[nodiscard]] const instrument::OptionValues& values() const { return values_; }
  // Of an option of the command; as OptionValues.
  [[nodiscard]] bool is_given(std::string_view name) const { return values_.is_given(row(name)); }
  [[nodiscard]] bool is_on(std::string_view name) const { return values_.is_on(row(name)); }
  [[nodiscard]] std::string text(std::string_view name) const { return std::string(values_.text(row(name))); }
  // The first word, one of "list|each". Throws UsageError where it is another one.
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
// Of launches; expert: with the options for tuning.
[[nodiscard]] std::string launch_help(bool expert);

// For either. A status: end with it. Throws UsageError.
[[nodiscard]] std::optional<int> parse_or_end(CLI::App& app, int argc, const char* const* argv);

}  // namespace ardoise::launcher

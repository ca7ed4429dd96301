// The values of options in one process: from the command line, otherwise from the environment, otherwise the defaults
// of the table. ardoise and ardoise-analyzer fill it from their command lines (analyzer/options/option_rows.hpp);
// programs read the environment only (settings.cpp, sampler_settings.cpp).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/settings/option.hpp"

namespace ardoise::instrument {

// Returns the value of a variable or nullptr, as std::getenv does.
using GetVariable = const char* (*)(const char* name);

class OptionValues {
 public:
  // A value on the command line. An option that repeats keeps all of its values, others the last.
  void set(const Option& option, std::string value);
  // Reads the variables of options that are `wanted` (nullptr: all) and not on the command line. An empty variable
  // counts as unset.
  void read_environment(GetVariable get, bool (Option::*wanted)() const = nullptr);
  // Removes invalid values. Returns a clause without a full stop for each: "--rate abc is not a number from 0.1 to
  // 100000".
  [[nodiscard]] std::vector<std::string> drop_bad();

  [[nodiscard]] bool is_given(const Option& option) const { return given_.contains(&option); }
  [[nodiscard]] bool is_on_command_line(const Option& option) const;
  // The given value or the default, which may be "".
  [[nodiscard]] std::string_view text(const Option& option) const;
  [[nodiscard]] std::vector<std::string> texts(const Option& option) const;  // of an option that repeats
  // In the user's form: "--rate 100", "ARDOISE_RATE=100".
  [[nodiscard]] std::string as_given(const Option& option) const;

  // Typed values. Call drop_bad() first.
  [[nodiscard]] bool is_on(const Option& option) const;
  [[nodiscard]] double number(const Option& option) const;
  [[nodiscard]] std::uint64_t count(const Option& option) const;  // 0: no value and no default
  [[nodiscard]] std::uint64_t size(const Option& option) const;
  [[nodiscard]] double seconds(const Option& option) const;  // 0: no value and no default

 private:
  struct Given {
    std::vector<std::string> texts;
    bool on_command_line = false;
  };
  std::map<const Option*, Given> given_;
};

// The options that programs read from the environment. `complaint` describes invalid values; their defaults apply.
[[nodiscard]] OptionValues read_program_options(GetVariable get, std::string& complaint);

}  // namespace ardoise::instrument

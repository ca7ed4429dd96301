// The values of options in one process: those of the command line, else of the environment, else the defaults of the
// table. ardoise and ardoise-analyzer fill it from their command lines (analyzer/options/option_rows.hpp), programs
// know the environment only (settings.cpp, sampler_settings.cpp).
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
  // By the command line. An option that repeats keeps all of its values, others the last.
  void give(const Option& option, std::string value);
  // The variables of options that are `wanted` (nullptr: of all) and not on the command line. An empty one is as good
  // as none.
  void read_environment(GetVariable get, bool (Option::*wanted)() const = nullptr);
  // Takes out the values that are not allowed; for each a clause without its full stop: "--rate abc is not a number
  // from 0.1 to 100000".
  [[nodiscard]] std::vector<std::string> drop_bad();

  [[nodiscard]] bool is_given(const Option& option) const { return given_.contains(&option); }
  [[nodiscard]] bool is_on_command_line(const Option& option) const;
  // Given, or the default, which may be "".
  [[nodiscard]] std::string_view text(const Option& option) const;
  [[nodiscard]] std::vector<std::string> texts(const Option& option) const;  // of one that repeats
  // As the user gave it: "--rate 100", "ARDOISE_RATE=100".
  [[nodiscard]] std::string as_given(const Option& option) const;

  // For values that drop_bad() has left, in the type of their option.
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

// Those of the environment that programs need. What is not allowed is told in `complaint`, and the defaults stand.
[[nodiscard]] OptionValues read_program_options(GetVariable get, std::string& complaint);

}  // namespace ardoise::instrument

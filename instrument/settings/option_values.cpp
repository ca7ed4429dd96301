#include "instrument/settings/option_values.hpp"

#include <fmt/core.h>

#include <utility>

#include "instrument/settings/option_table.hpp"

namespace ardoise::instrument {
namespace {

std::string shown(const Option& option, std::string_view text, bool on_command_line) {
  if (!on_command_line) return fmt::format("{}={}", option.variable(), text);
  return option.has_value() ? fmt::format("--{} {}", option.name, text) : fmt::format("--{}", option.name);
}

}  // namespace

void OptionValues::set(const Option& option, std::string value) {
  Given& given = given_[&option];
  given.on_command_line = true;
  if (!option.repeats()) given.texts.clear();
  given.texts.push_back(std::move(value));
}

void OptionValues::read_environment(GetVariable get, bool (Option::*wanted)() const) {
  for (const Option& option : kOptions) {
    if (option.repeats() || is_given(option) || (wanted != nullptr && !(option.*wanted)())) continue;
    const char* const value = get(option.variable().c_str());
    if (value != nullptr && *value != '\0') given_[&option].texts.emplace_back(value);
  }
}

std::vector<std::string> OptionValues::drop_bad() {
  std::vector<std::string> complaints;
  std::erase_if(given_, [&](const auto& entry) {
    const auto& [option, given] = entry;
    for (const std::string& text : given.texts) {
      const auto expected = expected_if_invalid(*option, text);
      if (!expected) continue;
      complaints.push_back(fmt::format("{} is not {}", shown(*option, text, given.on_command_line), *expected));
      return true;
    }
    return false;
  });
  return complaints;
}

bool OptionValues::is_on_command_line(const Option& option) const {
  const auto found = given_.find(&option);
  return found != given_.end() && found->second.on_command_line;
}

std::string_view OptionValues::text(const Option& option) const {
  const auto found = given_.find(&option);
  return found == given_.end() ? option.initial : std::string_view(found->second.texts.back());
}

std::vector<std::string> OptionValues::texts(const Option& option) const {
  const auto found = given_.find(&option);
  return found == given_.end() ? std::vector<std::string>() : found->second.texts;
}

std::string OptionValues::as_given(const Option& option) const {
  return shown(option, text(option), is_on_command_line(option));
}

bool OptionValues::is_on(const Option& option) const { return parse_switch(text(option)).value_or(false); }
double OptionValues::number(const Option& option) const { return parse_number(text(option)).value_or(0); }
std::uint64_t OptionValues::count(const Option& option) const { return parse_count(text(option)).value_or(0); }
std::uint64_t OptionValues::size(const Option& option) const { return parse_size(text(option)).value_or(0); }
double OptionValues::seconds(const Option& option) const { return parse_duration(text(option)).value_or(0); }

OptionValues read_program_options(GetVariable get, std::string& complaint) {
  OptionValues values;
  values.read_environment(get, &Option::of_program);
  for (const std::string& clause : values.drop_bad())
    complaint += fmt::format("{}{}; the default is used.", complaint.empty() ? "" : " ", clause);
  return values;
}

}  // namespace ardoise::instrument

#include "instrument/settings/changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "instrument/settings/control_file.hpp"
#include "instrument/settings/option_table.hpp"

namespace ardoise::instrument {
namespace {

bool is_snapshot_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, is_good);
}

}  // namespace

std::string fault_of_changes(std::string_view settings) {
  while (!settings.empty()) {
    const std::string_view word = take_word(settings, ' ');
    if (word.empty()) continue;
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) return fmt::format("'{}' is not NAME=VALUE.", word);
    const std::string_view name = word.substr(0, sign), value = word.substr(sign + 1);
    if (name == kSnapshotNow) {
      if (is_snapshot_name(value)) continue;
      return fmt::format("'{}' is no name of a snapshot: up to 64 letters, digits, '_', '.' and '-'.", value);
    }
    const auto row = std::ranges::find(kOptions, name, &Option::name);
    std::vector<std::string_view> changing;
    for (const auto& each : kOptions) {
      if ((each.flags & kMayChange) != 0) changing.push_back(each.name);
    }
    if (row == kOptions.end())
      return fmt::format("there is no option '{}'; what can change while a launch runs: {}; and there is {}=NAME.",
                         name, fmt::join(changing, ", "), kSnapshotNow);
    if ((row->flags & kMayChange) == 0)
      return fmt::format("'{}' cannot change while a launch runs; what can: {}.", name, fmt::join(changing, ", "));
    if (value == kAsLaunched) continue;
    if (const auto expected = expected_if_invalid(*row, value))
      return fmt::format("'{}' is not allowed for {}: it has to be {}.", value, name, *expected);
  }
  return "";
}

}  // namespace ardoise::instrument

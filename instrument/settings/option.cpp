#include "instrument/settings/option.hpp"

#include <fmt/core.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "instrument/format/event_format.hpp"
#include "instrument/machine/perf_events.hpp"
#include "instrument/settings/function_set.hpp"
#include "instrument/settings/number_ranges.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::string_view kUnits = "kMGT";  // powers of 1024

std::string size_text(double bytes) {
  std::size_t unit = 0;
  while (unit < kUnits.size() && bytes >= 1024 && std::fmod(bytes, 1024) == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.0f}{}", bytes, unit == 0 ? std::string_view() : kUnits.substr(unit - 1, 1));
}

// The events that can interrupt a thread. Events in the kernel are excluded: their interrupts end system calls of the
// program.
std::string sampling_events() {
  std::string names;
  const std::string all = perf_event_names();
  for (std::string_view rest = all; !rest.empty();) {
    std::string_view name = take_word(rest, ',');
    if (name.starts_with(' ')) name.remove_prefix(1);
    const PerfEvent* const event = find_perf_event(name);
    if (event != nullptr && !event->counts_in_kernel) names.append(names.empty() ? "" : ", ").append(name);
  }
  return names;
}

bool is_choice(std::string_view choices, std::string_view value) {
  while (!choices.empty()) {
    if (take_word(choices, '|') == value) return true;
  }
  return false;
}

// "a|b|c" as "a, b or c".
std::string listed(std::string_view choices) {
  std::string text;
  while (!choices.empty()) {
    const std::string_view word = take_word(choices, '|');
    text.append(text.empty() ? "" : choices.empty() ? " or " : ", ").append(word);
  }
  return text;
}

bool are_counters(std::string_view value) {
  std::size_t count = 0;
  while (!value.empty()) {
    const std::string_view name = take_word(value, ',');
    if (!name.empty() && (find_perf_event(name) == nullptr || ++count > kMaxCounters)) return false;
  }
  return true;
}

template <class Number>
bool in_range(const Option& option, const std::optional<Number>& value) {
  return value && static_cast<double>(*value) >= option.least && static_cast<double>(*value) <= option.most;
}

}  // namespace

std::string Option::variable() const {
  if (repeats()) return {};
  std::string variable = "ARDOISE_";
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(c));
  return variable;
}

std::optional<std::string> expected_if_invalid(const Option& option, std::string_view value) {
  switch (option.kind) {
    case OptionKind::kFlag:
    case OptionKind::kSwitch:
      if (parse_switch(value)) return std::nullopt;
      return "on or off";
    case OptionKind::kCount:
      if (in_range(option, parse_count(value))) return std::nullopt;
      return fmt::format("a whole number from {:.0f} to {:.0f}", option.least, option.most);
    case OptionKind::kNumber:
      if (in_range(option, parse_number(value))) return std::nullopt;
      return fmt::format("a number from {} to {}", option.least, option.most);
    case OptionKind::kSize:
      if (in_range(option, parse_size(value))) return std::nullopt;
      if (option.least == 0) return fmt::format("a size up to {}", size_text(option.most));
      return fmt::format("a size from {} to {}", size_text(option.least), size_text(option.most));
    case OptionKind::kDuration:
      if (in_range(option, parse_duration(value))) return std::nullopt;
      return fmt::format("a time from {} s to {} h, e.g. 90 (seconds), 30m or 1.5h", option.least, option.most / 3600);
    case OptionKind::kChoice:
      if (is_choice(option.value, value)) return std::nullopt;
      return listed(option.value);
    case OptionKind::kSample: {
      if (value == "off" || value == "cpu") return std::nullopt;
      const PerfEvent* const event = find_perf_event(value);
      if (event != nullptr && !event->counts_in_kernel) return std::nullopt;
      return fmt::format("off, cpu or an event ({})", sampling_events());
    }
    case OptionKind::kCounters:
      if (are_counters(value)) return std::nullopt;
      return fmt::format("a list of at most {} events with commas between them ({})", kMaxCounters, perf_event_names());
    case OptionKind::kRanges:
      if (are_ranges(value)) return std::nullopt;
      return "a list of numbers and ranges, 0-3,8";
    case OptionKind::kRecord: {
      FunctionSet sums;
      if (parse_record(value, sums)) return std::nullopt;
      return "events, sums, or sums: and functions of MPI or POSIX that are measured, or mpi or io, with commas "
             "between "
             "them (sums:MPI_Iprobe,io)";
    }
    case OptionKind::kText:
      return std::nullopt;
    case OptionKind::kFolder:
      if (!value.empty()) return std::nullopt;
      return "the path of a folder";
  }
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of("0123456789"));
  std::string_view unit = text.substr(digits.size());
  const auto value = parse_count(digits);
  if (!value) return std::nullopt;
  if (unit.ends_with('B')) unit.remove_suffix(unit.ends_with("iB") ? 2 : 1);
  if (unit.empty()) return text.ends_with("iB") ? std::nullopt : value;
  const std::size_t power = kUnits.find(unit == "K" ? "k" : unit);
  if (unit.size() != 1 || power == std::string_view::npos) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (*value > UINT64_MAX >> shift) return std::nullopt;
  return *value << shift;
}

std::optional<bool> parse_switch(std::string_view text) {
  if (is_choice("on|1|yes|true", text)) return true;
  if (is_choice("off|0|no|false", text)) return false;
  return std::nullopt;
}

std::optional<double> parse_duration(std::string_view text) {
  double unit = 1;
  for (const auto& [name, seconds] :
       {std::pair(std::string_view("ms"), 1e-3), {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}}) {
    if (!text.ends_with(name)) continue;
    text.remove_suffix(name.size());
    unit = seconds;
    break;
  }
  const auto value = parse_number(text);
  return value ? std::optional(*value * unit) : std::nullopt;
}

std::string_view take_word(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view word = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return word;
}

}  // namespace ardoise::instrument

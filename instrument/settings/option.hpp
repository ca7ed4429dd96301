// One option of Ardoise, as a row of the table in option_table.hpp: its names, its values and its readers. The rows
// define the command lines of ardoise and ardoise-analyzer, the variables that programs read, the checks before a
// launch, the variables forwarded to all hosts, --help, the documentation and the record in profile.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ardoise::instrument {

enum class OptionKind : std::uint8_t {
  kFlag,      // on or off; on the command line its name alone means on
  kSwitch,    // on or off
  kCount,     // a whole number from least to most
  kNumber,    // a number from least to most
  kSize,      // bytes from least to most, with a suffix k, M, G or T
  kDuration,  // seconds from least to most, or with a suffix ms, s, m or h
  kChoice,    // one of the words in `value`, between '|'
  kSample,    // off, cpu or an event that can interrupt a thread
  kCounters,  // events, separated by commas
  kRanges,    // numbers, "0-3,8"
  kRecord,    // in the format of function_set.hpp
  kText,      // anything
  kFolder     // a path, made absolute before it is forwarded
};

// The group of --help that lists an option of a launch. kTuning: only in --help-expert.
enum class OptionGroup : std::uint8_t { kOutput, kMeasured, kLimits, kRaces, kTraces, kTuning };

// Flags in Option::flags: the readers of the option; may change while the program runs (ardoise control); may be given
// several times, on the command line only.
inline constexpr unsigned kForLauncher = 1, kForProgram = 2, kForAnalyzer = 4, kMayChange = 8, kRepeats = 16;

struct Option {
  std::string_view name{};  // "sample-share": --sample-share, ARDOISE_SAMPLE_SHARE
  OptionKind kind = OptionKind::kText;
  std::string_view value{};          // as in --help: "SIZE"; "" for a flag
  std::string_view initial{};        // the default; "": see default_words
  std::string_view default_words{};  // the behaviour without a value, if there is no default
  double least = 0, most = 0;        // kCount, kNumber, kSize, kDuration
  unsigned flags = 0;
  std::string_view help{};
  OptionGroup group = OptionGroup::kOutput;
  char letter = '\0';  // 'o': -o is short for --output

  [[nodiscard]] std::string variable() const;  // "": the option repeats
  [[nodiscard]] constexpr bool repeats() const { return (flags & kRepeats) != 0; }
  [[nodiscard]] constexpr bool has_value() const { return kind != OptionKind::kFlag; }
  [[nodiscard]] constexpr bool of_program() const { return (flags & kForProgram) != 0; }
  // Forwarded to all processes as a variable. The launcher passes options of launcher and analyzer itself.
  [[nodiscard]] constexpr bool forwarded() const { return of_program() || (flags & ~kMayChange) == kForAnalyzer; }
  // On the command line of ardoise-analyzer. Options that programs need as well are variables, equal for both.
  [[nodiscard]] constexpr bool of_analyzer() const { return (flags & (kForProgram | kForAnalyzer)) == kForAnalyzer; }
};

// "a size from 32k to 64M"; empty: the value is valid.
[[nodiscard]] std::optional<std::string> expected_if_invalid(const Option& option, std::string_view value);

// Each reads the whole text, or returns empty.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);  // "64k", "256MB"
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);         // "on", "1", "no" …
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);     // "90", "90s", "1.5h": in seconds

// The part of `rest` before the next `separator`; `rest` keeps what follows it.
[[nodiscard]] std::string_view take_word(std::string_view& rest, char separator);

}  // namespace ardoise::instrument

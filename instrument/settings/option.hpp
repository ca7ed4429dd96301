// One option of Ardoise, as a row of the table in option_table.hpp: its names, what values it takes, who needs it. The
// command lines of ardoise and ardoise-analyzer, the variables that programs read, the checks before a launch, what is
// forwarded to all hosts, --help, the documentation and the record in profile.json all follow from the rows.
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
  kSample,    // off, cpu or an event that a thread can be interrupted by
  kCounters,  // events, separated by commas
  kRanges,    // numbers, "0-3,8"
  kRecord,    // as function_set.hpp reads it
  kText,      // anything
  kFolder     // a path, made absolute before it is forwarded
};

// Where --help lists an option of a launch. kTuning: with --help-expert alone.
enum class OptionGroup : std::uint8_t { kOutput, kMeasured, kLimits, kRaces, kTraces, kTuning };

// Option::flags: who needs it; it changes while the program runs (ardoise control); it may be given several
// times, on the command line only.
inline constexpr unsigned kForLauncher = 1, kForProgram = 2, kForAnalyzer = 4, kMayChange = 8, kRepeats = 16;

struct Option {
  std::string_view name{};  // "sample-share": --sample-share, ARDOISE_SAMPLE_SHARE
  OptionKind kind = OptionKind::kText;
  std::string_view value{};          // as --help shows it: "SIZE"; "" for a flag
  std::string_view initial{};        // the default; "": see default_words
  std::string_view default_words{};  // what happens without a value, where the default is none
  double least = 0, most = 0;        // kCount, kNumber, kSize, kDuration
  unsigned flags = 0;
  std::string_view help{};
  OptionGroup group = OptionGroup::kOutput;
  char letter = '\0';  // 'o': -o is --output, too

  [[nodiscard]] std::string variable() const;  // "": it repeats
  [[nodiscard]] constexpr bool repeats() const { return (flags & kRepeats) != 0; }
  [[nodiscard]] constexpr bool has_value() const { return kind != OptionKind::kFlag; }
  [[nodiscard]] constexpr bool of_program() const { return (flags & kForProgram) != 0; }
  // Goes to all processes as a variable. What only the launcher and the analyzer need, the launcher hands over itself.
  [[nodiscard]] constexpr bool forwarded() const { return of_program() || (flags & ~kMayChange) == kForAnalyzer; }
  // On the command line of ardoise-analyzer. What programs need as well is a variable, equal for both.
  [[nodiscard]] constexpr bool of_analyzer() const { return (flags & (kForProgram | kForAnalyzer)) == kForAnalyzer; }
};

// What a value has to be, "a size from 32k to 64M"; nothing: this one is allowed.
[[nodiscard]] std::optional<std::string> what_is_wanted(const Option& option, std::string_view value);

// The whole text, or nothing.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);  // "64k", "256MB"
[[nodiscard]] std::optional<bool> parse_switch(std::string_view text);         // "on", "1", "no" …
[[nodiscard]] std::optional<double> parse_duration(std::string_view text);     // "90", "90s", "1.5h": in seconds

// The part of `rest` before the next `separator`; `rest` keeps what follows it.
[[nodiscard]] std::string_view take_word(std::string_view& rest, char separator);

}  // namespace ardoise::instrument

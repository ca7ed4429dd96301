// Commands to the processes of a running launch: a file in its output folder. `ardoise control` and the rules of the
// analyzers append to it, and each process's survivor reads it (process/watch/control.hpp). One command per line,
// complete once the line ends:
//
//   ardoise control 1
//   1/*/*/rate=1000
//   2/0-3,8/solver/rate=5000 flush-every=launch     number/ranks in MPI_COMM_WORLD/program/settings
//   3/5/solver/rule=2 rate=1000               of the second rule
//   4/*/solver/snapshot=warm                  a snapshot of this name, number 4
//
// Used in the memory of the program, beside its threads: no function here allocates or throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "instrument/settings/number_ranges.hpp"
#include "instrument/settings/option.hpp"

namespace ardoise::instrument {

inline constexpr const char* kControlName = ".control";
// Number of the last applied command and of refused ones: "2 0
// ".
inline constexpr const char* kControlAnswerPrefix = ".control-done-";
inline constexpr std::string_view kControlHead = "ardoise control 1\n";
inline constexpr std::string_view kAsLaunched = "launch";     // a value: the setting at launch
inline constexpr std::string_view kSnapshotNow = "snapshot";  // not a setting: its value is the name of a snapshot
inline constexpr std::string_view kOfRule = "rule=";
inline constexpr std::size_t kMaxControlBytes = std::size_t{64} << 10;  // further commands are refused

// An answer: the number of the last command that the process has read, and how many it refused.
[[nodiscard]] inline std::string control_answer_name(std::uint32_t partition, std::uint32_t rank) {
  return kControlAnswerPrefix + std::to_string(partition) + "-" + std::to_string(rank);
}

struct ControlCommand {
  std::uint32_t number = 0;
  std::string_view ranks, program, settings;
  std::uint32_t rule = 0;  // 0: by a user
};

// Calls use(command) for each whole line. False: not such a file, or an invalid line.
template <class Use>
bool for_each_command(std::string_view text, Use&& use) noexcept {
  if (!text.starts_with(kControlHead)) return false;
  text.remove_prefix(kControlHead.size());
  bool is_good = true;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    std::string_view line = text.substr(0, end);
    ControlCommand command;
    if (!read_number(take_word(line, '/'), command.number)) {
      is_good = false;
      continue;
    }
    command.ranks = take_word(line, '/');
    command.program = take_word(line, '/');
    if (line.starts_with(kOfRule)) {
      if (!read_number(take_word(line, ' ').substr(kOfRule.size()), command.rule)) {
        is_good = false;
        continue;
      }
    }
    command.settings = line;
    use(command);
  }
  return is_good;
}

// "*", "3", "0-3,8". False also for any other text.
[[nodiscard]] inline bool is_in_ranks(std::string_view ranks, std::uint32_t rank) noexcept {
  bool is_in = ranks == "*";
  return (is_in || for_each_range(ranks, [&](const NumberRange& range) { is_in |= range.contains(rank); })) && is_in;
}
[[nodiscard]] inline bool is_for(const ControlCommand& command, std::string_view program, std::uint32_t rank) noexcept {
  return (command.program == "*" || command.program == program) && is_in_ranks(command.ranks, rank);
}

}  // namespace ardoise::instrument

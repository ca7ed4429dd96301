// Files in which analyzers leave their state when a launch is ended (safe_state.hpp). The launcher uses them too.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/output_folder/own_files.hpp"
#include "instrument/format/process_states.hpp"
#include "instrument/settings/control_file.hpp"

namespace ardoise::analyzer {

inline constexpr const char* kSafeStatePrefix = ".analyzer-state-";
// State from the start, renewed periodically: used when the analyzer was killed.
inline constexpr const char* kFirstStatePrefix = ".analyzer-first-";
inline constexpr const char* kNextStatePrefix = ".analyzer-next-";  // the next first state, before it is renamed
// Exists while an analyzer writes its state.
inline constexpr const char* kSavesMarkPrefix = ".analyzer-saves-";
// State of an analyzer for a snapshot request; followed by the text of the request, "-" and the rank.
inline constexpr const char* kSnapshotPrefix = ".analyzer-snapshot-";
// Exists while all processes that send to an analyzer make no progress (hang_watch.hpp).
inline constexpr const char* kHangMarkPrefix = ".analyzer-hangs-";

[[nodiscard]] inline std::filesystem::path safe_state_file(const std::filesystem::path& output, std::string_view prefix,
                                                           unsigned rank) {
  return output / (std::string(prefix) + std::to_string(rank));
}

// Existing files, by name.
[[nodiscard]] inline std::vector<std::filesystem::path> safe_state_files(const std::filesystem::path& output,
                                                                         std::string_view prefix) {
  auto files = own_files(output, prefix);
  std::erase_if(files, [&](const std::filesystem::path& file) {
    const std::string rank = file.filename().string().substr(prefix.size());
    return rank.empty() || rank.find_first_not_of("0123456789") != std::string::npos;
  });
  return files;
}

// Including incomplete ones.
inline void remove_all_with(const std::filesystem::path& output, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    for (const auto& file : own_files(output, prefix)) remove_own_file(file);
  }
}

// Requests for snapshots and leftover answers.
inline void remove_requests(const std::filesystem::path& output) {
  remove_all_with(output, {instrument::kStateRequestName, kSnapshotPrefix});
}

// States of all analyzers.
inline void remove_states(const std::filesystem::path& output) {
  remove_all_with(output, {kFirstStatePrefix, kNextStatePrefix, kSafeStatePrefix, kSavesMarkPrefix, kHangMarkPrefix});
  remove_requests(output);
  remove_all_with(output, {instrument::kControlName});
}

}  // namespace ardoise::analyzer

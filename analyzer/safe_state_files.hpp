// Where analyzers leave what they know when a launch is ended (safe_state.hpp). The launcher looks for it, too.
#pragma once

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/stands.hpp"
#include "instrument/settings/control_file.hpp"

namespace ardoise::analyzer {

inline constexpr const char* kSafeStatePrefix = ".analyzer-state-";
// The same, of its begin, then renewed all the time: what there is when the analyzer was killed.
inline constexpr const char* kFirstStatePrefix = ".analyzer-first-";
inline constexpr const char* kNextStatePrefix = ".analyzer-next-";  // what that becomes
// There while an analyzer writes its state.
inline constexpr const char* kSavesMarkPrefix = ".analyzer-saves-";
// What an analyzer knew when somebody asked; the text of the request comes next, then "-" and the rank.
inline constexpr const char* kSnapshotPrefix = ".analyzer-snapshot-";
// Left while all processes that send to an analyzer make no progress (hang_watch.hpp).
inline constexpr const char* kHangMarkPrefix = ".analyzer-hangs-";

[[nodiscard]] inline std::filesystem::path safe_state_file(const std::filesystem::path& output, std::string_view prefix,
                                                           unsigned rank) {
  return output / (std::string(prefix) + std::to_string(rank));
}

// Those that are there, by name.
[[nodiscard]] inline std::vector<std::filesystem::path> safe_state_files(const std::filesystem::path& output,
                                                                         std::string_view prefix) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(output, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    const std::string rank = name.substr(prefix.size());
    if (!rank.empty() && rank.find_first_not_of("0123456789") == std::string::npos) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Also what was half written.
inline void remove_all_with(const std::filesystem::path& output, std::initializer_list<std::string_view> prefixes) {
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(output, ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); }))
      files.push_back(entry.path());
  }
  for (const auto& file : files) std::filesystem::remove(file, ignored);
}

// Requests for snapshots, and what is left of their answers.
inline void remove_requests(const std::filesystem::path& output) {
  remove_all_with(output, {instrument::kAskName, kSnapshotPrefix});
}

// Of all analyzers.
inline void remove_states(const std::filesystem::path& output) {
  remove_all_with(output, {kFirstStatePrefix, kNextStatePrefix, kSafeStatePrefix, kSavesMarkPrefix, kHangMarkPrefix});
  remove_requests(output);
  remove_all_with(output, {instrument::kControlName});
}

}  // namespace ardoise::analyzer

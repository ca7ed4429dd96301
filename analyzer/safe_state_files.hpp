// Where analyzers leave what they know when a launch is ended (safe_state.hpp). The launcher looks for it, too.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/stands.hpp"

namespace ardoise::analyzer {

inline constexpr const char* kSafeStatePrefix = ".analyzer-state-";
// The same, of its begin, or of when somebody asked last: what there is when the analyzer was killed.
inline constexpr const char* kFirstStatePrefix = ".analyzer-first-";
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

// Requests for snapshots, and what is left of their answers.
inline void remove_requests(const std::filesystem::path& output) {
  std::error_code ignored;
  std::vector<std::filesystem::path> files{output / instrument::kAskName};
  for (const auto& entry : std::filesystem::directory_iterator(output, ignored)) {
    if (entry.path().filename().string().starts_with(kSnapshotPrefix)) files.push_back(entry.path());
  }
  for (const auto& file : files) std::filesystem::remove(file, ignored);
}

}  // namespace ardoise::analyzer

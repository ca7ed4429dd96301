// Files that analyzers, ranks, the launcher and the commands exchange in the output folder of a launch, read and
// written only if they are exclusively this user's (instrument/machine/own_folder.hpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/pack_file.hpp"

namespace ardoise::analyzer {

// "": it is exclusively this user's, or does not exist; otherwise a clause to follow its name: "is another user's
// (number 1001)".
[[nodiscard]] std::string fault_of_folder(const std::filesystem::path& folder);

// Paths of its regular files with this prefix, sorted; none unless the folder is exclusively this user's.
[[nodiscard]] std::vector<std::filesystem::path> own_files(const std::filesystem::path& folder,
                                                           std::string_view prefix);

// nullopt: it does not exist.
[[nodiscard]] std::optional<std::string> read_own_file(const std::filesystem::path& path);
[[nodiscard]] instrument::PackFile read_own_pack_file(const std::filesystem::path& path);

// Replaces the file atomically, readable by this user only. Not synced to disk.
[[nodiscard]] bool write_own_file(const std::filesystem::path& path, std::string_view content);

[[nodiscard]] bool has_own_file(const std::filesystem::path& path);
void remove_own_file(const std::filesystem::path& path);

}  // namespace ardoise::analyzer

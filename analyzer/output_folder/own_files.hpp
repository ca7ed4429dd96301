// Files that analyzers, ranks, the launcher and the commands leave for each other in the output folder of a launch,
// read and written only where they are this user's alone (instrument/machine/own_folder.hpp).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/pack_file.hpp"

namespace ardoise::analyzer {

// "": it is this user's alone, or there is none; else a clause behind its name: "is another user's (number 1001)".
[[nodiscard]] std::string fault_of_folder(const std::filesystem::path& folder);

// Paths of its regular files whose names begin so, sorted; none where the folder is not this user's alone.
[[nodiscard]] std::vector<std::filesystem::path> own_files(const std::filesystem::path& folder,
                                                           std::string_view prefix);

// nullopt: there is none.
[[nodiscard]] std::optional<std::string> read_own_file(const std::filesystem::path& path);
[[nodiscard]] instrument::PackFile read_own_pack_file(const std::filesystem::path& path);

// Takes the place of what is there when it is whole, for this user's eyes. Not forced to the disk.
[[nodiscard]] bool write_own_file(const std::filesystem::path& path, std::string_view content);

[[nodiscard]] bool has_own_file(const std::filesystem::path& path);
void remove_own_file(const std::filesystem::path& path);

}  // namespace ardoise::analyzer

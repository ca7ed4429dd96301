// Folders in /dev/shm for the shared window files of programs that run in one launch (window_files.cpp makes them), and
// what becomes of them when a program ends without tidying up: the next program, or the launcher, removes them.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::vmpi {

inline constexpr const char* kWindowFolderRoot = "/dev/shm";

// "ardoise.<process namespace>.<launcher>.<job>.<secret>". `launcher` is mpirun's process id, 0 where it runs on
// another node. The last part is of the program, which tells the programs of a job apart; no other user can make the
// folder beforehand (launch_secret.hpp).
std::string window_folder_name(long launcher, std::string_view job, std::string_view program);

// Makes it, for this user alone, or finds it there as such; `is_new` tells which. False: something else has the name.
[[nodiscard]] bool make_window_folder(const std::string& path, bool& is_new) noexcept;

// Removes such folders of ours in `root`, with the files in them, whose launcher ran on this node and lives no more.
void remove_stale_window_folders(const char* root = kWindowFolderRoot) noexcept;

}  // namespace ardoise::vmpi

// Folders in /dev/shm for the shared window files of programs of one launch (window_files.cpp makes them). When a
// program leaves them behind, the next program or the launcher removes them.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::vmpi {

inline constexpr const char* kWindowFolderRoot = "/dev/shm";

// "ardoise.<process namespace>.<launcher>.<job>.<secret>". `launcher` is mpirun's process id, 0 when it runs on another
// node. The secret differs between programs of a job and keeps other users from making the folder beforehand
// (launch_secret.hpp).
std::string window_folder_name(long launcher, std::string_view job, std::string_view program);

// Makes the folder for this user alone, or accepts an existing one of that kind; `is_new` tells which. False: the name
// is taken by something else.
[[nodiscard]] bool make_window_folder(const std::string& path, bool& is_new) noexcept;

// Removes our folders in `root`, with the files in them, whose launcher ran on this node and has ended.
void remove_stale_window_folders(const char* root = kWindowFolderRoot) noexcept;

}  // namespace ardoise::vmpi

// Folders in /dev/shm for the shared window files of programs that run in one launch (window_files.cpp makes them), and
// what becomes of them when a program ends without tidying up: the next program, or the launcher, removes them.
#pragma once

#include <string>
#include <string_view>

namespace ardoise::vmpi {

inline constexpr const char* kWindowFolderRoot = "/dev/shm";

// "ardoise.<process namespace>.<launcher>.<job>.<program>". `launcher` is mpirun's process id, 0 where it runs on
// another node; `program` tells the programs of a job apart.
std::string window_folder_name(long launcher, std::string_view job, std::string_view program);

// Removes such folders of ours in `root`, with the files in them, whose launcher ran on this node and lives no more.
void remove_stale_window_folders(const char* root = kWindowFolderRoot) noexcept;

}  // namespace ardoise::vmpi

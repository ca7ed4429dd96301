// Folders that crashed programs left in /dev/shm go; those of launches that run stay.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "vmpi/world/window_folders.hpp"

namespace ardoise::vmpi {
namespace {

namespace fs = std::filesystem;

long ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(WindowFolders, OnlyThoseOfEndedLaunchersAreRemoved) {
  const fs::path root = fs::temp_directory_path() / ("window_folders." + std::to_string(getpid()));
  const auto dead = window_folder_name(ended_process(), "17", "0");
  const auto running = window_folder_name(getpid(), "17", "1");
  const auto elsewhere = window_folder_name(0, "17", "1");
  for (const auto& name : {dead, running, elsewhere, std::string("ardoise.other"), std::string("ardoise.1.2.17.0")})
    fs::create_directories(root / name);
  std::ofstream(root / dead / "window") << "left behind";
  std::ofstream(root / running / "window") << "in use";

  remove_stale_window_folders(root.c_str());

  EXPECT_FALSE(fs::exists(root / dead));
  EXPECT_TRUE(fs::exists(root / running / "window"));
  EXPECT_TRUE(fs::exists(root / elsewhere));
  EXPECT_TRUE(fs::exists(root / "ardoise.other"));
  EXPECT_TRUE(fs::exists(root / "ardoise.1.2.17.0"));  // another process namespace
  fs::remove_all(root);
  remove_stale_window_folders(root.c_str());  // a folder that is not there is no error
}

}  // namespace
}  // namespace ardoise::vmpi

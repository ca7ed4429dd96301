// Folders that crashed programs left in /dev/shm are removed; those of running launches stay.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/other_user.hpp"
#include "vmpi/world/launch_secret.hpp"
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

TEST(WindowFolders, OneThatIsNotThisUsersAloneIsNotUsed) {
  const fs::path root = fs::temp_directory_path() / ("window_folders." + std::to_string(getpid()));
  fs::create_directories(root / "elsewhere");
  fs::permissions(root / "elsewhere", fs::perms{0700});
  bool is_new = false;
  EXPECT_TRUE(make_window_folder(root / "made", is_new));
  EXPECT_TRUE(is_new);
  EXPECT_EQ(fs::status(root / "made").permissions(), fs::perms{0700});
  EXPECT_TRUE(make_window_folder(root / "made", is_new)) << "by the next process of the program";
  EXPECT_FALSE(is_new);
  fs::create_directory_symlink(root / "elsewhere", root / "link");
  std::ofstream(root / "file") << "x";
  fs::create_directory(root / "open");
  fs::permissions(root / "open", fs::perms{0755});
  for (const char* const name : {"link", "file", "open"}) EXPECT_FALSE(make_window_folder(root / name, is_new)) << name;
  if (geteuid() == 0) {
    ASSERT_EQ(chown((root / "made").c_str(), kAttacker, kAttacker), 0);
    EXPECT_FALSE(make_window_folder(root / "made", is_new)) << "another user's";
  }
  fs::remove_all(root);
}

TEST(WindowFolders, OfALaunchWithAKeyHaveNamesThatCannotBeGuessed) {
  setenv("OMPI_MCA_orte_precondition_transports", "970bbd47249ac918-11d3bc6d036991c2", 1);
  const auto name = window_folder_name(1, "17", "0");
  EXPECT_EQ(name, window_folder_name(1, "17", "0"));
  EXPECT_NE(name, window_folder_name(1, "17", "1"));
  setenv("OMPI_MCA_orte_precondition_transports", "970bbd47249ac919-11d3bc6d036991c2", 1);
  EXPECT_NE(name, window_folder_name(1, "17", "0"));
  unsetenv("OMPI_MCA_orte_precondition_transports");
  EXPECT_TRUE(window_folder_name(1, "17", "0").ends_with(".1.17.0"));
}

TEST(LaunchSecret, IsSipHash) {
  std::string text;
  for (char c = 0; c < 15; ++c) text += c;
  EXPECT_EQ(sip_hash(0x0706050403020100, 0x0f0e0d0c0b0a0908, text), 0xa129ca6149be45e5);  // of the paper, appendix A
  EXPECT_EQ(sip_hash(0x0706050403020100, 0x0f0e0d0c0b0a0908, ""), 0x726fdb47dd0e0e31);
}

}  // namespace
}  // namespace ardoise::vmpi

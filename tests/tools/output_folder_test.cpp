// The output folder is made before the launch, and no earlier report is overwritten.
#include "tools/ardoise/report/output_folder.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <barrier>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/other_user.hpp"
#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(base_);
    fs::create_directories(base_);
    fs::permissions(base_, fs::perms{0755});
  }
  void TearDown() override { fs::remove_all(base_); }
  fs::path base_;
};

TEST_F(OutputFolderTest, NewFolderIsMadeWithItsParents) {
  const OutputFolder folder(base_ / "a" / "b/");
  EXPECT_EQ(folder.path(), base_ / "a" / "b");
  EXPECT_EQ(folder.why_renamed(), "");
}

TEST_F(OutputFolderTest, FullFolderIsLeftAloneAndTheNextNumberTaken) {
  fs::create_directories(base_ / "r");
  fs::create_directories(base_ / "r-2");
  for (const char* const name : {"r", "r-2"}) fs::permissions(base_ / name, fs::perms{0755});
  std::ofstream(base_ / "r" / "profile.json") << "{}";
  std::ofstream(base_ / "r-2" / "profile.json") << "{}";
  const OutputFolder folder(base_ / "r");
  EXPECT_EQ(folder.path(), base_ / "r-3");
  EXPECT_EQ(folder.why_renamed(), "is taken");
}

TEST_F(OutputFolderTest, LaunchesSideBySideHaveFoldersOfTheirOwn) {
  std::vector<std::string> taken(8);
  std::barrier start(8), end(8);
  std::vector<std::jthread> launches;
  for (auto& path : taken) {
    launches.emplace_back([&] {
      start.arrive_and_wait();
      const OutputFolder folder(base_ / "r");
      path = folder.path();
      end.arrive_and_wait();
    });
  }
  launches.clear();
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), 8u);
  EXPECT_TRUE(fs::is_empty(base_));
}

TEST_F(OutputFolderTest, EmptyFolderIsUsedAndKept) {
  fs::create_directories(base_ / "r");
  fs::permissions(base_ / "r", fs::perms{0755});
  { EXPECT_EQ(OutputFolder(base_ / "r").path(), base_ / "r"); }
  EXPECT_TRUE(fs::is_empty(base_ / "r"));
}

TEST_F(OutputFolderTest, WhatWasMadeForNothingGoesAgain) {
  {
    const OutputFolder empty(base_ / "e"), full(base_ / "f");
    std::ofstream(full.path() / "x") << "x";
  }
  EXPECT_FALSE(fs::exists(base_ / "e"));
  EXPECT_TRUE(fs::exists(base_ / "f"));
  EXPECT_FALSE(fs::exists(status_file_in(base_ / "f")));
}

TEST_F(OutputFolderTest, WhatAKilledAnalyzerHasHalfWrittenGoesAgain) {
  {
    const OutputFolder folder(base_ / "r");
    for (const char* name : {"profile.json", "profile.json.part", "profile.json.part4711", ".analyzer-0.part12"})
      std::ofstream(folder.path() / name) << "x";
  }
  EXPECT_TRUE(fs::exists(base_ / "r" / "profile.json"));
  EXPECT_TRUE(fs::exists(base_ / "r" / "profile.json.part"));
  EXPECT_FALSE(fs::exists(base_ / "r" / "profile.json.part4711"));
  EXPECT_FALSE(fs::exists(base_ / "r" / ".analyzer-0.part12"));
}

TEST_F(OutputFolderTest, BelowAFileThereIsNoFolder) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_THROW(OutputFolder(base_ / "file" / "r"), UsageError);
}

TEST_F(OutputFolderTest, WhatIsNoFolderHasTheNextNumberBesideIt) {
  std::ofstream(base_ / "file") << "x";
  fs::create_symlink(base_ / "nowhere", base_ / "link");
  ASSERT_EQ(::mkfifo((base_ / "fifo").c_str(), 0600), 0);
  for (const char* const name : {"file", "link", "fifo"}) {
    const OutputFolder folder(base_ / name);
    EXPECT_EQ(folder.path(), base_ / (std::string(name) + "-2"));
    EXPECT_EQ(folder.why_renamed(), "is no folder");
  }
  EXPECT_FALSE(fs::exists(base_ / "nowhere"));
}

TEST_F(OutputFolderTest, ANewOneIsForThisUserAloneAndAnOldOneStaysAsItIs) {
  const mode_t before = ::umask(0);
  fs::create_directories(base_ / "old");
  fs::permissions(base_ / "old", fs::perms{0755});
  {
    const OutputFolder made(base_ / "new"), old(base_ / "old");
    EXPECT_EQ(fs::status(made.path()).permissions(), fs::perms{0700});
    EXPECT_EQ(fs::status(old.path()).permissions(), fs::perms{0755});
    EXPECT_EQ(old.why_renamed(), "");
    EXPECT_EQ(fs::status(status_file_in(old.path())).permissions(), fs::perms{0600});
  }
  ::umask(before);
}

TEST_F(OutputFolderTest, OneThatOthersCanWriteToIsNotTaken) {
  fs::create_directories(base_ / "r");
  fs::permissions(base_ / "r", fs::perms{0775});
  const OutputFolder folder(base_ / "r");
  EXPECT_EQ(folder.path(), base_ / "r-2");
  EXPECT_EQ(folder.why_renamed(), "can be written by others (mode 0775)");
  EXPECT_TRUE(fs::is_empty(base_ / "r"));
}

TEST_F(OutputFolderTest, ALinkToAFolderOfThisUserIsFollowed) {
  fs::create_directories(base_ / "elsewhere");
  fs::permissions(base_ / "elsewhere", fs::perms{0700});
  fs::create_directory_symlink(base_ / "elsewhere", base_ / "r");
  const OutputFolder folder(base_ / "r");
  EXPECT_EQ(folder.path(), base_ / "r");
  EXPECT_TRUE(fs::exists(status_file_in(base_ / "elsewhere")));
}

TEST_F(OutputFolderTest, WhatAnotherUserHasMadeInASharedFolderIsNotTaken) {
  SKIP_UNLESS_ROOT();
  fs::permissions(base_, fs::perms{01777});
  ASSERT_EQ(as_user(kAttacker,
                    [&] {
                      ::umask(0);
                      for (const auto& [name, mode] : {std::pair("open", 0777), std::pair("closed", 0755)})
                        if (::mkdir((base_ / name).c_str(), static_cast<mode_t>(mode)) != 0) return false;
                      fs::create_directory_symlink(base_ / "mine", base_ / "link");
                      return true;
                    }),
            0);
  EXPECT_EQ(as_user(kVictim,
                    [&] {
                      fs::create_directory(base_ / "mine");
                      fs::permissions(base_ / "mine", fs::perms{0755});
                      const OutputFolder open(base_ / "open"), closed(base_ / "closed"), link(base_ / "link");
                      return open.path() == base_ / "open-2" && closed.path() == base_ / "closed-2" &&
                             open.why_renamed() == "is another user's (number 61002)" &&
                             closed.why_renamed() == open.why_renamed() && link.path() == base_ / "link-2" &&
                             link.why_renamed() == "is another user's link" && fs::is_empty(base_ / "mine");
                    }),
            0);
  // A folder whose parent this user cannot write is refused, too.
  fs::permissions(base_, fs::perms{0755});
  EXPECT_EQ(as_user(kVictim,
                    [&] {
                      try {
                        const OutputFolder folder(base_ / "closed");
                      } catch (const UsageError& error) {
                        return std::string(error.what())
                            .ends_with("closed' is another user's (number 61002), and '" +
                                       (base_ / "closed-2").string() +
                                       "' cannot be made: Permission denied; name another one.");
                      }
                      return false;
                    }),
            0);
}

TEST_F(OutputFolderTest, WhereNothingCanBeWrittenIsTold) { EXPECT_THROW(OutputFolder("/proc/self/r"), UsageError); }

}  // namespace
}  // namespace ardoise::launcher

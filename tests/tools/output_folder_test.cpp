// The output folder is made before the launch, and no earlier report is overwritten.
#include "tools/ardoise/output_folder.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tools/ardoise/launch_line.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

class OutputFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    base_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(base_);
    fs::create_directories(base_);
  }
  void TearDown() override { fs::remove_all(base_); }
  fs::path base_;
};

TEST_F(OutputFolderTest, NewFolderIsMadeWithItsParents) {
  const OutputFolder folder(base_ / "a" / "b/");
  EXPECT_EQ(folder.path(), base_ / "a" / "b");
  EXPECT_FALSE(folder.renamed());
}

TEST_F(OutputFolderTest, FullFolderIsLeftAloneAndTheNextNumberTaken) {
  fs::create_directories(base_ / "r");
  fs::create_directories(base_ / "r-2");
  std::ofstream(base_ / "r" / "profile.json") << "{}";
  std::ofstream(base_ / "r-2" / "profile.json") << "{}";
  const OutputFolder folder(base_ / "r");
  EXPECT_EQ(folder.path(), base_ / "r-3");
  EXPECT_TRUE(folder.renamed());
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

TEST_F(OutputFolderTest, AFileIsNoFolder) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_THROW(OutputFolder(base_ / "file"), UsageError);
}

TEST_F(OutputFolderTest, WhereNothingCanBeWrittenIsTold) { EXPECT_THROW(OutputFolder("/proc/self/r"), UsageError); }

}  // namespace
}  // namespace ardoise::launcher

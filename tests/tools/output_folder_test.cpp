// The output folder is made before the launch, and no earlier report is overwritten.
#include "tools/ardoise/output_folder.hpp"

#include <gtest/gtest.h>

#include <fstream>

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
  const auto folder = make_output_folder(base_ / "a" / "b/");
  EXPECT_EQ(folder.path, base_ / "a" / "b");
  EXPECT_TRUE(folder.made);
  EXPECT_FALSE(folder.renamed);
  EXPECT_TRUE(fs::is_empty(folder.path));
}

TEST_F(OutputFolderTest, FullFolderIsLeftAloneAndTheNextNumberTaken) {
  fs::create_directories(base_ / "r");
  fs::create_directories(base_ / "r-2");
  std::ofstream(base_ / "r" / "profile.json") << "{}";
  std::ofstream(base_ / "r-2" / "profile.json") << "{}";
  const auto folder = make_output_folder(base_ / "r");
  EXPECT_EQ(folder.path, base_ / "r-3");
  EXPECT_TRUE(folder.renamed);
}

TEST_F(OutputFolderTest, EmptyFolderIsUsedAndKept) {
  fs::create_directories(base_ / "r");
  const auto folder = make_output_folder(base_ / "r");
  EXPECT_EQ(folder.path, base_ / "r");
  remove_if_empty(folder);
  EXPECT_TRUE(fs::exists(base_ / "r"));
}

TEST_F(OutputFolderTest, WhatWasMadeForNothingGoesAgain) {
  const auto empty = make_output_folder(base_ / "e");
  const auto full = make_output_folder(base_ / "f");
  std::ofstream(full.path / "x") << "x";
  remove_if_empty(empty);
  remove_if_empty(full);
  EXPECT_FALSE(fs::exists(empty.path));
  EXPECT_TRUE(fs::exists(full.path));
}

TEST_F(OutputFolderTest, BelowAFileThereIsNoFolder) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_THROW((void)make_output_folder(base_ / "file" / "r"), UsageError);
}

TEST_F(OutputFolderTest, AFileIsNoFolder) {
  std::ofstream(base_ / "file") << "x";
  EXPECT_THROW((void)make_output_folder(base_ / "file"), UsageError);
}

TEST_F(OutputFolderTest, WhereNothingCanBeWrittenIsTold) {
  EXPECT_THROW((void)make_output_folder("/proc/self/r"), UsageError);
}

}  // namespace
}  // namespace ardoise::launcher

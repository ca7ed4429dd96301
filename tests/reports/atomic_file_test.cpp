// A file is there whole or not at all, and what is no regular file is written to, not replaced.
#include "reports/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace ardoise::reports {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (fs::path(::testing::TempDir()) / "atomic_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  fs::path folder_;
};

TEST_F(AtomicFileTest, TheOldFileStaysUntilTheNewOneIsWhole) {
  const auto path = folder_ / "file";
  ASSERT_TRUE(write_file(path, "old"));
  {
    AtomicFile file(path);
    file.append("new");
    EXPECT_EQ(content(path), "old");
  }
  EXPECT_EQ(content(path), "old");
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(content(path), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(AtomicFileTest, ModeAndLinkOfTheOldFileStay) {
  fs::create_directory(folder_ / "elsewhere");
  const auto target = folder_ / "elsewhere" / "file", link = folder_ / "link";
  ASSERT_TRUE(write_file(target, "old"));
  ASSERT_EQ(::chmod(target.c_str(), 0640), 0);
  fs::create_symlink(target, link);
  ASSERT_TRUE(write_file(link, "new"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
  struct stat now {};
  ASSERT_EQ(::stat(target.c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 07777, 0640u);
}

TEST_F(AtomicFileTest, DevicesAreWrittenTo) {
  EXPECT_TRUE(write_file("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const auto full = write_file("/dev/full", "text");
  EXPECT_NE(full.error.find("Cannot write /dev/full: No space left on device"), std::string::npos) << full.error;
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(AtomicFileTest, FifosAreWrittenTo) {
  const auto fifo = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string read;
  std::jthread reader([&] { read = content(fifo); });
  EXPECT_TRUE(write_file(fifo, "text"));
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(AtomicFileTest, AFolderIsToldAndLeft) {
  EXPECT_NE(write_file(folder_, "text").error.find("Is a directory"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace ardoise::reports

// A file exists completely or not at all. A file that is not regular is replaced, or written to if the user named it.
#include "reports/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "tests/other_user.hpp"

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

TEST_F(AtomicFileTest, ModeOfTheOldFileStaysAndOfANewOneItIsTheUmasks) {
  const auto path = folder_ / "file", other = folder_ / "other";
  ASSERT_TRUE(write_file(path, "old"));
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(write_file(path, "new"));
  EXPECT_EQ(fs::status(path).permissions(), fs::perms{0640});
  const mode_t before = ::umask(027);
  EXPECT_TRUE(write_file(other, "new"));
  ::umask(before);
  EXPECT_EQ(fs::status(other).permissions(), fs::perms{0640});
}

TEST_F(AtomicFileTest, LinksFifosAndDevicesAreReplaced) {
  const auto victim = folder_ / "victim", link = folder_ / "link", device = folder_ / "device", fifo = folder_ / "fifo";
  ASSERT_TRUE(write_file(victim, "precious"));
  fs::create_symlink(victim, link);
  fs::create_symlink("/dev/full", device);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& path : {link, device, fifo}) {
    EXPECT_TRUE(write_file(path, "new"));
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path))) << path;
    EXPECT_EQ(content(path), "new");
  }
  EXPECT_EQ(content(victim), "precious");
}

TEST_F(AtomicFileTest, ALinkThatTheUserHasNamedStays) {
  fs::create_directory(folder_ / "elsewhere");
  const auto target = folder_ / "elsewhere" / "file", link = folder_ / "link";
  ASSERT_TRUE(write_file(target, "old"));
  fs::create_symlink(target, link);
  ASSERT_TRUE(write_file(link, "new", Special::kUsed));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "new");
}

TEST_F(AtomicFileTest, DevicesThatTheUserHasNamedAreWrittenTo) {
  EXPECT_TRUE(write_file("/dev/null", "text", Special::kUsed));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const auto full = write_file("/dev/full", "text", Special::kUsed);
  EXPECT_NE(full.error.find("Cannot write /dev/full: No space left on device"), std::string::npos) << full.error;
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(AtomicFileTest, FifosThatTheUserHasNamedAreWrittenTo) {
  const auto fifo = folder_ / "fifo", link = folder_ / "link";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink(fifo, link);  // as /dev/stdout leads to a pipe
  std::string read;
  std::jthread reader([&] { read = content(fifo); });
  EXPECT_TRUE(write_file(link, "text", Special::kUsed));
  reader.join();
  EXPECT_EQ(read, "text");
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(AtomicFileTest, FilesOfAnotherUserInASharedFolderAreNeverUsed) {
  SKIP_UNLESS_ROOT();
  const auto shared = folder_ / "shared", victim = folder_ / "victim";
  ASSERT_TRUE(write_file(victim, "precious"));
  fs::create_directory(shared);
  fs::permissions(shared, fs::perms{01777});
  fs::permissions(folder_, fs::perms{0755});
  ASSERT_EQ(as_user(kAttacker,
                    [&] {
                      fs::create_symlink(victim, shared / "link");
                      return ::mkfifo((shared / "fifo").c_str(), 0666) == 0;
                    }),
            0);
  EXPECT_TRUE(write_file(shared / "link", "new", Special::kUsed));
  EXPECT_TRUE(write_file(shared / "fifo", "new", Special::kUsed));
  EXPECT_EQ(content(victim), "precious");
  EXPECT_EQ(content(shared / "link"), "new");
  EXPECT_TRUE(fs::is_regular_file(shared / "fifo"));
}

TEST_F(AtomicFileTest, AFolderOfItsOwnIsForThisUserAlone) {
  const mode_t before = ::umask(0);
  EXPECT_TRUE(make_own_folder(folder_ / "a" / "b/"));
  EXPECT_TRUE(make_own_folder(folder_ / "a" / "b"));
  ::umask(before);
  EXPECT_EQ(fs::status(folder_ / "a" / "b").permissions(), fs::perms{0700});
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), fs::perms{0777});
  ASSERT_TRUE(write_file(folder_ / "file", "text"));
  EXPECT_NE(make_own_folder(folder_ / "file").error.find("Not a directory"), std::string::npos);
}

TEST_F(AtomicFileTest, AFolderIsReportedAndKept) {
  EXPECT_NE(write_file(folder_, "text").error.find("Is a directory"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace ardoise::reports

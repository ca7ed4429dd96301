// A file that another user put into an output folder, or in its place, is never read, written to or waited for.
#include "instrument/machine/own_folder.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/other_user.hpp"

namespace ardoise::instrument {
namespace {

namespace fs = std::filesystem;

class OwnFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (fs::path(::testing::TempDir()) / "own_folder_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    base_ = unique;
    path_ = base_ / "folder";
    fs::create_directory(path_);
    fs::permissions(path_, fs::perms{0755});
    std::ofstream(victim_()) << "precious";
  }
  void TearDown() override { fs::remove_all(base_); }

  [[nodiscard]] fs::path victim_() const { return base_ / "victim"; }
  [[nodiscard]] long error(unsigned mode) const {
    fs::permissions(path_, static_cast<fs::perms>(mode));
    return OwnFolder(path_.c_str()).error();
  }
  static std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static bool opens(long file) {
    if (file >= 0) ::close(static_cast<int>(file));
    return file >= 0;
  }
  fs::path base_, path_;
};

TEST_F(OwnFolderTest, OneThatOthersCanWriteToIsNotUsed) {
  EXPECT_EQ(error(0755), 0);
  EXPECT_EQ(error(0700), 0);
  for (const unsigned mode : {0775u, 0757u, 0777u, 01777u, 0720u, 0702u}) EXPECT_EQ(error(mode), -EPERM) << mode;
}

TEST_F(OwnFolderTest, AMissingFolderDiffersFromAForeignOne) {
  EXPECT_EQ(OwnFolder((base_ / "nowhere").c_str()).error(), -ENOENT);
  EXPECT_EQ(OwnFolder(victim_().c_str()).error(), -ENOTDIR);
  const OwnFolder none((base_ / "nowhere").c_str());
  struct stat found {};
  for (const long result : {none.read("x"), none.make("x", 0600), none.replace("x", 0600), none.append("x", 0600),
                            none.stat("x", found), none.remove("x"), none.rename("x", "y"), none.link("x", "y")})
    EXPECT_EQ(result, -ENOENT);
}

TEST_F(OwnFolderTest, FilesThatAreNotRegularAreNotOpened) {
  fs::create_directory(path_ / "folder");
  fs::create_symlink(victim_(), path_ / "link");
  ASSERT_EQ(::mkfifo((path_ / "fifo").c_str(), 0600), 0);
  std::ofstream(path_ / "file") << "text";
  const OwnFolder folder(path_.c_str());
  struct stat found {};
  for (const char* const name : {"folder", "link", "fifo"}) {
    EXPECT_FALSE(opens(folder.read(name))) << name;
    EXPECT_FALSE(opens(folder.append(name, 0600))) << name;
    EXPECT_FALSE(opens(folder.make(name, 0600))) << name;
    EXPECT_NE(folder.stat(name, found), 0) << name;
  }
  EXPECT_TRUE(opens(folder.read("file")));
  EXPECT_TRUE(opens(folder.append("file", 0600)));
  EXPECT_EQ(folder.stat("file", found), 0);
  EXPECT_EQ(folder.make("file", 0600), -EEXIST);
}

TEST_F(OwnFolderTest, AnExistingFileIsReplacedAndALinkNotFollowed) {
  fs::create_symlink(victim_(), path_ / "link");
  fs::create_symlink(base_ / "made", path_ / "dangling");
  const OwnFolder folder(path_.c_str());
  for (const char* const name : {"link", "dangling"}) {
    const long file = folder.replace(name, 0600);
    ASSERT_GE(file, 0);
    EXPECT_EQ(::write(static_cast<int>(file), "new", 3), 3);
    ::close(static_cast<int>(file));
    EXPECT_EQ(content(path_ / name), "new");
    EXPECT_FALSE(fs::is_symlink(path_ / name));
  }
  EXPECT_EQ(content(victim_()), "precious");
  EXPECT_FALSE(fs::exists(base_ / "made"));
  fs::create_symlink(victim_(), path_ / "again");
  EXPECT_EQ(folder.rename("link", "again"), 0);
  EXPECT_EQ(content(victim_()), "precious");
  EXPECT_EQ(content(path_ / "again"), "new");
}

TEST_F(OwnFolderTest, ModesAreTheUmasks) {
  const mode_t before = ::umask(077);
  EXPECT_TRUE(opens(OwnFolder(path_.c_str()).make("file", 0666)));
  ::umask(022);
  EXPECT_TRUE(opens(OwnFolder(path_.c_str()).make("other", 0666)));
  ::umask(before);
  EXPECT_EQ(fs::status(path_ / "file").permissions(), fs::perms{0600});
  EXPECT_EQ(fs::status(path_ / "other").permissions(), fs::perms{0644});
}

TEST_F(OwnFolderTest, NothingOfAnotherUserIsUsed) {
  SKIP_UNLESS_ROOT();
  std::ofstream(path_ / "foreign") << "text";
  ASSERT_EQ(::chown((path_ / "foreign").c_str(), kAttacker, kAttacker), 0);
  struct stat found {};
  {
    const OwnFolder folder(path_.c_str());
    EXPECT_EQ(folder.read("foreign"), -EPERM);
    EXPECT_EQ(folder.append("foreign", 0600), -EPERM);
    EXPECT_EQ(folder.stat("foreign", found), -EPERM);
  }
  ASSERT_EQ(::chown(path_.c_str(), kAttacker, kAttacker), 0);
  EXPECT_EQ(error(0755), -EPERM);
  EXPECT_EQ(OwnFolder(path_.c_str()).read("foreign"), -EPERM);
}

// File servers report user id 65534 as the owner of files whose user they do not know.
TEST_F(OwnFolderTest, FilesOfUserNobodyAreOwnWhereThisUserCanWrite) {
  SKIP_UNLESS_ROOT();
  constexpr uid_t kNobody = 65534;
  fs::permissions(base_, fs::perms{0755});
  ASSERT_EQ(::chown(path_.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(error(0755), 0);
  EXPECT_EQ(error(0777), -EPERM);
  EXPECT_EQ(error(0755), 0);
  EXPECT_EQ(as_user(kVictim, [&] { return OwnFolder(path_.c_str()).error() == -EPERM; }), 0);
}

}  // namespace
}  // namespace ardoise::instrument

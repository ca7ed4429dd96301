// Analyzers and commands read only this user's files in an output folder, and write only into it.
#include "analyzer/output_folder/own_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "analyzer/commands/control.hpp"
#include "analyzer/hangs/stalled_processes.hpp"
#include "analyzer/output_folder/command_file.hpp"
#include "analyzer/output_folder/safe_state_files.hpp"
#include "analyzer/results/results.hpp"
#include "analyzer/states/snapshot.hpp"
#include "tests/other_user.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OwnFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (fs::path(::testing::TempDir()) / "own_files_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    base_ = unique;
    folder_ = base_ / "report";
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms{0755});
    victim_ = base_ / "victim";
    std::ofstream(victim_) << "precious\n";
  }
  void TearDown() override { fs::remove_all(base_); }

  static std::string content(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  fs::path base_, folder_, victim_;
};

TEST_F(OwnFilesTest, AFileIsReplacedWholeForThisUsersEyes) {
  const mode_t before = ::umask(0);
  EXPECT_TRUE(write_own_file(folder_ / "file", "text"));
  ::umask(before);
  EXPECT_EQ(read_own_file(folder_ / "file"), "text");
  EXPECT_EQ(fs::status(folder_ / "file").permissions(), fs::perms{0600});
  fs::create_symlink(victim_, folder_ / "link");
  EXPECT_EQ(read_own_file(folder_ / "link"), std::nullopt);
  EXPECT_FALSE(has_own_file(folder_ / "link"));
  EXPECT_TRUE(write_own_file(folder_ / "link", "new"));
  EXPECT_EQ(read_own_file(folder_ / "link"), "new");
  EXPECT_EQ(content(victim_), "precious\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
  EXPECT_FALSE(write_own_file(folder_ / "nowhere" / "file", "text"));
}

TEST_F(OwnFilesTest, OnlyRegularFilesAreFound) {
  for (const char* const name : {".analyzer-state-1", ".analyzer-state-0", ".analyzer-state-x", ".process-state-0-0"})
    std::ofstream(folder_ / name) << "x";
  fs::create_symlink(victim_, folder_ / ".analyzer-state-2");
  ASSERT_EQ(::mkfifo((folder_ / ".process-state-0-1").c_str(), 0666), 0);
  EXPECT_THAT(safe_state_files(folder_, kSafeStatePrefix),
              ElementsAre(folder_ / ".analyzer-state-0", folder_ / ".analyzer-state-1"));
  EXPECT_THAT(position_files(folder_), ElementsAre(folder_ / ".process-state-0-0"));
  EXPECT_THAT(read_stalled_processes(folder_), IsEmpty());
  fs::permissions(folder_, fs::perms{0777});
  EXPECT_THAT(safe_state_files(folder_, kSafeStatePrefix), IsEmpty());
  remove_states(folder_);
  EXPECT_TRUE(fs::exists(folder_ / ".analyzer-state-0"));
  fs::permissions(folder_, fs::perms{0700});
  remove_states(folder_);
  EXPECT_FALSE(fs::exists(folder_ / ".analyzer-state-0"));
}

TEST_F(OwnFilesTest, TheFaultOfAFolderIsNamed) {
  EXPECT_EQ(fault_of_folder(folder_), "");
  EXPECT_EQ(fault_of_folder(base_ / "nowhere"), "");
  EXPECT_EQ(fault_of_folder(victim_), "cannot be used: Not a directory");
  fs::permissions(folder_, fs::perms{01777});
  EXPECT_EQ(fault_of_folder(folder_), "can be written by others (mode 1777)");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(folder_.c_str(), kAttacker, kAttacker), 0);
  EXPECT_EQ(fault_of_folder(folder_), "is another user's (number 61002)");
}

// The text becomes part of a file name.
TEST_F(OwnFilesTest, ARequestIsPlainAndNothingElseIsAnswered) {
  SnapshotRequests requests(folder_);
  EXPECT_EQ(requests.look(), "");
  const fs::path ask = folder_ / instrument::kStateRequestName;
  std::ofstream(ask) << "4711-98765";
  EXPECT_EQ(requests.look(), "") << "it is not whole";
  std::ofstream(ask) << "4711-98765\nhost\n";
  EXPECT_EQ(requests.look(), ".analyzer-snapshot-4711-98765-");
  EXPECT_EQ(requests.look(), "") << "it has been seen";
  const std::string long_text(65, '1');
  for (const std::string& text : {std::string("../../victim"), std::string("1/2"), std::string(), std::string(".."),
                                  long_text, std::string("1 2"), std::string("-\t"), std::string("x")}) {
    std::ofstream(ask) << text << "\n";
    EXPECT_EQ(requests.look(), "") << text;
  }
  fs::remove(ask);
  std::ofstream(base_ / "plain") << "5-5\n";
  fs::create_symlink(base_ / "plain", ask);
  EXPECT_EQ(requests.look(), "") << "a link";
  fs::remove(ask);
  ASSERT_EQ(::mkfifo(ask.c_str(), 0666), 0);
  EXPECT_EQ(requests.look(), "") << "a FIFO, which nobody writes to";
}

TEST_F(OwnFilesTest, CommandsAreNotAppendedToWhatAnotherHasPutThere) {
  const instrument::ControlCommand command{.ranks = "*", .program = "*", .settings = "rate=1"};
  fs::create_symlink(victim_, folder_ / instrument::kControlName);
  EXPECT_EQ(append_command(folder_, command, WhenBusy::kWait).number, 0u);
  EXPECT_EQ(content(victim_), "precious\n");
  fs::remove(folder_ / instrument::kControlName);
  ASSERT_EQ(::mkfifo((folder_ / instrument::kControlName).c_str(), 0666), 0);
  const Appended appended = append_command(folder_, command, WhenBusy::kWait);
  EXPECT_EQ(appended.number, 0u);
  EXPECT_EQ(appended.why, "Operation not permitted");
}

TEST_F(OwnFilesTest, TheFolderOfAnotherUserIsNeitherAskedNorControlled) {
  SKIP_UNLESS_ROOT();
  fs::permissions(folder_, fs::perms{0777});
  ASSERT_EQ(::chown(folder_.c_str(), kAttacker, kAttacker), 0);
  std::ofstream(safe_state_file(folder_, kFirstStatePrefix, 0)) << "x";
  Options options;
  options.output = folder_.string();
  options.control_settings = "rate=1";
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(take_snapshot(options), kIncomplete);
  EXPECT_EQ(control(options), kIncomplete);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, ::testing::HasSubstr(
                        "report' is another user's (number 61002): only the user who started the launch can query"));
  EXPECT_THAT(said, ::testing::HasSubstr("only the user who started a launch can control it."));
  EXPECT_FALSE(fs::exists(folder_ / instrument::kStateRequestName));
  EXPECT_FALSE(fs::exists(folder_ / instrument::kControlName));
}

}  // namespace
}  // namespace ardoise::analyzer

// Files of a launch have the modes that the user wants. Another user of the same folder can neither read them nor put
// files into the launch.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/other_user.hpp"
#include "tests/tools/launch_fixture.hpp"
#include "tools/ardoise/common/exit_status.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class HostileFolderTest : public LaunchFixture {
 protected:
  // True if the user can execute files of the build folder.
  static bool can_run_as(uid_t user) {
    return as_user(user, [] { return ::access(ARDOISE, X_OK) == 0 && ::access(RING, X_OK) == 0; }) == 0;
  }
  [[nodiscard]] Captured run_as(uid_t user, const Words& words) const {
    const std::string number = std::to_string(user);
    Words all{"setpriv", "--reuid", number, "--regid", number, "--clear-groups", "env", "HOME=" + shared_.string()};
    all.insert(all.end(), words.begin(), words.end());
    return run_and_read(all);
  }
  void SetUp() override {
    LaunchFixture::SetUp();
    shared_ = folder_ / "shared";
    fs::create_directory(shared_);
    fs::permissions(shared_, fs::perms{01777});
    fs::permissions(folder_, fs::perms{0755});
  }
  fs::path shared_;
};

TEST_F(HostileFolderTest, ModesOfAllFilesAreTheUmasks) {
  for (const mode_t mask : {022u, 077u, 002u}) {
    output_ = (folder_ / ("report-" + std::to_string(mask))).string();
    const mode_t before = ::umask(mask);
    const auto ran =
        ardoise({"--trace", "all", "--snapshot-every", "1", "--snapshot-when", "calls(MPI_Send) > 10 since last"},
                {"-n", "2", RING, "100"});
    ::umask(before);
    ASSERT_EQ(ran.status, 0) << ran.output;
    EXPECT_EQ(fs::status(output_).permissions(), fs::perms{0700});
    std::map<std::string, int> kinds;
    for (const auto& entry : fs::recursive_directory_iterator(output_)) {
      struct stat found {};
      ASSERT_EQ(::lstat(entry.path().c_str(), &found), 0);
      const mode_t mode = found.st_mode & 07777;
      EXPECT_EQ(mode & mask, 0u) << entry.path();
      if (S_ISREG(found.st_mode)) {
        EXPECT_EQ(mode, 0666 & ~mask) << entry.path();
      }
      ++kinds[entry.path().extension()];
    }
    for (const char* const kind : {".json", ".txt", ".otf2", ".evt", ".ards"}) EXPECT_GE(kinds[kind], 1) << kind;
  }
}

TEST_F(HostileFolderTest, ALaunchTakesNothingThatAnotherUserHasPrepared) {
  SKIP_UNLESS_ROOT();
  if (!can_run_as(kVictim)) GTEST_SKIP() << "another user cannot run what is in the build folder";
  const fs::path home = shared_ / "home";
  ASSERT_EQ(as_user(kVictim,
                    [&] {
                      fs::create_directory(home);
                      fs::permissions(home, fs::perms{0700});
                      return true;
                    }),
            0);
  ASSERT_EQ(as_user(kAttacker,
                    [&] {
                      ::umask(0);
                      fs::create_directory(shared_ / "r");
                      fs::create_directory(shared_ / "r-2");
                      fs::permissions(shared_ / "r-2", fs::perms{0755});
                      std::ofstream(shared_ / "r-3") << "x";
                      fs::create_directory_symlink(home, shared_ / "r-4");
                      return ::mkfifo((shared_ / "r-5").c_str(), 0666) == 0;
                    }),
            0);
  const Words launch{"--oversubscribe", "-n", "2", RING, "10"};
  Words words{ARDOISE, "--no-report", "--output", (shared_ / "r").string()};
  const auto launcher = launcher_words();
  words.insert(words.end(), launcher.begin(), launcher.end());
  words.insert(words.end(), launch.begin() + MPI_IS_MPICH, launch.end());
  const auto ran = run_as(kVictim, words);
  EXPECT_EQ(ran.status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("/r' is another user's (number 61002); the report goes to '"));
  EXPECT_TRUE(fs::exists(shared_ / "r-6" / "profile.json")) << ran.output;
  EXPECT_EQ(fs::status(shared_ / "r-6").permissions(), fs::perms{0700});
  for (const auto& untouched : {shared_ / "r", shared_ / "r-2", home})
    EXPECT_TRUE(fs::is_empty(untouched)) << untouched;
}

// The folder contains files that would make a command wait, write or obey.
TEST_F(HostileFolderTest, CommandsLeaveThePreparedFolderOfAnotherUserAlone) {
  SKIP_UNLESS_ROOT();
  if (!can_run_as(kVictim)) GTEST_SKIP() << "another user cannot run what is in the build folder";
  const fs::path victim = shared_ / "victim", folder = shared_ / "ardoise-report";
  ASSERT_EQ(as_user(kVictim, [&] { return !!(std::ofstream(victim) << "precious" << std::flush); }), 0);
  ASSERT_EQ(
      as_user(kAttacker,
              [&] {
                ::umask(0);
                fs::create_directory(folder);
                for (const char* const name : {".analyzer-first-0", ".control-done-0-0", "profile.json", ".control"})
                  fs::create_symlink(victim, folder / name);
                return ::mkfifo((folder / ".state-request").c_str(), 0666) == 0 &&
                       ::mkfifo((folder / ".analyzer-first-1").c_str(), 0666) == 0 &&
                       ::mkfifo((folder / "summary.txt").c_str(), 0666) == 0;
              }),
      0);
  const auto refused =
      AllOf(HasSubstr("ardoise-report' is another user's (number 61002): only the user who started a launch can"));
  for (const Words& command : {Words{"status", folder.string()}, Words{"control", folder.string(), "rate=1"}}) {
    Words words{ARDOISE};
    words.insert(words.end(), command.begin(), command.end());
    const auto ran = run_as(kVictim, words);
    EXPECT_EQ(ran.status, kFailedStatus) << ran.output;
    EXPECT_THAT(ran.output, refused);
  }
  // Without a named folder, this launch is not chosen either.
  const auto found = run_as(kVictim, {"env", "--chdir=" + shared_.string(), ARDOISE, "status"});
  EXPECT_THAT(found.output, HasSubstr("no launch of yours runs on this host"));
  EXPECT_EQ(found.status, kFailedStatus);
  EXPECT_EQ(content("shared/victim"), "precious");

  // A link to a file that only the victim can read.
  ASSERT_EQ(as_user(kAttacker,
                    [&] {
                      fs::remove(folder / "summary.txt");
                      fs::create_symlink(victim, folder / "summary.txt");
                      return true;
                    }),
            0);
  const auto linked = run_as(kVictim, {ARDOISE, "status", folder.string()});
  EXPECT_EQ(linked.status, kFailedStatus);
  EXPECT_THAT(linked.output, AllOf(refused, Not(HasSubstr("precious"))));
}

// The library is not loaded into a program that runs with the rights of another user.
TEST_F(HostileFolderTest, AProgramWithRightsOfItsOwnIsLeftAlone) {
  SKIP_UNLESS_ROOT();
  if (!can_run_as(kVictim)) GTEST_SKIP() << "another user cannot run what is in the build folder";
  const fs::path plain = shared_ / "cat", rights = shared_ / "cat-of-root", secret = shared_ / "secret";
  fs::copy_file("/bin/cat", plain);
  fs::copy_file("/bin/cat", rights);
  fs::permissions(rights, fs::perms{04755});
  std::ofstream(secret) << "secret";
  fs::permissions(secret, fs::perms{0600});
  const auto preloaded = [&](const fs::path& program, const char* file) {
    return run_as(kVictim, {"LD_PRELOAD=" PRELOAD_LIBRARY, program.string(), file});
  };
  if (preloaded(rights, secret.c_str()).output != "secret") GTEST_SKIP() << "this folder gives programs no rights";
  EXPECT_THAT(preloaded(plain, "/proc/self/maps").output, HasSubstr("libardoise"));
  const auto maps = preloaded(rights, "/proc/self/maps");
  EXPECT_EQ(maps.status, 0);
  EXPECT_THAT(maps.output, AllOf(HasSubstr("cat-of-root"), ::testing::Not(HasSubstr("libardoise"))));
}

}  // namespace
}  // namespace ardoise::launcher

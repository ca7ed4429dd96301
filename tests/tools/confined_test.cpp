// Commands that read a report need only the report: they run without a network, and with write access only to its
// folder and to the one for scratch files.
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;

class ConfinedTest : public LaunchFixture {
 protected:
  void SetUp() override {
    LaunchFixture::SetUp();
    fs::create_directories(folder_ / "scratch");
    fs::create_directories(folder_ / "home");
    ::setenv("TMPDIR", (folder_ / "scratch").c_str(), 1);
    ::setenv("HOME", (folder_ / "home").c_str(), 1);
  }
  [[nodiscard]] Captured confined(const Words& command) const {
    Words words{CONFINED, output_, (folder_ / "scratch").string(), "--", ARDOISE};
    words.insert(words.end(), command.begin(), command.end());
    return run_and_read(words);
  }
};

TEST_F(ConfinedTest, CommandsOfReportsWriteNothingElse) {
  constexpr int kNotHere = 77;
  fs::create_directories(output_);
  if (confined({"--version"}).status == kNotHere) GTEST_SKIP() << "the kernel has no Landlock";
  EXPECT_NE(run_and_read({CONFINED, output_, "--", "/bin/sh", "-c", "echo > '" + folder_.string() + "/other'"}).status,
            0)
      << "the test can see nothing";

  const auto run = ardoise({"--trace", "all", "--snapshot-every", "50ms"}, {"-n", "2", RING});
  ASSERT_EQ(run.status, 0) << run.output;
  const std::string trace = output_ + "/trace/traces.otf2";
  for (const Words& command : {Words{"report", output_}, Words{"show", output_, "functions"}, Words{"status", output_},
                               Words{"show", output_, "calls"}, Words{"trace", "info", trace},
                               Words{"trace", "check", trace}, Words{"snapshots", "list", output_}}) {
    const auto outcome = confined(command);
    EXPECT_EQ(outcome.status, 0) << command[0] << ": " << outcome.output;
  }
  EXPECT_TRUE(fs::exists(output_ + "/report.pdf"));
  EXPECT_TRUE(fs::is_empty(folder_ / "home"));
  EXPECT_TRUE(fs::is_empty(folder_ / "scratch"));
}

}  // namespace
}  // namespace ardoise::launcher

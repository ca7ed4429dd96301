// Launches that are ended from outside: by the time limit, by signals, by the end of their terminal. Each must have a
// report that names the cause. The programs would run for hours.
#include <gmock/gmock.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/tools/launch_fixture.hpp"
#include "tools/ardoise/common/exit_status.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;

constexpr const char* kForEver = "1000000000";
// mpirun's status after SIGTERM. Hydra sends its processes SIGTERM, then SIGKILL, and returns the signal that ended
// them.
constexpr auto kTerminated = [](int status) {
  return MPI_IS_MPICH ? status == SIGTERM || status == SIGKILL : status == 1;
};

// A command in the foreground of its own terminal, as the leader of its session.
class Terminal {
 public:
  explicit Terminal(const Words& words) {
    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = ::forkpty(&terminal_, nullptr, nullptr, nullptr);
    if (process_ != 0) return;
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ~Terminal() { close(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  [[nodiscard]] pid_t process() const { return process_; }
  void type(const std::string& text) const {
    EXPECT_EQ(::write(terminal_, text.data(), text.size()), ssize_t(text.size()));
  }
  void close() {
    if (terminal_ >= 0) ::close(std::exchange(terminal_, -1));
  }
  // Reads the output, unless the terminal is closed, and waits for the end.
  Captured wait() {
    Captured captured;
    char piece[4096];
    for (ssize_t got = 0; terminal_ >= 0 && (got = ::read(terminal_, piece, sizeof piece)) != 0;) {
      if (got < 0 && errno != EINTR) break;  // EIO: no writer is left
      if (got > 0) captured.output.append(piece, static_cast<std::size_t>(got));
    }
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) continue;
    captured.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return captured;
  }

 private:
  int terminal_ = -1;
  pid_t process_ = -1;
};

class EndedTest : public LaunchFixture {
 protected:
  // Starts in a terminal and returns when the analyzer runs, so that there is data to report.
  [[nodiscard]] std::unique_ptr<Terminal> running(const Words& program) const {
    Words words{ARDOISE, "--no-report", "--output", output_};
    for (const Words& more : {launcher_words(), Words{"-n", "2"}, program})
      words.insert(words.end(), more.begin(), more.end());
    auto terminal = std::make_unique<Terminal>(words);
    for (std::string state; state != "running"; ::usleep(1000)) std::ifstream(output_ + "/.analyzer-status") >> state;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return terminal;
  }
  void expect_report(const std::string& ended_by) const {
    const auto run = profile();
    EXPECT_EQ(run.ended_by, ended_by);
    ASSERT_EQ(run.applications.size(), 1u);
    EXPECT_GT(function(run.applications[0].mpi, "MPI_Send").calls, 0u);
    // Only the report is left.
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(output_)) files.push_back(entry.path().filename());
    EXPECT_THAT(files, ::testing::UnorderedElementsAre("profile.json", "summary.txt"));
  }
};

TEST_F(EndedTest, TheTimeLimitEndsAProgramThatGoesOnForEver) {
  const auto result = ardoise({"--time-limit", "5s"}, {"-n", "2", RING, kForEver});
  EXPECT_EQ(result.status, kTimeLimitStatus);
  EXPECT_THAT(result.output, HasSubstr("ardoise: time limit of 5 s reached: ending the programs\n"));
  EXPECT_THAT(result.output, HasSubstr("Ended by: the time limit of 5 s (--time-limit)\n"));
  expect_report("the time limit of 5 s (--time-limit)");
}

TEST_F(EndedTest, TheTimeLimitEndsAProgramThatIgnoresTheSignal) {
  const auto result = ardoise({"--time-limit", "5"},
                              {"-n", "2", "sh", "-c", std::string("trap '' TERM; exec '") + RING + "' " + kForEver});
  EXPECT_EQ(result.status, kTimeLimitStatus) << result.output;
  expect_report("the time limit of 5 s (--time-limit)");
}

TEST_F(EndedTest, TheTimeLimitHoldsForALaunchThatIsNotMeasured) {
  EXPECT_EQ(ardoise({"--time-limit", "1s", "--disable"}, {"-n", "1", "sleep", "1000"}).status, kTimeLimitStatus);
}

// Batch systems send these signals before the end of a job's time, and mpirun forwards them to all processes.
TEST_F(EndedTest, ProgramsThatLiveOnWithAUserSignalAreMeasuredOn) {
  const auto terminal = running({"sh", "-c", std::string("trap '' USR1 USR2; exec '") + RING + "' " + kForEver});
  ::kill(terminal->process(), SIGUSR1);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  if (!MPI_IS_MPICH) ::kill(terminal->process(), SIGUSR2);  // Hydra itself dies of it
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ::kill(terminal->process(), SIGTERM);
  const auto result = terminal->wait();
  EXPECT_TRUE(kTerminated(result.status)) << result.status << '\n' << result.output;
  expect_report("SIGTERM to ardoise");
}

TEST_F(EndedTest, AUserSignalThatEndsTheProgramsIsNamed) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "MPICH itself handles SIGUSR1";
  const auto terminal = running({RING, kForEver});
  ::kill(terminal->process(), SIGUSR1);
  EXPECT_EQ(terminal->wait().status, 128 + SIGUSR1);
  expect_report("SIGUSR1 to ardoise");
}

TEST_F(EndedTest, AKeyThatInterruptsIsOneSignal) {
  const auto terminal = running({RING, kForEver});
  terminal->type("\x03");
  (void)terminal->wait();
  expect_report("SIGINT to ardoise");
}

// When a terminal closes, the kernel signals only the leader of its session.
TEST_F(EndedTest, AClosedTerminalEndsTheLaunch) {
  const auto terminal = running({RING, kForEver});
  terminal->close();
  (void)terminal->wait();
  expect_report("SIGHUP to ardoise");
}

// Folders of Open MPI's windows lie in memory (vmpi/world/window_files.hpp).
TEST_F(EndedTest, AKilledLauncherLeavesNoFolderInMemory) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "MPICH has no such folders";
  const auto terminal = running({RING, kForEver});
  Words processes{std::to_string(terminal->process())};  // and those that they started; one is mpirun
  for (std::size_t i = 0; i < processes.size(); ++i) {
    std::ifstream children("/proc/" + processes[i] + "/task/" + processes[i] + "/children");
    for (std::string child; children >> child;) processes.push_back(child);
  }
  const auto folders = [&] {
    return std::ranges::count_if(std::filesystem::directory_iterator("/dev/shm"), [&](const auto& entry) {
      const std::string name = entry.path().filename();
      return name.starts_with("ardoise.") && std::ranges::any_of(processes, [&](const std::string& process) {
               return name.find('.' + process + '.') != std::string::npos;
             });
    });
  };
  EXPECT_GT(folders(), 0);
  ::kill(terminal->process(), SIGKILL);
  (void)terminal->wait();
  for (int i = 0; i < 300 && folders() != 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(folders(), 0);
}

// Signals arrive while the report is made.
TEST_F(EndedTest, SignalsThatFollowCostNothing) {
  const auto terminal = running({RING, kForEver});
  std::jthread sender([&](const std::stop_token& stop) {
    ::kill(terminal->process(), SIGTERM);
    while (!std::ifstream(output_ + "/.unsent-0-0") && !stop.stop_requested()) ::usleep(1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // mpirun has ended
    for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGINT}) ::kill(-terminal->process(), signal);
  });
  (void)terminal->wait();
  sender.request_stop();
  sender.join();
  expect_report("SIGTERM to ardoise");
}

}  // namespace
}  // namespace ardoise::launcher

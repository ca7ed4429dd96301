// Statuses and output of children, and signals passed on to them.
#include "tools/ardoise/common/process.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tools/ardoise/common/process_tree.hpp"

namespace ardoise::launcher {
namespace {

TEST(Process, StatusIsThatOfTheChild) {
  EXPECT_EQ(run_and_wait({"sh", "-c", "exit 7"}).status, 7);
  const auto killed = run_and_wait({"sh", "-c", "kill -KILL $$"});
  EXPECT_EQ(killed.status, 128 + SIGKILL);
  EXPECT_TRUE(killed.signalled);
}

TEST(Process, MissingProgramThrows) { EXPECT_THROW((void)run_and_wait({"/no/such/program"}), std::system_error); }

TEST(Process, OutputIsRead) {
  const auto captured = run_and_read({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(captured.status, 3);
  EXPECT_EQ(captured.output, "out\nerr\n");
}

TEST(Process, SentSignalsArePassedOn) {
  // The child makes a file when its trap is set. It ends by itself, so that a lost signal is a failure and not a hang.
  const auto ready = std::filesystem::path(::testing::TempDir()) / "process_test_ready";
  std::filesystem::remove(ready);
  std::thread sender([&] {
    // The signal is for the main thread, which blocks it until it has a handler. This thread must not take it before.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    for (int i = 0; i < 2000 && !std::filesystem::exists(ready); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(::getpid(), SIGUSR2);
  });
  const auto outcome = run_and_wait(
      {"sh", "-c",
       "trap 'exit 42' USR2; touch '" + ready.string() + "'; for i in $(seq 200); do sleep 0.05; done; exit 1"});
  sender.join();
  std::filesystem::remove(ready);
  EXPECT_EQ(outcome.status, 42);
}

// As in a background job of a script. Like mpirun, the child handles the ignored signal.
TEST(Process, IgnoredSignalsArePassedOnAndStayIgnoredInTheChild) {
  const auto ready = std::filesystem::path(::testing::TempDir()) / "process_test_ignored";
  std::filesystem::remove(ready);
  const auto before = ::signal(SIGINT, SIG_IGN);
  EXPECT_EQ(run_and_wait({"sh", "-c", "kill -INT $$; exit 7"}).status, 7);
  std::thread sender([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);  // as above
    for (int i = 0; i < 2000 && !std::filesystem::exists(ready); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(::getpid(), SIGINT);
  });
  const auto outcome = run_and_wait(
      {"env", "--default-signal=INT", "sh", "-c",
       "trap 'exit 42' INT; touch '" + ready.string() + "'; for i in $(seq 200); do sleep 0.05; done; exit 1"});
  sender.join();
  EXPECT_EQ(::signal(SIGINT, before), SIG_IGN);
  std::filesystem::remove(ready);
  EXPECT_EQ(outcome.status, 42);
}

// A terminal or `timeout` signals the whole group, so the child has the signal already. Uses a separate group.
TEST(Process, ASignalToTheWholeGroupReachesTheChildOnce) {
  const auto ready = std::filesystem::path(::testing::TempDir()) / "process_test_group";
  std::filesystem::remove(ready);
  const pid_t group = ::fork();
  if (group == 0) {
    ::setpgid(0, 0);
    const auto outcome =
        run_and_wait({"sh", "-c",
                      "n=0; trap 'n=$((n+1))' USR2; touch '" + ready.string() +
                          "'; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done 2> /dev/null; exit $n"});
    ::_exit(outcome.user_signal == SIGUSR2 ? outcome.status : 99);
  }
  while (!std::filesystem::exists(ready)) ::usleep(1000);
  ::kill(-group, SIGUSR2);
  int status = 0;
  ::waitpid(group, &status, 0);
  std::filesystem::remove(ready);
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

// A batch system signals all processes of a job, and mpirun may have ended before the launcher runs again.
TEST(Process, ASignalThatComesWithTheEndIsNamed) {
  const pid_t launcher = ::fork();
  if (launcher == 0) {
    const auto outcome =
        run_and_wait({"sh", "-c", "kill -STOP $PPID; kill -TERM $PPID; (sleep 0.2; kill -CONT $PPID) & exit 3"});
    ::_exit(outcome.ended_by == "SIGTERM to ardoise" ? outcome.status : 99);
  }
  int status = 0;
  ::waitpid(launcher, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(Process, AtTheTimeLimitTheChildIsToldToEnd) {
  const auto outcome = run_and_wait({"sleep", "1000"}, {}, TimeLimit{std::chrono::milliseconds(100), "0.1 s"});
  EXPECT_EQ(outcome.status, 128 + SIGTERM);
  EXPECT_TRUE(outcome.time_limit_reached);
  EXPECT_EQ(outcome.ended_by, "the time limit of 0.1 s (--time-limit)");
}

TEST(Process, ThoseBelowAreThoseOfTheSession) {
  const auto left = std::filesystem::path(::testing::TempDir()) / "process_test_below";
  std::filesystem::remove(left);
  const pid_t shell = ::fork();
  if (shell == 0) {
    const std::string script = "setsid sleep 1000 & sleep 1000 & echo $$ $! > '" + left.string() + "'; wait";
    ::execlp("sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(127);
  }
  int number = 0, in_session = 0;
  while (!(std::ifstream(left) >> number >> in_session)) ::usleep(1000);
  std::vector<pid_t> others;
  for (auto pause = 0; others.empty() && pause < 5000; ++pause, ::usleep(1000)) {  // until setsid has run
    const auto below = processes_below(shell);
    if (below == std::vector<pid_t>{in_session}) others = below;
  }
  EXPECT_EQ(others, std::vector<pid_t>{in_session});
  EXPECT_THAT(processes_below(::getpid()), ::testing::IsSupersetOf({shell, in_session}));
  // The process in its own session is also a child of the shell.
  ::kill(in_session, SIGKILL);
  std::ifstream children("/proc/" + std::to_string(shell) + "/task/" + std::to_string(shell) + "/children");
  for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  ::kill(shell, SIGKILL);
  ::waitpid(shell, nullptr, 0);
  std::filesystem::remove(left);
}

// A process may end between the listing of /proc and the reading of its file there.
TEST(Process, ThoseBelowAreListedWhileOthersEnd) {
  std::vector<pid_t> starters(4);
  for (pid_t& starter : starters) {
    starter = ::fork();
    if (starter != 0) continue;
    ::alarm(60);
    for (;;) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(0);
      ::waitpid(child, nullptr, 0);
    }
  }
  for (int i = 0; i < 1000; ++i) EXPECT_NO_THROW((void)processes_below(::getpid()));
  for (const pid_t starter : starters) {
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);
  }
}

}  // namespace
}  // namespace ardoise::launcher

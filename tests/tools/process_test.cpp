// Children's statuses and output, and signals on their way to them.
#include "tools/ardoise/process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

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
  // The child makes a file when its trap stands; it gives up by itself, so that a lost signal is a failure and no hang.
  const auto ready = std::filesystem::path(::testing::TempDir()) / "process_test_ready";
  std::filesystem::remove(ready);
  std::thread sender([&] {
    // The signal is for the main thread, which blocks it until it has a handler; here it would be ignored before.
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

// As in the background of a script. Like mpirun, the child handles the signal all the same.
TEST(Process, IgnoredSignalsArePassedOnAndStayIgnoredInTheChild) {
  const auto ready = std::filesystem::path(::testing::TempDir()) / "process_test_ignored";
  std::filesystem::remove(ready);
  const auto before = ::signal(SIGINT, SIG_IGN);
  EXPECT_EQ(run_and_wait({"sh", "-c", "kill -INT $$; exit 7"}).status, 7);
  std::thread sender([&] {
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

}  // namespace
}  // namespace ardoise::launcher

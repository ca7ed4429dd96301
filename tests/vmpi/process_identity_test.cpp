// The processes that can be watched, and whether one still runs.
#include "vmpi/world/process_identity.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ardoise::vmpi {
namespace {

TEST(ProcessIdentity, TellsARunningProcessFromOneThatEnded) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const auto own = own_identity();
  auto peer = own;
  peer.process = child;
  EXPECT_TRUE(is_running(watchable(own, own)));
  // The child started at another tick or the same one: its own start time is what counts, and it isn't known here.
  EXPECT_FALSE(is_running(watchable(own, {own.space, child, own.start + 1000})));  // a later process with that id
  ::kill(child, SIGKILL);
  ::siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // ended, not yet waited for
  EXPECT_FALSE(is_running(watchable(own, peer)));
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_running(watchable(own, peer)));
}

char state_of(pid_t process) {
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), stat);
  const auto name_end = stat.rfind(')');
  return name_end == std::string::npos ? '?' : stat[name_end + 2];
}

// Its first thread looks like a process that its parent has not waited for.
TEST(ProcessIdentity, AProcessRunsWhoseFirstThreadHasLeft) {
  int identities[2];
  ASSERT_EQ(::pipe(identities), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    pthread_t other;
    const auto own = own_identity();
    (void)!::write(identities[1], &own, sizeof own);
    ::pthread_create(
        &other, nullptr,
        [](void*) -> void* {
          for (;;) ::pause();
        },
        nullptr);
    ::syscall(SYS_exit, 0);  // as pthread_exit() ends, which unwinds through the test framework
  }
  ProcessIdentity peer;
  ASSERT_EQ(::read(identities[0], &peer, sizeof peer), static_cast<ssize_t>(sizeof peer));
  while (state_of(child) != 'Z') ::usleep(1000);
  EXPECT_TRUE(is_running(watchable(own_identity(), peer)));
  ::kill(child, SIGKILL);
  ::siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_running(watchable(own_identity(), peer)));
  ::waitpid(child, nullptr, 0);
  for (const int end : identities) ::close(end);
}

TEST(ProcessIdentity, WatchesOnlyWhereProcessIdsMeanTheSame) {
  const auto own = own_identity();
  ASSERT_NE(own.space, 0U);
  EXPECT_NE(watchable(own, own), 0);
  EXPECT_EQ(watchable(own, {own.space + 1, own.process, own.start}), 0);
  EXPECT_EQ(watchable(own, {}), 0);
  EXPECT_EQ(watchable({}, {}), 0);
}

}  // namespace
}  // namespace ardoise::vmpi

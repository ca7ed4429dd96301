// Which processes can be watched, and whether one still runs.
#include "vmpi/world/process_identity.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // ended, and nobody has waited for it
  EXPECT_FALSE(is_running(watchable(own, peer)));
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_running(watchable(own, peer)));
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

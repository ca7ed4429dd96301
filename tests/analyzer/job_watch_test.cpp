// What the analyzer reads from outside about the processes of its launch.
#include "analyzer/job_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "vmpi/world/init_mark.hpp"

namespace ardoise::analyzer {
namespace {

// The variables of a launch of Open MPI on this machine, in this process.
class JobWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("PMIX_NAMESPACE", ("test-" + std::to_string(::getpid())).c_str(), 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  }
  void TearDown() override {
    vmpi::clear_init_mark();
    ::unsetenv("PMIX_NAMESPACE");
    ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  }
};

TEST_F(JobWatch, TheMarkIsThereUntilItIsCleared) {
  EXPECT_FALSE(vmpi::is_init_mark_set());
  vmpi::set_init_mark();
  EXPECT_TRUE(vmpi::is_init_mark_set());
  vmpi::set_init_mark();
  vmpi::clear_init_mark();
  EXPECT_FALSE(vmpi::is_init_mark_set());
}

TEST_F(JobWatch, TheMarkIsThatOfOneLaunch) {
  vmpi::set_init_mark();
  ::setenv("PMIX_NAMESPACE", "another", 1);
  EXPECT_FALSE(vmpi::is_init_mark_set());
  ::unsetenv("PMIX_NAMESPACE");
  EXPECT_FALSE(vmpi::is_init_mark_set());
}

TEST_F(JobWatch, TheMarkOfAProcessThatDiedIsGone) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    vmpi::set_init_mark();
    [[maybe_unused]] const auto told = ::write(ready[1], "", 1);
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(vmpi::is_init_mark_set());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(vmpi::is_init_mark_set());
}

// In a child of a child, as an analyzer is below its guardian: the launcher is then this process, below which nothing
// else runs, and not ctest, which may run other MPI programs beside this test.
TEST_F(JobWatch, WaitsForTheMark) {
  const auto exit_status_of = [](const auto& work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work());
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(exit_status_of([&] {
              return exit_status_of([] {
                EventLoop loop;
                vmpi::set_init_mark();
                return wait_for_programs(loop).kind == JobState::Kind::uses_mpi ? 0 : 1;
              });
            }),
            0);
}

TEST_F(JobWatch, WithoutALauncherNobodyIsWaitedFor) {
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  EventLoop loop;
  EXPECT_EQ(wait_for_programs(loop).kind, JobState::Kind::uses_mpi);
}

TEST_F(JobWatch, TellsMpiWithoutOurLibraries) {
  EXPECT_TRUE(has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/lib/libmpi.so.40.30.4\n"));
  EXPECT_FALSE(
      has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/lib/libmpi.so.40.30.4\n8f-90 r-xp 0 08:01 2 /opt/libardoise.so\n"));
  EXPECT_FALSE(has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/lib/libmpi.so.40\n8f-90 r-xp 0 08:01 2 /opt/libvmpi.so.0\n"));
  EXPECT_FALSE(has_bare_mpi("7f-80 r-xp 0 08:01 1 /usr/bin/dash\n"));
}

}  // namespace
}  // namespace ardoise::analyzer

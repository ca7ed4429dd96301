// The analyzer's external observation of the processes of its launch.
#include "analyzer/launch/job_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "vmpi/world/init_mark.hpp"

namespace ardoise::analyzer {
namespace {

// Sets the variables of a launch of Open MPI on this machine in this process.
class JobWatch : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("PMIX_NAMESPACE", ("test-" + std::to_string(::getpid())).c_str(), 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
    ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
  }
  void TearDown() override {
    vmpi::clear_init_mark();
    ::unsetenv("PMIX_NAMESPACE");
    ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    ::unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
  }

  static bool is_mark_set() { return vmpi::first_without_init_mark(0, 1) == 1; }
};

// A child that does `work` and waits for its end.
template <class Work>
pid_t child_that_has(const Work& work) {
  int ready[2];
  if (::pipe(ready) != 0) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    [[maybe_unused]] const auto told = ::write(ready[1], "", 1);
    ::pause();
  }
  char byte = 0;
  const bool is_ready = ::read(ready[0], &byte, 1) == 1;
  ::close(ready[0]);
  ::close(ready[1]);
  return is_ready ? child : -1;
}

// Runs `work` in a child of a child, as an analyzer is below its guardian. The launcher is then this process, with no
// other children, and not ctest, which may run other MPI programs at the same time.
template <class Work>
int as_analyzer(const Work& work) {
  const auto exit_status_of = [](const auto& action) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(action());
    int status = -1;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  return exit_status_of([&] { return exit_status_of(work); });
}

TEST_F(JobWatch, TheMarkIsThereUntilItIsCleared) {
  EXPECT_FALSE(is_mark_set());
  vmpi::set_init_mark();
  EXPECT_TRUE(is_mark_set());
  vmpi::set_init_mark();
  vmpi::clear_init_mark();
  EXPECT_FALSE(is_mark_set());
}

TEST_F(JobWatch, TheMarkIsThatOfOneLaunch) {
  vmpi::set_init_mark();
  ::setenv("PMIX_NAMESPACE", "another", 1);
  EXPECT_FALSE(is_mark_set());
  ::unsetenv("PMIX_NAMESPACE");
  EXPECT_FALSE(is_mark_set());
}

TEST_F(JobWatch, TheMarkOfAProcessThatDiedIsGone) {
  const pid_t child = child_that_has([] { vmpi::set_init_mark(); });
  ASSERT_GT(child, 0);
  EXPECT_TRUE(is_mark_set());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_mark_set());
}

TEST_F(JobWatch, EachProcessHasAMarkOfItsOwn) {
  vmpi::set_init_mark();
  EXPECT_EQ(vmpi::first_without_init_mark(0, 3), 1);
  const pid_t child = child_that_has([] {
    vmpi::clear_init_mark();
    ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    vmpi::set_init_mark();
  });
  ASSERT_GT(child, 0);
  EXPECT_EQ(vmpi::first_without_init_mark(0, 3), 2);
  EXPECT_EQ(vmpi::first_without_init_mark(1, 2), 2);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(vmpi::first_without_init_mark(0, 3), 1);
}

// The analyzer sets its own.
TEST_F(JobWatch, WaitsForTheMarksOfAll) {
  vmpi::set_init_mark();
  EXPECT_EQ(as_analyzer([] {
              vmpi::clear_init_mark();
              ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
              EventLoop loop;
              return wait_for_programs(loop).kind == JobState::Kind::uses_mpi ? 0 : 1;
            }),
            0);
}

// One of two programs has called MPI_Init and has ended without the other: the wait had to end.
TEST_F(JobWatch, TheMarkOfOneOfThemIsNotEnough) {
  ::setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "3", 1);
  vmpi::set_init_mark();
  EXPECT_EQ(as_analyzer([] {
              vmpi::clear_init_mark();
              ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "2", 1);
              EventLoop loop;
              return wait_for_programs(loop).kind == JobState::Kind::ended_without_mpi ? 0 : 1;
            }),
            0);
}

TEST_F(JobWatch, WithoutALauncherThereIsNoWait) {
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

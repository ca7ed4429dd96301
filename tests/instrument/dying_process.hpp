// A forked child that dies, and the survivor that it leaves: the test process becomes the parent of both.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>
#include <string>

#include "instrument/machine/kernel_call.hpp"

namespace ardoise::instrument {

// Memory that the test process shares with the child and its survivor. One test uses it at a time.
struct SharedWords {
  std::atomic<std::int32_t> survivor, checks, ends_of_checks, deaths, wait_status;
};
inline SharedWords* shared_words = nullptr;

inline void wait_until_set(const std::atomic<std::int32_t>& word) {
  constexpr timespec kPause{0, 1'000'000};
  while (word.load() == 0) ::nanosleep(&kPause, nullptr);
}

class DyingProcess : public testing::Test {
 protected:
  void SetUp() override {
    void* const memory =
        ::mmap(nullptr, sizeof(SharedWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_words = new (memory) SharedWords{};
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  void TearDown() override { ::munmap(shared_words, sizeof(SharedWords)); }

  // Runs it in a child, which must end in it, and returns the child's status. The child is a zombie until its survivor
  // has ended, so that the survivor can read its status. has_survivor: waits for the survivor, which stores its id.
  // meanwhile: in the test process.
  static int status_of(const std::function<void()>& dies, bool has_survivor = false,
                       const std::function<void()>& meanwhile = {}) {
    std::fflush(nullptr);  // exit() in the child would write it again
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      dies();
      ::_exit(99);
    }
    if (meanwhile) meanwhile();
    siginfo_t end{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
    if (has_survivor) {
      wait_until_set(shared_words->survivor);
      EXPECT_EQ(::waitpid(shared_words->survivor, nullptr, 0), shared_words->survivor);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
};

// The same with a folder of its own, which is removed at the end.
class DyingProcessWithFolder : public DyingProcess {
 protected:
  void SetUp() override {
    DyingProcess::SetUp();
    std::string unique = (std::filesystem::path(testing::TempDir()) / "dying_process_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    DyingProcess::TearDown();
  }

  // Runs a test in a child, whose failures are failures here.
  static void in_child(const std::function<void()>& test) {
    EXPECT_EQ(status_of([&] {
                test();
                std::fflush(nullptr);
                ::_exit(testing::Test::HasFailure() ? 1 : 0);
              }),
              0);
  }

  std::string folder_;
};

// The own process id, also in a survivor, which shares the C library's memory with its program.
inline std::int32_t own_id() { return static_cast<std::int32_t>(call_kernel(SYS_getpid)); }

}  // namespace ardoise::instrument

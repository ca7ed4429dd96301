// The common part of tests of the preload library in real MPI programs: a separate folder for each test, programs run
// under mpirun with the library preloaded, and their captures. No analyzer.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/instrument/capture.hpp"

namespace ardoise::instrument {

struct Outcome {
  int status = -1;
  std::string output;  // both streams
};

inline Outcome shell(const std::string& command) {
  Outcome outcome;
  std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) outcome.output.append(buffer, got);
  const int status = ::pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

class PreloadFixture : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::temp_directory_path() /
                 fmt::format("ardoise_{}_{}_{}", test->test_suite_name(), ::getpid(), test->name());
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // program: one of tests/instrument/programs, with its arguments; settings: environment variables; timeout: the
  // program counts as hanging after this many seconds.
  Outcome run(int ranks, const std::string& program, const std::string& settings = "", int timeout = 100) {
    return shell(
        fmt::format("timeout {} {} -n {} env TEST_DIRECTORY='{}' PROGRAM_DIRECTORY='{}' {} LD_PRELOAD='{}{}' '{}'/{}",
                    timeout, MPIEXEC, ranks, directory_.string(), PROGRAM_DIRECTORY, settings, before_,
                    ARDOISE_PRELOAD_LIBRARY, PROGRAM_DIRECTORY, program));
  }
  Outcome run_captured(int ranks, const std::string& program, const std::string& settings = "", int timeout = 100) {
    return run(ranks, program, fmt::format("ARDOISE_CAPTURE='{}' {}", directory_.string(), settings), timeout);
  }
  Capture captured(const std::string& program, int rank = 0) {
    return read_capture(directory_ / fmt::format("{}.{}.packs", program, rank));
  }

  std::filesystem::path directory_;
  std::string before_;  // what is preloaded before ours, with a colon
};

}  // namespace ardoise::instrument

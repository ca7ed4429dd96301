// Fixture of tests under mpirun: the launcher of the available MPI, with oversubscription, and a separate folder for
// each test, so that simultaneous runs do not disturb each other.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "reports/model_json.hpp"
#include "tools/ardoise/common/process.hpp"

namespace ardoise::launcher {

using Words = std::vector<std::string>;

inline Words launcher_words() {
  std::istringstream line(MPI_LAUNCHER);
  return {std::istream_iterator<std::string>(line), {}};
}

// Option of the launcher that sets an environment variable for the processes of a context.
inline Words exported(const std::string& name, const std::string& value) {
#if MPI_IS_MPICH
  return {"-env", name, value};
#else
  return {"-x", name + "=" + value};
#endif
}

// Runs `words`, the launcher, then `launch`.
inline Captured launched(Words words, const Words& launch) {
  const auto launcher = launcher_words();
  words.insert(words.end(), launcher.begin(), launcher.end());
  words.insert(words.end(), launch.begin(), launch.end());
  return run_and_read(words);
}

inline Captured by_hand(const Words& launch) { return launched({}, launch); }

inline const reports::FunctionProfile& function(const std::vector<reports::FunctionProfile>& all,
                                                const std::string& name) {
  static const reports::FunctionProfile none;
  const auto found = std::ranges::find(all, name, &reports::FunctionProfile::function);
  return found == all.end() ? none : *found;
}

class LaunchFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (std::filesystem::path(::testing::TempDir()) / "launch_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
    output_ = (folder_ / "report").string();
    for (const auto* name :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_mpi_yield_when_idle"}) {
      ::setenv(name, "1", 1);
    }
    ::unsetenv("OMPI_MCA_rmaps_base_oversubscribe");  // some tests depend on slots
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] Captured ardoise(const Words& options, const Words& launch) const {
    Words words{ARDOISE, "--no-report", "--output", output_};
    words.insert(words.end(), options.begin(), options.end());
    return launched(words, launch);
  }

  // Like ardoise(), but sends SIGTERM when an analyzer has found that all its programs hang.
  [[nodiscard]] Captured ardoise_until_it_hangs(const Words& options, const Words& launch) const {
    const std::jthread ender([this] {
      while (!std::filesystem::exists(output_ + "/.analyzer-hangs-0")) ::usleep(10'000);
      for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        std::ifstream file(entry.path() / "stat");
        std::string number, name, state, parent;
        if (file >> number >> name >> state >> parent && parent == std::to_string(::getpid()))
          ::kill(std::stoi(number), SIGTERM);
      }
    });
    return ardoise(options, launch);
  }

  [[nodiscard]] reports::Run profile() const {
    auto run = reports::read_profile_json(output_ + "/profile.json");
    EXPECT_TRUE(run) << run.error;
    return run ? *run.value : reports::Run{};
  }

  [[nodiscard]] std::string content(const std::string& file) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / file).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
  std::string output_;
};

}  // namespace ardoise::launcher

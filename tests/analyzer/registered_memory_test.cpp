// No fork if a network may write into the memory and the kernel does not copy such pages.
#include "analyzer/states/registered_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;

class RegisteredMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(descriptors_);
    fs::create_symlink("/dev/null", descriptors_ / "0");
    fs::create_symlink("socket:[4711]", descriptors_ / "5");
  }
  void TearDown() override { fs::remove_all(descriptors_); }

  const fs::path descriptors_ = fs::path(::testing::TempDir()) / ("registered_memory_" + std::to_string(::getpid()));
};

TEST_F(RegisteredMemory, WithoutADeviceAProcessMayFork) {
  EXPECT_TRUE(is_fork_safe("4.18.0-553.el8.x86_64", descriptors_));
  EXPECT_TRUE(is_fork_safe());
}

TEST_F(RegisteredMemory, WithAnOpenDeviceItDependsOnTheKernel) {
  for (const auto* device : {"/dev/infiniband/uverbs0", "/dev/hfi1_0", "/dev/cxi0", "/dev/kgni0"}) {
    const fs::path link = descriptors_ / "7";
    fs::create_symlink(device, link);
    EXPECT_FALSE(is_fork_safe("4.18.0-553.el8.x86_64", descriptors_)) << device;
    EXPECT_FALSE(is_fork_safe("5.4.0", descriptors_));
    EXPECT_FALSE(is_fork_safe("5.12.19", descriptors_));
    EXPECT_FALSE(is_fork_safe("unknown", descriptors_));
    EXPECT_TRUE(is_fork_safe("5.13.0", descriptors_));
    EXPECT_TRUE(is_fork_safe("6.1.0-21-amd64", descriptors_));
    fs::remove(link);
  }
}

}  // namespace
}  // namespace ardoise::analyzer

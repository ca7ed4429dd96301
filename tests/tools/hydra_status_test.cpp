// Computes the exit status from Hydra's list and removes the list from the output.
#include "tools/ardoise/launch/hydra_status.hpp"

#include <gtest/gtest.h>

namespace ardoise::launcher {
namespace {

// The result does not depend on the length of the pieces of output.
void expect(const std::string& output, const std::string& passed, int status, bool keep = false) {
  for (std::size_t length = 1; length <= output.size(); ++length) {
    HydraStatus hydra(keep);
    std::string got;
    for (std::size_t begin = 0; begin < output.size(); begin += length) got += hydra.pass(output.substr(begin, length));
    got += hydra.rest();
    EXPECT_EQ(got, passed) << length;
    EXPECT_EQ(hydra.status(9), status) << length;
  }
}

TEST(HydraStatus, KilledProcessesDoNotCount) {
  expect("out\n[mpiexec@vm] Exit codes: [vm] 0,1792,9\nBAD\n", "out\nBAD\n", 7);
  expect("[mpiexec@vm] Exit codes: [vm] 9,6,0\n", "", 6);
  expect("[mpiexec@vm] Exit codes: [vm] 9,139,9\n", "", 139);
  expect("[mpiexec@vm] Exit codes: [vm] 9,9,0\n", "", 9);
  expect("[mpiexec@vm] Exit codes: [vm] 256,512,0\n", "", 3);
}

TEST(HydraStatus, EveryHostHasALine) {
  expect("[mpiexec@a] Exit codes: [a] 9,9\n[b] 9,1280\n[c] not of the list\n", "[c] not of the list\n", 5);
}

TEST(HydraStatus, OtherOutputPassesAtOnce) {
  HydraStatus hydra(false);
  EXPECT_EQ(hydra.pass("a prompt> "), "a prompt> ");
  EXPECT_EQ(hydra.pass("[mpiexec"), "");
  EXPECT_EQ(hydra.pass("/x] 1"), "[mpiexec/x] 1");
  expect("no newline[mpiexec@vm] Exit codes: [vm] 9,9\n", "no newline", 9);
  expect("[mpiexec@vm] something else\n[", "[mpiexec@vm] something else\n[", 9);
}

TEST(HydraStatus, AListThatTheUserAskedForStays) {
  const std::string list = "[mpiexec@vm] Exit codes: [vm] 0,1792,9\n";
  expect(list, list, 7, true);
}

}  // namespace
}  // namespace ardoise::launcher

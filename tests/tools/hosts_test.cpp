// Launches over two hosts, which are namespaces of this machine (two_hosts.sh). Worlds, numbers and ends must be as on
// one host.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class HostsTest : public LaunchFixture {
 protected:
  void SetUp() override {
    LaunchFixture::SetUp();
    if (run_and_read({TWO_HOSTS, "true"}).status != 0) GTEST_SKIP() << "no namespaces here";
    ::setenv("OMPI_MCA_plm_rsh_agent", TWO_HOSTS " --agent", 1);
  }
  void TearDown() override {
    ::unsetenv("OMPI_MCA_plm_rsh_agent");
    LaunchFixture::TearDown();
  }
  static Captured natively(const Words& launch) { return launched({"timeout", "60", TWO_HOSTS}, on_both(launch)); }
  [[nodiscard]] Captured observed(const Words& options, const Words& launch) const {
    Words words{"timeout", "100", TWO_HOSTS, ARDOISE, "--no-report", "--output", output_};
    words.insert(words.end(), options.begin(), options.end());
    return launched(words, on_both(launch));
  }
  static Words on_both(Words launch) {
    launch.insert(launch.begin(), {"-H", "node1:2,node2:4"});
    return launch;
  }
};

TEST_F(HostsTest, ProgramsHaveTheWorldsAndNumbersOfOneHost) {
  const auto result =
      observed({"--separate", "--analyzers", "2"}, {"-n", "3", RING, "200", ":", "-n", "2", RING, "50"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("ring of 3 ranks, sum 3"));
  EXPECT_THAT(result.output, HasSubstr("ring of 2 ranks, sum 2"));
  const auto run = profile();
  EXPECT_EQ(run.analyzer_ranks, 2U);
  ASSERT_THAT(run.applications, SizeIs(2));
  EXPECT_EQ(run.applications[0].hosts.size(), 2U) << "two ranks fit on the first";
  EXPECT_EQ(run.applications[1].hosts.size(), 1U);
  for (const auto& [application, ranks, rounds] :
       {std::tuple(run.applications[0], 3U, 200U), {run.applications[1], 2U, 50U}}) {
    EXPECT_EQ(application.ranks, ranks);
    EXPECT_EQ(application.quality.ranks_complete, ranks);
    EXPECT_EQ(function(application.mpi, "MPI_Send").calls, ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Send").bytes, 1000 * ranks * rounds);
    EXPECT_EQ(function(application.mpi, "MPI_Irecv").bytes_received, 1000 * ranks * rounds);
  }
}

// A program finds its rank and size before MPI_Init, and everything after it.
TEST_F(HostsTest, TheEnvironmentDescribesTheProgramAlone) {
  const auto native = natively({"-n", "4", LAUNCH_PROGRAM});
  ASSERT_EQ(native.status, 0) << native.output;
  const auto result = observed({}, {"-n", "4", LAUNCH_PROGRAM});
  EXPECT_EQ(result.status, 0) << result.output;
  std::istringstream lines(native.output);
  for (std::string rank, name, before, after; lines >> rank >> name >> before;) {
    if (name != "VMPI_OWN_RANKS") lines >> after;
    if (!name.starts_with("OMPI_")) continue;
    // "0: OMPI_COMM_WORLD_SIZE 4 4". Before MPI_Init, local numbers may count the analyzer.
    const bool is_local = name.find("_LOCAL_") != std::string::npos;
    const auto line = rank + " " + name + " ";
    const auto at = result.output.find(line);
    ASSERT_NE(at, std::string::npos) << line << "\n" << result.output;
    std::istringstream seen(result.output.substr(at + line.size()));
    std::string seen_before, seen_after;
    seen >> seen_before >> seen_after;
    EXPECT_EQ(seen_after, after) << line;
    if (!is_local) {
      EXPECT_EQ(seen_before, before) << line;
    }
  }
}

TEST_F(HostsTest, EveryEndHasTheStatusOfTheNativeRun) {
  for (const std::string how : {"abort", "zero", "return", "signal"}) {
    const auto result = observed({}, {"-n", "4", END_PROGRAM, how});
    auto native = natively({"-n", "4", END_PROGRAM, how});
    for (int i = 0; i < 3 && native.status != result.status; ++i) native = natively({"-n", "4", END_PROGRAM, how});
    EXPECT_NE(native.status, 124) << how << ": a hang";
    EXPECT_EQ(result.status, native.status) << how << "\n" << result.output;
  }
}

}  // namespace
}  // namespace ardoise::launcher

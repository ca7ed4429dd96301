// Programs that look MPI's functions up by themselves: with dlsym in a library that they opened, as Python's ctypes and
// Julia do, or as interposers. They see the same as natively beside no other program, and every call is counted once.
#include <gmock/gmock.h>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

class LookupTest : public LaunchFixture {
 protected:
  // Two processes of `command`, natively and under Ardoise beside another program, which is such a one, too.
  reports::Application compare(const std::string& command) {
    const auto native = launched({"timeout", "60"}, {"-n", "2", "sh", "-c", "exec " + command});
    EXPECT_EQ(native.status, 0) << native.output;
    EXPECT_FALSE(native.output.empty());
    const auto file = (folder_ / "observed").string();
    const auto result =
        ardoise({"--separate"}, {"-n", "2", "sh", "-c", "exec " + command + " >>'" + file + "' 2>&1", ":", "-n", "1",
                                 "sh", "-c", "exec " + command + " >'" + file + ".other' 2>&1"});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(content("observed"), native.output);
    const auto run = profile();
    EXPECT_EQ(run.applications.size(), 2U);
    if (run.applications.size() != 2) return {};
    EXPECT_EQ(run.applications[0].ranks, 2U);
    EXPECT_EQ(run.applications[0].quality.ranks_complete, 2U);
    return run.applications[0];
  }
};

TEST_F(LookupTest, AProgramThatOpensTheLibraryIsInItsWorldAndMeasured) {
  const std::string fortran = MPI_FORTRAN_LIBRARY;
  const auto application =
      compare(std::string(LOOKUP_PROGRAM) + " '" + MPI_LIBRARY + "' '" + fortran + "' '" + LOOKUP_OTHER + "'");
  EXPECT_EQ(function(application.mpi, "MPI_Comm_size").calls, 2U);
  // By the MPI_ name, through the Fortran library, and in three of its spellings; PMPI_ names are not observed in C,
  // and in Fortran where the routine calls the MPI_ function of C.
  const unsigned fortran_calls = fortran.empty() ? 0 : 4 + (MPI_IS_MPICH ? 1 : 0);
  EXPECT_EQ(function(application.mpi, "MPI_Allreduce").calls, 2U * (1 + fortran_calls));
}

TEST_F(LookupTest, ACtypesScriptIsInItsWorldAndMeasured) {
  const std::string python = PYTHON;
  if (python.empty()) GTEST_SKIP() << "there is no python3";
  const auto application = compare(python + " '" + LOOKUP_SCRIPT + "' '" + MPI_LIBRARY + "'");
  EXPECT_EQ(function(application.mpi, "MPI_Comm_rank").calls, 2U);
  EXPECT_EQ(function(application.mpi, "MPI_Allreduce").calls, 2U);
}

// By the bare name that the program's own folders have, and by a path.
TEST_F(LookupTest, PluginsThatAreBoundDeeplyAreInTheirHostsWorldAndMeasured) {
  const auto application = compare(std::string(DEEP_PROGRAM) + " '" + DEEP_LAZY + "' '" + DEEP_NOW + "'");
  for (const auto* name : {"MPI_Comm_rank", "MPI_Allreduce"})
    EXPECT_EQ(function(application.mpi, name).calls, 4U) << name;
  EXPECT_EQ(function(application.mpi, "MPI_Comm_size").calls, 8U) << "also by a pointer";
  EXPECT_EQ(function(application.mpi, "MPI_Get_version").calls, 2U);
}

TEST_F(LookupTest, OtherThreadsMayCloseModulesMeanwhile) {
  compare(std::string(DEEP_CLOSING) + " '" + DEEP_NOW + "' '" + LOOKUP_OTHER + "' '" + INTERPOSER_LIBRARY + "'");
}

TEST_F(LookupTest, InterposersGoOnToWhatTheyMean) {
  const auto application = compare(std::string(INTERPOSER) + " '" + MPI_LIBRARY + "'");
  for (const auto* name : {"MPI_Barrier", "MPI_Comm_size", "MPI_Bcast", "MPI_Reduce"})
    EXPECT_EQ(function(application.mpi, name).calls, 2U) << name;
}

}  // namespace
}  // namespace ardoise::launcher

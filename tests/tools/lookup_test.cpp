// Programs that look up MPI's functions themselves: with dlsym in a library that they opened, like Python's ctypes and
// Julia, or as interposers. Their output is the same as natively without another program, and every call is counted
// once.
#include <gmock/gmock.h>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

class LookupTest : public LaunchFixture {
 protected:
  // Runs two processes of `command` natively, and under Ardoise beside another program of the same kind.
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
  // Calls by the MPI_ name, through the Fortran library, and in three of its spellings. Calls by PMPI_ names are
  // observed only in Fortran, if the routine calls the MPI_ function of C.
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

// Loads plug-ins by the bare name from the program's own folders, and by a path.
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

// Launches in jobs of a batch system.
#include <gmock/gmock.h>

#include "tests/programs/mpi_counted.h"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class SlurmTest : public LaunchFixture {
 protected:
  void SetUp() override {
    LaunchFixture::SetUp();
    if (run_and_read({SLURM, "true"}).status != 0) GTEST_SKIP() << "no Slurm here";
  }
  static Captured in_slurm(const std::string& script) {
    return run_and_read({"timeout", "100", SLURM, "bash", "-c", script});
  }
  // Runs a job. After the job has made some calls, the script `then` ends it; it can use $job.
  [[nodiscard]] Captured job_that_is_ended(const std::string& then) const {
    const std::string page = (folder_ / "page").string();
    return in_slurm("truncate -s " + std::to_string(sizeof(counted_page)) + " " + page +
                    "; job=$(sbatch --parsable -n 2 -o " + (folder_ / "out").string() +
                    " --wrap 'exec " ARDOISE " --no-report -o " + output_ + " mpirun -n 2 " COUNTED_PROGRAM " " + page +
                    "'); until [ -e " + output_ + "/.analyzer-first-0 ]; do sleep 0.1; done; sleep 1; " + then +
                    "; while squeue -h | grep -q .; do sleep 0.1; done");
  }
  [[nodiscard]] counted_page counts() const {
    counted_page page{};
    std::ifstream(folder_ / "page", std::ios::binary).read(reinterpret_cast<char*>(&page), sizeof page);
    return page;
  }
};

TEST_F(SlurmTest, AJobThatIsCancelledHasItsReport) {
  const auto result = job_that_is_ended("scancel $job");
  EXPECT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1)) << content("out");
  EXPECT_EQ(run.ended_by, "SIGTERM to ardoise");
  const reports::Application& application = run.applications[0];
  const counted_page own = counts();
  const std::uint64_t calls = function(application.mpi, "MPI_Bcast").calls;
  EXPECT_GE(calls, own.broadcasts[0] + own.broadcasts[1]);
  EXPECT_LE(calls, own.broadcasts[0] + own.broadcasts[1] + 2);
  EXPECT_THAT(application.ending.ends, Not(IsEmpty()));
}

TEST_F(SlurmTest, ASignalAheadOfTheEndIsNamed) {
  const auto result = job_that_is_ended("scancel --batch --signal=USR1 $job");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(profile().ended_by, "SIGUSR1 to ardoise") << content("out");
}

TEST_F(SlurmTest, ALaunchInAnAllocationHasItsSize) {
  const std::string native = in_slurm("salloc -n 2 mpirun " RING " 50").output;
  EXPECT_THAT(native, HasSubstr("ring of 2 ranks"));
  const auto result = in_slurm("salloc -n 2 " ARDOISE " --no-report -o " + output_ + " mpirun " RING " 50");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("ring of 2 ranks, sum 2"));
  const auto run = profile();
  ASSERT_THAT(run.applications, SizeIs(1));
  EXPECT_EQ(run.applications[0].ranks, 2U);
  EXPECT_EQ(run.applications[0].quality.ranks_complete, 2U);
}

}  // namespace
}  // namespace ardoise::launcher

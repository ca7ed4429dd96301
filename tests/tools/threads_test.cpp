// Programs with threads, from the launcher to the profile: every event is counted exactly once, threads without MPI are
// seen, and Ardoise makes no MPI call from a thread that must not.
#include <gmock/gmock.h>

#include <fstream>

#include "reports/findings/efficiency.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ThreadsTest : public LaunchFixture {
 protected:
  // Little memory and frequent sends: packs leave at all times. CALLERS_LIBRARY notes the caller of every PMPI
  // function.
  void run(const std::string& level, int rounds) {
    const auto result =
        launched({"timeout", "100"},
                 {"-n", "2", "env", "CALLERS_LEVEL=" + level, "CALLERS_FILE=" + (folder_ / "callers").string(),
                  "ARDOISE_BUDGET=4M", "ARDOISE_FLUSH_EVERY=0.01",
                  std::string("LD_PRELOAD=") + PRELOAD_LIBRARY + " " + CALLERS_LIBRARY, LEVELS_PROGRAM, level,
                  std::to_string(rounds), ":", "-n", "1", ANALYZER, "--output", output_, "--no-report"});
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr(level + " of 2: sum"));
    const auto found = profile();
    ASSERT_EQ(found.applications.size(), 1U);
    application_ = found.applications[0];
    EXPECT_EQ(application_.quality.ranks_complete, 2U);
    for (const auto& ledger : application_.quality.ledger) {
      EXPECT_EQ(ledger.lost, 0U) << ledger.record_class;
    }
  }

  [[nodiscard]] const reports::FunctionProfile& mpi(const std::string& name) const {
    return function(application_.mpi, name);
  }
  [[nodiscard]] const reports::FunctionProfile& posix(const std::string& name) const {
    return function(application_.posix, name);
  }

  // Each exchange of 8 bytes sends one message to the next process.
  void expect_ring(std::uint64_t messages) const {
    ASSERT_EQ(application_.edges.size(), 2U);
    for (const auto& edge : application_.edges) {
      EXPECT_EQ(edge.target, (edge.source + 1) % 2);
      EXPECT_EQ(edge.messages, messages);
      EXPECT_EQ(edge.bytes, 8 * messages);
    }
  }

  // Both processes noted many calls, including those of Ardoise, all from threads that may call MPI.
  void expect_callers(long at_least) const {
    int processes = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!entry.path().filename().string().starts_with("callers.")) continue;
      long allowed = 0, others = -1;
      std::string offender;
      std::ifstream(entry.path()) >> allowed >> others >> offender;
      EXPECT_GT(allowed, at_least);
      EXPECT_EQ(others, 0) << offender;
      ++processes;
    }
    EXPECT_EQ(processes, 2);
  }

  reports::Application application_;
};

TEST_F(ThreadsTest, MultipleIsCountedExactly) {
  run("multiple", 2000);
  EXPECT_EQ(mpi("MPI_Sendrecv").calls, 2U * 3 * 2000);
  EXPECT_EQ(mpi("MPI_Sendrecv").bytes_sent, 2U * 3 * 2000 * 8);
  EXPECT_EQ(mpi("MPI_Sendrecv").bytes_received, 2U * 3 * 2000 * 8);
  EXPECT_EQ(mpi("MPI_Comm_dup").calls, 2U * 3);
  EXPECT_EQ(posix("write").calls, 2U * 3 * 2000);
  EXPECT_EQ(posix("write").bytes_sent, 2U * 3 * 2000 * 100);
  expect_ring(3 * 2000);
}

TEST_F(ThreadsTest, FunneledCallsComeFromTheMainThreadOnly) {
  run("funneled", 2000);
  EXPECT_EQ(mpi("MPI_Sendrecv").calls, 2U * 2000);
  EXPECT_EQ(posix("write").calls, 2U * 3 * 2000) << "threads that never call MPI are seen";
  EXPECT_EQ(posix("write").bytes_sent, 2U * 3 * 2000 * 100);
  expect_ring(2000);
  expect_callers(2000);
}

TEST_F(ThreadsTest, SerializedCallsComeOnlyFromInsideMpi) {
  run("serialized", 1000);
  EXPECT_EQ(mpi("MPI_Isend").calls, 2U * 3 * 1000);
  EXPECT_EQ(mpi("MPI_Isend").bytes_sent, 2U * 3 * 1000 * 8);
  EXPECT_EQ(mpi("MPI_Irecv").calls, 2U * 3 * 1000);
  EXPECT_EQ(posix("write").calls, 2U * 3 * 1000);
  expect_ring(3 * 1000);
  expect_callers(3 * 1000);
}

// See mpi_split.c. Load of the machine adds to the waiting for a processor alone.
TEST_F(ThreadsTest, TheTimeOfTheFirstThreadIsSplitAsItWasSpent) {
  const auto result = ardoise({}, {"-n", "2", SPLIT_PROGRAM});
  ASSERT_EQ(result.status, 0) << result.output;
  const auto run = profile();
  ASSERT_EQ(run.applications.size(), 1U);
  const auto times = reports::times_of_ranks(run.applications[0]);
  ASSERT_EQ(times.size(), 2U);
  for (const reports::RankTime& time : times) {
    EXPECT_NEAR(time.blocked, 1.5, 0.15);
    EXPECT_NEAR(time.computing, 0.3, 0.1);
    EXPECT_LT(time.io, 0.1) << "a helper thread waits for input";
  }
}

// A new thread takes the place of one that has ended; a wave of 40 threads finds no free places. No data is lost,
// whatever the memory.
TEST_F(ThreadsTest, ShortThreadsAreCountedExactlyAndShareTheirPlaces) {
  for (const char* budget : {"16M", "1M"}) {
    SCOPED_TRACE(budget);
    fs::remove_all(output_);
    const auto result =
        ardoise({}, {"-n", "2", "env", std::string("ARDOISE_BUDGET=") + budget, SHORT_THREADS_PROGRAM, "3000", "10"});
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("3400 threads"));
    const auto found = profile();
    ASSERT_EQ(found.applications.size(), 1U);
    application_ = found.applications[0];
    EXPECT_EQ(mpi("MPI_Sendrecv").calls, 2U * 3400);
    EXPECT_EQ(mpi("MPI_Sendrecv").bytes_sent, 2U * 3400 * 4);
    EXPECT_EQ(posix("write").calls, 2U * 3400);
    EXPECT_EQ(posix("write").bytes_sent, 2U * 3400 * 10);
    for (const auto& ledger : application_.quality.ledger) EXPECT_EQ(ledger.lost, 0U) << ledger.record_class;
    EXPECT_LT(application_.threads, 1000U) << "40 in each wave, and some that began while the one before was ending";
  }
}

TEST_F(ThreadsTest, AProgramWhoseFirstThreadHasLeftHasItsNameAndLives) {
  if (MPI_IS_MPICH) GTEST_SKIP() << "MPICH's MPI_Init_thread fails in such a program";
  const auto result = ardoise({}, {"-n", "2", LEFT_PROGRAM});
  ASSERT_EQ(result.status, 0) << result.output;
  const auto found = profile();
  ASSERT_EQ(found.applications.size(), 1U);
  application_ = found.applications[0];
  EXPECT_EQ(application_.name, "mpi_left");
  EXPECT_THAT(application_.command, HasSubstr(LEFT_PROGRAM));
  EXPECT_EQ(application_.quality.ranks_complete, 2U);
  EXPECT_EQ(mpi("MPI_Allreduce").calls, 200U);
  ASSERT_FALSE(application_.call_sites.empty());
  EXPECT_EQ(application_.call_sites[0].symbol, "work") << "its binary is known";
}

// Most queries are only counted and few are recorded. All are counted.
TEST_F(ThreadsTest, QueriesAreCountedExactly) {
  const auto result = ardoise({}, {"-n", "2", QUERIES_PROGRAM, "100000"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("2 processes: sizes 400000 and 400000, ranks 0"));
  const auto found = profile();
  ASSERT_EQ(found.applications.size(), 1U);
  application_ = found.applications[0];
  EXPECT_EQ(mpi("MPI_Type_size").calls, 2U * 2 * 100'000);
  EXPECT_EQ(mpi("MPI_Comm_rank").calls, 2U * 100'000);
  EXPECT_GT(mpi("MPI_Type_size").seconds, 0);
  EXPECT_THAT(application_.quality.notices, ::testing::Contains(HasSubstr("their times are estimates")));
  for (const auto& ledger : application_.quality.ledger) {
    EXPECT_EQ(ledger.lost, 0U) << ledger.record_class;
    if (ledger.record_class == "mpi") {
      EXPECT_GT(ledger.recorded, 2U * 3 * 1000);
      EXPECT_LT(ledger.recorded, 2U * 3 * 2000);
    }
  }
}

}  // namespace
}  // namespace ardoise::launcher

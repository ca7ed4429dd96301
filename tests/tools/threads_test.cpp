// Programs with threads from the launcher to the profile: no event lost, none counted twice, threads without MPI seen, and
// no MPI call of ours from a thread that may not make one.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "reports/model_json.hpp"
#include "tools/ardoise/process.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

// The words of the MPI's launcher, with its options for more processes than cores.
Words launcher_words() {
  std::istringstream line(MPI_LAUNCHER);
  return {std::istream_iterator<std::string>(line), {}};
}

class ThreadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::path(::testing::TempDir()) / "threads_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    output_ = (folder_ / "report").string();
    for (const auto* variable :
         {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_mpi_yield_when_idle"}) {
      ::setenv(variable, "1", 1);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Little memory and frequent sends, so that packs leave at all times; the caller of every PMPI function is noted.
  void run(const std::string& level, int rounds) {
    Words words = launcher_words();
    words.insert(words.begin(), {"timeout", "100"});
    for (const auto& word :
         Words{"-n", "2", "env", "CALLERS_LEVEL=" + level, "CALLERS_FILE=" + (folder_ / "callers").string(),
               "ARDOISE_BUDGET=4M", "ARDOISE_FLUSH=0.01",
               std::string("LD_PRELOAD=") + PRELOAD_LIBRARY + " " + CALLERS_LIBRARY, LEVELS_PROGRAM, level,
               std::to_string(rounds), ":", "-n", "1", ANALYZER, "--output", output_, "--no-report"})
      words.push_back(word);
    const auto result = run_and_read(words);
    ASSERT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr(level + " of 2: sum"));
    auto profile = reports::read_profile_json(output_ + "/profile.json");
    ASSERT_TRUE(profile) << profile.error;
    ASSERT_EQ(profile.value->applications.size(), 1U);
    application_ = profile.value->applications[0];
    EXPECT_EQ(application_.quality.ranks_complete, 2U);
    for (const auto& ledger : application_.quality.ledger) {
      EXPECT_EQ(ledger.lost, 0U) << ledger.record_class;
    }
  }

  static const reports::FunctionProfile& find(const std::vector<reports::FunctionProfile>& all, const std::string& name) {
    static const reports::FunctionProfile none;
    const auto found = std::ranges::find(all, name, &reports::FunctionProfile::function);
    return found == all.end() ? none : *found;
  }
  [[nodiscard]] const reports::FunctionProfile& mpi(const std::string& name) const { return find(application_.mpi, name); }
  [[nodiscard]] const reports::FunctionProfile& posix(const std::string& name) const {
    return find(application_.posix, name);
  }

  // One message to the next process for each exchange of 8 bytes.
  void expect_ring(std::uint64_t messages) const {
    ASSERT_EQ(application_.edges.size(), 2U);
    for (const auto& edge : application_.edges) {
      EXPECT_EQ(edge.target, (edge.source + 1) % 2);
      EXPECT_EQ(edge.messages, messages);
      EXPECT_EQ(edge.bytes, 8 * messages);
    }
  }

  // Both processes noted many calls, ours among them, and all from threads that may.
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

  fs::path folder_;
  std::string output_;
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

}  // namespace
}  // namespace ardoise::launcher

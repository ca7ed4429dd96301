// Compares the results so far of a running program with the program's own counts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>

#include "tests/programs/mpi_counted.h"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint32_t kRanks = 3;

class StatusTest : public LaunchFixture, public ::testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    LaunchFixture::SetUp();
    const int file = ::open(page_file().c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(::ftruncate(file, sizeof(counted_page)), 0);
    void* const memory = ::mmap(nullptr, sizeof(counted_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    ASSERT_NE(memory, MAP_FAILED);
    page_ = static_cast<counted_page*>(memory);
  }
  void TearDown() override {
    if (page_ != nullptr) ::munmap(page_, sizeof *page_);
    LaunchFixture::TearDown();
  }
  [[nodiscard]] std::string page_file() const { return (folder_ / "page").string(); }
  [[nodiscard]] std::uint64_t broadcasts() const {
    return std::accumulate(page_->broadcasts, page_->broadcasts + kRanks, std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t exchanges() const {
    return std::accumulate(page_->exchanges, page_->exchanges + kRanks, std::uint64_t{0});
  }

  // Calls `look` while rank 1 computes and the others wait for it.
  Captured paused_launch(const Words& options, const std::function<void()>& look) {
    std::jthread watcher([&] {
      const auto wait_until = [&](const auto& is_so) {
        while (!is_so()) ::usleep(1000);
      };
      wait_until([&] { return broadcasts() > 3000; });
      page_->pauses = 1;
      std::uint64_t before = 0;
      wait_until([&] {
        ::usleep(300'000);
        return std::exchange(before, broadcasts() + exchanges()) == broadcasts() + exchanges();
      });
      look();
      page_->ends = 1;
      page_->pauses = 0;
    });
    return ardoise(options, {"-n", std::to_string(kRanks), COUNTED_PROGRAM, page_file()});
  }

  counted_page* page_ = nullptr;
};

TEST_P(StatusTest, ASnapshotHasAllCallsAndSaysWhereTheRanksAre) {
  reports::Run then;
  std::string status, from_its_place, shown;
  std::uint64_t broadcast_calls = 0, exchange_calls = 0;
  const auto launch = paused_launch({"--analyzers", GetParam()}, [&] {
    const auto kept = run_and_read({ANALYZER, "--snapshot", "--keep", "--no-report", "--quiet", "--output", output_});
    EXPECT_EQ(kept.status, 0) << kept.output;
    then = profile();
    status = run_and_read({ARDOISE, "status", output_}).output;
    from_its_place = run_and_read({"sh", "-c", "cd '" + folder_.string() + "' && '" ARDOISE "' status"}).output;
    shown = run_and_read({ARDOISE, "show", output_, "calls"}).output;
    broadcast_calls = broadcasts();
    exchange_calls = exchanges();
  });
  EXPECT_EQ(launch.status, 0) << launch.output;

  EXPECT_TRUE(then.running);
  ASSERT_THAT(then.applications, SizeIs(1));
  const reports::Application& application = then.applications[0];
  EXPECT_EQ(function(application.mpi, "MPI_Bcast").calls, broadcast_calls);
  EXPECT_EQ(function(application.mpi, "MPI_Sendrecv").calls, exchange_calls);
  EXPECT_GT(application.ending.moment_seconds, 0);
  EXPECT_THAT(application.ending.ends, SizeIs(0));
  ASSERT_THAT(application.ending.stands, SizeIs(2));
  const reports::RankPosition &waiting = application.ending.stands[0], &computing = application.ending.stands[1];
  EXPECT_THAT(waiting.ranks, ElementsAre(0, 2));
  EXPECT_EQ(waiting.call.function, "MPI_Bcast");
  EXPECT_EQ(waiting.call.place.symbol, "main");
  EXPECT_GT(waiting.least_seconds, 0.2);
  EXPECT_THAT(computing.ranks, ElementsAre(1));
  EXPECT_EQ(computing.call.function, "");
  EXPECT_EQ(computing.call.place.symbol, "relax");

  EXPECT_THAT(status, HasSubstr("still running"));
  EXPECT_THAT(status, HasSubstr("Where the ranks are"));
  EXPECT_THAT(status, HasSubstr("in relax (mpi_counted.c:"));
  EXPECT_THAT(from_its_place, HasSubstr("in relax (mpi_counted.c:")) << "its folder, no usual one, was not named";
  EXPECT_THAT(shown, HasSubstr("MPI_Bcast"));

  const reports::Run last = profile();
  EXPECT_FALSE(last.running);
  ASSERT_THAT(last.applications, SizeIs(1));
  EXPECT_EQ(function(last.applications[0].mpi, "MPI_Bcast").calls, broadcasts());
  EXPECT_EQ(last.applications[0].ending.moment_seconds, 0);
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(output_))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, ::testing::UnorderedElementsAre("profile.json", "summary.txt"));
  EXPECT_THAT(run_and_read({ARDOISE, "status", output_}).output, HasSubstr("has ended"));
}
INSTANTIATE_TEST_SUITE_P(Analyzers, StatusTest, ::testing::Values("1", "2"));

using KeepSafeTest = StatusTest;

TEST_P(KeepSafeTest, AProfileIsThereWhileTheProgramRuns) {
  reports::Run then;
  (void)paused_launch({"--analyzers", GetParam(), "--save-every", "1"}, [&] {
    const std::string file = output_ + "/profile.json";
    while (!std::filesystem::exists(file)) ::usleep(10'000);
    std::filesystem::remove(file);  // from before the pause
    while (!std::filesystem::exists(file)) ::usleep(10'000);
    std::filesystem::remove(file);
    while (!std::filesystem::exists(file)) ::usleep(10'000);
    then = profile();
  });
  EXPECT_TRUE(then.running);
  ASSERT_THAT(then.applications, SizeIs(1));
  EXPECT_EQ(function(then.applications[0].mpi, "MPI_Bcast").calls, broadcasts() - kRanks);  // the last of each rank
  EXPECT_FALSE(profile().running);
}
INSTANTIATE_TEST_SUITE_P(Analyzers, KeepSafeTest, ::testing::Values("1"));

}  // namespace
}  // namespace ardoise::launcher

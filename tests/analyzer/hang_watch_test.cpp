// When the watch over a hang speaks: state files of two ranks appear, are renewed and go at chosen times.
#include "analyzer/hangs/hang_watch.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

#include "instrument/format/pack_file.hpp"
#include "instrument/format/process_states.hpp"
#include "replay/pack_maker.hpp"
#include "tests/analyzer/folder_fixture.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class HangWatchTest : public FolderTest {
 protected:
  void SetUp() override { watch_.emplace(HangWatch::Setting{folder_, 1}, std::vector<knowledge_sources::Program>()); }

  // At `second` a rank is since `since` in a receive from the other; -1: it computes.
  void write(std::uint32_t rank, double second, double since, std::int32_t from) const {
    replay::PackMaker maker({.rank = rank, .ticks_per_second = 1e9});
    const auto tick = [](double seconds) { return static_cast<std::uint64_t>((100 + seconds) * 1e9); };
    maker.define(instrument::ProcessStateDefinition{tick(second), tick(since), 0, 0, 0, 0});
    if (from >= 0) {
      const instrument::RankRange range{0, 2, 1};
      maker.define(instrument::CommunicatorDefinition{2, instrument::CommunicatorKind::kIntra, 7, 0, 2, 0, 0, 1, 0, 0, 1},
                   std::span(&range, 1), std::string_view("pair"));
      instrument::RecentCall call{};
      call.word = instrument::make_word(2, static_cast<std::uint32_t>(vmpi::FunctionId::kRecv),
                                        instrument::Shape::kReceive);
      call.peer = from;
      call.flags = instrument::kOpenCall;
      maker.define(instrument::RecentCallsDefinition{0, 1, 0}, std::span<const instrument::RecentCall>(&call, 1));
    }
    maker.flush();
    instrument::PackFileWriter file(folder_ / instrument::process_state_name(0, rank));
    for (auto& pack : maker.take()) EXPECT_TRUE(file.write(pack.bytes()));
  }
  void remove(std::uint32_t rank) const { fs::remove(folder_ / instrument::process_state_name(0, rank)); }

  [[nodiscard]] std::string look(double second, bool has_one_ended = false) {
    const auto time = std::chrono::duration<double>(1000 + second);
    return watch_->look({{{0, 0}, false}, {{0, 1}, has_one_ended}},
                        HangWatch::Time(std::chrono::duration_cast<HangWatch::Time::duration>(time)));
  }
  std::optional<HangWatch> watch_;
};

TEST_F(HangWatchTest, ADeadlockIsReportedOnce) {
  EXPECT_EQ(look(0), "");
  write(0, 1.6, 0.5, 1);
  write(1, 1.7, 0.6, 0);
  EXPECT_EQ(look(1.8), "");  // files may be from before 0.6
  write(0, 2.6, 0.5, 1);
  write(1, 2.7, 0.6, 0);
  EXPECT_THAT(look(2.8), HasSubstr("deadlock: rank 0 waits in MPI_Recv"));
  write(0, 3.6, 0.5, 1);
  EXPECT_EQ(look(3.8), "");
}

// The survivor of rank 0 gets no processor: its file is from before rank 1 sent, received and ended.
TEST_F(HangWatchTest, ARankThatHasEndedSinceIsNoFault) {
  EXPECT_EQ(look(0), "");
  write(0, 0.6, 0.1, 1);
  write(1, 0.6, 0.1, -1);
  EXPECT_EQ(look(0.8), "");
  remove(1);
  EXPECT_EQ(look(1.5, true), "");
  EXPECT_EQ(look(3, true), "");
  remove(0);
  EXPECT_EQ(look(4, true), "");
  // It waits again, and now for ever.
  write(0, 5, 3.5, 1);
  EXPECT_THAT(look(5.5, true), HasSubstr("for rank 1, which has ended MPI"));
}

TEST_F(HangWatchTest, AFileThatIsOlderThanTheStateOfAnotherIsNoProof) {
  EXPECT_EQ(look(0), "");
  write(0, 0.6, 0.1, 1);
  EXPECT_EQ(look(1), "");
  write(1, 3.5, 2, 0);
  EXPECT_EQ(look(4), "");
  write(0, 4.1, 0.1, 1);
  EXPECT_EQ(look(4.2), "");
  write(1, 4.3, 2, 0);
  EXPECT_THAT(look(4.4), HasSubstr("deadlock: "));
}

TEST_F(HangWatchTest, ALateRankIsNamedAtOnce) {
  EXPECT_EQ(look(0), "");
  write(0, 1.6, 0.5, 1);
  write(1, 1.7, 0.6, -1);
  EXPECT_THAT(look(1.8), HasSubstr("no fault seen: rank 1"));
}

}  // namespace
}  // namespace ardoise::analyzer

// State files of stalled processes, also damaged ones with sizes that would fill the memory.
#include "analyzer/hangs/stalled_processes.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "instrument/format/pack_file.hpp"
#include "instrument/format/process_states.hpp"
#include "replay/pack_maker.hpp"
#include "tests/analyzer/folder_fixture.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::RankRange;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StalledProcessesTest : public FolderTest {
 protected:
  // A process that is in a barrier of a communicator of so many ranks.
  void write_state(std::uint32_t rank, std::uint64_t group_hash, std::uint32_t size,
                   CommunicatorKind kind = CommunicatorKind::kIntra) const {
    replay::PackMaker maker({.rank = rank});
    maker.define(instrument::ProcessStateDefinition{});
    const RankRange range{0, size, 1};
    maker.define(CommunicatorDefinition{2, kind, group_hash, 0, size, 0, 0, 1, 0, 0, 1}, std::span(&range, 1),
                 std::string_view("theirs"));
    instrument::RecentCall call{};
    call.word = instrument::make_word(2, static_cast<std::uint32_t>(vmpi::FunctionId::kBarrier),
                                      instrument::Shape::kCollective);
    call.flags = instrument::kOpenCall;
    maker.define(instrument::RecentCallsDefinition{0, 1, 0}, std::span<const instrument::RecentCall>(&call, 1));
    maker.flush();
    instrument::PackFileWriter file(folder_ / instrument::process_state_name(0, rank));
    for (auto& pack : maker.take()) EXPECT_TRUE(file.write(pack.bytes()));
  }
  [[nodiscard]] std::vector<std::shared_ptr<const CommView>> comms() const {
    std::vector<std::shared_ptr<const CommView>> all;
    for (const StalledProcess& stalled : read_stalled_processes(folder_)) {
      EXPECT_TRUE(stalled.mpi);
      all.push_back(stalled.mpi->operation.comm);
    }
    return all;
  }
};

TEST_F(StalledProcessesTest, MembersOfACommunicatorAreThoseOfItsRanges) {
  write_state(0, 1, 3);
  write_state(1, 1, 3);
  const auto all = comms();
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0], all[1]);
  EXPECT_TRUE(all[0]->is_whole);
  EXPECT_THAT(all[0]->members, ElementsAre(0, 1, 2));
}

// A damaged file: an intercommunicator whose other group is empty. The first member of such a list was read.
TEST_F(StalledProcessesTest, ACommunicatorWithoutMembersIsNotKnown) {
  write_state(0, 1, 1, CommunicatorKind::kInter);
  const auto all = comms();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_FALSE(all[0]->is_whole);
}

TEST_F(StalledProcessesTest, ACommunicatorForWhichMemoryHasNoRoomIsNotKnown) {
  constexpr std::uint32_t kRoom = 1u << 24;
  write_state(0, 1, kRoom + 1);
  write_state(1, 2, kRoom - 1);
  write_state(2, 3, 2);
  write_state(3, 4, 1);
  const auto all = comms();
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_FALSE(all[0]->is_whole);
  EXPECT_THAT(all[0]->members, IsEmpty());
  EXPECT_TRUE(all[1]->is_whole);
  EXPECT_FALSE(all[2]->is_whole) << "all of them together";
  EXPECT_TRUE(all[3]->is_whole);
}

}  // namespace
}  // namespace ardoise::analyzer

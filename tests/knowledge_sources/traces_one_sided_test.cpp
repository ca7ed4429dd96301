// One-sided communication in traces.
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::GroupExtension;
using instrument::WindowAct;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class OneSidedTraces : public TracesFixture {
 protected:
  OneSidedTraces() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) makers_.emplace_back(replay::Origin{.rank = rank}, 3);
  }
  // All in rank 0, one after the other.
  void call(FunctionId function, Shape shape, std::int32_t peer = instrument::kNoPeer, std::uint32_t bytes = 0,
            WindowAct act = WindowAct::kNone, std::uint32_t window = 0) {
    makers_[0].call(function, shape, tick_ += 100, 10, peer, instrument::window_tag(window, act), bytes);
  }
  void window(FunctionId function, std::int32_t peer = instrument::kNoPeer, WindowAct act = WindowAct::kNone) {
    call(function, Shape::kWindow, peer, 0, act);
  }
  void group(FunctionId function, const std::vector<std::int32_t>& ranks) {
    GroupExtension some{{}, static_cast<std::uint32_t>(ranks.size()), 0};
    some.word = instrument::make_word(static_cast<std::uint32_t>(instrument::ExtensionKind::kGroup), id(function),
                                      Shape::kExtension);
    std::ranges::copy(ranks, some.ranks);
    makers_[0].mpi_extension(some);
  }
  // Completes the request that the call this many calls back started.
  void end_of_request(FunctionId function, std::uint64_t calls_back) {
    makers_[0].mpi_extension(instrument::CompletionRecord{tick_ - 100 * calls_back, 0, 1, instrument::kNoPeer, 0, 0,
                                                          instrument::make_word(0, id(function), Shape::kCompletion)});
  }
  // The events of rank 0 except Enter and Leave: kind, and the fields that identify operations.
  std::vector<std::string> events(const std::string& selection = "all") {
    trace_ = std::make_unique<replay::PrintedTrace>(traced({&makers_[0], &makers_[1]}, selection));
    std::vector<std::string> list;
    for (const auto& each : trace_->events) {
      if (each.kind == "ENTER" || each.kind == "LEAVE") continue;
      const std::string matching = each.of("Matching");
      list.push_back(matching.empty() ? each.kind : each.kind + " " + matching);
    }
    return list;
  }

  std::vector<PackMaker> makers_;
  std::uint64_t tick_ = 2000;
  std::unique_ptr<replay::PrintedTrace> trace_;
};

TEST_F(OneSidedTraces, AFenceCompletesOpenOperations) {
  window(FunctionId::kWin_fence);
  call(FunctionId::kPut, Shape::kPut, 1, 64);
  call(FunctionId::kPut, Shape::kPut, 1, 32);
  call(FunctionId::kGet, Shape::kGet, 1, 16);
  call(FunctionId::kPut, Shape::kPut, 1, 8, WindowAct::kNone, 5);  // another window
  window(FunctionId::kWin_fence);
  EXPECT_THAT(events(), ElementsAre("RMA_COLLECTIVE_BEGIN", "RMA_COLLECTIVE_END", "RMA_PUT 0", "RMA_PUT 0", "RMA_GET 1",
                                    "RMA_PUT 2", "RMA_COLLECTIVE_BEGIN", "RMA_OP_COMPLETE_NON_BLOCKING 0",
                                    "RMA_OP_COMPLETE_REMOTE 0", "RMA_OP_COMPLETE_NON_BLOCKING 1",
                                    "RMA_OP_COMPLETE_REMOTE 1", "RMA_COLLECTIVE_END"));
  const auto put = trace_->of_kind("RMA_PUT").front();
  EXPECT_EQ(put.time, trace_time(2200));
  EXPECT_EQ(put.of("Window"), "window 0 of MPI_COMM_WORLD");
  EXPECT_THAT(put.attributes, HasSubstr("64"));
  EXPECT_EQ(trace_->of_kind("RMA_PUT").back().of("Window"), "window 5 of MPI_COMM_WORLD");
  EXPECT_EQ(trace_->of_kind("RMA_OP_COMPLETE_REMOTE").front().time, trace_time(2610));
  EXPECT_THAT(trace_->defined("RMA_WIN"), SizeIs(2));
  EXPECT_THAT(trace_->properties, HasSubstr("ARDOISE::UNFINISHED_OPERATIONS"));  // on the other window
}

TEST_F(OneSidedTraces, EpochsSynchroniseWithTheirGroups) {
  window(FunctionId::kWin_post);
  group(FunctionId::kWin_post, {1, 0});
  window(FunctionId::kWin_start);
  group(FunctionId::kWin_start, {1});
  call(FunctionId::kAccumulate, Shape::kPut, 1, 64);
  window(FunctionId::kWin_complete);
  window(FunctionId::kWin_test);
  window(FunctionId::kWin_test, instrument::kNoPeer, WindowAct::kEnded);
  EXPECT_THAT(events(),
              ElementsAre("RMA_GROUP_SYNC", "RMA_GROUP_SYNC", "RMA_ATOMIC 0", "RMA_OP_COMPLETE_NON_BLOCKING 0",
                          "RMA_GROUP_SYNC", "RMA_GROUP_SYNC", "RMA_GROUP_SYNC"));
  const auto syncs = trace_->of_kind("RMA_GROUP_SYNC");
  ASSERT_THAT(syncs, SizeIs(5));
  const auto group_of = [](const replay::PrintedTrace::Event& sync) {
    return sync.attributes.substr(sync.attributes.find("Group:"));
  };
  const std::string both = group_of(syncs[0]), other = group_of(syncs[1]);
  EXPECT_NE(both, other);
  EXPECT_EQ(group_of(syncs[2]), other);
  EXPECT_EQ(group_of(syncs[3]), both);
  EXPECT_THAT(syncs[0].attributes, HasSubstr("PROCESS"));
  EXPECT_THAT(syncs[2].attributes, HasSubstr("MEMORY"));
  EXPECT_THAT(syncs[3].attributes, HasSubstr("NONE"));
  EXPECT_THAT(trace_->defined("GROUP"), Contains(HasSubstr("1 Member: 1 (\"Master thread\" <1>)")));
}

TEST_F(OneSidedTraces, LocksAreRequestedFlushedAndReleased) {
  window(FunctionId::kWin_lock, 1, WindowAct::kExclusive);
  call(FunctionId::kPut, Shape::kPut, 1, 64);
  window(FunctionId::kWin_flush_local, 1);
  call(FunctionId::kFetch_and_op, Shape::kGet, 1, 8);
  window(FunctionId::kWin_unlock, 1);
  window(FunctionId::kWin_lock_all);
  call(FunctionId::kPut, Shape::kPut, 0, 64);
  call(FunctionId::kPut, Shape::kPut, 1, 64);
  window(FunctionId::kWin_flush, 0);
  window(FunctionId::kWin_unlock_all);
  EXPECT_THAT(events(), ElementsAre("RMA_REQUEST_LOCK", "RMA_PUT 0", "RMA_OP_COMPLETE_NON_BLOCKING 0", "RMA_ATOMIC 1",
                                    "RMA_OP_COMPLETE_REMOTE 0", "RMA_OP_COMPLETE_NON_BLOCKING 1",
                                    "RMA_OP_COMPLETE_REMOTE 1", "RMA_RELEASE_LOCK", "RMA_REQUEST_LOCK", "RMA_PUT 2",
                                    "RMA_PUT 3", "RMA_OP_COMPLETE_NON_BLOCKING 2", "RMA_OP_COMPLETE_REMOTE 2",
                                    "RMA_OP_COMPLETE_NON_BLOCKING 3", "RMA_OP_COMPLETE_REMOTE 3", "RMA_RELEASE_LOCK"));
  EXPECT_THAT(trace_->of_kind("RMA_REQUEST_LOCK")[0].attributes, HasSubstr("EXCLUSIVE"));
  EXPECT_THAT(trace_->of_kind("RMA_REQUEST_LOCK")[1].attributes, HasSubstr("SHARED"));
  EXPECT_EQ(trace_->properties.find("UNFINISHED"), std::string::npos);
}

TEST_F(OneSidedTraces, RequestsEndAtTheOriginFirst) {
  window(FunctionId::kWin_lock_all);
  call(FunctionId::kRput, Shape::kPut, 1, 64);
  call(FunctionId::kRget, Shape::kGet, 1, 32);
  call(FunctionId::kRput, Shape::kPut, 0, 16);
  call(FunctionId::kWaitall, Shape::kCompletes);
  end_of_request(FunctionId::kRput, 3);
  end_of_request(FunctionId::kRget, 2);
  window(FunctionId::kWin_flush_all);
  call(FunctionId::kWait, Shape::kCompletes);
  end_of_request(FunctionId::kRput, 3);
  EXPECT_THAT(events(),
              ElementsAre("RMA_REQUEST_LOCK", "RMA_PUT 0", "RMA_GET 1", "RMA_PUT 2", "RMA_OP_COMPLETE_NON_BLOCKING 0",
                          "RMA_OP_COMPLETE_NON_BLOCKING 1", "RMA_OP_COMPLETE_REMOTE 1", "RMA_OP_COMPLETE_REMOTE 0",
                          "RMA_OP_COMPLETE_NON_BLOCKING 2", "RMA_OP_COMPLETE_REMOTE 2"));
  EXPECT_EQ(trace_->properties.find("UNFINISHED"), std::string::npos);
}

TEST_F(OneSidedTraces, TheEndOfAnOperationBelongsToItsBegin) {
  window(FunctionId::kWin_fence);
  call(FunctionId::kPut, Shape::kPut, 1, 64);
  call(FunctionId::kGet, Shape::kGet, 1, 64);
  window(FunctionId::kWin_fence);
  EXPECT_THAT(events("functions=MPI_Put"),
              ElementsAre("RMA_PUT 0", "RMA_OP_COMPLETE_NON_BLOCKING 0", "RMA_OP_COMPLETE_REMOTE 0"));
}

TEST_F(OneSidedTraces, NoProcessIsNoTarget) {
  window(FunctionId::kWin_lock, instrument::kNoPeer, WindowAct::kNone);  // failed
  call(FunctionId::kPut, Shape::kPut, instrument::kNoPeer, 64);
  EXPECT_THAT(events(), IsEmpty());
}

}  // namespace
}  // namespace ardoise::knowledge_sources

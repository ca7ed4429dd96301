// RaceRecorder: the decisions that each kind of call leaves in the record, read back from the file.
#include "instrument/races/race_recorder.hpp"

#include <gtest/gtest.h>

#include "instrument/races/race_kinds.hpp"
#include "tests/instrument/race_calls.hpp"

namespace ardoise::instrument {
namespace {

using RaceRecorderTest = RaceCalls;

TEST_F(RaceRecorderTest, AWildcardReceiveLeavesItsSourceAndTheChangeOfItsTag) {
  fake_mpi.arrived = {{3, 5}, {1, 9}, {2, 2}};
  record([](RacingProgram& program) {
    for (int i = 0; i < 3; ++i) (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
  });
  EXPECT_EQ(recorded(1), (Values{{3, 5}, {1, 4}, {2, -7}}));
  EXPECT_EQ(recorded(0), Values{});
  EXPECT_EQ(end().decisions, 3u);
  EXPECT_EQ(end().streams, 1u);
}

TEST_F(RaceRecorderTest, EitherWildcardCountsAndAReceiveWithoutOneLeavesNothing) {
  fake_mpi.arrived = {{3, 5}, {1, 9}, {2, 2}};
  record([](RacingProgram& program) {
    (void)program.receive(3, 5);
    (void)program.receive(MPI_PROC_NULL, MPI_ANY_TAG);
    (void)program.receive(1, MPI_ANY_TAG);
    (void)program.receive(MPI_ANY_SOURCE, 2);
  });
  EXPECT_EQ(recorded(1), (Values{{1, 9}, {2, -7}}));
}

TEST_F(RaceRecorderTest, AReceiveThatFailedLeavesNoMessage) {
  record([](RacingProgram& program) { program.fail_to_receive(); });
  EXPECT_EQ(recorded(1), Values{{}});
}

TEST_F(RaceRecorderTest, TheKeyNamesFunctionCallSiteAndCommunicator) {
  fake_mpi.arrived = {{3, 5}, {1, 9}, {2, 2}};
  record([](RacingProgram& program) {
    (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG, 3);
    (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  });
  const auto all = keys(1);
  ASSERT_EQ(all.size(), 2u);
  for (const RaceKey& key : all) {
    EXPECT_EQ(key.function, "MPI_Recv");
    EXPECT_EQ(std::filesystem::canonical(key.module), std::filesystem::canonical("/proc/self/exe"));
    EXPECT_EQ(key.comm_size, FakeMpi::kRanks);
  }
  EXPECT_EQ(all[1].offset, all[0].offset + 3);
  // Each call site counts the change of its tags for itself.
  EXPECT_EQ(recorded(1), (Values{{3, 5}, {1, 9}, {2, -3}}));
}

TEST_F(RaceRecorderTest, ATryToProbeLeavesItsFlagAndForAWildcardTheMessage) {
  fake_mpi.arrived = {{3, 5}};
  record([](RacingProgram& program) {
    EXPECT_FALSE(program.probe(2, 5));
    EXPECT_TRUE(program.probe(3, 5));
    EXPECT_TRUE(program.probe(MPI_ANY_SOURCE, 5));
    EXPECT_FALSE(program.probe(MPI_ANY_SOURCE, 6));
  });
  EXPECT_EQ(recorded(1), (Values{{0}, {1}, {1, 3, 5}, {0}}));
}

TEST_F(RaceRecorderTest, ATestLeavesItsFlag) {
  record([](RacingProgram& program) {
    MPI_Request request = program.post(2, 7);
    EXPECT_FALSE(program.test(request));
    fake_mpi.deliver({2, 7});
    EXPECT_TRUE(program.test(request));
  });
  EXPECT_EQ(recorded(1), (Values{{0}, {1}}));
  EXPECT_EQ(recorded(0), Values{});  // the receive names its message
}

TEST_F(RaceRecorderTest, WaitanyAndTestanyLeaveTheIndexPlusOne) {
  record([](RacingProgram& program) {
    std::vector<MPI_Request> requests{program.post(1, 0), program.post(2, 0), program.post(3, 0)};
    EXPECT_EQ(program.test_any(requests), -1);
    fake_mpi.deliver({3, 0});
    EXPECT_EQ(program.wait_any(requests), 2);
    fake_mpi.deliver({1, 0});
    EXPECT_EQ(program.test_any(requests), 0);
    fake_mpi.deliver({2, 0});
    EXPECT_EQ(program.wait_any(requests), 1);
    EXPECT_EQ(program.wait_any(requests), -1);
    EXPECT_EQ(program.test_any(requests), -1);
  });
  EXPECT_EQ(recorded(1), (Values{{0}, {3}, {1}, {2}, {-1}, {-1}}));
}

TEST_F(RaceRecorderTest, TestsomeLeavesTheIndices) {
  record([](RacingProgram& program) {
    std::vector<MPI_Request> requests{program.post(1, 0), program.post(2, 0), program.post(3, 0)};
    EXPECT_EQ(program.test_some(requests), std::vector<int>{});
    fake_mpi.deliver({3, 0});
    fake_mpi.deliver({1, 0});
    EXPECT_EQ(program.test_some(requests), (std::vector<int>{0, 2}));
    fake_mpi.deliver({2, 0});
    EXPECT_EQ(program.test_some(requests), std::vector<int>{1});
    EXPECT_EQ(program.test_some(requests), std::vector<int>{});
  });
  EXPECT_EQ(recorded(1), (Values{{0}, {2, 0, 2}, {1, 1}, {-1}}));
}

// Stream 0: {stream, post, source, tag}; post and tag as changes.
TEST_F(RaceRecorderTest, PostedWildcardsLeaveTheirMessageAtCompletion) {
  record([](RacingProgram& program) {
    std::vector<MPI_Request> requests{program.post(MPI_ANY_SOURCE, 5), program.post(1, 6),
                                      program.post(MPI_ANY_SOURCE, MPI_ANY_TAG)};
    fake_mpi.deliver({3, 9});
    EXPECT_EQ(program.wait(requests[2]).source, 3);
    fake_mpi.deliver({1, 6});
    (void)program.wait(requests[1]);
    fake_mpi.deliver({2, 5});
    EXPECT_EQ(program.wait(requests[0]).source, 2);
  });
  EXPECT_EQ(recorded(1), (Values{{}, {}}));  // of the two posts with a wildcard
  EXPECT_EQ(recorded(0), (Values{{1, 2, 3, 9}, {1, -2, 2, -4}}));
}

TEST_F(RaceRecorderTest, ACancelledReceiveLeavesWhetherItsMessageCameFirst) {
  record([](RacingProgram& program) {
    MPI_Request late = program.post(1, 6);
    fake_mpi.deliver({1, 6});
    program.cancel(late);
    (void)program.wait(late);
    MPI_Request early = program.post(2, 6);
    program.cancel(early);
    fake_mpi.cancels = true;
    (void)program.wait(early);
  });
  EXPECT_EQ(recorded(0), (Values{{1, 0, kNotCancelled, 0}, {1, 1, kCancelledReceive, 0}}));
}

TEST_F(RaceRecorderTest, EachStartOfAPersistentReceiveIsAPostOfItsOwn) {
  record([](RacingProgram& program) {
    const MPI_Request kept = program.prepare(MPI_ANY_SOURCE, 5);
    for (const int source : {2, 3}) {
      program.start(kept, MPI_ANY_SOURCE, 5);
      fake_mpi.deliver({source, 5});
      MPI_Request request = kept;
      EXPECT_EQ(program.wait(request).source, source);
    }
    MPI_Request inactive = kept;
    fake_mpi.request(kept)->is_complete = true;
    (void)program.wait(inactive);  // completes nothing
    program.free(kept);
  });
  EXPECT_EQ(recorded(1), (Values{{}, {}}));
  EXPECT_EQ(recorded(0), (Values{{1, 0, 2, 5}, {1, 1, 3, 0}}));
  EXPECT_EQ(end().seen, 0u);
}

TEST_F(RaceRecorderTest, EachThreadHasAStream) {
  fake_mpi.arrived = {{3, 5}, {1, 9}};
  const auto receive = [](RacingProgram& program) { (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG); };
  record({receive, [&](RacingProgram& program) {
            receive(program);
            MPI_Request request = program.post(MPI_ANY_SOURCE, 4);
            fake_mpi.deliver({2, 4});
            (void)program.wait(request);
          }});
  EXPECT_EQ(recorded(1), (Values{{3, 5}}));
  EXPECT_EQ(recorded(2), (Values{{1, 9}, {}}));
  EXPECT_EQ(recorded(0), (Values{{2, 0, 2, 4}}));
  EXPECT_EQ(end().streams, 2u);
  EXPECT_EQ(end().decisions, 3u);
}

TEST_F(RaceRecorderTest, WhatCannotBeForcedIsNamedAtTheEnd) {
  const auto seen_after = [this](const Program& program, const std::function<void(RaceRecorder&)>& notes = {}) {
    record({program}, notes);
    return end().seen;
  };
  const Program nothing = [](RacingProgram&) {};
  EXPECT_EQ(seen_after(nothing), 0u);
  EXPECT_EQ(seen_after(nothing, [](RaceRecorder& by) { by.note(vmpi::FunctionId::kRaccumulate); }), kSeenAccumulate);
  EXPECT_EQ(seen_after(nothing, [](RaceRecorder& by) { by.note(vmpi::FunctionId::kFetch_and_op); }), kSeenAccumulate);
  EXPECT_EQ(seen_after(nothing, [](RaceRecorder& by) { by.note(vmpi::FunctionId::kWin_test); }), kSeenWindowTest);
  EXPECT_EQ(seen_after(nothing, [](RaceRecorder& by) { by.note(vmpi::FunctionId::kPut); }), 0u);
  EXPECT_EQ(seen_after([](RacingProgram& by) { by.free(by.post(MPI_ANY_SOURCE, 5)); }), kSeenFreedReceive);
  EXPECT_EQ(seen_after([](RacingProgram& by) { by.free(by.post(2, 5)); }), 0u);
}

// A thread that ended takes no memory of the record.
TEST_F(RaceRecorderTest, TheDecisionsOfAThreadAreInTheFileAtItsEnd) {
  RaceRecorder recorder([](std::string_view) {});
  ASSERT_EQ(recorder.writer.open(path(), {}, "solver", "abc", "MPI"), "");
  fake_mpi.arrived = {{3, 5}};
  std::thread([&] {
    recorder.thread_ends();  // without a stream: nothing
    RacingProgram program(recorder);
    (void)program.receive(MPI_ANY_SOURCE, MPI_ANY_TAG);
    recorder.thread_ends();
  }).join();
  std::ifstream file(path(), std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const RaceFile found(std::as_bytes(std::span(bytes)), std::nullopt);
  RaceStream stream(found, 1);
  const RaceEntry* const entry = stream.next();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->values, (std::vector<std::int32_t>{3, 5}));
}

}  // namespace
}  // namespace ardoise::instrument

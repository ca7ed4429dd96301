// Why ranks that all stand cannot go on. The wrong programs are told, the right ones that look alike are not.
#include "analyzer/deadlock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ardoise::analyzer {
namespace {

using instrument::Shape;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

StandComm world(std::int32_t ranks) {
  StandComm comm{{1, 0}, {}, "MPI_COMM_WORLD"};
  for (std::int32_t rank = 0; rank < ranks; ++rank) comm.members.push_back(rank);
  return comm;
}
StandComm named(const std::string& name, std::uint32_t instance, std::vector<std::int32_t> members) {
  return {{2, instance}, std::move(members), name};
}

StandOperation receive(std::int32_t from, std::int32_t tag, const StandComm& comm) {
  return {"MPI_Recv", Shape::kReceive, from, tag, comm};
}
StandOperation send(std::int32_t to, std::int32_t tag, const StandComm& comm) {
  return {"MPI_Send", Shape::kSend, to, tag, comm};
}
StandOperation collective(const std::string& name, const StandComm& comm) {
  return {name, Shape::kCollective, -1, 0, comm};
}
StandOperation rooted(const std::string& name, std::int32_t root, const StandComm& comm) {
  return {name, Shape::kRooted, root, 0, comm};
}
StandOperation waiting(const std::string& name) { return {name, Shape::kCompletes, -1, 0, {}}; }

// Ranks 0, 1, … of one world.
class Hang {
 public:
  Hang& in(StandOperation operation, std::vector<StandOperation> parts = {}) {
    StandCall call;
    call.operation = std::move(operation);
    call.parts = std::move(parts);
    call.place = {"main", "/src/a.c", static_cast<std::uint32_t>(10 + stands_.size()), "/bin/a", 0};
    add().mpi = call;
    return *this;
  }
  ProcessStand& add() {
    ProcessStand& stand = stands_.emplace_back();
    stand.process = {0, next_++};
    stand.seconds = 63;
    return stand;
  }
  Hang& finalizes() {
    add().in_finalize = true;
    return *this;
  }
  Hang& ends() {
    ++next_;
    return *this;
  }
  [[nodiscard]] HangReason reason() const { return reason_of_hang(stands_); }

 private:
  std::uint32_t next_ = 0;
  std::vector<ProcessStand> stands_;
};

TEST(Deadlock, ACircleOfReceivesIsToldWithItsPlaces) {
  Hang hang;
  hang.in(receive(1, 5, world(3))).in(receive(2, 5, world(3))).in(receive(0, 5, world(3)));
  const auto reason = hang.reason();
  EXPECT_TRUE(reason.is_fault);
  EXPECT_EQ(
      reason.text,
      "deadlock: rank 0 waits in MPI_Recv in main (a.c:10) with tag 5 for rank 1, which waits in MPI_Recv in main "
      "(a.c:11) with tag 5 for rank 2, which waits in MPI_Recv in main (a.c:12) with tag 5 for rank 0");
}

TEST(Deadlock, CrossedSendsAreACircle) {
  Hang hang;
  hang.in(send(1, 5, world(2))).in(send(0, 5, world(2)));
  EXPECT_THAT(hang.reason().text, StartsWith("deadlock: rank 0 waits in MPI_Send"));
}

TEST(Deadlock, TagsThatDifferAreShown) {
  Hang hang;
  hang.in(receive(1, 5, world(2))).in(send(0, 6, world(2)));
  EXPECT_THAT(hang.reason().text, AllOf(HasSubstr("with tag 5"), HasSubstr("with tag 6")));
}

TEST(Deadlock, AMessageOnItsWayIsNone) {
  Hang hang;
  hang.in(receive(1, instrument::kAnyTag, world(2))).in(send(0, 6, world(2)));
  EXPECT_FALSE(hang.reason().is_fault);
  Hang any;
  any.in(receive(instrument::kAnySource, 6, world(2))).in(send(0, 6, world(2)));
  EXPECT_FALSE(any.reason().is_fault);
}

TEST(Deadlock, OneThatComputesMayReleaseAll) {
  Hang hang;
  hang.in(receive(1, 5, world(3))).in(receive(2, 5, world(3)));
  hang.add().cpu_share = 0.99;
  const auto reason = hang.reason();
  EXPECT_FALSE(reason.is_fault);
  EXPECT_EQ(reason.text, "no fault seen: rank 2 computes for 63.0 s");
}

TEST(Deadlock, ASleeperAStoppedOneAndOneInIoAreNamedAsSuch) {
  const auto text_of = [](const auto& change) {
    Hang hang;
    hang.in(receive(1, 5, world(2)));
    change(hang.add());
    return hang.reason().text;
  };
  EXPECT_THAT(text_of([](ProcessStand& stand) { stand.cpu_share = 0.0; }), HasSubstr("rank 1 sleeps or is blocked"));
  EXPECT_THAT(text_of([](ProcessStand& stand) { stand.is_stopped = true; }), HasSubstr("rank 1 is stopped"));
  EXPECT_THAT(text_of([](ProcessStand& stand) {
                stand.io.emplace().operation.function = "write";
                stand.io->place = {"dump", "/src/dump.c", 88, "", 0};
              }),
              HasSubstr("rank 1 is in write in dump (dump.c:88)"));
}

TEST(Deadlock, AReceiveThatNobodySendsTo) {
  Hang finalized;
  finalized.in(receive(1, 5, world(2))).finalizes();
  EXPECT_EQ(finalized.reason().text,
            "rank 0 waits in MPI_Recv in main (a.c:10) with tag 5 for rank 1, which is in MPI_Finalize");
  Hang ended;
  ended.in(receive(1, 5, world(2))).ends();
  EXPECT_THAT(ended.reason().text, HasSubstr("for rank 1, which has ended MPI"));
}

TEST(Deadlock, ACollectiveThatNotAllHaveCalled) {
  Hang hang;
  hang.in(collective("MPI_Barrier", world(3))).in(collective("MPI_Barrier", world(3))).finalizes();
  EXPECT_THAT(hang.reason().text,
              AllOf(StartsWith("a collective that not all have called: rank 0 waits in MPI_Barrier"),
                    HasSubstr("rank 2 has called MPI_Finalize")));
}

TEST(Deadlock, ACollectiveThatAllAreInIsAtWork) {
  Hang hang;
  hang.in(collective("MPI_Barrier", world(2))).in(collective("MPI_Barrier", world(2)));
  EXPECT_FALSE(hang.reason().is_fault);
}

TEST(Deadlock, DifferentCollectivesAndDifferentRoots) {
  Hang calls;
  calls.in(collective("MPI_Barrier", world(2))).in(collective("MPI_Allreduce", world(2)));
  EXPECT_THAT(calls.reason().text,
              AllOf(StartsWith("different collectives on one communicator"), HasSubstr("rank 0 is in MPI_Barrier"),
                    HasSubstr("rank 1 is in MPI_Allreduce")));
  Hang roots;
  roots.in(rooted("MPI_Bcast", 0, world(2))).in(rooted("MPI_Bcast", 1, world(2)));
  EXPECT_THAT(roots.reason().text, AllOf(StartsWith("a collective with different roots"), HasSubstr("with root 0"),
                                         HasSubstr("with root 1")));
}

TEST(Deadlock, ANonBlockingCollectiveThatOneDoesNotStart) {
  const StandComm comm = world(3);
  Hang wrong;
  for (int i = 0; i < 2; ++i) wrong.in(waiting("MPI_Wait"), {collective("MPI_Ibarrier", comm)});
  wrong.in(collective("MPI_Barrier", comm));
  EXPECT_THAT(wrong.reason().text, AllOf(StartsWith("deadlock: "), HasSubstr("of MPI_Ibarrier for rank 2")));
  // It may have started it before it received.
  Hang right;
  for (int i = 0; i < 2; ++i) right.in(waiting("MPI_Wait"), {collective("MPI_Ibarrier", comm)});
  right.add();
  EXPECT_FALSE(right.reason().is_fault);
}

TEST(Deadlock, CommunicatorsInDifferentOrder) {
  const auto a = named("A", 0, {0, 1}), b = named("B", 1, {0, 1});
  Hang hang;
  hang.in(collective("MPI_Barrier", a)).in(collective("MPI_Barrier", b));
  EXPECT_EQ(
      hang.reason().text,
      "deadlock: rank 0 waits in MPI_Barrier in main (a.c:10) on A for rank 1, which waits in MPI_Barrier in main "
      "(a.c:11) on B for rank 0");
}

TEST(Deadlock, AMessageToItself) {
  Hang hang;
  hang.in(receive(0, 5, world(1)));
  EXPECT_EQ(hang.reason().text, "rank 0 waits in MPI_Recv in main (a.c:10) with tag 5 for itself");
}

TEST(Deadlock, WaitanyIsReleasedByOneAndWaitallByAll) {
  Hang any;
  any.in(waiting("MPI_Waitany"), {receive(1, 5, world(3)), receive(2, 5, world(3))}).in(receive(0, 5, world(3))).add();
  EXPECT_FALSE(any.reason().is_fault);
  Hang all;
  all.in(waiting("MPI_Waitall"), {receive(1, 5, world(3)), receive(2, 5, world(3))}).in(receive(0, 5, world(3))).add();
  EXPECT_TRUE(all.reason().is_fault);
  Hang circle;
  circle.in(waiting("MPI_Waitany"), {receive(1, 5, world(3)), receive(2, 5, world(3))});
  circle.in(receive(0, 5, world(3))).in(receive(1, 5, world(3)));
  EXPECT_TRUE(circle.reason().is_fault);
}

TEST(Deadlock, RanksOfAnotherCommunicatorAreTranslated) {
  const auto pair = named("pair", 0, {2, 0});
  Hang hang;
  hang.in(receive(0, 5, pair));  // of rank 2
  hang.add();
  hang.in(receive(1, 5, pair));  // of rank 0
  EXPECT_THAT(hang.reason().text,
              HasSubstr("for rank 2, which waits in MPI_Recv in main (a.c:12) with tag 5 on pair for "
                        "rank 0"));
}

TEST(Deadlock, WhatIsNotKnownIsNoFault) {
  Hang hang;
  hang.in({"MPI_Win_fence", Shape::kWindow, -1, 0, {}}).in(receive(0, 5, world(2)));
  EXPECT_FALSE(hang.reason().is_fault);
  StandOperation unknown = receive(0, 5, world(2));
  unknown.comm.reset();
  Hang other;
  other.in(unknown).in(receive(0, 5, world(2)));
  EXPECT_FALSE(other.reason().is_fault);
}

}  // namespace
}  // namespace ardoise::analyzer

// Explanations of hangs. Wrong programs are explained; correct ones that look alike are not blamed.
#include "analyzer/hangs/deadlock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ardoise::analyzer {
namespace {

using instrument::Shape;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Comm = std::shared_ptr<const CommView>;

Comm world(std::int32_t ranks) {
  CommView comm{{1, 0}, {}, "MPI_COMM_WORLD"};
  for (std::int32_t rank = 0; rank < ranks; ++rank) comm.members.push_back(rank);
  return std::make_shared<CommView>(comm);
}
Comm named(const std::string& name, std::uint32_t instance, std::vector<std::int32_t> members) {
  return std::make_shared<CommView>(CommView{{2, instance}, std::move(members), name});
}

PendingOperation receive(std::int32_t from, std::int32_t tag, const Comm& comm) {
  return {"MPI_Recv", Shape::kReceive, from, tag, comm};
}
PendingOperation send(std::int32_t to, std::int32_t tag, const Comm& comm) {
  return {"MPI_Send", Shape::kSend, to, tag, comm};
}
PendingOperation collective(const std::string& name, const Comm& comm, std::uint32_t number = 0) {
  return {name, Shape::kCollective, -1, 0, comm, number};
}
PendingOperation rooted(const std::string& name, std::int32_t root, const Comm& comm, std::uint32_t number = 0) {
  return {name, Shape::kRooted, root, 0, comm, number};
}
PendingOperation waiting(const std::string& name) { return {name, Shape::kCompletes, -1, 0, {}}; }

// Ranks 0, 1, … of one world.
class Hang {
 public:
  Hang& in(PendingOperation operation, std::vector<PendingOperation> parts = {}) {
    PendingCall call;
    call.operation = std::move(operation);
    call.parts = std::move(parts);
    call.place = {"main", "/src/a.c", static_cast<std::uint32_t>(10 + processes_.size()), "/bin/a", 0};
    add().mpi = call;
    return *this;
  }
  StalledProcess& add() {
    StalledProcess& stalled = processes_.emplace_back();
    stalled.process = {0, next_++};
    stalled.seconds = 63;
    return stalled;
  }
  Hang& finalizes() {
    add().in_finalize = true;
    return *this;
  }
  Hang& ends() {
    ++next_;
    return *this;
  }
  // Adds earlier calls of the last rank on the communicator.
  Hang& after(const Comm& comm, const std::vector<CollectiveHistory::Call>& calls) {
    processes_.back().collectives[comm->key] = {static_cast<std::uint32_t>(calls.size()), calls};
    return *this;
  }
  StalledProcess& last() { return processes_.back(); }
  [[nodiscard]] HangReason reason() const { return reason_of_hang(processes_); }

 private:
  std::uint32_t next_ = 0;
  std::vector<StalledProcess> processes_;
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

TEST(Deadlock, AMessageInFlightIsNoDeadlock) {
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
  EXPECT_EQ(reason.text, "no fault seen: rank 2 computes for 63.0 s, the others wait for it");
}

TEST(Deadlock, ASleeperAStoppedOneAndOneInIoAreNamedAsSuch) {
  const auto text_of = [](const auto& change) {
    Hang hang;
    hang.in(receive(1, 5, world(2)));
    change(hang.add());
    return hang.reason().text;
  };
  EXPECT_THAT(text_of([](StalledProcess& stalled) {
                stalled.cpu_share = 0.0;
                stalled.sleeps = true;
              }),
              HasSubstr("rank 1 sleeps or is blocked"));
  EXPECT_THAT(text_of([](StalledProcess& stalled) { stalled.is_stopped = true; }), HasSubstr("rank 1 is stopped"));
  EXPECT_THAT(text_of([](StalledProcess& stalled) {
                stalled.io.emplace().operation.function = "write";
                stalled.io->place = {"dump", "/src/dump.c", 88, "", 0};
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
  const Comm comm = world(3);
  Hang wrong;
  for (int i = 0; i < 2; ++i) wrong.in(waiting("MPI_Wait"), {collective("MPI_Ibarrier", comm)});
  wrong.in(receive(0, 5, comm));
  EXPECT_THAT(wrong.reason().text, AllOf(StartsWith("deadlock: "), HasSubstr("of MPI_Ibarrier for rank 2")));
  Hang other;
  for (int i = 0; i < 2; ++i) other.in(waiting("MPI_Wait"), {collective("MPI_Ibarrier", comm)});
  other.in(collective("MPI_Barrier", comm));
  EXPECT_THAT(other.reason().text, StartsWith("different collectives on one communicator: rank 2 is in MPI_Barrier"));
  // It may have started the request before its receive.
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
  PendingOperation unknown = receive(0, 5, world(2));
  unknown.comm.reset();
  Hang other;
  other.in(unknown).in(receive(0, 5, world(2)));
  EXPECT_FALSE(other.reason().is_fault);
}

// "if (rank == 1) sleep(64); MPI_Reduce(… 0 …); MPI_Barrier(…);"
TEST(Deadlock, RanksThatLeaveARootedCollectiveEarlyAreNotInAnother) {
  const Comm comm = world(3);
  Hang hang;
  hang.in(rooted("MPI_Reduce", 0, comm));
  hang.add().computes = {"work", "/src/a.c", 3, "/bin/a", 0};
  hang.in(collective("MPI_Barrier", comm, 1)).after(comm, {{"MPI_Reduce", 0}});
  const auto reason = hang.reason();
  EXPECT_FALSE(reason.is_fault);
  EXPECT_EQ(reason.text, "no fault seen: rank 1 computes in work (a.c:3) for 63.0 s, the others wait for it");
}

TEST(Deadlock, ARankThatLeftADifferentCollectiveIsNamed) {
  const Comm comm = world(3);
  Hang hang;
  hang.in(collective("MPI_Barrier", comm, 2)).after(comm, {{"MPI_Reduce", 0}, {"MPI_Bcast", 0}});
  for (int i = 0; i < 2; ++i) hang.in(collective("MPI_Barrier", comm, 1)).after(comm, {{"MPI_Reduce", 0}});
  EXPECT_EQ(hang.reason().text,
            "different collectives on one communicator: ranks 1 and 2 are in MPI_Barrier in main (a.c:11); rank 0 has "
            "called MPI_Bcast");
}

TEST(Deadlock, ARankThatIsBehindAndBlockedIsADeadlock) {
  const Comm comm = world(3);
  Hang hang;
  hang.in(collective("MPI_Barrier", comm, 1)).after(comm, {{"MPI_Reduce", 1}});
  hang.in(receive(0, 5, comm));
  hang.add();
  EXPECT_THAT(hang.reason().text, StartsWith("deadlock: rank 0 waits in MPI_Barrier"));
}

TEST(Deadlock, ARootedCollectiveMayNotNeedAllRanks) {
  const Comm comm = world(3);
  Hang spread;  // from rank 0, perhaps through rank 2
  spread.in(receive(1, 5, comm)).in(rooted("MPI_Bcast", 0, comm)).add();
  EXPECT_THAT(spread.reason().text, StartsWith("deadlock: rank 0 waits in MPI_Recv"));
  Hang at_root;
  at_root.in(rooted("MPI_Bcast", 0, comm)).in(receive(0, 5, comm)).add();
  EXPECT_FALSE(at_root.reason().is_fault);
}

TEST(Deadlock, WithoutTheStateOfRequestsOneOfThemIsPending) {
  const Comm comm = world(3);
  auto of_1 = receive(1, 5, comm), of_2 = receive(2, 5, comm);
  of_1.may_be_done = of_2.may_be_done = true;
  Hang right;
  right.in(waiting("MPI_Waitall"), {of_1, of_2}).in(receive(0, 5, comm)).add();
  EXPECT_FALSE(right.reason().is_fault);
  Hang wrong;
  wrong.in(waiting("MPI_Waitall"), {of_1, of_2}).in(receive(0, 5, comm)).in(receive(0, 6, comm));
  EXPECT_TRUE(wrong.reason().is_fault);
  Hang missing;  // one may be among the remaining ranks
  missing.in(waiting("MPI_Waitall"), {of_1}).last().mpi->parts_missing = true;
  missing.in(receive(0, 5, comm)).in(receive(0, 6, comm));
  EXPECT_FALSE(missing.reason().is_fault);
}

TEST(Deadlock, EitherHalfOfASendrecvMayBeDone) {
  const Comm comm = world(4);
  const auto exchange = [&](std::int32_t to, std::int32_t from) {
    PendingOperation half = send(to, 5, comm);
    half.function = "MPI_Sendrecv";
    PendingOperation other = receive(from, 5, comm);
    half.may_be_done = other.may_be_done = true;
    return std::pair(half, std::vector{other});
  };
  Hang ring;
  for (const std::int32_t rank : {0, 1, 2}) {
    const auto [half, other] = exchange(rank + 1, (rank + 3) % 4);
    ring.in(half, other);
  }
  ring.add();
  EXPECT_FALSE(ring.reason().is_fault);
  Hang stuck;
  const auto [half, other] = exchange(1, 1);
  stuck.in(half, other).in(receive(0, 6, comm));
  EXPECT_THAT(stuck.reason().text, StartsWith("deadlock: rank 0 waits in MPI_Sendrecv"));
}

TEST(Deadlock, AnotherThreadMaySend) {
  const Comm comm = world(2);
  Hang hang;
  hang.in(receive(1, 5, comm)).in(receive(0, 5, comm)).last().has_free_threads = true;
  EXPECT_EQ(hang.reason().text,
            "no fault seen: rank 1 is in MPI_Recv in main (a.c:11), and has threads that are not in MPI, for 63.0 s, "
            "the other waits for it");
  Hang all_inside;
  all_inside.in(receive(1, 5, comm)).in(receive(0, 5, comm));
  PendingCall second;
  second.operation = receive(0, 6, comm);
  all_inside.last().others.push_back(second);
  EXPECT_TRUE(all_inside.reason().is_fault);
  all_inside.last().others[0].operation = {"MPI_Win_fence", Shape::kWindow, -1, 0};
  EXPECT_FALSE(all_inside.reason().is_fault);
}

// A spawned child, a program that was connected.
TEST(Deadlock, RanksOutsideTheWorldAreNotBlamed) {
  CommView bridge{{3, 0}, {-1}, ""};
  bridge.is_inter = true;
  bridge.is_whole = false;
  const auto comm = std::make_shared<CommView>(bridge);
  Hang hang;
  hang.in(receive(0, 5, comm)).in(collective("MPI_Barrier", world(2)));
  const auto reason = hang.reason();
  EXPECT_FALSE(reason.is_fault);
  EXPECT_THAT(reason.text, AllOf(HasSubstr("rank 0 is in MPI_Recv in main (a.c:10) with tag 5"),
                                 HasSubstr("for another program, for 63.0 s, the other waits for it")));
  Hang any;
  any.in(receive(instrument::kAnySource, 5, comm)).in(receive(0, 5, world(2)));
  EXPECT_FALSE(any.reason().is_fault);
}

TEST(Deadlock, CommunicatorsWithoutNamesHaveNumbers) {
  const Comm one = named("", 0, {0, 1}), two = named("", 1, {0, 1});
  Hang hang;
  hang.in(collective("MPI_Barrier", one)).in(collective("MPI_Barrier", two));
  EXPECT_THAT(hang.reason().text, AllOf(HasSubstr("on communicator 1 of ranks 0 and 1 for rank 1"),
                                        HasSubstr("on communicator 2 of ranks 0 and 1 for rank 0")));
  Hang same;  // names without meaning
  same.in(collective("MPI_Barrier", named("row", 0, {0, 1}))).in(collective("MPI_Barrier", named("row", 1, {0, 1})));
  EXPECT_THAT(same.reason().text, AllOf(HasSubstr("on row (communicator 1 of ranks 0 and 1) for rank 1"),
                                        HasSubstr("on row (communicator 2 of ranks 0 and 1) for rank 0")));
}

TEST(Deadlock, NamesArePrintable) {
  const Comm row = named("\x1B[2Jrow\n", 0, {0, 1});
  Hang hang;
  hang.in(receive(1, 5, row)).in(receive(0, 5, row));
  EXPECT_THAT(hang.reason().text,
              AllOf(HasSubstr("[2Jrow"), ::testing::Not(HasSubstr("\x1B")), ::testing::Not(HasSubstr("\n"))));
}

TEST(Deadlock, OnlySleepingRanksAreSaidToSleep) {
  const auto text_of = [](std::optional<double> share, bool sleeps) {
    Hang hang;
    hang.in(receive(1, 5, world(2)));
    StalledProcess& stalled = hang.add();
    stalled.cpu_share = share;
    stalled.sleeps = sleeps;
    return hang.reason().text;
  };
  EXPECT_THAT(text_of(0.2, false), HasSubstr("rank 1 computes for"));  // on a full host
  EXPECT_THAT(text_of(0.9, true), HasSubstr("rank 1 computes for"));
  EXPECT_THAT(text_of(0.2, true), HasSubstr("rank 1 is outside MPI for"));
  EXPECT_THAT(text_of(std::nullopt, true), HasSubstr("rank 1 is outside MPI for"));
  EXPECT_THAT(text_of(0.0, true), HasSubstr("rank 1 sleeps or is blocked outside MPI for"));
}

TEST(Deadlock, WhereNothingIsKnownItIsSaidWhereTheRanksAre) {
  Hang hang;
  for (int i = 0; i < 2; ++i) hang.in({"MPI_Win_fence", Shape::kWindow, -1, 0});
  hang.in(receive(0, 5, world(3)));
  EXPECT_EQ(hang.reason().text,
            "no fault seen: rank 0 is in MPI_Win_fence in main (a.c:10) for 63.0 s; rank 1 is in MPI_Win_fence in main "
            "(a.c:11) for 63.0 s, the other waits for them");
}

// The time grows with the number of ranks: each of these waits for one or all of the others.
TEST(Deadlock, ManyRanksAreExplainedInTime) {
  constexpr std::int32_t kRanks = 20'000;
  const Comm comm = world(kRanks);
  Hang hang;
  for (std::int32_t rank = 0; rank + 1 < kRanks; ++rank) {
    if (rank % 2 == 0) {
      hang.in(collective("MPI_Barrier", comm));
    } else {
      hang.in(receive(rank % 3 == 0 ? instrument::kAnySource : rank - 1, 5, comm));
    }
  }
  hang.in(receive(0, 5, comm));
  EXPECT_TRUE(hang.reason().is_fault);
}

}  // namespace
}  // namespace ardoise::analyzer

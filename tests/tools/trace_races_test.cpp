// `ardoise trace races`: finds receives with wildcards that could have received another message.
#include "tools/ardoise/trace/races/trace_races.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>

#include "knowledge_sources/otf2/reader/time_order.hpp"
#include "tests/replay/made_archive.hpp"
#include "tests/tools/command_words.hpp"
#include "tools/ardoise/trace/trace.hpp"

namespace ardoise::launcher {
namespace {

using knowledge_sources::ArchiveReader;
using replay::MadeArchive;
using replay::ScratchFolder;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

constexpr OTF2_RegionRef kSendCall = 0, kReceiveCall = 1, kBarrierCall = 2, kProbeCall = 3, kPostCall = 4,
                         kWaitCall = 5, kRootedCall = 6, kStartCall = 7;
constexpr OTF2_AttributeRef kSourceKey = 0, kTagKey = 1, kCommKey = 2, kPeerKey = 3, kPeerTagKey = 4, kFlagKey = 5,
                            kPreparedKey = 6, kPersistentKey = 7;
constexpr std::int64_t kAny = -2, kAnyTag = -1;

// A program that the test writes, in one global order of time.
class MadeRaces : public ::testing::Test {
 protected:
  MadeRaces() : archive_(folder_.path() / "made") {}
  struct Given {
    OTF2_AttributeRef key;
    std::int64_t value;
  };
  void enter(std::uint64_t rank, OTF2_RegionRef region, const std::vector<Given>& given = {}) {
    OTF2_AttributeList* const list = OTF2_AttributeList_New();
    for (const Given& each : given) {
      if (each.key == kCommKey) {
        OTF2_AttributeList_AddCommRef(list, each.key, static_cast<OTF2_CommRef>(each.value));
      } else if (each.key == kPersistentKey) {
        OTF2_AttributeList_AddStringRef(list, each.key, static_cast<OTF2_StringRef>(each.value));
      } else if (each.key == kPreparedKey) {
        OTF2_AttributeList_AddUint64(list, each.key, static_cast<std::uint64_t>(each.value));
      } else if (each.key == kFlagKey) {
        OTF2_AttributeList_AddUint8(list, each.key, static_cast<std::uint8_t>(each.value));
      } else {
        OTF2_AttributeList_AddInt64(list, each.key, each.value);
      }
    }
    OTF2_EvtWriter_Enter(writer(rank), list, tick(rank), region);
    OTF2_AttributeList_Delete(list);
  }
  void leave(std::uint64_t rank, OTF2_RegionRef region) {
    OTF2_EvtWriter_Leave(writer(rank), nullptr, tick(rank), region);
  }
  void send(std::uint64_t from, std::uint32_t to, std::uint32_t tag = 7) {
    enter(from, kSendCall);
    OTF2_EvtWriter_MpiSend(writer(from), nullptr, tick(from), to, 0, tag, 8);
    leave(from, kSendCall);
  }
  void receive(std::uint64_t at, std::uint32_t from, std::uint32_t tag, std::int64_t source, std::int64_t tag_given) {
    enter(at, kReceiveCall, {{kSourceKey, source}, {kTagKey, tag_given}});
    OTF2_EvtWriter_MpiRecv(writer(at), nullptr, tick(at), from, 0, tag, 8);
    leave(at, kReceiveCall);
  }
  void receive_any(std::uint64_t at, std::uint32_t from, std::uint32_t tag = 7) { receive(at, from, tag, kAny, tag); }
  void receive_from(std::uint64_t at, std::uint32_t from, std::uint32_t tag = 7) { receive(at, from, tag, from, tag); }
  void post(std::uint64_t at, std::uint64_t request, std::int64_t source, std::int64_t tag = 7) {
    enter(at, kPostCall, {{kSourceKey, source}, {kTagKey, tag}, {kCommKey, 0}});
    OTF2_EvtWriter_MpiIrecvRequest(writer(at), nullptr, tick(at), request);
    leave(at, kPostCall);
  }
  void wait(std::uint64_t at, std::uint64_t request, std::uint32_t from, std::uint32_t tag = 7) {
    enter(at, kWaitCall);
    OTF2_EvtWriter_MpiIrecv(writer(at), nullptr, tick(at), from, 0, tag, 8, request);
    leave(at, kWaitCall);
  }
  void collective(std::uint64_t at, OTF2_CollectiveOp operation = OTF2_COLLECTIVE_OP_BARRIER,
                  std::uint32_t root = OTF2_UNDEFINED_UINT32) {
    const OTF2_RegionRef region = root == OTF2_UNDEFINED_UINT32 ? kBarrierCall : kRootedCall;
    enter(at, region);
    OTF2_EvtWriter_MpiCollectiveBegin(writer(at), nullptr, tick(at));
    OTF2_EvtWriter_MpiCollectiveEnd(writer(at), nullptr, tick(at), operation, 0, root, 8, 8);
    leave(at, region);
  }
  // of: a location, which is a rank unless `threads_` is set.
  OTF2_EvtWriter* writer(std::uint64_t of) { return archive_.events(of); }
  std::uint64_t tick(std::uint64_t of) { return ++time_ + shifts_[of / threads_]; }

  void close(std::uint32_t ranks = 3, bool with_keys = true) {
    for (std::uint64_t each = 0; each < ranks * threads_; ++each) (void)writer(each);
    archive_.clock(0, time_ + 100'000);
    EXPECT_EQ(archive_.string("5"), 0u);  // the string that kPersistentKey refers to
    archive_.processes(ranks, 1, threads_);
    archive_.region(kSendCall, "MPI_Send", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "a.c", 17);
    archive_.region(kReceiveCall, "MPI_Recv", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, "a.c", 18);
    archive_.region(kBarrierCall, "MPI_Barrier", OTF2_PARADIGM_MPI);
    archive_.region(kProbeCall, "MPI_Probe", OTF2_PARADIGM_MPI);
    archive_.region(kPostCall, "MPI_Irecv", OTF2_PARADIGM_MPI);
    archive_.region(kWaitCall, "MPI_Wait", OTF2_PARADIGM_MPI);
    archive_.region(kRootedCall, "MPI_Bcast", OTF2_PARADIGM_MPI);
    archive_.region(kStartCall, "MPI_Start", OTF2_PARADIGM_MPI);
    const auto key = [&](OTF2_AttributeRef number, const char* name, OTF2_Type type) {
      OTF2_GlobalDefWriter_WriteAttribute(archive_.global(), number, archive_.string(name), archive_.string(""), type);
    };
    if (with_keys) {
      key(kSourceKey, "ardoise::source", OTF2_TYPE_INT64);
      key(kTagKey, "ardoise::tag", OTF2_TYPE_INT64);
      key(kCommKey, "ardoise::comm", OTF2_TYPE_COMM);
      key(kPeerKey, "ardoise::peer", OTF2_TYPE_INT64);
      key(kPeerTagKey, "ardoise::peertag", OTF2_TYPE_INT64);
      key(kFlagKey, "ardoise::flag", OTF2_TYPE_UINT8);
      key(kPreparedKey, "ardoise::prepared", OTF2_TYPE_UINT64);
      key(kPersistentKey, "ardoise::persistent", OTF2_TYPE_STRING);
    }
    made_ = archive_.close();
  }
  const TraceRaces& races(std::uint32_t ranks = 3, std::size_t room = RaceWindows::kMost) {
    close(ranks);
    reader_ = std::make_unique<ArchiveReader>(made_);
    races_ = std::make_unique<TraceRaces>(reader_->definitions(), room);
    (void)knowledge_sources::read_in_order(*reader_, *races_);
    races_->finish();
    return *races_;
  }
  [[nodiscard]] RacingSite at(OTF2_RegionRef region) const {
    const auto found = races_->sites().find(region);
    return found == races_->sites().end() ? RacingSite{} : found->second;
  }

  ScratchFolder folder_;
  MadeArchive archive_;
  std::filesystem::path made_;
  std::uint64_t time_ = 0;
  std::uint32_t threads_ = 1;                      // of each process
  std::map<std::uint64_t, std::uint64_t> shifts_;  // offset of a rank's clock
  std::unique_ptr<ArchiveReader> reader_;
  std::unique_ptr<TraceRaces> races_;
};

TEST_F(MadeRaces, MessagesOfOneSenderDoNotRace) {
  for (int i = 0; i < 3; ++i) send(1, 0);
  for (int i = 0; i < 3; ++i) receive_any(0, 1);
  EXPECT_THAT(races().text(), HasSubstr("None of 3 receives with wildcards"));
  EXPECT_EQ(at(kReceiveCall).receives, 3u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, TwoSendersRaceAndTheFirstReceiveIsTold) {
  send(1, 0);
  send(2, 0);
  receive_any(0, 2);
  receive_any(0, 1);
  const std::string text = races().text();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
  EXPECT_THAT(at(kReceiveCall).others, UnorderedElementsAre(1u));
  EXPECT_THAT(text, AllOf(HasSubstr("MPI_Recv, a.c:18, ranks 0"),
                          HasSubstr("got 8 bytes with tag 7 from rank 2, sent by MPI_Send, a.c:17"),
                          HasSubstr("could have got 8 bytes with tag 7 from rank 1"),
                          HasSubstr("1 of 2 receives with wildcards could have had")));
}

TEST_F(MadeRaces, AMessageThatNobodyReceivedRaces) {
  send(1, 0);
  send(2, 0);
  receive_any(0, 2);
  EXPECT_THAT(races().text(), HasSubstr("which was never received"));
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
}

TEST_F(MadeRaces, AReceiveThatNamesTheSenderTakesItFromOneBefore) {
  send(1, 0);
  send(2, 0);
  receive_any(0, 2);
  receive_from(0, 1);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 1u);
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
}

TEST_F(MadeRaces, AChainOfMessagesOrders) {
  send(1, 0);
  receive_any(0, 1);
  send(0, 3, 1);
  receive_from(3, 0, 1);
  send(3, 2, 1);
  receive_from(2, 3, 1);
  send(2, 0);
  receive_any(0, 2);
  (void)races(4);
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, ABarrierOrders) {
  send(1, 0);
  receive_any(0, 1);
  for (std::uint64_t rank = 0; rank < 3; ++rank) collective(rank);
  send(2, 0);
  receive_any(0, 2);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, ABroadcastOrdersAfterItsRootOnly) {
  send(1, 0);
  receive_any(0, 1);
  for (const std::uint64_t rank : {1u, 0u, 2u}) collective(rank, OTF2_COLLECTIVE_OP_BCAST, 1);
  send(2, 0);
  receive_any(0, 2);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
}

TEST_F(MadeRaces, ABroadcastOfTheReceiverOrders) {
  send(1, 0);
  receive_any(0, 1);
  for (const std::uint64_t rank : {1u, 0u, 2u}) collective(rank, OTF2_COLLECTIVE_OP_BCAST, 0);
  send(2, 0);
  receive_any(0, 2);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, TagsOfOneSenderDoNotRace) {
  send(1, 0, 7);
  send(1, 0, 8);
  receive(0, 1, 7, kAny, kAnyTag);
  receive(0, 1, 8, kAny, kAnyTag);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, ATagThatTheReceiveWouldNotTakeDoesNotRace) {
  send(1, 0, 7);
  send(2, 0, 8);
  receive_any(0, 1, 7);
  receive_any(0, 2, 8);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, AndAnyTagTakesIt) {
  send(1, 0, 7);
  send(2, 0, 8);
  receive(0, 1, 7, kAny, kAnyTag);
  receive_any(0, 2, 8);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
}

// The receive posted first completes last. The message of the second receive was sent after the post of the first only.
TEST_F(MadeRaces, ReceivesThatDoNotBlockRaceInTheOrderOfPosting) {
  post(0, 1, kAny);
  post(0, 2, kAny);
  send(1, 0);
  send(2, 0);
  wait(0, 2, 2);
  wait(0, 1, 1);
  (void)races();
  EXPECT_EQ(at(kPostCall).receives, 2u);
  EXPECT_EQ(at(kPostCall).racing, 1u);
  ASSERT_TRUE(at(kPostCall).example.has_value());
  EXPECT_EQ(at(kPostCall).example->got.sender, 1u);
}

TEST_F(MadeRaces, AProbeChoosesForTheReceiveAfterIt) {
  send(1, 0);
  send(2, 0);
  enter(0, kProbeCall, {{kSourceKey, kAny}, {kTagKey, 7}, {kCommKey, 0}, {kPeerKey, 1}, {kPeerTagKey, 7}});
  leave(0, kProbeCall);
  receive_from(0, 1);
  receive_from(0, 2);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 0u);
  EXPECT_EQ(at(kProbeCall).receives, 1u);
  EXPECT_EQ(at(kProbeCall).racing, 1u);
}

TEST_F(MadeRaces, AMessageThatWasSentSinceTheProbeDoesNotRace) {
  send(1, 0);
  enter(0, kProbeCall, {{kSourceKey, kAny}, {kTagKey, 7}, {kCommKey, 0}, {kPeerKey, 1}, {kPeerTagKey, 7}});
  leave(0, kProbeCall);
  send(0, 2, 1);
  receive_from(2, 0, 1);
  send(2, 0);
  receive_from(0, 1);
  receive_from(0, 2);
  (void)races();
  EXPECT_EQ(at(kProbeCall).receives, 1u);
  EXPECT_EQ(at(kProbeCall).racing, 0u);
}

// Rank 1 sends between the two halves of the barrier and is not ordered by it. Rank 2 sends after it and is ordered.
TEST_F(MadeRaces, ABarrierThatDoesNotBlockOrdersWhatFollowsItsCompletion) {
  send(3, 0);
  receive_any(0, 3);
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    enter(rank, kBarrierCall, {{kCommKey, 0}});
    OTF2_EvtWriter_NonBlockingCollectiveRequest(writer(rank), nullptr, tick(rank), 1);
    leave(rank, kBarrierCall);
  }
  // Rank 0 needs this message before it completes the barrier.
  send(1, 0);
  receive_from(0, 1);
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    enter(rank, kWaitCall);
    OTF2_EvtWriter_NonBlockingCollectiveComplete(writer(rank), nullptr, tick(rank), OTF2_COLLECTIVE_OP_BARRIER, 0,
                                                 OTF2_UNDEFINED_UINT32, 0, 0, 1);
    leave(rank, kWaitCall);
  }
  send(2, 0);
  receive_any(0, 2);
  EXPECT_THAT(races(4).notes(), "");
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
  EXPECT_THAT(at(kReceiveCall).others, UnorderedElementsAre(1u));
}

TEST_F(MadeRaces, PersistentReceivesHaveTheWildcardsOfTheirPreparation) {
  send(1, 0);
  send(2, 0);
  enter(0, kPostCall, {{kSourceKey, kAny}, {kTagKey, 7}, {kCommKey, 0}, {kPreparedKey, 5}});
  leave(0, kPostCall);
  for (const std::uint32_t from : {1u, 2u}) {
    enter(0, kStartCall, {{kPersistentKey, 0}});
    OTF2_EvtWriter_MpiIrecvRequest(writer(0), nullptr, tick(0), from);
    leave(0, kStartCall);
    wait(0, from, from);
  }
  (void)races();
  EXPECT_EQ(at(kStartCall).receives, 2u);
  EXPECT_EQ(at(kStartCall).racing, 1u);
}

// Rank 2's part of the barrier is missing, and so is an end of a message of rank 0. The rest is still judged.
TEST_F(MadeRaces, WhatIsMissingIsCountedAndHoldsNothingBack) {
  collective(0);
  collective(1);
  receive_from(0, 2);
  send(1, 0);
  send(2, 0);
  receive_any(0, 1);
  enter(0, kReceiveCall);
  OTF2_EvtWriter_MpiRecv(writer(0), nullptr, tick(0), 2, 0, 7, 8);
  leave(0, kReceiveCall);
  EXPECT_THAT(races().notes(), AllOf(HasSubstr("may have had wildcards: 1.\n"), HasSubstr("less known: 1.\n"),
                                     HasSubstr("other parts are not in the trace: 2.\n")));
  EXPECT_EQ(at(kReceiveCall).receives, 1u);
}

TEST_F(MadeRaces, AnswersThatTimeDecidedAreCounted) {
  for (int i = 0; i < 3; ++i) {
    enter(0, kWaitCall, {{kFlagKey, i == 2 ? 1 : 0}});
    leave(0, kWaitCall);
  }
  const std::string text = races().text();
  EXPECT_THAT(text, AllOf(HasSubstr("           3             1  MPI_Wait, ranks 0"),
                          HasSubstr("No receive with a wildcard got one of 0 messages")));
}

TEST_F(MadeRaces, WhatHasNoRoomIsCounted) {
  send(2, 0);
  for (int i = 0; i < 40; ++i) {
    send(1, 0);
    receive_any(0, 1);
  }
  receive_any(0, 2);
  const std::string notes = races(3, 16).notes();
  EXPECT_EQ(at(kReceiveCall).receives, 41u);
  EXPECT_LE(at(kReceiveCall).racing, 16u);
  EXPECT_GT(at(kReceiveCall).racing, 0u);
  EXPECT_THAT(notes, HasSubstr("there was no room any more: 1.\n"));
}

TEST_F(MadeRaces, WhatEverybodyHasSeenNeedsNoRoom) {
  for (int i = 0; i < 40; ++i) {
    send(1, 0);
    receive_any(0, 1);
    for (std::uint64_t rank = 0; rank < 3; ++rank) collective(rank);
  }
  EXPECT_THAT(races(3, 16).notes(), "");
  EXPECT_EQ(at(kReceiveCall).receives, 40u);
}

TEST_F(MadeRaces, WithoutArgumentsItSaysSo) {
  send(1, 0);
  enter(0, kReceiveCall);
  OTF2_EvtWriter_MpiRecv(writer(0), nullptr, tick(0), 1, 0, 7, 8);
  leave(0, kReceiveCall);
  close(3, false);
  const CommandLine line = line_of({"trace", "races", made_.string()});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(trace(line), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("does not have the arguments of calls"), HasSubstr("attributes=arguments")));
}

// Threads 0 and 1 belong to rank 0, 2 to rank 1, 4 to rank 2. The threads of rank 0 are not ordered.
TEST_F(MadeRaces, ThreadsOfAProcessAreNotOrdered) {
  threads_ = 2;
  send(2, 0);
  send(4, 0);
  receive_any(0, 1);
  receive_any(1, 2);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 2u);
  EXPECT_THAT(at(kReceiveCall).others, UnorderedElementsAre(1u, 2u));
}

TEST_F(MadeRaces, AMessageBetweenThreadsOrdersThem) {
  threads_ = 2;
  send(2, 0);
  send(4, 0);
  receive_any(0, 1);
  send(0, 0, 9);
  receive_from(1, 0, 9);
  receive_any(1, 2);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 1u);
}

TEST_F(MadeRaces, ARequestThatAnotherThreadCompletesComesAfterItsPost) {
  threads_ = 2;
  send(2, 0, 8);
  receive(0, 1, 8, kAny, 8);
  post(0, 1, 1);
  send(2, 0);
  wait(1, 1, 1);
  // The sender knows of the receive with tag 8 and passes this on to rank 2.
  send(1, 2, 1);
  receive_from(4, 0, 1);
  send(4, 0, 8);
  receive(1, 2, 8, kAny, 8);
  (void)races();
  EXPECT_EQ(at(kReceiveCall).receives, 2u);
  EXPECT_EQ(at(kReceiveCall).racing, 0u);
}

TEST_F(MadeRaces, WhatThreadsGotWithoutRoomIsCounted) {
  threads_ = 2;
  for (int i = 0; i < 40; ++i) {
    send(2, 0);
    receive_from(0, 1);
  }
  send(2, 0);
  receive_any(1, 1);
  EXPECT_THAT(races(3, 16).notes(), HasSubstr("there was no room any more: 1.\n"));
}

TEST_F(MadeRaces, AMessageThatIsProbedTwiceIsChosenOnce) {
  send(1, 0);
  send(2, 0);
  enter(0, kProbeCall, {{kSourceKey, kAny}, {kTagKey, 7}, {kCommKey, 0}, {kPeerKey, 1}, {kPeerTagKey, 7}});
  leave(0, kProbeCall);
  enter(0, kProbeCall, {{kSourceKey, kAny}, {kTagKey, 7}, {kCommKey, 0}, {kPeerKey, 1}, {kPeerTagKey, 7}});
  leave(0, kProbeCall);
  receive_from(0, 1);
  receive_from(0, 2);
  (void)races();
  EXPECT_EQ(at(kProbeCall).receives, 1u);
  EXPECT_EQ(at(kProbeCall).racing, 1u);
}

TEST_F(MadeRaces, ExitStatusIsThreeAndCsvHasARowForEachCallSite) {
  send(1, 0);
  send(2, 0);
  receive_any(0, 2);
  receive_any(0, 1);
  for (int i = 0; i < 3; ++i) {
    enter(0, kWaitCall, {{kFlagKey, i == 2 ? 1 : 0}});
    leave(0, kWaitCall);
  }
  close();
  const CommandLine line = line_of({"trace", "races", made_.string(), "--csv"});
  std::fflush(stdout);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(trace(line), 3);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "kind,function,file,line,ranks,calls,racing,other_senders,found,example_time_seconds,example_rank,"
            "example_sender,example_other_sender\n"
            "receive,MPI_Recv,a.c,18,0,2,1,1,,0.000000008,0,2,1\n"
            "timed,MPI_Wait,,,0,3,,,1,,,,\n");
}

TEST_F(MadeRaces, ExitStatusIsZeroWithoutRaces) {
  send(1, 0);
  receive_any(0, 1);
  close();
  const CommandLine line = line_of({"trace", "races", made_.string()});
  std::fflush(stdout);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(trace(line), 0);
  EXPECT_THAT(::testing::internal::GetCapturedStdout(), HasSubstr("None of 1 receive with wildcards"));
}

// Random programs, run by a small model of MPI. The races must match the definition in race_windows.hpp, with "before"
// computed from all paths.
struct RandomRun {
  unsigned seed;
  std::uint32_t threads;
};

class RandomRaces : public MadeRaces, public ::testing::WithParamInterface<RandomRun> {
 protected:
  static constexpr std::uint32_t kRanks = 4;
  struct Message {
    std::uint32_t from, to, tag;  // ranks
    std::size_t sent;             // node
    std::optional<std::size_t> receive;
  };
  struct Receive {
    std::uint32_t rank;
    std::int64_t source, tag;
    OTF2_RegionRef region;
    std::size_t posted, completed = SIZE_MAX;  // nodes
    std::optional<std::size_t> message = std::nullopt;
  };
  struct Rank {
    std::vector<std::size_t> posted;   // receives without message, in order
    std::vector<std::size_t> active;   // not completed
    std::vector<std::size_t> arrived;  // messages without receive, in order
  };

  std::uint32_t below(std::uint32_t most) { return static_cast<std::uint32_t>(random_() % most); }
  std::size_t add_node(std::uint32_t thread, const std::vector<std::size_t>& causes = {}) {
    auto& before = before_.emplace_back(before_.size() + 1, false);
    const auto add = [&](std::size_t cause) {
      before[cause] = true;
      for (std::size_t i = 0; i < before_[cause].size(); ++i) before[i] = before[i] || before_[cause][i];
    };
    for (const std::size_t cause : causes) add(cause);
    if (const auto last = last_.find(thread); last != last_.end()) add(last->second);
    return last_[thread] = before_.size() - 1;
  }
  [[nodiscard]] bool is_before(std::size_t first, std::size_t second) const {
    return first < before_[second].size() && before_[second][first];
  }
  [[nodiscard]] static bool fits(const Receive& receive, const Message& message) {
    return (receive.source == kAny || receive.source == message.from) &&
           (receive.tag == kAnyTag || receive.tag == message.tag);
  }

  void step(std::uint32_t thread) {
    const std::uint32_t what = below(20), rank = thread / threads_;
    if (what == 0) return collective_of_all();
    if (what < 8) return do_send(thread);
    if (what < 12) return deliver(rank);
    if (what < 15 && !ranks_[rank].active.empty())
      return complete(thread, ranks_[rank].active[below(static_cast<std::uint32_t>(ranks_[rank].active.size()))]);
    do_post(thread, what < 18);
  }
  void do_send(std::uint32_t thread) {
    const std::uint32_t to = below(kRanks), tag = below(2), from = thread / threads_;
    send(thread, to, tag);
    messages_.push_back({from, to, tag, add_node(thread), std::nullopt});
    network_[{from, to}].push_back(messages_.size() - 1);
  }
  // Delivers the next message of a sender to this rank.
  void deliver(std::uint32_t rank) {
    auto& channel = network_[{below(kRanks), rank}];
    if (channel.empty()) return;
    const std::size_t message = channel.front();
    channel.pop_front();
    auto& posted = ranks_[rank].posted;
    const auto found = std::find_if(posted.begin(), posted.end(),
                                    [&](std::size_t each) { return fits(receives_[each], messages_[message]); });
    if (found == posted.end()) return ranks_[rank].arrived.push_back(message);
    match(*found, message);
    posted.erase(found);
  }
  void match(std::size_t receive, std::size_t message) {
    receives_[receive].message = message;
    messages_[message].receive = receive;
  }
  void do_post(std::uint32_t thread, bool is_blocking) {
    const std::uint32_t rank = thread / threads_;
    Receive receive{.rank = rank,
                    .source = below(3) == 0 ? std::int64_t{below(kRanks)} : kAny,
                    .tag = below(3) == 0 ? kAnyTag : std::int64_t{below(2)},
                    .region = is_blocking ? kReceiveCall : kPostCall,
                    .posted = 0};
    auto& arrived = ranks_[rank].arrived;
    const auto found = std::find_if(arrived.begin(), arrived.end(),
                                    [&](std::size_t message) { return fits(receive, messages_[message]); });
    // A blocking receive must not wait forever, and the trace lacks the time of its post.
    if (is_blocking && found == arrived.end()) return;
    receive.posted = add_node(thread);
    const std::size_t number = receives_.size();
    receives_.push_back(receive);
    if (!is_blocking) post(thread, number, receive.source, receive.tag);
    if (found == arrived.end()) {
      ranks_[rank].posted.push_back(number);
    } else {
      match(number, *found);
      arrived.erase(found);
    }
    if (!is_blocking) return ranks_[rank].active.push_back(number);
    const Message& message = messages_[*receives_[number].message];
    receives_[number].completed = add_node(thread, {message.sent});
    MadeRaces::receive(thread, message.from, message.tag, receive.source, receive.tag);
  }
  // Completes a receive by any thread of its rank.
  void complete(std::uint32_t thread, std::size_t number) {
    Receive& receive = receives_[number];
    if (!receive.message) return;
    const Message& message = messages_[*receive.message];
    receive.completed = add_node(thread, {message.sent, receive.posted});
    wait(thread, number, message.from, message.tag);
    std::erase(ranks_[receive.rank].active, number);
  }
  // One thread of each rank calls the collective.
  void collective_of_all() {
    const std::uint32_t kind = below(4), root = below(kRanks);
    std::vector<std::uint32_t> members;
    std::vector<std::size_t> entered;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      members.push_back(rank * threads_ + below(threads_));
      entered.push_back(add_node(members.back()));
    }
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      std::vector<std::size_t> causes;
      for (std::uint32_t other = 0; other < kRanks; ++other) {
        if (kind == 0 || (kind == 1 && other == root) || (kind == 2 && rank == root) || (kind == 3 && other < rank))
          causes.push_back(entered[other]);
      }
      (void)add_node(members[rank], causes);
      static constexpr OTF2_CollectiveOp kOperations[] = {OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_COLLECTIVE_OP_BCAST,
                                                          OTF2_COLLECTIVE_OP_REDUCE, OTF2_COLLECTIVE_OP_SCAN};
      collective(members[rank], kOperations[kind], kind == 1 || kind == 2 ? root : OTF2_UNDEFINED_UINT32);
    }
  }

  std::mt19937 random_;
  std::vector<std::vector<bool>> before_;      // for each node, the nodes before it
  std::map<std::uint32_t, std::size_t> last_;  // node, by thread
  std::vector<Message> messages_;
  std::vector<Receive> receives_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::size_t>> network_;  // by sender and receiver
  Rank ranks_[kRanks];
};

TEST_P(RandomRaces, AreThoseOfTheDefinition) {
  random_.seed(GetParam().seed);
  threads_ = GetParam().threads;
  // Clocks differ widely, so earlier events are not always read first.
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) shifts_[rank] = GetParam().seed % 2 == 0 ? 0 : below(500);
  for (int i = 0; i < 400; ++i) step(below(kRanks * threads_));
  for (int i = 0; i < 1000; ++i) deliver(below(kRanks));
  for (Rank& rank : ranks_) {
    for (const std::size_t each : std::vector(rank.active)) complete(receives_[each].rank * threads_, each);
  }
  std::map<OTF2_RegionRef, RacingSite> expected;
  for (const Receive& mine : receives_) {
    if (mine.completed == SIZE_MAX || (mine.source != kAny && mine.tag != kAnyTag)) continue;
    RacingSite& site = expected[mine.region];
    ++site.receives;
    if (mine.source != kAny) continue;
    std::set<std::uint32_t> others;
    for (const Message& other : messages_) {
      if (other.to != mine.rank || other.from == messages_[*mine.message].from) continue;
      if ((mine.tag != kAnyTag && mine.tag != other.tag) || is_before(mine.completed, other.sent)) continue;
      if (other.receive && receives_[*other.receive].completed != SIZE_MAX &&
          is_before(receives_[*other.receive].posted, mine.posted))
        continue;
      others.insert(other.from);
    }
    site.racing += !others.empty();
    site.others.insert(others.begin(), others.end());
  }
  // All results are certain except for receives that never complete.
  EXPECT_THAT(races(kRanks).notes(),
              AnyOf("", AllOf(StartsWith("Note: receives that are matched in the order"), Not(HasSubstr("\nNote:")))));
  for (const OTF2_RegionRef region : {kReceiveCall, kPostCall}) {
    EXPECT_EQ(at(region).receives, expected[region].receives);
    EXPECT_EQ(at(region).racing, expected[region].racing);
    EXPECT_EQ(at(region).others, expected[region].others);
    EXPECT_GT(expected[region].racing, 0u);
  }
}

std::vector<RandomRun> random_runs() {
  std::vector<RandomRun> runs;
  for (const std::uint32_t threads : {1u, 2u, 3u}) {
    for (unsigned seed = 0; seed < 20; ++seed) runs.push_back({seed, threads});
  }
  return runs;
}

INSTANTIATE_TEST_SUITE_P(Runs, RandomRaces, ::testing::ValuesIn(random_runs()));

}  // namespace
}  // namespace ardoise::launcher

// `ardoise trace races`: which receives with wildcards could have had another message.
#include "tools/ardoise/trace_races.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>

#include "tests/replay/made_archive.hpp"
#include "tools/ardoise/trace.hpp"

namespace ardoise::launcher {
namespace {

using knowledge_sources::ArchiveReader;
using replay::MadeArchive;
using replay::ScratchFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr OTF2_RegionRef kSendCall = 0, kReceiveCall = 1, kBarrierCall = 2, kProbeCall = 3, kPostCall = 4,
                         kWaitCall = 5, kRootedCall = 6, kStartCall = 7;
constexpr OTF2_AttributeRef kSourceKey = 0, kTagKey = 1, kCommKey = 2, kPeerKey = 3, kPeerTagKey = 4, kFlagKey = 5,
                            kPreparedKey = 6, kPersistentKey = 7;
constexpr std::int64_t kAny = -2, kAnyTag = -1;

// A program that the test writes, in one order of time.
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
    OTF2_EvtWriter_Enter(writer(rank), list, ++time_, region);
    OTF2_AttributeList_Delete(list);
  }
  void leave(std::uint64_t rank, OTF2_RegionRef region) {
    OTF2_EvtWriter_Leave(writer(rank), nullptr, ++time_, region);
  }
  void send(std::uint64_t from, std::uint32_t to, std::uint32_t tag = 7) {
    enter(from, kSendCall);
    OTF2_EvtWriter_MpiSend(writer(from), nullptr, ++time_, to, 0, tag, 8);
    leave(from, kSendCall);
  }
  void receive(std::uint64_t at, std::uint32_t from, std::uint32_t tag, std::int64_t source, std::int64_t tag_given) {
    enter(at, kReceiveCall, {{kSourceKey, source}, {kTagKey, tag_given}});
    OTF2_EvtWriter_MpiRecv(writer(at), nullptr, ++time_, from, 0, tag, 8);
    leave(at, kReceiveCall);
  }
  void receive_any(std::uint64_t at, std::uint32_t from, std::uint32_t tag = 7) { receive(at, from, tag, kAny, tag); }
  void receive_from(std::uint64_t at, std::uint32_t from, std::uint32_t tag = 7) { receive(at, from, tag, from, tag); }
  void post(std::uint64_t at, std::uint64_t request, std::int64_t source, std::int64_t tag = 7) {
    enter(at, kPostCall, {{kSourceKey, source}, {kTagKey, tag}, {kCommKey, 0}});
    OTF2_EvtWriter_MpiIrecvRequest(writer(at), nullptr, ++time_, request);
    leave(at, kPostCall);
  }
  void wait(std::uint64_t at, std::uint64_t request, std::uint32_t from, std::uint32_t tag = 7) {
    enter(at, kWaitCall);
    OTF2_EvtWriter_MpiIrecv(writer(at), nullptr, ++time_, from, 0, tag, 8, request);
    leave(at, kWaitCall);
  }
  void collective(std::uint64_t at, OTF2_CollectiveOp operation = OTF2_COLLECTIVE_OP_BARRIER,
                  std::uint32_t root = OTF2_UNDEFINED_UINT32) {
    const OTF2_RegionRef region = root == OTF2_UNDEFINED_UINT32 ? kBarrierCall : kRootedCall;
    enter(at, region);
    OTF2_EvtWriter_MpiCollectiveBegin(writer(at), nullptr, ++time_);
    OTF2_EvtWriter_MpiCollectiveEnd(writer(at), nullptr, ++time_, operation, 0, root, 8, 8);
    leave(at, region);
  }
  OTF2_EvtWriter* writer(std::uint64_t rank) { return archive_.events(rank); }

  void close(std::uint32_t ranks = 3, bool with_keys = true) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) (void)writer(rank);
    archive_.clock(0, time_ + 1);
    EXPECT_EQ(archive_.string("5"), 0u);  // what kPersistentKey refers to
    archive_.processes(ranks, 1);
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
  const TraceRaces& races(std::uint32_t ranks = 3, std::size_t window = RaceWindows::kMost) {
    close(ranks);
    reader_ = std::make_unique<ArchiveReader>(made_);
    races_ = std::make_unique<TraceRaces>(reader_->definitions(), window);
    (void)reader_->read_side_by_side(*races_);
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
  EXPECT_THAT(races().text(), HasSubstr("which nobody received"));
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

// The one that was posted first completes last; what the second one got was sent after the first one was posted only.
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

// Rank 1 sends between the two halves of the barrier and is not ordered by it; rank 2 sends after it, and is.
TEST_F(MadeRaces, ABarrierThatDoesNotBlockOrdersWhatFollowsItsCompletion) {
  send(3, 0);
  receive_any(0, 3);
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    enter(rank, kBarrierCall, {{kCommKey, 0}});
    OTF2_EvtWriter_NonBlockingCollectiveRequest(writer(rank), nullptr, ++time_, 1);
    leave(rank, kBarrierCall);
  }
  // Rank 0 needs this one before it completes the barrier.
  send(1, 0);
  receive_from(0, 1);
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    enter(rank, kWaitCall);
    OTF2_EvtWriter_NonBlockingCollectiveComplete(writer(rank), nullptr, ++time_, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                                 OTF2_UNDEFINED_UINT32, 0, 0, 1);
    leave(rank, kWaitCall);
  }
  send(2, 0);
  receive_any(0, 2);
  EXPECT_THAT(races(4).text(), Not(HasSubstr("Note:")));
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
    OTF2_EvtWriter_MpiIrecvRequest(writer(0), nullptr, ++time_, from);
    leave(0, kStartCall);
    wait(0, from, from);
  }
  (void)races();
  EXPECT_EQ(at(kStartCall).receives, 2u);
  EXPECT_EQ(at(kStartCall).racing, 1u);
}

// Rank 2 lacks its part of the barrier, and rank 0 its end of a message: the rest is judged.
TEST_F(MadeRaces, WhatIsMissingIsCountedAndHoldsNothingBack) {
  collective(0);
  collective(1);
  receive_from(0, 2);
  send(1, 0);
  send(2, 0);
  receive_any(0, 1);
  enter(0, kReceiveCall);
  OTF2_EvtWriter_MpiRecv(writer(0), nullptr, ++time_, 2, 0, 7, 8);
  leave(0, kReceiveCall);
  EXPECT_THAT(races().text(), AllOf(HasSubstr("may have had wildcards: 1.\n"), HasSubstr("less known: 1.\n"),
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
  const std::string text = races(3, 16).text();
  EXPECT_EQ(at(kReceiveCall).receives, 41u);
  const std::uint64_t racing = at(kReceiveCall).racing;
  EXPECT_LE(racing, 16u);
  EXPECT_GT(racing, 0u);
  EXPECT_THAT(text, HasSubstr("had no room: " + std::to_string(40 - racing) + ".\n"));
}

TEST_F(MadeRaces, WhatEverybodyHasSeenNeedsNoRoom) {
  for (int i = 0; i < 40; ++i) {
    send(1, 0);
    receive_any(0, 1);
    for (std::uint64_t rank = 0; rank < 3; ++rank) collective(rank);
  }
  EXPECT_THAT(races(3, 16).text(), Not(HasSubstr("not judged")));
  EXPECT_EQ(at(kReceiveCall).receives, 40u);
}

TEST_F(MadeRaces, WithoutArgumentsItSaysSo) {
  send(1, 0);
  enter(0, kReceiveCall);
  OTF2_EvtWriter_MpiRecv(writer(0), nullptr, ++time_, 1, 0, 7, 8);
  leave(0, kReceiveCall);
  close(3, false);
  std::string words[] = {"trace", "races", made_.string()};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data()};
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(trace(3, argv), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("does not have the arguments of calls"), HasSubstr("attributes=arguments")));
}

// Random programs: the races are those that one finds by following all paths from each receive to each send.
class RandomRaces : public MadeRaces, public ::testing::WithParamInterface<unsigned> {
 protected:
  struct Node {
    std::vector<std::size_t> before;  // nodes
  };
  struct Message {
    std::size_t sent, received = SIZE_MAX;  // nodes
    std::uint32_t from, to, tag;
    bool any_source = false, any_tag = false;
    std::size_t order = SIZE_MAX;  // of the receives of its receiver
  };
  std::size_t add_node(std::uint32_t rank) {
    nodes_.emplace_back();
    if (last_[rank] != SIZE_MAX) nodes_.back().before.push_back(last_[rank]);
    last_[rank] = nodes_.size() - 1;
    return last_[rank];
  }
  [[nodiscard]] bool is_before(std::size_t first, std::size_t second) const {
    std::set<std::size_t> seen;
    std::vector<std::size_t> next{second};
    while (!next.empty()) {
      const std::size_t node = next.back();
      next.pop_back();
      if (node == first) return true;
      if (!seen.insert(node).second) continue;
      next.insert(next.end(), nodes_[node].before.begin(), nodes_[node].before.end());
    }
    return false;
  }
  std::vector<Node> nodes_;
  std::map<std::uint32_t, std::size_t> last_;
};

TEST_P(RandomRaces, AreThoseOfAllPaths) {
  constexpr std::uint32_t kRanks = 4;
  std::mt19937 random(GetParam());
  const auto below = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % most); };
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) last_[rank] = SIZE_MAX;
  std::vector<Message> messages;
  std::size_t orders = 0;
  for (int step = 0; step < 120; ++step) {
    const std::uint32_t what = below(20);
    if (what == 0) {
      const std::uint32_t kind = below(3), root = below(kRanks);
      std::vector<std::size_t> entered, left;
      // Members come one after the other; a root's part first or last does not matter to the trace.
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) entered.push_back(add_node(rank));
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) left.push_back(add_node(rank));
      for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        for (std::uint32_t other = 0; other < kRanks; ++other) {
          if (kind == 0 || (kind == 1 && other == root) || (kind == 2 && rank == root))
            nodes_[left[rank]].before.push_back(entered[other]);
        }
        collective(rank,
                   kind == 0   ? OTF2_COLLECTIVE_OP_ALLREDUCE
                   : kind == 1 ? OTF2_COLLECTIVE_OP_BCAST
                               : OTF2_COLLECTIVE_OP_REDUCE,
                   kind == 0 ? OTF2_UNDEFINED_UINT32 : root);
      }
    } else if (what < 11) {
      Message message{.sent = 0, .from = below(kRanks), .to = below(kRanks), .tag = below(2)};
      message.sent = add_node(message.from);
      send(message.from, message.to, message.tag);
      messages.push_back(message);
    } else {
      // The first of a sender with a tag that it can take.
      const std::uint32_t at = below(kRanks), first = below(kRanks);
      const bool any_source = below(3) != 0, any_tag = below(3) == 0;
      const std::uint32_t tag = below(2);
      Message* got = nullptr;
      for (std::uint32_t i = 0; i < kRanks && got == nullptr; ++i) {
        if (!any_source && i != 0) break;
        for (Message& each : messages) {
          if (each.received != SIZE_MAX || each.to != at || each.from != (first + i) % kRanks) continue;
          if (!any_tag && each.tag != tag) continue;
          got = &each;
          break;
        }
      }
      if (got == nullptr) continue;
      got->received = add_node(at);
      nodes_[got->received].before.push_back(got->sent);
      got->any_source = any_source;
      got->any_tag = any_tag;
      got->order = orders++;
      receive(at, got->from, got->tag, any_source ? kAny : std::int64_t{got->from},
              any_tag ? kAnyTag : std::int64_t{got->tag});
    }
  }
  std::uint64_t wildcards = 0, racing = 0;
  std::set<std::uint32_t> others;
  for (const Message& mine : messages) {
    if (mine.received == SIZE_MAX || !(mine.any_source || mine.any_tag)) continue;
    ++wildcards;
    bool races_with_any = false;
    for (const Message& other : messages) {
      const bool is_later = other.order == SIZE_MAX || other.order > mine.order;
      if (!mine.any_source || other.to != mine.to || other.from == mine.from || !is_later) continue;
      if ((!mine.any_tag && other.tag != mine.tag) || is_before(mine.received, other.sent)) continue;
      races_with_any = true;
      others.insert(other.from);
    }
    racing += races_with_any;
  }
  (void)races(kRanks);
  EXPECT_EQ(at(kReceiveCall).receives, wildcards);
  EXPECT_EQ(at(kReceiveCall).racing, racing);
  EXPECT_EQ(at(kReceiveCall).others, others);
  EXPECT_THAT(races_->text(), Not(HasSubstr("Note:")));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRaces, ::testing::Range(0u, 40u));

}  // namespace
}  // namespace ardoise::launcher

// The opening of streams, over a model: peers that match, that do not, that never come, that wait for each other.
#include "vmpi/streams/handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "model_control.hpp"

namespace ardoise::vmpi {
namespace {

int meeting_tag(int rank) { return 100 + rank; }

// Processes that open one stream each, or several one after the other.
class World {
 public:
  World(int size, unsigned seed, double pace) : model(size, seed, pace) {
    for (int rank = 0; rank < size; ++rank) mailboxes_.emplace_back(model.channel(rank));
    handshakes_.resize(static_cast<std::size_t>(size));
    has_ended_.resize(static_cast<std::size_t>(size));
  }
  explicit World(int size) : World(size, 1, 1.0) {}

  void open(int rank, const std::vector<int>& peers, Mode mode, std::uint64_t block_bytes = 64) {
    auto& handshake = at(rank);
    has_ended_[static_cast<std::size_t>(rank)] = false;
    handshake = std::make_unique<Handshake>(mailboxes_[static_cast<std::size_t>(rank)], peers,
                                            StreamTerms{block_bytes, mode, meeting_tag(rank)});
    EXPECT_EQ(handshake->start(), VMPI_SUCCESS);
  }
  void write_to(int rank, const std::vector<int>& peers) { open(rank, peers, {false, true}); }
  void read_from(int rank, const std::vector<int>& peers) { open(rank, peers, {true, false}); }

  // Steps all processes until nothing moves. At a pace of one half, a message stays unseen for this long once in 2^60
  // times.
  void run() {
    for (int quiet = 0; quiet < 60; ++quiet) {
      if (step()) quiet = 0;
    }
  }
  // Steps each process once. Returns true if anything happened.
  bool step() {
    bool any_news = false;
    for (std::size_t rank = 0; rank < handshakes_.size(); ++rank) {
      const auto& handshake = handshakes_[rank];
      if (!handshake || has_ended_[rank]) continue;
      bool has_news = false;
      EXPECT_EQ(handshake->advance(has_news), VMPI_SUCCESS);
      any_news = any_news || has_news;
      has_ended_[rank] = handshake->done();
    }
    return any_news;
  }
  Handshake& operator[](int rank) { return *at(rank); }
  Mailbox& mailbox(int rank) { return mailboxes_[static_cast<std::size_t>(rank)]; }
  // -1000: still waits.
  int result(int rank) { return at(rank)->done() ? at(rank)->result() : -1000; }
  std::vector<int> results() {
    std::vector<int> all;
    for (std::size_t rank = 0; rank < handshakes_.size(); ++rank) all.push_back(result(static_cast<int>(rank)));
    return all;
  }

  ModelControl model;

 private:
  std::unique_ptr<Handshake>& at(int rank) { return handshakes_[static_cast<std::size_t>(rank)]; }
  std::deque<Mailbox> mailboxes_;
  std::vector<std::unique_ptr<Handshake>> handshakes_;
  std::vector<bool> has_ended_;
};

constexpr int kWaits = -1000;

TEST(Handshake, PeersThatFitMeet) {
  World world(3);
  world.read_from(2, {0, 1});
  world.write_to(0, {2});
  world.run();
  EXPECT_EQ(world.result(0), kWaits);  // for the verdict of 2, which waits for 1
  world.write_to(1, {2});
  world.run();
  EXPECT_EQ(world.results(), (std::vector{0, 0, 0}));
  const auto endpoints = world[2].endpoints();
  ASSERT_EQ(endpoints.size(), 2U);
  EXPECT_EQ(endpoints[1].rank, 1);
  EXPECT_EQ(endpoints[1].tag, meeting_tag(1));
  EXPECT_EQ(world.model.messages_sent(0), 2U);  // hello and verdict
}

TEST(Handshake, AMismatchFailsBothSidesAndTheirPeers) {
  World world(3);
  world.read_from(2, {0, 1});
  world.open(0, {2}, {false, true}, 65);
  world.write_to(1, {2});
  world.run();
  EXPECT_EQ(world.results(), (std::vector<int>(3, VMPI_ERR_PROTOCOL)));
  EXPECT_NE(world[2].complaint().find("its blocks have 65 bytes and ours 64"), std::string::npos);
  EXPECT_NE(world[0].complaint().find("ours 65"), std::string::npos);
  EXPECT_EQ(world[1].complaint(), "");  // saw nothing itself
  EXPECT_TRUE(world[2].endpoints().size() == 2);
}

TEST(Handshake, PeersOfAMismatchedProcessSeeTheStreamEnd) {
  World world(4);  // 0 and 1 don't fit; 2 is mapped to 1 and 3
  world.open(0, {1}, {false, true}, 65);
  world.read_from(1, {0, 2});
  world.write_to(2, {1, 3});
  world.read_from(3, {2});
  world.run();
  EXPECT_EQ(world.result(2), VMPI_ERR_PROTOCOL);
  if (world.result(3) == VMPI_SUCCESS) {
    EXPECT_EQ(world.model.ends(3, meeting_tag(3)), 1);
  } else {
    EXPECT_EQ(world.result(3), VMPI_ERR_PROTOCOL);
  }
}

TEST(Handshake, DirectionsMustFit) {
  for (const auto& [a, b, fits] : {std::tuple{Mode{true, false}, Mode{false, true}, true},
                                   {Mode{true, true}, Mode{true, true}, true},
                                   {Mode{true, false}, Mode{true, false}, false},
                                   {Mode{true, true}, Mode{false, true}, false}}) {
    World world(2);
    world.open(0, {1}, a);
    world.open(1, {0}, b);
    world.run();
    EXPECT_EQ(world.results(), std::vector<int>(2, fits ? VMPI_SUCCESS : VMPI_ERR_PROTOCOL));
  }
}

TEST(Handshake, AProcessInFinalizeSaysThatItWillNotCome) {
  World world(2);
  world.write_to(0, {1});
  world.run();
  ASSERT_EQ(world.result(0), kWaits);
  EXPECT_EQ(world.mailbox(1).send_gone(), VMPI_SUCCESS);
  EXPECT_EQ(world.mailbox(1).send_gone(), VMPI_SUCCESS);
  EXPECT_EQ(world.model.messages_sent(1), 1U);  // once
  world.run();
  EXPECT_EQ(world.result(0), VMPI_ERR_PEER);
  EXPECT_NE(world[0].complaint().find("process 1 of the universe ended MPI"), std::string::npos);
  world.write_to(0, {1});  // and it stays away
  world.run();
  EXPECT_EQ(world.result(0), VMPI_ERR_PEER);
}

TEST(Handshake, GivingUpFreesThePeersThatHaveCome) {
  World world(3);
  world.read_from(2, {0, 1});
  world.write_to(0, {2});
  world.run();
  EXPECT_EQ(world[2].awaited(), std::vector{1});
  EXPECT_EQ(world[2].give_up(VMPI_ERR_PEER, "process 1 died without opening it"), VMPI_SUCCESS);
  world.run();
  EXPECT_EQ(world.result(0), VMPI_ERR_PEER);
  EXPECT_EQ(world.result(2), VMPI_ERR_PEER);
  // It failed for 1 as well, although 1 comes later. The next opening succeeds.
  world.write_to(1, {2});
  world.run();
  EXPECT_EQ(world.result(1), VMPI_ERR_PEER);
  world.read_from(2, {0, 1});
  world.write_to(0, {2});
  world.write_to(1, {2});
  world.run();
  EXPECT_EQ(world.results(), (std::vector{0, 0, 0}));
}

TEST(Handshake, ATimeOutFailsTheEndThatComesLaterToo) {
  World world(2);
  world.write_to(0, {1});
  world.run();
  EXPECT_EQ(world[0].give_up(VMPI_ERR_TIMEOUT, "process 1 of the universe did not open it"), VMPI_SUCCESS);
  EXPECT_EQ(world[0].complaint(), "the stream is not opened because process 1 of the universe did not open it");
  world.read_from(1, {0});
  world.run();
  EXPECT_EQ(world.results(), std::vector<int>(2, VMPI_ERR_TIMEOUT));
  EXPECT_EQ(world[1].complaint(), "");  // saw nothing itself
  world.write_to(0, {1});
  world.read_from(1, {0});
  world.run();
  EXPECT_EQ(world.results(), (std::vector{0, 0}));
}

// 0 and 1 have all hellos and agree; 2 leaves after its hello. 1 may regard its stream as open and then sees its end.
TEST(Handshake, GivingUpAfterAgreeingEndsTheStream) {
  World world(3);
  world.read_from(0, {1, 2});
  world.write_to(1, {0});
  Mailbox& absent = world.mailbox(2);
  ControlMessage hello;
  hello.number = absent.next_number(0);
  hello.block_bytes = 64;
  hello.reads_writes = 2;
  EXPECT_EQ(absent.send(0, hello), VMPI_SUCCESS);
  world.run();
  EXPECT_EQ(world.result(1), VMPI_SUCCESS);
  EXPECT_EQ(world.result(0), kWaits);
  EXPECT_EQ(world[0].give_up(VMPI_ERR_PEER, "process 2 died"), VMPI_SUCCESS);
  EXPECT_EQ(world.result(0), VMPI_ERR_PEER);
  EXPECT_EQ(world.model.ends(1, meeting_tag(1)), 1);
}

// Refused openings in a row leave no messages for the next one.
TEST(Handshake, MessagesOfARefusedOpeningDoNotReachTheNext) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr int processes = 7, refused = 3;
    World world(processes, seed, 0.5);
    std::vector<int> opened(processes, 0);
    for (bool all_opened = false; !all_opened;) {
      all_opened = true;
      for (int rank = 0; rank < processes; ++rank) {
        auto& count = opened[static_cast<std::size_t>(rank)];
        if (count > 0) {
          const int result = world.result(rank);
          if (result == kWaits) continue;
          ASSERT_EQ(result, count <= refused ? VMPI_ERR_PROTOCOL : VMPI_SUCCESS) << "process " << rank;
        }
        if (count > refused) continue;
        ++count;
        all_opened = false;
        if (rank == 0) {
          world.open(0, {1, 2, 3, 4, 5, 6}, {false, true}, count <= refused ? 65 : 64);
        } else {
          world.read_from(rank, {0});
        }
      }
      if (all_opened) all_opened = std::ranges::none_of(world.results(), [](int code) { return code == kWaits; });
      world.step();
    }
  }
}

// Several streams in a row between random partners, at random pace. Each process opens its streams in the order of
// their numbers.
TEST(Handshake, StreamsOpenedInOneOrderMeetAtAnyPace) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    constexpr int processes = 9, streams = 12;
    std::mt19937 random(seed);
    World world(processes, seed, 0.8);
    struct Opening {
      bool reads;
      std::vector<int> peers;
    };
    std::vector<std::deque<Opening>> plans(processes);
    for (int stream = 0; stream < streams; ++stream) {
      std::vector<int> readers, writers;
      for (int rank = 0; rank < processes; ++rank) {
        const auto part = random() % 3;
        if (part == 0) readers.push_back(rank);
        if (part == 1) writers.push_back(rank);
      }
      if (readers.empty() || writers.empty()) continue;
      for (const int rank : readers) plans[static_cast<std::size_t>(rank)].push_back({true, writers});
      for (const int rank : writers) plans[static_cast<std::size_t>(rank)].push_back({false, readers});
    }
    std::vector<bool> is_open(processes, false);
    for (int step = 0; step < 400; ++step) {
      for (int rank = 0; rank < processes; ++rank) {
        const auto i = static_cast<std::size_t>(rank);
        if (is_open[i] && world.result(rank) == kWaits) continue;
        if (is_open[i]) {
          ASSERT_EQ(world.result(rank), VMPI_SUCCESS);
        }
        is_open[i] = false;
        if (plans[i].empty() || random() % 2 == 0) continue;
        world.open(rank, plans[i].front().peers, {plans[i].front().reads, !plans[i].front().reads});
        plans[i].pop_front();
        is_open[i] = true;
      }
      world.run();
    }
    for (int rank = 0; rank < processes; ++rank) {
      EXPECT_TRUE(plans[static_cast<std::size_t>(rank)].empty());
      if (is_open[static_cast<std::size_t>(rank)]) {
        EXPECT_EQ(world.result(rank), VMPI_SUCCESS);
      }
    }
  }
}

}  // namespace
}  // namespace ardoise::vmpi

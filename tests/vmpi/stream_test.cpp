// Streams over a model of MPI: order, bounds, ends, failures, random pace.
#include "vmpi/streams/stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "model_network.hpp"

namespace ardoise::vmpi {
namespace {

constexpr std::size_t kBlock = 64;
constexpr bool kWait = true;
constexpr bool kDontWait = false;

// A process with one stream; receives on a tag made of its rank.
struct Party {
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Stream> stream;
  Stream* operator->() const { return stream.get(); }
};

int tag_of(int rank) { return 100 + rank; }

Party open(ModelNetwork& network, int rank, const std::vector<int>& peers, Mode mode, StreamOptions options = {}) {
  options.block_bytes = kBlock;
  Party party{network.process(rank), nullptr};
  std::vector<Endpoint> endpoints;
  for (const int peer : peers) endpoints.push_back({peer, tag_of(peer), 1000 + peer});
  party.stream = std::make_unique<Stream>(*party.transport, endpoints, mode, tag_of(rank), options,
                                          static_cast<std::uint64_t>(rank));
  return party;
}

Party writer(ModelNetwork& network, int rank, const std::vector<int>& peers, StreamOptions options = {}) {
  return open(network, rank, peers, {false, true}, options);
}
Party reader(ModelNetwork& network, int rank, const std::vector<int>& peers, StreamOptions options = {}) {
  return open(network, rank, peers, {true, false}, options);
}

struct Taken {
  int code = 0;
  void* block = nullptr;
  std::size_t bytes = 0;
  int rank = -1;
};
Taken take(Party& party, bool may_wait = kDontWait) {
  Taken taken;
  taken.code = party->take(&taken.block, &taken.bytes, &taken.rank, may_wait);
  return taken;
}

std::array<char, kBlock> filled(char value) {
  std::array<char, kBlock> block;
  block.fill(value);
  return block;
}

TEST(Stream, ReadGetsWhatWasWritten) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  ASSERT_EQ(w->write(filled('x').data(), 1), 1);
  auto into = filled(0);
  EXPECT_EQ(r->read(into.data(), 1, kWait), 1);
  EXPECT_EQ(into, filled('x'));
}

TEST(Stream, WriteDoesNotWaitUntilAllBuffersAreInFlight) {
  ModelNetwork network;
  auto w = writer(network, 0, {1}, {.writer_buffers = 3});
  auto r = reader(network, 1, {0});
  int taken = 0;
  bool may_take = false;
  network.on_poll = [&] {
    ASSERT_TRUE(may_take);
    if (const auto t = take(r); t.code == 1) {
      ++taken;
      r->release(t.block);
    }
  };
  may_take = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(w->write(filled('a').data(), 1), 1);
  EXPECT_LE(network.unmatched_sends, 3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(w->write(filled('a').data(), 1), 1);
  EXPECT_GE(taken, 17);
}

TEST(Stream, ReadReturnsZeroWhenEveryWriterHasClosed) {
  ModelNetwork network;
  auto first = writer(network, 0, {2});
  auto second = writer(network, 1, {2});
  auto r = reader(network, 2, {0, 1});
  EXPECT_EQ(first->close(), VMPI_SUCCESS);  // without having written anything
  EXPECT_EQ(take(r).code, VMPI_EAGAIN);
  std::array<char, kBlock> lent = filled('b');
  ASSERT_EQ(second->lend(lent.data(), kBlock), VMPI_SUCCESS);
  network.on_poll = [&] {};
  auto into = filled(0);
  EXPECT_EQ(r->read(into.data(), 1, kWait), 1);
  EXPECT_EQ(second->close(), VMPI_SUCCESS);
  EXPECT_EQ(r->read(into.data(), 1, kWait), 0);
  EXPECT_EQ(take(r, kWait).code, 0);
  EXPECT_EQ(r->close(), VMPI_SUCCESS);
}

TEST(Stream, NonBlockingCallsSayAgain) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('c');
  EXPECT_EQ(r->read(block.data(), 1, kDontWait), VMPI_EAGAIN);
  EXPECT_EQ(take(r).code, VMPI_EAGAIN);
  void* back = nullptr;
  EXPECT_EQ(w->reclaim(&back, kDontWait), 0);  // none lent
  ASSERT_EQ(w->lend(block.data(), kBlock), VMPI_SUCCESS);
  EXPECT_EQ(w->reclaim(&back, kDontWait), VMPI_EAGAIN);
}

TEST(Stream, LentMemoryComesBackAndItsLengthArrives) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('d');
  ASSERT_EQ(w->lend(block.data(), 7), VMPI_SUCCESS);
  const auto taken = take(r, kWait);
  ASSERT_EQ(taken.code, 1);
  EXPECT_EQ(taken.bytes, 7U);
  EXPECT_EQ(taken.rank, 0);
  EXPECT_EQ(std::string(static_cast<char*>(taken.block), 7), "ddddddd");
  void* back = nullptr;
  EXPECT_EQ(w->reclaim(&back, kWait), 1);
  EXPECT_EQ(back, block.data());
  EXPECT_EQ(w->reclaim(&back, kWait), 0);
  EXPECT_EQ(r->release(taken.block), VMPI_SUCCESS);
  EXPECT_EQ(r->release(taken.block), VMPI_ERR_ARG);
}

TEST(Stream, ReadFillsUpAPartialBlockWithZeros) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('e');
  ASSERT_EQ(w->lend(block.data(), 1), VMPI_SUCCESS);
  auto into = filled('?');
  ASSERT_EQ(r->read(into.data(), 1, kWait), 1);
  auto expected = filled(0);
  expected[0] = 'e';
  EXPECT_EQ(into, expected);
}

TEST(Stream, HeldBlocksStopTheReaderAtItsLimit) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0}, {.reader_limit_bytes = 2 * kBlock});
  auto block = filled('f');
  for (int i = 0; i < 5; ++i) ASSERT_EQ(w->lend(block.data(), kBlock), VMPI_SUCCESS);
  const auto first = take(r, kWait);
  const auto second = take(r, kWait);
  ASSERT_EQ(first.code + second.code, 2);
  EXPECT_EQ(take(r).code, VMPI_EAGAIN);
  EXPECT_EQ(r->close(), VMPI_ERR_STATE);  // blocks are out
  r->release(first.block);
  EXPECT_EQ(take(r, kWait).code, 1);
}

TEST(Stream, ReaderOfAThousandWritersKeepsItsLimit) {
  constexpr int writers = 1000;
  constexpr std::size_t limit = 8;
  ModelNetwork network;
  std::vector<int> ranks;
  std::vector<Party> all;
  for (int rank = 0; rank < writers; ++rank) {
    ranks.push_back(rank);
    all.push_back(writer(network, rank, {writers}));
  }
  auto r = reader(network, writers, ranks, {.balance = Balance::round_robin, .reader_limit_bytes = limit * kBlock});
  auto block = filled('g');
  for (auto& w : all) {
    for (int i = 0; i < 3; ++i) ASSERT_EQ(w->lend(block.data(), kBlock), VMPI_SUCCESS);
  }
  int received = 0;
  for (Taken taken; received < 3 * writers; ++received) {
    ASSERT_EQ((taken = take(r, kWait)).code, 1);
    r->release(taken.block);
  }
  EXPECT_LE(network.receive_buffers.size(), limit);
  EXPECT_EQ(take(r).code, VMPI_EAGAIN);
}

TEST(Stream, ReaderThatClosesFirstTellsItsWriters) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('h');
  ASSERT_EQ(w->lend(block.data(), kBlock), VMPI_SUCCESS);
  int polls = 0;
  network.on_poll = [&] {
    void* back = nullptr;
    if (++polls > 3) w->reclaim(&back, kDontWait);
  };
  EXPECT_EQ(r->close(), VMPI_SUCCESS);  // throws the block away
  EXPECT_EQ(w->lend(block.data(), kBlock), VMPI_ERR_PEER);
  EXPECT_EQ(w->write(block.data(), 1), VMPI_ERR_PEER);
  EXPECT_EQ(w->close(), VMPI_SUCCESS);
}

TEST(Stream, DeathOfAWriterIsToldOnceBehindItsBlocks) {
  ModelNetwork network;
  auto dying = writer(network, 0, {2});
  auto healthy = writer(network, 1, {2});
  auto r = reader(network, 2, {0, 1});
  auto block = filled('i');
  ASSERT_EQ(dying->lend(block.data(), kBlock), VMPI_SUCCESS);
  network.dead.insert(1000);
  EXPECT_EQ(take(r, kWait).code, 1);
  EXPECT_EQ(take(r, kWait).code, VMPI_ERR_PEER);
  EXPECT_EQ(healthy->close(), VMPI_SUCCESS);
  EXPECT_EQ(take(r, kWait).code, 0);
}

TEST(Stream, AWriterThatLeavesWithoutClosingIsToldBehindItsBlocks) {
  ModelNetwork network;
  auto leaving = writer(network, 0, {2});
  auto healthy = writer(network, 1, {2});
  auto r = reader(network, 2, {0, 1});
  auto block = filled('q');
  ASSERT_EQ(leaving->lend(block.data(), kBlock), VMPI_SUCCESS);
  ASSERT_EQ(leaving->lend(block.data(), kBlock), VMPI_SUCCESS);
  leaving->start_leaving();
  std::vector<int> codes;
  int lost_rank = -1;
  for (int polls = 0; codes.size() < 3 && polls < 100; ++polls) {
    (void)leaving->leave();
    const auto taken = take(r);
    if (taken.code == VMPI_EAGAIN) continue;
    codes.push_back(taken.code);
    if (taken.code == 1) r->release(taken.block);
    if (taken.code == VMPI_ERR_PEER) lost_rank = taken.rank;
  }
  EXPECT_EQ(codes, (std::vector{1, 1, static_cast<int>(VMPI_ERR_PEER)}));
  EXPECT_EQ(lost_rank, 0);
  EXPECT_TRUE(leaving->leave());
  EXPECT_EQ(healthy->close(), VMPI_SUCCESS);
  EXPECT_EQ(take(r, kWait).code, 0);
}

TEST(Stream, AReaderThatLeavesIsToldToItsWriters) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('r');
  ASSERT_EQ(w->lend(block.data(), kBlock), VMPI_SUCCESS);
  r->start_leaving();
  network.on_poll = [&] { (void)r->leave(); };
  void* back = nullptr;
  EXPECT_EQ(w->reclaim(&back, kWait), 1);  // thrown away
  while (w->lend(block.data(), kBlock) == VMPI_SUCCESS) w->reclaim(&back, kWait);
  EXPECT_EQ(w->close(), VMPI_ERR_PEER);
  network.on_poll = [] {};
  EXPECT_TRUE(r->leave());
}

TEST(Stream, BlockOfADeadWriterThatNeverCompletesIsGivenUp) {
  ModelNetwork network(1, 1.0);
  auto dying = writer(network, 0, {2});
  auto healthy = writer(network, 1, {2});
  auto r = reader(network, 2, {0, 1}, {.reader_limit_bytes = kBlock});
  auto block = filled('o');
  ASSERT_EQ(dying->lend(block.data(), kBlock), VMPI_SUCCESS);
  network.stuck_source = 0;
  network.dead.insert(1000);
  EXPECT_EQ(take(r, kWait).code, VMPI_ERR_PEER);
  ASSERT_EQ(healthy->lend(block.data(), kBlock), VMPI_SUCCESS);
  EXPECT_EQ(take(r, kWait).rank, 1);  // needs the only block of the pool
}

TEST(Stream, ReadDoesNotWaitForABlockThatItsDeadWriterNeverCompletes) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('p');
  ASSERT_EQ(w->lend(block.data(), kBlock), VMPI_SUCCESS);
  network.stuck_source = 0;
  int polls = 0;
  network.on_poll = [&] {
    if (++polls == 10) network.dead.insert(1000);
  };
  EXPECT_EQ(r->read(block.data(), 1, kWait), VMPI_ERR_PEER);
  EXPECT_EQ(r->read(block.data(), 1, kWait), 0);
}

TEST(Stream, WriterDoesNotWaitForADeadReader) {
  ModelNetwork network;
  auto w = writer(network, 0, {1}, {.writer_buffers = 1});
  network.dead.insert(1001);
  EXPECT_EQ(w->write(filled('j').data(), 1), 1);
  EXPECT_EQ(w->write(filled('j').data(), 1), VMPI_ERR_PEER);
  EXPECT_EQ(w->close(), VMPI_ERR_PEER);
}

TEST(Stream, WriterGoesOnWithTheReadersThatAreLeft) {
  ModelNetwork network;
  auto w = writer(network, 0, {1, 2}, {.balance = Balance::round_robin, .writer_buffers = 2});
  auto r = reader(network, 2, {0});
  network.dead.insert(1001);
  int received = 0;
  network.on_poll = [&] {
    if (const auto t = take(r); t.code == 1) {
      ++received;
      r->release(t.block);
    }
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(w->write(filled('k').data(), 1), 1);
  EXPECT_GE(received, 7);
}

TEST(Stream, ErrorsOfMpiStayWithTheStream) {
  ModelNetwork network;
  auto r = reader(network, 1, {0});
  network.failure = VMPI_ERR_MPI;
  EXPECT_EQ(take(r, kWait).code, VMPI_ERR_MPI);
  network.failure = VMPI_SUCCESS;
  EXPECT_EQ(take(r, kWait).code, VMPI_ERR_MPI);
  EXPECT_EQ(r->close(), VMPI_ERR_MPI);
}

TEST(Stream, RefusesTheOtherDirection) {
  ModelNetwork network;
  auto w = writer(network, 0, {1});
  auto r = reader(network, 1, {0});
  auto block = filled('l');
  EXPECT_EQ(r->write(block.data(), 1), VMPI_ERR_STATE);
  EXPECT_EQ(r->lend(block.data(), 1), VMPI_ERR_STATE);
  EXPECT_EQ(w->read(block.data(), 1, kWait), VMPI_ERR_STATE);
  EXPECT_EQ(take(w).code, VMPI_ERR_STATE);
}

TEST(Stream, WithoutPeersIsAtItsEnd) {
  ModelNetwork network;
  auto r = reader(network, 0, {});
  EXPECT_EQ(take(r, kWait).code, 0);
  EXPECT_EQ(r->close(), VMPI_SUCCESS);
  auto w = writer(network, 0, {});
  EXPECT_EQ(w->write(filled('m').data(), 1), VMPI_ERR_PEER);
}

TEST(TwoWayStream, EndsThatBothWriteDontWaitForEachOther) {
  ModelNetwork network;
  const StreamOptions options{.writer_buffers = 1};
  auto a = open(network, 0, {1}, {true, true}, options);
  auto b = open(network, 1, {0}, {true, true}, options);
  auto from_b = filled('b');
  int written_by_b = 0;
  bool is_lent = false;
  network.on_poll = [&] {  // b writes as well and never reads
    void* back = nullptr;
    if (is_lent && b->reclaim(&back, kDontWait) == 1) is_lent = false;
    if (is_lent || written_by_b == 60) return;
    is_lent = b->lend(from_b.data(), kBlock) == VMPI_SUCCESS;
    ++written_by_b;
  };
  for (int i = 0; i < 20; ++i) ASSERT_EQ(a->write(filled('a').data(), 1), 1);
  for (int i = 0; i < 20; ++i) {
    auto into = filled(0);
    ASSERT_EQ(a->read(into.data(), 1, kWait), 1);
    ASSERT_EQ(into, filled('b'));
  }
}

TEST(TwoWayStream, CloseDoesNotWaitForOtherPeersOfTheSameReader) {
  ModelNetwork network;
  auto first = open(network, 0, {2}, {true, true});
  auto second = open(network, 1, {2}, {true, true});
  auto server = open(network, 2, {0, 1}, {true, true});
  network.on_poll = [&] { take(server); };
  auto block = filled('n');
  ASSERT_EQ(first->write(block.data(), 1), 1);
  EXPECT_EQ(first->close(), VMPI_SUCCESS);  // second is still open
  EXPECT_EQ(take(server).code, VMPI_EAGAIN);
  EXPECT_EQ(second->close(), VMPI_SUCCESS);
  EXPECT_EQ(take(server).code, 0);
}

// Writers and readers at random pace over a network that delays and reorders completions.
struct Disorder {
  Balance writer_balance;
  Balance reader_balance;
  unsigned seed;
};
class StreamsInDisorder : public testing::TestWithParam<Disorder> {};

struct Header {
  int writer;
  int number;  // of this writer's blocks to this reader: per-writer order is promised for each reader
};

TEST_P(StreamsInDisorder, EverythingArrivesOnceAndInOrderOfEachWriter) {
  const auto [writer_balance, reader_balance, seed] = GetParam();
  constexpr int writers = 5, readers = 3, blocks_each = 200;
  std::mt19937 random(seed);
  ModelNetwork network(seed, 0.3);
  std::vector<int> writer_ranks = {0, 1, 2, 3, 4}, reader_ranks = {5, 6, 7};
  std::vector<Party> w, r;
  for (const int rank : writer_ranks) w.push_back(writer(network, rank, reader_ranks, {.balance = writer_balance}));
  for (const int rank : reader_ranks)
    r.push_back(reader(network, rank, writer_ranks, {.balance = reader_balance, .reader_limit_bytes = 4 * kBlock}));

  std::vector<std::vector<std::array<char, kBlock>>> memory(writers);
  std::vector<std::vector<void*>> idle(writers);
  for (std::size_t i = 0; i < writers; ++i) {
    memory[i].resize(3);
    for (auto& block : memory[i]) idle[i].push_back(block.data());
  }
  std::vector<int> sent(writers, 0);
  std::vector<std::vector<int>> last(readers, std::vector<int>(writers, -1));
  std::vector<int> received(writers, 0);
  std::vector<std::vector<void*>> held(readers);
  std::vector<bool> at_end(readers, false);
  for (int step = 0; std::count(at_end.begin(), at_end.end(), true) < readers; ++step) {
    ASSERT_LT(step, 2'000'000) << "nothing moves any more";
    const auto i = random() % writers;
    void* block = nullptr;
    if (w[i].stream && w[i]->reclaim(&block, kDontWait) == 1) idle[i].push_back(block);
    if (w[i].stream && sent[i] < blocks_each && !idle[i].empty()) {
      block = idle[i].back();
      idle[i].pop_back();
      const Header header{static_cast<int>(i), sent[i]++};
      std::memcpy(block, &header, sizeof header);
      ASSERT_EQ(w[i]->lend(block, sizeof header + random() % (kBlock - sizeof header)), VMPI_SUCCESS);
    } else if (w[i].stream && sent[i] == blocks_each && idle[i].size() == 3) {
      ASSERT_EQ(w[i]->close(), VMPI_SUCCESS);
      w[i].stream.reset();
    }
    for (std::size_t j = 0; j < readers; ++j) {
      if (!held[j].empty() && random() % 4 == 0) {
        ASSERT_EQ(r[j]->release(held[j].back()), VMPI_SUCCESS);
        held[j].pop_back();
      }
      if (random() % (j + 1) != 0) continue;  // the last reader is the slowest
      const auto taken = take(r[j]);
      if (taken.code != 1) {
        at_end[j] = taken.code == 0;
        continue;
      }
      Header header;
      std::memcpy(&header, taken.block, sizeof header);
      ASSERT_EQ(header.writer, taken.rank);
      const auto from = static_cast<std::size_t>(header.writer);
      ASSERT_GT(header.number, last[j][from]);
      last[j][from] = header.number;
      ++received[from];
      held[j].push_back(taken.block);
    }
  }
  EXPECT_EQ(received, std::vector<int>(writers, blocks_each));
}

std::vector<Disorder> all_disorders() {
  std::vector<Disorder> all;
  for (const auto w : {Balance::none, Balance::random, Balance::round_robin}) {
    for (const auto r : {Balance::none, Balance::random, Balance::round_robin}) {
      for (unsigned seed = 1; seed <= 3; ++seed) all.push_back({w, r, seed});
    }
  }
  return all;
}

std::string name_of_disorder(const testing::TestParamInfo<Disorder>& test) {
  const char* names[] = {"None", "Random", "RoundRobin"};
  return std::string(names[static_cast<int>(test.param.writer_balance)]) + "To" +
         names[static_cast<int>(test.param.reader_balance)] + "Seed" + std::to_string(test.param.seed);
}

INSTANTIATE_TEST_SUITE_P(Policies, StreamsInDisorder, testing::ValuesIn(all_disorders()), name_of_disorder);

}  // namespace
}  // namespace ardoise::vmpi

// Records that are sent to the owners of their keys: in order, all of them, in few bytes.
#include "knowledge_sources/interface/keyed.hpp"

#include <atomic>
#include <numeric>
#include <random>

#include "fixture.hpp"
#include "knowledge_sources/containers/joint.hpp"
#include "knowledge_sources/containers/varint.hpp"
#include "knowledge_sources/plugins/waits/travel.hpp"

namespace ardoise::knowledge_sources {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Numbered {
  std::uint64_t key, number;
};

TEST(KeyedRecords, ComeInTheOrderInWhichTheyWereSent) {
  constexpr unsigned kBoards = 3;
  constexpr std::uint64_t kKeys = 50, kNumbers = 2000;
  std::vector<std::unique_ptr<blackboard::Blackboard>> boards;
  std::vector<blackboard::Blackboard*> pointers;
  for (unsigned i = 0; i < kBoards; ++i) {
    boards.push_back(std::make_unique<blackboard::Blackboard>(blackboard::Options{.workers = 2, .on_failure = {}}));
    pointers.push_back(boards.back().get());
  }
  replay::LocalTransports transports(pointers);
  std::vector<std::unique_ptr<LevelSources>> sources;
  std::vector<Keyed<Numbered>> keyed(kBoards);
  // By sender, as records of different senders may come in any order: next number for each key.
  std::array<std::array<std::uint64_t, kKeys>, kBoards> next{};
  std::atomic<std::uint64_t> wrong = 0, wrong_owner = 0;
  for (unsigned i = 0; i < kBoards; ++i) {
    sources.push_back(std::make_unique<LevelSources>(*boards[i]));
    keyed[i].attach(*sources[i], "numbers", "level", [&, i](const Numbered& record) {
      const auto sender = record.key % kBoards;
      wrong += record.number != next[sender][record.key]++ ? 1 : 0;
      wrong_owner += blackboard::owner_of(record.key, kBoards) != i ? 1 : 0;
    });
  }
  for (std::uint64_t number = 0; number < kNumbers; ++number) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      auto& own = keyed[key % kBoards];
      if (own.is_own(key)) {
        ++next[key % kBoards][key];
      } else {
        own.send(key, {key, number});
      }
    }
  }
  transports.settle([&] {
    for (const auto& each : sources) each->run_at_quiet();
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(wrong_owner, 0u);
  for (std::uint64_t key = 0; key < kKeys; ++key) EXPECT_EQ(next[key % kBoards][key], kNumbers);
  const KeyedTraffic traffic = keyed[0].traffic();
  EXPECT_GT(traffic.records, 0u);
  EXPECT_LT(traffic.bytes, traffic.records * sizeof(Numbered) * 101 / 100);
}

TEST(Varint, GivesBackWhatWentIn) {
  std::vector<std::byte> bytes;
  const std::vector<std::int64_t> values{0, 1, -1, 63, 64, -64, -65, 1'000'000, INT64_MAX, INT64_MIN};
  for (const auto value : values) {
    put_signed(bytes, value);
    put_varint(bytes, static_cast<std::uint64_t>(value));
  }
  ByteReader in(bytes, "test");
  for (const auto value : values) {
    EXPECT_EQ(get_signed(in), value);
    EXPECT_EQ(get_varint(in), static_cast<std::uint64_t>(value));
  }
  in.expect_end();
  const std::vector<std::byte> endless(12, std::byte{0x80});
  ByteReader bad(endless, "test");
  EXPECT_THROW((void)get_varint(bad), BadPartial);
}

TEST(Joint, MeetsTheOldestOfTheOtherSideAndStopsWhenItIsFull) {
  Joint<std::uint64_t, int> joint(3);
  std::vector<int> met;
  const auto add = [&](std::uint64_t key, bool side, int half) {
    return joint.add(key, side, half, [&](int other) { met.push_back(other); });
  };
  EXPECT_TRUE(add(1, true, 10));
  EXPECT_TRUE(add(1, true, 11));
  EXPECT_TRUE(add(2, false, 20));
  EXPECT_TRUE(add(1, false, 12));
  EXPECT_TRUE(add(2, true, 21));
  EXPECT_THAT(met, ElementsAre(10, 20));
  EXPECT_EQ(joint.size(), 1u);
  EXPECT_TRUE(add(3, true, 30));
  EXPECT_TRUE(add(4, true, 40));
  EXPECT_FALSE(add(5, true, 50)) << "three wait";
  EXPECT_FALSE(add(1, false, 13)) << "an order with a gap would join wrong halves";
  std::vector<int> left;
  joint.for_each([&](std::uint64_t, bool, int half) { left.push_back(half); });
  EXPECT_THAT(left, ElementsAre(11, 30, 40));
}

Part random_part(std::mt19937_64& random) {
  const auto up_to = [&](std::uint64_t most) { return random() % (most + 1); };
  Part part{};
  part.posted = static_cast<double>(up_to(1'000'000'000'000));
  part.begin = part.posted + static_cast<double>(up_to(3) == 0 ? up_to(5'000'000) : 0);
  part.end = part.begin + static_cast<double>(up_to(100'000'000));
  part.clock_error = static_cast<float>(up_to(1)) * 117.5f;
  part.operations = static_cast<std::uint32_t>(1 + up_to(3));
  part.call = part.operations > 1 ? static_cast<std::uint32_t>(up_to(100'000)) : 0;
  part.rank = static_cast<std::uint32_t>(up_to(100'000));
  part.call_site = static_cast<std::uint32_t>(up_to(5000));
  part.function = static_cast<std::uint32_t>(up_to(500));
  part.stretch = {static_cast<float>(up_to(1 << 23)), static_cast<float>(up_to(1000)), 0, 0};
  if (up_to(1) == 0) part.stretch.sampled = 500, part.stretch.place = 77;
  return part;
}

TEST(Travel, GivesBackWhatWentIn) {
  std::mt19937_64 random(7);
  std::vector<Travelling> records;
  for (int i = 0; i < 1000; ++i) {
    const CommIdentity comm{random() % 3, 1, 8};
    const Part part = random_part(random);
    if (i % 3 == 0) {
      records.emplace_back(InCollective{{comm, random() % 1000}, 42, {part, 7, i % 2 == 0 ? -1 : 3}});
    } else if (i % 3 == 1) {
      records.emplace_back(EndOfMessage{{comm, 4, 900, i % 2 == 0 ? 0x7FFFFFFF : 5}, i % 2 == 0, 0, part});
      if (i % 2 != 0) std::get<EndOfMessage>(records.back()).part.asked = static_cast<float>(random() % 5000);
    } else {
      Wait wait = no_wait(part);
      if (i % 2 == 0) {
        wait.ns = random() % 1'000'000'000;
        wait.awaited = i % 4 == 0 ? kNobody : 9;
        wait.certain = i % 8 == 0;
        wait.begin = wait.call_begin + static_cast<double>(random() % 1000);
        wait.pattern = WaitPattern::kLateSender;
        if (i % 4 != 0) wait.of_awaited = part.stretch;
      }
      records.emplace_back(SharedWait{wait, wait.ns == 0 ? 0 : static_cast<std::uint32_t>(random() % 300)});
    }
  }
  std::vector<std::byte> bytes;
  TravelCodec out;
  for (const auto& record : records) out.put(record, bytes);
  ByteReader in(bytes, "waits");
  TravelCodec codec;
  const auto expect_same_part = [](const Part& a, const Part& b) {
    EXPECT_EQ(
        std::tuple(a.posted, a.begin, a.end, a.clock_error, a.call, a.operations, a.rank, a.call_site, a.function),
        std::tuple(b.posted, b.begin, b.end, b.clock_error, b.call, b.operations, b.rank, b.call_site, b.function));
    EXPECT_EQ(std::tuple(a.stretch.all, a.stretch.mpi, a.stretch.sampled, a.stretch.place),
              std::tuple(b.stretch.all, b.stretch.mpi, b.stretch.sampled, b.stretch.place));
  };
  for (const auto& record : records) {
    const Travelling got = codec.get(in);
    ASSERT_EQ(got.index(), record.index());
    if (const auto* const end = std::get_if<EndOfMessage>(&record)) {
      const auto& other = std::get<EndOfMessage>(got);
      EXPECT_EQ(std::tuple(end->sends, end->channel.source, end->channel.destination, end->channel.tag),
                std::tuple(other.sends, other.channel.source, other.channel.destination, other.channel.tag));
      EXPECT_EQ(end->channel.comm, other.channel.comm);
      expect_same_part(end->part, other.part);
      EXPECT_EQ(end->part.asked, other.part.asked);
    } else if (const auto* const call = std::get_if<InCollective>(&record)) {
      const auto& other = std::get<InCollective>(got);
      EXPECT_EQ(std::tuple(call->key, call->function, call->arrival.comm_rank, call->arrival.root),
                std::tuple(other.key, other.function, other.arrival.comm_rank, other.arrival.root));
      expect_same_part(call->arrival.part, other.arrival.part);
    } else {
      const auto& [wait, home] = std::get<SharedWait>(record);
      const auto& [other, home_there] = std::get<SharedWait>(got);
      EXPECT_EQ(home, home_there);
      EXPECT_EQ(std::tuple(wait.waiter, wait.call, wait.operations, wait.ns),
                std::tuple(other.waiter, other.call, other.operations, other.ns));
      if (wait.ns == 0) continue;
      EXPECT_EQ(std::tuple(wait.pattern, wait.certain, wait.awaited, wait.call_site, wait.function),
                std::tuple(other.pattern, other.certain, other.awaited, other.call_site, other.function));
    }
  }
  in.expect_end();
}

TEST(Travel, NonsenseIsRefused) {
  std::mt19937_64 random(8);
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes(random() % 40);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random());
    ByteReader in(bytes, "waits");
    TravelCodec codec;
    try {
      while (in.left() != 0) (void)codec.get(in);
    } catch (const BadPartial&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Ranges of ranks, and communicators as definitions.
#include "instrument/record/communicators.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>
#include <set>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_format.hpp"
#include "instrument/format/rank_ranges.hpp"

namespace ardoise::instrument {
namespace {

using Ranks = std::vector<std::int32_t>;

TEST(RankRanges, RegularGroupsAreOneRange) {
  Ranks ranks(1000);
  std::iota(ranks.begin(), ranks.end(), 5);
  ASSERT_EQ(encode_ranges(ranks).size(), 1u);
  for (auto& rank : ranks) rank *= 3;
  ASSERT_EQ(encode_ranges(ranks).size(), 1u);
  EXPECT_EQ(encode_ranges(ranks)[0].stride, 3);
  std::reverse(ranks.begin(), ranks.end());
  EXPECT_EQ(encode_ranges(ranks)[0].stride, -3);
}

TEST(RankRanges, ForeignRanksAreARunOfTheirOwn) {
  const auto ranges = encode_ranges(Ranks{kNoPeer, kNoPeer, 4, kNoPeer});
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_EQ(ranges[0].start, kNoPeer);
  EXPECT_EQ(ranges[0].count, 2u);
  EXPECT_EQ(ranges[0].stride, 0);
}

TEST(RankRanges, AnyGroupComesBack) {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    Ranks ranks(random() % 40);
    for (auto& rank : ranks) rank = static_cast<std::int32_t>(random() % 12) - 1;
    EXPECT_EQ(decode_ranges(encode_ranges(ranks), 1000), ranks);
  }
}

TEST(RankRanges, HashTellsOrderAndIsSymmetricBetweenGroups) {
  EXPECT_EQ(group_hash(Ranks{1, 2}), group_hash(Ranks{1, 2}));
  EXPECT_NE(group_hash(Ranks{1, 2}), group_hash(Ranks{2, 1}));
  EXPECT_EQ(group_hash(Ranks{1}, Ranks{2, 3}), group_hash(Ranks{2, 3}, Ranks{1}));
}

class CommunicatorsTest : public testing::Test {
 protected:
  std::vector<DecodedCommunicator> defined() {
    std::vector<DecodedCommunicator> all;
    bins_ = queue_.take();
    for (Bin* bin : bins_) {
      DefinitionReader reader({bin->payload(), bin->header.payload_bytes});
      while (const auto definition = reader.next()) {
        if (const auto* comm = std::get_if<DecodedCommunicator>(&*definition)) all.push_back(*comm);
        if (const auto* topology = std::get_if<DecodedTopology>(&*definition)) {
          topology_.assign(topology->dimensions.begin(), topology->dimensions.end());
        }
      }
      EXPECT_EQ(reader.error(), "");
    }
    return all;
  }

  static CommunicatorFacts facts(Ranks local, std::uint32_t rank = 0) {
    CommunicatorFacts made;
    made.local = std::move(local);
    made.rank = rank;
    return made;
  }

  BinPool pool_{8 * 65536, 65536};
  DefinitionQueue queue_{pool_};
  Communicators communicators_{queue_};
  std::vector<Bin*> bins_;
  std::vector<TopologyDimension> topology_;
};

TEST_F(CommunicatorsTest, NumbersAndInstancesCountUp) {
  EXPECT_EQ(communicators_.define(facts({0, 1})), kWorldComm);
  EXPECT_EQ(communicators_.define(facts({0})), 1u);
  EXPECT_EQ(communicators_.define(facts({0, 1})), 2u);
  const auto all = defined();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].fixed.instance, 0u);
  EXPECT_EQ(all[1].fixed.instance, 0u);
  EXPECT_EQ(all[2].fixed.instance, 1u);
  EXPECT_EQ(all[0].fixed.group_hash, all[2].fixed.group_hash);
}

TEST_F(CommunicatorsTest, NewNameKeepsTheInstance) {
  auto comm = facts({0, 1});
  (void)communicators_.define(comm);
  const std::uint32_t second = communicators_.define(comm);
  comm.name = "halo";
  communicators_.rename(second, comm);
  const auto all = defined();
  EXPECT_EQ(all[2].fixed.comm, second);
  EXPECT_EQ(all[2].fixed.instance, 1u);
  EXPECT_EQ(all[2].name, "halo");
}

// A loop that makes two communicators a round and frees them, beside one that stays.
TEST_F(CommunicatorsTest, NumbersOfFreedOnesAreUsedAgain) {
  const auto pair = facts({0, 1}), self = facts({0});
  auto grid = facts({0, 1});
  grid.cartesian = {{2, 1}};
  (void)communicators_.define(pair);
  const std::uint32_t kept = communicators_.define(pair);
  std::set<std::uint32_t> used;
  for (int round = 0; round < 10'000; ++round) {
    for (const auto& made : {pair, self, grid}) {
      const std::uint32_t comm = communicators_.define(made);
      used.insert(comm);
      communicators_.release(comm);
    }
  }
  EXPECT_FALSE(used.contains(kept));
  EXPECT_LE(used.size(), 3 * Communicators::kReuseAfter);
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint32_t>> keys;
  for (const auto& comm : defined()) keys[comm.fixed.comm] = {comm.fixed.group_hash, comm.fixed.instance};
  EXPECT_EQ(keys.size(), used.size() + 2);  // once each
}

// Rank 1 frees one late: few communicators are other ones than on rank 0.
TEST_F(CommunicatorsTest, ALateFreeChangesFew) {
  const auto keys_of = [&](int late) {
    BinPool pool{64 * 65536, 65536};
    DefinitionQueue queue{pool};
    Communicators all(queue);
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < 2000; ++i) {
      numbers.push_back(all.define(facts({0, 1})));
      if (i != late) all.release(numbers.back());
      if (late >= 0 && i == late + 600) all.release(numbers[static_cast<std::size_t>(late)]);
    }
    std::map<std::uint32_t, std::uint32_t> instances;
    std::vector<Bin*> bins = queue.take();
    for (Bin* bin : bins) {
      DefinitionReader reader({bin->payload(), bin->header.payload_bytes});
      while (const auto definition = reader.next()) {
        if (const auto* comm = std::get_if<DecodedCommunicator>(&*definition))
          instances[comm->fixed.comm] = comm->fixed.instance;
      }
    }
    std::vector<std::uint32_t> keys;
    for (const std::uint32_t number : numbers) keys.push_back(instances.at(number));
    return keys;
  };
  const auto first = keys_of(-1), second = keys_of(700);
  int different = 0;
  for (std::size_t i = 0; i < first.size(); ++i) different += first[i] != second[i] ? 1 : 0;
  EXPECT_GT(different, 0);
  EXPECT_LE(different, 2000 / static_cast<int>(Communicators::kReuseAfter));
}

TEST_F(CommunicatorsTest, LargeIrregularGroupComesInPartsFromItsRootOnly) {
  Ranks squares;
  for (std::int32_t i = 0; i < 6000; ++i) squares.push_back(i * i);  // no two steps are equal: 3,000 ranges of two
  (void)communicators_.define(facts(squares, 0));
  (void)communicators_.define(facts(squares, 1));
  Ranks together;
  std::uint32_t expected_first = 0;
  const auto all = defined();
  for (const auto& part : all) {
    if (part.fixed.comm != 0) continue;
    EXPECT_EQ(part.fixed.first_range, expected_first);
    expected_first += part.fixed.range_count;
    const auto ranks = decode_ranges(part.ranges, 100000);
    together.insert(together.end(), ranks.begin(), ranks.end());
  }
  EXPECT_EQ(together, squares);
  EXPECT_EQ(all.back().fixed.comm, 1u);
  EXPECT_EQ(all.back().fixed.range_count, 0u);
  EXPECT_EQ(all.back().fixed.size, 6000u);
}

TEST_F(CommunicatorsTest, IntercommunicatorHasBothGroups) {
  auto comm = facts({0, 1});
  comm.kind = CommunicatorKind::kInter;
  comm.remote = {5, 6, 7};
  (void)communicators_.define(comm);
  const auto all = defined();
  EXPECT_EQ(all[0].fixed.remote_size, 3u);
  EXPECT_EQ(decode_ranges(all[0].ranges, 10), (Ranks{0, 1, 5, 6, 7}));
}

TEST_F(CommunicatorsTest, CartesianTopologyFollows) {
  auto comm = facts({0, 1, 2, 3, 4, 5});
  comm.cartesian = {{2, 1}, {3, 0}};
  (void)communicators_.define(comm);
  (void)defined();
  ASSERT_EQ(topology_.size(), 2u);
  EXPECT_EQ(topology_[1].extent, 3u);
}

}  // namespace
}  // namespace ardoise::instrument

// The hierarchical buffer as a data structure, and the paper's model of it.
#include "instrument/buffer/hierarchical_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/instrument/adaptive_model.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::size_t kBufferBin = 4096;
constexpr std::uint32_t kRecord = 8;
constexpr std::size_t kInBin = (kBufferBin - sizeof(PackHeader)) / kRecord;

class HierarchicalBufferTest : public testing::Test {
 protected:
  HierarchicalBufferTest() { buffer_.open(0, 4); }
  // False: no room.
  bool store(std::uint64_t n) {
    std::byte* const room = buffer_.room(level_of(n), kRecord, n);
    if (room != nullptr) std::memcpy(room, &n, sizeof(n));
    return room != nullptr;
  }
  // All numbers in sealed bins, in the order of the bins.
  std::vector<std::uint64_t> sealed() {
    BinList bins;
    buffer_.seal(bins);
    std::vector<std::uint64_t> numbers;
    while (Bin* const bin = bins.take_first(pool_)) {
      EXPECT_EQ(bin->header.payload_bytes, bin->header.record_count * kRecord);
      const auto* const records = reinterpret_cast<const std::uint64_t*>(bin->payload());
      EXPECT_EQ(bin->header.first_tick, records[0]);
      EXPECT_EQ(bin->header.last_tick, records[bin->header.record_count - 1]);
      numbers.insert(numbers.end(), records, records + bin->header.record_count);
      pool_.give(bin);
    }
    return numbers;
  }

  BinPool pool_{64 * kBufferBin, kBufferBin};
  HierarchicalBuffer buffer_{pool_, PackClass::kSamples};
};

TEST(LevelOf, IsTheNumberOfTrailingZeros) {
  EXPECT_EQ(level_of(1), 0u);
  EXPECT_EQ(level_of(2), 1u);
  EXPECT_EQ(level_of(3), 0u);
  EXPECT_EQ(level_of(12), 2u);
  EXPECT_EQ(level_of(std::uint64_t{1} << 40), 40u);
  EXPECT_EQ(level_of(0), 63u);
}

TEST_F(HierarchicalBufferTest, EveryLevelHasItsOwnBins) {
  for (std::uint64_t n = 1; n <= 16; ++n) ASSERT_TRUE(store(n));
  EXPECT_EQ(buffer_.bins(), 4u) << "levels 0, 1, 2 and all above";
  EXPECT_EQ(buffer_.records(), 16u);
  EXPECT_EQ(sealed(), (std::vector<std::uint64_t>{1, 3, 5, 7, 9, 11, 13, 15, 2, 6, 10, 14, 4, 12, 8, 16}));
  EXPECT_EQ(pool_.free_bins(), pool_.bins());
  EXPECT_EQ(buffer_.bins(), 0u);
}

TEST_F(HierarchicalBufferTest, DroppingTheLowestLevelHalvesTheRecords) {
  std::uint64_t n = 1;
  while (store(n)) ++n;
  const std::uint64_t before = buffer_.records();
  EXPECT_EQ(before, n - 1);
  const auto bins = buffer_.bins();
  const auto dropped = buffer_.drop_lowest();
  EXPECT_NEAR(static_cast<double>(dropped.records), static_cast<double>(before) / 2, 1.0);
  EXPECT_EQ(dropped.bins, pool_.free_bins());
  EXPECT_EQ(buffer_.bins(), bins - dropped.bins);
  EXPECT_EQ(buffer_.records(), before - dropped.records);
  EXPECT_TRUE(buffer_.is_closed(0));
  EXPECT_FALSE(buffer_.is_closed(1));
  EXPECT_EQ(buffer_.lowest(), 1u);
  for (const std::uint64_t kept : sealed()) EXPECT_EQ(kept % 2, 0u);
}

TEST_F(HierarchicalBufferTest, TheTopLevelsShareTheirBinsAndCantBeDropped) {
  for (std::uint64_t n = 1; n <= 64; ++n) ASSERT_TRUE(store(n));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(buffer_.can_drop());
    (void)buffer_.drop_lowest();
  }
  EXPECT_FALSE(buffer_.can_drop());
  EXPECT_EQ(sealed(), (std::vector<std::uint64_t>{8, 16, 24, 32, 40, 48, 56, 64}));
}

TEST_F(HierarchicalBufferTest, BeginsAtAnyLevel) {
  (void)sealed();
  buffer_.open(3, 2);
  for (std::uint64_t n = 8; n <= 64; n += 8) ASSERT_TRUE(store(n));
  EXPECT_EQ(buffer_.bins(), 2u);
  (void)buffer_.drop_lowest();
  EXPECT_EQ(sealed(), (std::vector<std::uint64_t>{16, 32, 48, 64}));
}

TEST_F(HierarchicalBufferTest, FullBinsAreThoseThatNothingFitsInto) {
  for (std::uint64_t n = 1; n < 4 * kInBin; n += 2) ASSERT_TRUE(store(n));
  EXPECT_EQ(buffer_.bins(), 2u);
  EXPECT_EQ(buffer_.full_bins(), 1u) << "the last one is full when the next record comes";
}

TEST_F(HierarchicalBufferTest, OtherClassesShareTheBudget) {
  std::vector<Bin*> others;
  for (int i = 0; i < 60; ++i) others.push_back(pool_.take(PackClass::kPosix));
  std::uint64_t n = 1;
  while (store(n)) ++n;
  EXPECT_EQ(buffer_.bins(), 4u);
  for (Bin* bin : others) pool_.give(bin);
  EXPECT_TRUE(store(n));
}

struct Expected {
  std::uint32_t halvings;
  double hertz;
  bool mpi_removed;
};

class PaperModel : public testing::TestWithParam<std::size_t> {};

TEST_P(PaperModel, GivesThePapersResults) {
  constexpr Expected kExpected[] = {{7, 78.125, false}, {8, 39.0625, false}, {7, 78.125, true}, {8, 39.0625, true}};
  const Expected& expected = kExpected[GetParam()];
  const ModelResult result = run_model(kModelScenarios[GetParam()], 60);
  EXPECT_EQ(result.offered, 144000000u);
  EXPECT_EQ(result.halvings, expected.halvings);
  EXPECT_EQ(result.hertz, expected.hertz);
  // Every sample of the four hours at a kept level is there.
  EXPECT_EQ(result.kept, result.offered >> result.halvings);
  EXPECT_EQ(result.mpi_records + result.mpi_aggregated, result.mpi_calls);
  if (expected.mpi_removed) {
    EXPECT_NEAR(result.mpi_removed, 83 * 60 + 20, 60) << "seconds; the paper says about 1:23 h";
    EXPECT_EQ(result.mpi_records, 0u);
    EXPECT_EQ(result.mpi_bytes_aggregated, result.mpi_bytes_sent);
  } else {
    EXPECT_EQ(result.mpi_removed, 0);
    EXPECT_EQ(result.mpi_aggregated, 0u);
    EXPECT_GT(result.mpi_records, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, PaperModel, testing::Values(0, 1, 2, 3),
                         [](const auto& scenario) { return std::string(1, kModelScenarios[scenario.param].name); });

}  // namespace
}  // namespace ardoise::instrument

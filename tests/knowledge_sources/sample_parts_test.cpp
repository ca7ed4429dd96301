// The parts of the sampled profile: sums by key, bounded bins over time, clusters of ranks, rates of sampling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "knowledge_sources/contexts/thread_samples.hpp"
#include "knowledge_sources/plugins/samples/rank_clusters.hpp"
#include "knowledge_sources/plugins/samples/sample_bins.hpp"
#include "knowledge_sources/plugins/samples/sampling_facts.hpp"

namespace ardoise::knowledge_sources {
namespace {

using testing::ElementsAre;

TEST(SortedSums, AreThoseOfAMap) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::map<std::uint32_t, std::uint64_t> expected;
    std::vector<SampleSums> sums;
    for (int pack = 0; pack < 4; ++pack) {
      std::vector<SampleSums> more;
      for (auto i = random() % 12; i != 0; --i) {
        const auto key = static_cast<std::uint32_t>(random() % 16);
        more.push_back(SampleSums::one({key, 0, 0, 0}, key + 1));
        expected[key] += key + 1;
      }
      sum_up(more);
      add_sums(sums, more);
    }
    ASSERT_TRUE(is_summed_up(sums));
    ASSERT_EQ(sums.size(), expected.size());
    for (const auto& entry : sums) EXPECT_EQ(entry.weight, expected.at(entry.key.context));
  }
}

TEST(SampleSums, SquaresDoNotOverflow) {
  SampleSums sums = SampleSums::one({}, std::uint64_t{1} << 40);
  sums.add(sums);
  EXPECT_EQ(static_cast<double>(sums.wide_squares()), std::ldexp(2.0, 80));
}

std::vector<SampleBins::Entry> random_entries(std::mt19937& random, unsigned shift, std::size_t count) {
  std::vector<SampleBins::Entry> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t ns = random() % (std::uint64_t{250} << shift);
    entries.push_back(
        {{0, static_cast<std::uint32_t>(ns >> shift), {static_cast<std::uint32_t>(random() % 3000), 0, 0, 0}},
         1 + ns % 7});
  }
  return entries;
}

// More contexts than fit into the narrowest bins: the same ones are kept in every order.
TEST(SampleBins, TheOrderDoesNotMatterWhenBinsAreJoined) {
  std::mt19937 random(7);
  std::vector<std::vector<SampleBins::Entry>> packs;
  for (int i = 0; i < 60; ++i) packs.push_back(random_entries(random, SampleBins::kFirstShift, 2500));
  const auto fill = [&](SampleBins& bins, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      auto entries = packs[i];
      for (auto& entry : entries) entry.key.bin >>= bins.shift() - SampleBins::kFirstShift;
      bins.add(entries);
    }
  };
  SampleBins reference;
  fill(reference, 0, packs.size());
  EXPECT_GT(reference.shift(), SampleBins::kFirstShift);
  EXPECT_LE(reference.entries().size(), SampleBins::kEntries);
  std::ranges::shuffle(packs, random);
  SampleBins first, second;
  fill(first, 0, 13);
  fill(second, 13, packs.size());
  ByteWriter out;
  second.write(out);
  const auto bytes = out.take();
  SampleBins read;
  ByteReader in(bytes, "bins");
  read.read(in);
  first.merge(read);
  EXPECT_EQ(first.shift(), reference.shift());
  ASSERT_EQ(first.entries().size(), reference.entries().size());
  for (std::size_t i = 0; i < first.entries().size(); ++i) {
    EXPECT_EQ(first.entries()[i].key, reference.entries()[i].key);
    EXPECT_EQ(first.entries()[i].weight, reference.entries()[i].weight);
  }
}

TEST(SampleBins, ALateSampleWidensThem) {
  SampleBins bins;
  std::vector<SampleBins::Entry> entries{{{0, 200, {1, 0, 0, 0}}, 5}};
  bins.add(entries);
  bins.reach(std::uint64_t{1000} << SampleBins::kFirstShift);
  EXPECT_EQ(bins.shift(), SampleBins::kFirstShift + 2);
  EXPECT_EQ(bins.entries().at(0).key.bin, 50u);
  bins.reach(~std::uint64_t{0});
  EXPECT_EQ(bins.shift(), 56u);
}

TEST(RankClusters, TheOddRanksAreFound) {
  // Two functions; ranks 3 and 6 spend their time the other way round.
  std::vector<double> self, all(8, 10.0);
  for (const double odd : {8.0, 2.0}) {
    for (std::uint32_t rank = 0; rank < 8; ++rank) self.push_back(rank == 3 || rank == 6 ? 10 - odd : odd);
  }
  const auto result = cluster_ranks(self, all, std::vector<std::uint64_t>(8, 10'000));
  EXPECT_DOUBLE_EQ(result.distance, 0.10);
  ASSERT_EQ(result.clusters.size(), 2u);
  EXPECT_EQ(result.clusters[0].ranks, 6u);
  EXPECT_EQ(result.clusters[0].leader, 0u);
  EXPECT_EQ(result.clusters[1].ranks, 2u);
  EXPECT_EQ(result.clusters[1].leader, 3u);
  EXPECT_THAT(result.clusters[1].mean_share, ElementsAre(testing::DoubleEq(0.2), testing::DoubleEq(0.8)));
  EXPECT_THAT(result.cluster_of_rank, ElementsAre(0, 0, 0, 1, 0, 0, 1, 0));
}

TEST(RankClusters, ChanceAloneMakesNoClusters) {
  std::mt19937 random(3);
  constexpr std::size_t kRanks = 200, kSamples = 60;
  std::vector<double> self(4 * kRanks), all(kRanks, kSamples);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    for (std::size_t i = 0; i < kSamples; ++i) self[random() % 4 * kRanks + rank] += 1;
  }
  EXPECT_EQ(cluster_ranks(self, all, std::vector<std::uint64_t>(kRanks, kSamples)).clusters.size(), 1u);
  // The same shares from a sufficient number of samples are different behaviour.
  EXPECT_GT(cluster_ranks(self, all, std::vector<std::uint64_t>(kRanks, 1'000'000)).clusters.size(), 1u);
}

TEST(RankClusters, RanksWithoutSamplesDoNoHarm) {
  EXPECT_TRUE(cluster_ranks({}, {}, {}).clusters.empty());
  const auto result = cluster_ranks({5, 0, 5}, {5, 0, 5}, {100, 0, 100});
  EXPECT_THAT(result.cluster_of_rank, ElementsAre(0, 1, 0));
  EXPECT_TRUE(cluster_ranks({0, 0}, {0, 0}, {0, 0}).clusters.empty());
}

TEST(SamplingFacts, TheFirstAndTheLastChangesAreKeptInAnyOrder) {
  std::vector<instrument::DecodedSampling> changes;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    changes.push_back({{0, instrument::SamplingCause::kMemory, i, 1e4, 0, 0, 0, 0, 0, 0}});
  }
  SamplingFacts reference(1, 1);
  for (const auto& change : changes) reference.add(0, change);
  ASSERT_EQ(reference.changes(0).size(), SamplingFacts::kChanges);
  EXPECT_EQ(reference.changes(0).front().tick, 0u);
  EXPECT_EQ(reference.changes(0)[127].tick, 127u);
  EXPECT_EQ(reference.changes(0)[128].tick, 872u);
  EXPECT_EQ(reference.left_out(), 744u);

  std::mt19937 random(2);
  std::ranges::shuffle(changes, random);
  SamplingFacts one(1, 1), other(1, 1);
  for (std::size_t i = 0; i < changes.size(); ++i) (i % 3 == 0 ? one : other).add(0, changes[i]);
  one.merge(other);
  EXPECT_EQ(one.changes(0), reference.changes(0));
  EXPECT_EQ(one.left_out(), reference.left_out());
}

}  // namespace
}  // namespace ardoise::knowledge_sources

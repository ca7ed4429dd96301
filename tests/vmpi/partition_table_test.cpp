// Which process belongs to which partition.
#include "vmpi/world/partition_table.hpp"

#include <gtest/gtest.h>

#include <climits>

#include "vmpi/world/partition_name.hpp"

namespace ardoise::vmpi {
namespace {

std::vector<std::uint64_t> keys_of(std::initializer_list<std::pair<PartitionKey, int>> runs) {
  std::vector<std::uint64_t> keys;
  for (const auto& [key, count] : runs) keys.insert(keys.end(), static_cast<std::size_t>(count), key.bits());
  return keys;
}

void expect_consistent(const PartitionTable& table, int universe_size) {
  int members = 0;
  for (int id = 0; id < table.count(); ++id) {
    members += table.size(id);
    for (int rank = 0; rank < table.size(id); ++rank) {
      const int universe_rank = table.universe_rank(id, rank);
      ASSERT_EQ(table.partition_of(universe_rank), id);
      ASSERT_EQ(table.rank_in(id, universe_rank), rank);
    }
  }
  EXPECT_EQ(members, universe_size);
}

TEST(PartitionTable, OnePartitionForEachContext) {
  const auto a = PartitionKey::application_context(0);
  const auto b = PartitionKey::application_context(1);
  const PartitionTable table(keys_of({{a, 4}, {b, 2}}));
  ASSERT_EQ(table.count(), 2);
  EXPECT_EQ(table.size(0), 4);
  EXPECT_EQ(table.root(1), 4);
  EXPECT_EQ(table.universe_rank(1, 1), 5);
  expect_consistent(table, 6);
}

TEST(PartitionTable, ExplicitNameJoinsContextsThatAreApart) {
  const auto coupled = PartitionKey::explicit_name("coupled");
  const PartitionTable table(keys_of({{coupled, 2}, {PartitionKey::application_context(1), 3}, {coupled, 2}}));
  ASSERT_EQ(table.count(), 2);
  EXPECT_EQ(table.size(0), 4);
  EXPECT_EQ(table.universe_rank(0, 2), 5);
  EXPECT_EQ(table.rank_in(0, 3), -1);
  expect_consistent(table, 7);
}

TEST(PartitionTable, EqualCommandLinesThatAreApartAreTwoPrograms) {
  const auto a = PartitionKey::command_line("/bin/a", "a x");
  const auto b = PartitionKey::command_line("/bin/b", "b");
  const PartitionTable table(keys_of({{a, 2}, {b, 1}, {a, 3}}));
  ASSERT_EQ(table.count(), 3);
  EXPECT_EQ(table.size(2), 3);
  expect_consistent(table, 6);
}

TEST(PartitionTable, UnknownRanksAreMinusOne) {
  const PartitionTable table(keys_of({{PartitionKey::application_context(0), 2}}));
  EXPECT_EQ(table.universe_rank(0, 2), -1);
  EXPECT_EQ(table.universe_rank(1, 0), -1);
  EXPECT_EQ(table.universe_rank(-1, 0), -1);
  EXPECT_EQ(table.partition_of(2), -1);
  EXPECT_EQ(table.partition_of(-1), -1);
}

TEST(PartitionTable, ManyProcessesInAlternatingContexts) {
  std::vector<std::uint64_t> keys;
  for (int rank = 0; rank < 65536; ++rank)
    keys.push_back(PartitionKey::explicit_name(std::to_string(rank / 3 % 4)).bits());
  const PartitionTable table(keys);
  EXPECT_EQ(table.count(), 4);
  expect_consistent(table, 65536);
}

TEST(PartitionKey, KindsDontMix) {
  EXPECT_NE(PartitionKey::explicit_name("1").bits(), PartitionKey::application_context(1).bits());
  EXPECT_TRUE(PartitionKey::command_line("a", "b").joins_neighbours_only());
  EXPECT_FALSE(PartitionKey::explicit_name("b").joins_neighbours_only());
}

TEST(PartitionTexts, TogetherTheyFitIntoOneIntWithAllNames) {
  EXPECT_GT(text_share(1), 16U * 1024 + kMaxPartitionName + 2);
  for (const std::size_t contexts : {1U, 4'096U, 1'000'000U, 16'000'000U}) {
    EXPECT_LE(text_share(contexts) * contexts, static_cast<std::size_t>(INT_MAX)) << contexts;
    EXPECT_GE(text_share(contexts), kMaxPartitionName + 2) << contexts;
  }
}

}  // namespace
}  // namespace ardoise::vmpi

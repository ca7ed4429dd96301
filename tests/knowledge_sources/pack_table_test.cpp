// The small hash table for the sums of one pack.
#include "knowledge_sources/containers/pack_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>

namespace ardoise::knowledge_sources {
namespace {

TEST(PackTable, SumsLikeAMapHoweverOftenItIsFull) {
  auto table = std::make_unique<PackTable<std::uint64_t, 6>>();
  std::map<std::uint64_t, std::uint64_t> expected, result;
  const auto empty_into = [&](auto& full) {
    full.for_each([&](std::uint64_t key, std::uint64_t value) { result[key] += value; });
    full.clear();
  };
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t key = random() % 200 + 1;
    table->at(key, empty_into) += key;
    expected[key] += key;
  }
  empty_into(*table);
  EXPECT_EQ(result, expected);
}

TEST(PackTable, KeepsDistinctKeysThatShareAPlace) {
  auto table = std::make_unique<PackTable<int, 4>>();
  const auto never = [](auto&) { FAIL() << "the table is not full"; };
  // As many keys as it takes at most: some share a place for sure, as 12 keys fall on 16 places.
  for (int i = 1; i <= 12; ++i) table->at(static_cast<std::uint64_t>(i) << 40, never) = i;
  for (int i = 1; i <= 12; ++i) EXPECT_EQ(table->at(static_cast<std::uint64_t>(i) << 40, never), i);
}

TEST(PackTable, IsEmptyAfterClear) {
  auto table = std::make_unique<PackTable<int, 4>>();
  const auto never = [](auto&) {};
  table->at(5, never) = 1;
  table->clear();
  EXPECT_TRUE(table->empty());
  EXPECT_EQ(table->at(5, never), 0);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

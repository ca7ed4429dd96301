// The hash table of sensitivities.
#include "blackboard/sensitivity_table.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "blackboard/source.hpp"

namespace ardoise::blackboard {
namespace {

std::unique_ptr<Source> source(std::uint64_t id, std::vector<EntryType> types) {
  return std::make_unique<Source>(SourceId{id}, KnowledgeSource{"s", std::move(types), [](const Context&, auto) {}});
}

TEST(SensitivityTable, EmptyFindsNothing) {
  const SensitivityTable table({});
  EXPECT_TRUE(table.find({0}).empty());
  EXPECT_TRUE(table.find({12345}).empty());
}

TEST(SensitivityTable, FindsSourcesInOrderAndTheirKinds) {
  const auto a = source(1, {{5}, {7}, {5}});
  const auto b = source(2, {{7}});
  Source* const both[] = {a.get(), b.get()};
  const SensitivityTable table(both);
  ASSERT_EQ(table.find({5}).size(), 1u);
  EXPECT_EQ(table.find({5})[0].source, a.get());
  EXPECT_EQ(table.find({5})[0].kind, 0u);
  ASSERT_EQ(table.find({7}).size(), 2u);
  EXPECT_EQ(table.find({7})[0].source, a.get());
  EXPECT_EQ(table.find({7})[0].kind, 1u);
  EXPECT_EQ(table.find({7})[1].source, b.get());
  EXPECT_TRUE(table.find({6}).empty());
}

// Types that collide in one place, the worst case of a hash, and the type 0.
TEST(SensitivityTable, SurvivesCollisions) {
  std::vector<std::unique_ptr<Source>> owners;
  std::vector<Source*> sources;
  for (std::uint64_t i = 0; i < 100; ++i) {
    owners.push_back(source(i, {{i << 20}}));
    sources.push_back(owners.back().get());
  }
  const SensitivityTable table(sources);
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(table.find({i << 20}).size(), 1u);
    EXPECT_EQ(table.find({i << 20})[0].source, sources[i]);
    EXPECT_TRUE(table.find({(i << 20) + 1}).empty());
  }
}

}  // namespace
}  // namespace ardoise::blackboard

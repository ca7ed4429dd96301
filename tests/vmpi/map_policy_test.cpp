// Maps between two partitions, without MPI, up to sizes beyond any test machine.
#include "vmpi/streams/map_policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ardoise::vmpi {
namespace {

struct Case {
  MapPolicy policy;
  MapShape shape;
};

class Maps : public testing::TestWithParam<Case> {};

TEST_P(Maps, BothSidesAgreeAndNobodyIsLeftOut) {
  const auto& [policy, shape] = GetParam();
  std::vector<int> master_as_seen_by_masters(static_cast<std::size_t>(shape.slave_size), -1);
  for (int master = 0; master < shape.master_size; ++master) {
    const auto slaves = slaves_of(policy, master, shape);
    ASSERT_FALSE(slaves.empty()) << "master " << master;
    for (const int slave : slaves) {
      auto& seen = master_as_seen_by_masters.at(static_cast<std::size_t>(slave));
      ASSERT_EQ(seen, -1) << "slave " << slave << " has two masters";
      seen = master;
    }
  }
  for (int slave = 0; slave < shape.slave_size; ++slave)
    ASSERT_EQ(master_of(policy, slave, shape), master_as_seen_by_masters[static_cast<std::size_t>(slave)]);
}

TEST_P(Maps, LoadsDifferByOneAtMost) {
  const auto& [policy, shape] = GetParam();
  std::set<std::size_t> loads;
  for (int master = 0; master < shape.master_size; ++master) loads.insert(slaves_of(policy, master, shape).size());
  EXPECT_LE(*loads.rbegin() - *loads.begin(), 1U);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto policy : {MapPolicy::round_robin, MapPolicy::random, MapPolicy::fixed}) {
    for (const auto& [slaves, masters] : std::vector<std::pair<int, int>>{
             {1, 1}, {2, 1}, {3, 2}, {7, 7}, {10, 3}, {64, 5}, {1000, 999}, {4096, 64}, {65536, 1024}, {65536, 65535}})
      cases.push_back({policy, {slaves, masters, 42}});
  }
  return cases;
}

std::string name_of(const testing::TestParamInfo<Case>& test) {
  const char* names[] = {"RoundRobin", "Random", "Fixed"};
  const auto& shape = test.param.shape;
  return names[static_cast<int>(test.param.policy)] + std::to_string(shape.slave_size) + "To" +
         std::to_string(shape.master_size);
}

INSTANTIATE_TEST_SUITE_P(AllShapes, Maps, testing::ValuesIn(all_cases()), name_of);

TEST(MapPolicy, PoliciesLookLikeThePapersFigure) {
  const MapShape shape{6, 3, 0};
  EXPECT_EQ(slaves_of(MapPolicy::round_robin, 1, shape), (std::vector{1, 4}));
  EXPECT_EQ(slaves_of(MapPolicy::fixed, 1, shape), (std::vector{2, 3}));
}

TEST(MapPolicy, RandomMapDependsOnTheSeed) {
  const auto first = slaves_of(MapPolicy::random, 0, {4096, 64, 1});
  EXPECT_EQ(first, slaves_of(MapPolicy::random, 0, {4096, 64, 1}));
  EXPECT_NE(first, slaves_of(MapPolicy::random, 0, {4096, 64, 2}));
  EXPECT_NE(first, slaves_of(MapPolicy::round_robin, 0, {4096, 64, 1}));
}

TEST(RandomPermutation, InverseUndoesForwardAndNothingOccursTwice) {
  for (const std::uint32_t size : {1U, 2U, 3U, 17U, 1000U, 65536U}) {
    const RandomPermutation permutation(size, 7);
    std::vector<bool> seen(size, false);
    for (std::uint32_t value = 0; value < size; ++value) {
      const auto image = permutation.forward(value);
      ASSERT_LT(image, size);
      ASSERT_FALSE(seen[image]);
      seen[image] = true;
      ASSERT_EQ(permutation.inverse(image), value);
    }
  }
}

TEST(UserMap, MustStayInRangeAndReachEveryMaster) {
  EXPECT_TRUE(is_valid_map(std::vector{0, 1, 1, 0}, 2));
  EXPECT_FALSE(is_valid_map(std::vector{0, 2, 1}, 2));
  EXPECT_FALSE(is_valid_map(std::vector{0, -1, 1}, 2));
  EXPECT_FALSE(is_valid_map(std::vector{0, 0, 0}, 2));
}

TEST(UserMap, GroupsSlavesByMasterInOrder) {
  const auto grouped = group_by_master(std::vector{1, 0, 1, 2, 0}, 3);
  EXPECT_EQ(grouped.slaves, (std::vector{1, 4, 0, 2, 3}));
  EXPECT_EQ(grouped.offsets, (std::vector{0, 2, 4, 5}));
}

}  // namespace
}  // namespace ardoise::vmpi

// Balance policies at both ends.
#include "vmpi/streams/balance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ardoise::vmpi {
namespace {

std::string served(Balance balance, const std::string& arrivals, std::uint64_t seed = 1) {
  ArrivalQueue<char> queue(balance, 3, seed);
  for (const char c : arrivals) queue.push(static_cast<std::size_t>(c - 'a'), c);
  std::string order;
  while (!queue.empty()) order += queue.pop().message;
  return order;
}

TEST(ArrivalQueue, NoneServesInTheOrderOfArrival) { EXPECT_EQ(served(Balance::none, "aabacb"), "aabacb"); }

TEST(ArrivalQueue, RoundRobinServesEndpointsInTurn) { EXPECT_EQ(served(Balance::round_robin, "aaaabbc"), "abcabaa"); }

TEST(ArrivalQueue, RandomServesEverythingAndNotAlwaysTheSame) {
  std::map<std::string, int> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto order = served(Balance::random, "aabbcc", seed);
    ++orders[order];
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, "aabbcc");
  }
  EXPECT_GT(orders.size(), 5U);
}

TEST(ArrivalQueue, KeepsTheOrderOfEachEndpointUnderEveryPolicy) {
  for (const auto balance : {Balance::none, Balance::random, Balance::round_robin}) {
    ArrivalQueue<int> queue(balance, 4, 3);
    std::vector<int> next(4, 0), last(4, -1);
    std::mt19937 random(5);
    for (int step = 0; step < 2000; ++step) {
      if (random() % 2 == 0) {
        const auto endpoint = random() % 4;
        queue.push(endpoint, next[endpoint]++);
      } else if (!queue.empty()) {
        const auto [endpoint, number] = queue.pop();
        ASSERT_EQ(number, ++last[endpoint]);
      }
    }
  }
}

std::vector<std::size_t> picks(Balance balance, std::vector<WriterLoad> loads, int buffers, int count) {
  EndpointPicker picker(balance, 1);
  std::vector<std::size_t> result;
  for (int i = 0; i < count; ++i) result.push_back(picker.pick(loads, buffers).value());
  return result;
}

TEST(EndpointPicker, NoneStaysWithTheFirstThatIsOpen) {
  EXPECT_EQ(picks(Balance::none, {{5, false}, {9, true}, {0, true}}, 3, 3), (std::vector<std::size_t>{1, 1, 1}));
}

TEST(EndpointPicker, RoundRobinTakesTurns) {
  EXPECT_EQ(picks(Balance::round_robin, {{}, {}, {}}, 6, 5), (std::vector<std::size_t>{0, 1, 2, 0, 1}));
}

TEST(EndpointPicker, SkipsEndpointsAboveTheirShare) {
  EXPECT_EQ(picks(Balance::round_robin, {{2, true}, {0, true}}, 4, 3), (std::vector<std::size_t>{1, 1, 1}));
  EXPECT_EQ(picks(Balance::random, {{2, true}, {0, true}}, 4, 3), (std::vector<std::size_t>{1, 1, 1}));
}

TEST(EndpointPicker, TakesTheLeastLoadedWhenAllAreOverTheirShare) {
  EXPECT_EQ(picks(Balance::round_robin, {{7, true}, {5, true}}, 4, 2), (std::vector<std::size_t>{1, 1}));
}

TEST(EndpointPicker, RandomReachesEveryEndpoint) {
  EndpointPicker picker(Balance::random, 1);
  std::vector<WriterLoad> loads(4);
  std::vector<int> count(4, 0);
  for (int i = 0; i < 400; ++i) ++count[picker.pick(loads, 8).value()];
  for (const int c : count) EXPECT_GT(c, 50);
}

TEST(EndpointPicker, FindsNobodyWhenAllHaveClosed) {
  std::vector<WriterLoad> loads = {{0, false}, {0, false}};
  for (const auto balance : {Balance::none, Balance::random, Balance::round_robin})
    EXPECT_FALSE(EndpointPicker(balance, 1).pick(loads, 3).has_value());
}

}  // namespace
}  // namespace ardoise::vmpi

// The last calls of a thread.
#include "instrument/record/recent_calls.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

namespace ardoise::instrument {
namespace {

MpiRecord call(std::uint64_t begin) { return {begin, 5, 1, 2, 3, 4, make_word(kWorldComm, 7, Shape::kSend)}; }
MpiRecord completion() {
  return std::bit_cast<MpiRecord>(CompletionRecord{1, 0, 1, 2, 3, 4, make_word(0, 7, Shape::kCompletion)});
}

std::vector<std::uint64_t> begins(const RecentCalls& recent) {
  std::vector<std::uint64_t> out;
  for (const RecentCall& each : recent.calls()) out.push_back(each.begin);
  return out;
}

TEST(RecentCalls, AreTheLastSixInOrder) {
  RecentCalls recent;
  std::vector<MpiRecord> records;
  for (std::uint64_t begin = 10; begin <= 40; begin += 10) records.push_back(call(begin));
  recent.add(records);
  EXPECT_EQ(begins(recent), (std::vector<std::uint64_t>{10, 20, 30, 40}));
  records.clear();
  for (std::uint64_t begin = 50; begin <= 80; begin += 10) records.push_back(call(begin));
  recent.add(records);
  EXPECT_EQ(begins(recent), (std::vector<std::uint64_t>{30, 40, 50, 60, 70, 80}));
}

TEST(RecentCalls, HoldCallsWithoutTheirExtensions) {
  RecentCalls recent;
  std::vector<MpiRecord> records{call(10), call(20)};
  records.insert(records.end(), 100, completion());
  recent.add(records);
  EXPECT_EQ(begins(recent), (std::vector<std::uint64_t>{10, 20}));
  EXPECT_EQ(recent.calls()[1].peer, 2);
  EXPECT_EQ(recent.calls()[1].tag, 3);
}

TEST(RecentCalls, KnowWideValues) {
  RecentCalls recent;
  MpiRecord wide = call(10);
  wide.duration = kWide;
  const std::vector<MpiRecord> records{
      wide, std::bit_cast<MpiRecord>(WideExtension{
                std::uint64_t{1} << 40, 8, 0, 0,
                make_word(static_cast<std::uint32_t>(ExtensionKind::kWideValues), 7, Shape::kExtension)})};
  recent.add(records);
  ASSERT_EQ(recent.calls().size(), 1u);
  EXPECT_EQ(recent.calls()[0].ticks, std::uint64_t{1} << 40);
}

// Records that stay in a bin when others become sums are seen once more.
TEST(RecentCalls, AreThereOnce) {
  RecentCalls recent;
  const std::vector<MpiRecord> records{call(10), call(20)};
  recent.add(records);
  recent.add(records);
  EXPECT_EQ(begins(recent), (std::vector<std::uint64_t>{10, 20}));
  const std::vector<PosixRecord> writes{{30, 1, 1, 5, 2, 0, 100}};
  recent.add(writes);
  ASSERT_EQ(recent.calls().size(), 3u);
  EXPECT_EQ(recent.calls()[2].flags, kPosixCallFlag);
  EXPECT_EQ(recent.calls()[2].peer, 5);
  recent.clear();
  EXPECT_TRUE(recent.calls().empty());
}

}  // namespace
}  // namespace ardoise::instrument

// for_each_event(): records and their extensions are joined, stray extensions do no harm.
#include "instrument/format/event_reader.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ardoise::instrument {
namespace {

struct Seen {
  std::vector<MpiEvent> events;
  std::vector<CompletionRecord> completions;
  std::vector<NeighbourExtension> neighbours;
  std::vector<StartedExtension> started;
  std::vector<SampledExtension> sampled;
  std::vector<GroupExtension> groups;
  std::vector<MarkExtension> marks;
  std::vector<ContextExtension> contexts;

  explicit Seen(const std::vector<MpiRecord>& records) {
    for_each_event(
        records, [this](const MpiEvent& event) { events.push_back(event); },
        [this](const CompletionRecord& record) { completions.push_back(record); },
        [this](const NeighbourExtension& part) { neighbours.push_back(part); },
        [this](const StartedExtension& operation) { started.push_back(operation); },
        [this](const SampledExtension& sample) { sampled.push_back(sample); },
        [this](const GroupExtension& group) { groups.push_back(group); },
        [this](const MarkExtension& mark) { marks.push_back(mark); }, IgnoreArguments(),
        [this](const ContextExtension& context) { contexts.push_back(context); });
  }
};

std::uint32_t extension(ExtensionKind kind) {
  return make_word(static_cast<std::uint32_t>(kind), 5, Shape::kExtension);
}

TEST(EventReader, NarrowValuesComeFromTheRecord) {
  const std::vector<MpiRecord> records{{1, 2, 3, 4, 5, 6, make_word(1, 5, Shape::kSend)},
                                       {1, 2, 3, 0, 700, 6, make_word(1, 5, Shape::kCollective)}};
  const Seen seen(records);
  ASSERT_EQ(seen.events.size(), 2u);
  EXPECT_EQ(seen.events[0].duration, 2u);
  EXPECT_EQ(seen.events[0].bytes, 6u);
  EXPECT_EQ(seen.events[0].received, 0u);
  EXPECT_EQ(seen.events[1].received, 700u);
}

TEST(EventReader, ExtensionsBelongToTheRecordBefore) {
  const std::uint64_t big = 5'000'000'000;
  const std::vector<MpiRecord> records{
      {1, kWide, 3, 4, 5, kWide, make_word(1, 5, Shape::kSend)},
      std::bit_cast<MpiRecord>(WideExtension{big, big + 1, big + 2, 0, extension(ExtensionKind::kWideValues)}),
      std::bit_cast<MpiRecord>(ReceiveHalfExtension{77, 3, 9, 0, 0, extension(ExtensionKind::kReceiveHalf)}),
      std::bit_cast<MpiRecord>(NeighbourExtension{11, 2, 1, 0, 0, extension(ExtensionKind::kNeighbourPart)}),
      std::bit_cast<MpiRecord>(
          StartedExtension{12, 13, 1, 2, make_word(4, 8, Shape::kSend), extension(ExtensionKind::kStarted)}),
      std::bit_cast<MpiRecord>(GroupExtension{{3, 4}, 2, extension(ExtensionKind::kGroup)}),
      std::bit_cast<MpiRecord>(MarkExtension{5, 40, 77, 0, MarkKind::kSnapshot, {}, kMarkWord}),
      {9, 1, 3, kNoPeer, 1, 0, make_word(1, 6, Shape::kCompletes)},
      std::bit_cast<MpiRecord>(CompletionRecord{1, 1, 3, 2, 5, 8, make_word(1, 7, Shape::kCompletion)})};
  const Seen seen(records);
  ASSERT_EQ(seen.events.size(), 2u);
  ASSERT_EQ(seen.marks.size(), 1u);
  EXPECT_EQ(seen.marks[0].name, 77u);
  EXPECT_TRUE(is_mark(records[6]));
  EXPECT_EQ(seen.events[0].duration, big);
  EXPECT_EQ(seen.events[0].bytes, big + 1);
  ASSERT_NE(seen.events[0].receive_half, nullptr);
  EXPECT_EQ(as<ReceiveHalfExtension>(*seen.events[0].receive_half).bytes, 77u);
  EXPECT_EQ(seen.events[1].receive_half, nullptr);
  ASSERT_EQ(seen.neighbours.size(), 1u);
  EXPECT_EQ(seen.neighbours[0].destination, 2);
  ASSERT_EQ(seen.groups.size(), 1u);
  EXPECT_EQ(seen.groups[0].ranks[1], 4);
  ASSERT_EQ(seen.started.size(), 1u);
  EXPECT_EQ(seen.started[0].bytes, 13u);
  ASSERT_EQ(seen.completions.size(), 1u);
  EXPECT_EQ(completion_bytes(seen.completions[0]), (1ull << 32) + 8);
}

TEST(EventReader, SamplesLieBetweenCalls) {
  const std::vector<MpiRecord> records{
      {1, 2, 3, 4, 5, 6, make_word(1, 5, Shape::kSend)},
      std::bit_cast<MpiRecord>(SampledExtension{7, 800, 9, 10, 0, 0, 0, extension(ExtensionKind::kSampled)}),
      {11, 2, 3, 4, 5, 6, make_word(1, 5, Shape::kSend)}};
  EXPECT_TRUE(is_sampled(records[1]));
  EXPECT_FALSE(is_sampled(records[0]));
  const Seen seen(records);
  EXPECT_EQ(seen.events.size(), 2u);
  ASSERT_EQ(seen.sampled.size(), 1u);
  EXPECT_EQ(seen.sampled[0].weight, 800u);
}

TEST(EventReader, AContextPrecedesItsCall) {
  const std::vector<MpiRecord> records{std::bit_cast<MpiRecord>(ContextExtension{11, 4, 1, 5, 0, 0, kContextWord}),
                                       {11, 2, 3, 4, 5, 6, make_word(1, 5, Shape::kSend)}};
  EXPECT_TRUE(is_context(records[0]));
  EXPECT_FALSE(is_context(records[1]));
  const Seen seen(records);
  EXPECT_EQ(seen.events.size(), 1u);
  ASSERT_EQ(seen.contexts.size(), 1u);
  EXPECT_EQ(seen.contexts[0].context, 4u);
}

TEST(EventReader, StrayExtensionsAreSkipped) {
  const std::vector<MpiRecord> records{
      std::bit_cast<MpiRecord>(WideExtension{1, 2, 3, 0, extension(ExtensionKind::kWideValues)}),
      {1, 2, 3, 4, 5, 6, make_word(1, 5, Shape::kSend)}};
  EXPECT_EQ(Seen(records).events.size(), 1u);
}

}  // namespace
}  // namespace ardoise::instrument

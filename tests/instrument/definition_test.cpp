// Definitions: the reader reads what the writer writes, and refuses invalid bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/definition_writer.hpp"
#include "instrument/format/pack_reader.hpp"
#include "tests/instrument/make_pack.hpp"

namespace ardoise::instrument {
namespace {

struct Written {
  std::vector<std::uint64_t> storage = std::vector<std::uint64_t>(4096);
  DefinitionWriter writer{std::as_writable_bytes(std::span(storage))};

  [[nodiscard]] std::span<std::byte> payload() {
    return std::as_writable_bytes(std::span(storage)).first(writer.bytes());
  }
  [[nodiscard]] std::string read_error() {
    DefinitionReader reader(payload());
    while (reader.next()) {
    }
    return reader.error();
  }
};

constexpr ClockDefinition kClock{100, 200, 1e9, 0.5, 1e-6, 300, 40};

TEST(Definitions, SamplingCountersAndTotalsComeBackAsWritten) {
  Written out;
  const std::vector<std::string_view> names{"instructions", "cycles"};
  ASSERT_TRUE(out.writer.add(SamplingDefinition{1, SamplingCause::kCost, 77, 625.0, 0, 4, 3, 256, 0, 900}));
  ASSERT_TRUE(out.writer.add(CountersDefinition{2, SampleUnit::kCpuNanoseconds}, "cpu time", names));
  ASSERT_TRUE(out.writer.add(SamplerTotalsDefinition{1, 0, 10, 8, 2, 1, 3, 100, 1000}));
  DefinitionReader reader(out.payload());
  const auto sampling = std::get<DecodedSampling>(reader.next().value());
  EXPECT_EQ(sampling.fixed.cause, SamplingCause::kCost);
  EXPECT_EQ(sampling.fixed.hertz, 625.0);
  EXPECT_EQ(sampling.fixed.sample_cost_ticks, 900u);
  const auto counters = std::get<DecodedCounters>(reader.next().value());
  EXPECT_EQ(counters.event, "cpu time");
  EXPECT_EQ(counters.names[1], "cycles");
  EXPECT_EQ(std::get<DecodedSamplerTotals>(reader.next().value()).fixed.thread_ticks, 1000u);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.error(), "");
}

TEST(Definitions, EndsCallsAndStacksComeBackAsWritten) {
  Written out;
  const EndDefinition end{EndCause::kSignal, 2, 70, 80, 16, 11, 1, 0, 0, 139, 0};
  const std::vector<RecentCall> calls{{10, 20, 8, 5, 7, 1, 3, 0, 0},
                                      {40, 30, 4, 6, 7, kAnySource, kAnyTag, kOpenCall, 0}};
  const std::vector<StackFrame> frames{{1, 1, 0x100}, {kPythonModule, 0, 0x200}};
  ASSERT_TRUE(out.writer.add(end));
  ASSERT_TRUE(out.writer.add(RecentCallsDefinition{2, 2, 80}, calls));
  ASSERT_TRUE(out.writer.add(StackDefinition{2, StackOf::kEnd, 2, 0}, frames));
  DefinitionReader reader(out.payload());
  const auto read_end = std::get<DecodedEnd>(reader.next().value());
  EXPECT_EQ(read_end.fixed.cause, EndCause::kSignal);
  EXPECT_EQ(read_end.fixed.address, 16u);
  EXPECT_EQ(read_end.fixed.wait_status, 139);
  const auto read_calls = std::get<DecodedRecentCalls>(reader.next().value());
  ASSERT_EQ(read_calls.calls.size(), 2u);
  EXPECT_EQ(read_calls.calls[1].ticks, 30u);
  EXPECT_EQ(read_calls.calls[1].flags, kOpenCall);
  const auto read_stack = std::get<DecodedStack>(reader.next().value());
  ASSERT_EQ(read_stack.frames.size(), 2u);
  EXPECT_EQ(read_stack.frames[1].module, kPythonModule);
  EXPECT_EQ(reader.next(), std::nullopt);
  EXPECT_EQ(reader.error(), "");
}

TEST(Definitions, CollectivesComeBackAsWritten) {
  Written out;
  const CollectivesDefinition all{3, 1000, {1, 2, 3, 4, 5, 6, 7, collective_word(41, 17)}};
  ASSERT_TRUE(out.writer.add(all));
  DefinitionReader reader(out.payload());
  const auto read = std::get<DecodedCollectives>(reader.next().value());
  EXPECT_EQ(read.fixed.comm, 3u);
  EXPECT_EQ(read.fixed.begun, 1000u);
  EXPECT_EQ(function_of_collective(read.fixed.last[7]), 41u);
  EXPECT_EQ(root_of_collective(read.fixed.last[7]), 17u);
}

TEST(Definitions, InvalidEndsAndStacksAreRefused) {
  const auto refused = [](const auto&... arguments) {
    Written out;
    EXPECT_TRUE(out.writer.add(arguments...));
    return !out.read_error().empty();
  };
  EndDefinition end{};
  EXPECT_FALSE(refused(end));
  end.cause = static_cast<EndCause>(kEndCauses);
  EXPECT_TRUE(refused(end));
  const std::vector<StackFrame> frames(1);
  EXPECT_TRUE(
      refused(StackDefinition{0, static_cast<StackOf>(kStackKinds), 1, 0}, std::span<const StackFrame>(frames)));
  EXPECT_TRUE(refused(StackDefinition{0, StackOf::kEnd, 2, 0}, std::span<const StackFrame>(frames))) << "too short";
  const std::vector<RecentCall> calls(1);
  EXPECT_TRUE(refused(RecentCallsDefinition{0, 0xFFFFFFFF, 0}, std::span<const RecentCall>(calls)));
}

TEST(Definitions, InvalidSamplingIsRefused) {
  const auto refused = [](auto... arguments) {
    Written out;
    EXPECT_TRUE(out.writer.add(arguments...));
    return out.read_error().find("out of range") != std::string::npos;
  };
  SamplingDefinition sampling{0, SamplingCause::kStart, 1, 1e4, 0, 0, 1, 1, 0, 0};
  EXPECT_FALSE(refused(sampling));
  sampling.cause = static_cast<SamplingCause>(kSamplingCauses);
  EXPECT_TRUE(refused(sampling));
  sampling.cause = SamplingCause::kStart;
  sampling.hertz = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(refused(sampling));
  sampling.hertz = 1;
  sampling.lowest_level = kMaxSampleLevel + 1;
  EXPECT_TRUE(refused(sampling));
  EXPECT_TRUE(refused(CountersDefinition{0, static_cast<SampleUnit>(3)}, std::string_view("x"),
                      std::span<const std::string_view>()));
}

TEST(Definitions, EveryKindComesBackAsWritten) {
  Written out;
  const std::vector<RankRange> ranges{{0, 4, 2}, {kNoPeer, 1, 0}, {7, 3, -1}};
  const std::vector<TopologyDimension> dimensions{{2, 1}, {3, 0}};
  ASSERT_TRUE(out.writer.add(ProcessDefinition{6, 5, 6, 3, 7, 8, 9, 2, 4}, "solver", std::string_view("a\0b", 3),
                             "host", "/d"));
  ASSERT_TRUE(out.writer.add(kClock, "tsc", "boot"));
  ASSERT_TRUE(out.writer.add(ModuleDefinition{1, 0, 0x1000, 0x2000}, "/lib/ü.so", "c0ffee"));
  ASSERT_TRUE(out.writer.add(CallSiteDefinition{11, 1, 0x123}));
  ASSERT_TRUE(out.writer.add(ShortRunsDefinition{11, 8}));
  ASSERT_TRUE(
      out.writer.add(CommunicatorDefinition{2, CommunicatorKind::kInter, 77, 1, 4, 0, 4, 1, 2, 0, 3}, ranges, "halo"));
  ASSERT_TRUE(out.writer.add(TopologyDefinition{2, 2}, dimensions));
  ASSERT_TRUE(out.writer.add(FileDefinition{1, 0}, ""));
  ASSERT_TRUE(out.writer.add(ThreadDefinition{1, 4711, 99}));
  ASSERT_TRUE(out.writer.add(MarkNameDefinition{7, 0}, "step"));
  ASSERT_TRUE(out.writer.add(NoticeDefinition{1, 0}, "something"));
  ASSERT_TRUE(out.writer.add(UsageDefinition{10, 20, 30, 40, 2, 6, 8, 1, 2, 3, 50, 1, 0, 0, 0, {11, 0, 0, 0}, 1, 0}));
  ASSERT_TRUE(out.writer.add(PythonCodeDefinition{7, 11, 42, 0}, "step", "/s.py", std::string_view("\0\1", 2)));
  const MemoryPoint points[] = {{0, 100}, {20, 200}};
  ASSERT_TRUE(out.writer.add(MemoryDefinition{2, 0, 1000, 800, 0}, points));

  const Pack pack = make_pack(PackClass::kDefinitions, out.payload(), out.writer.count());
  const PackCheck check = check_pack(pack.bytes());
  ASSERT_TRUE(check) << check.error;

  DefinitionReader reader(check.pack->payload());
  const auto process = std::get<DecodedProcess>(reader.next().value());
  EXPECT_EQ(process.fixed.universe_rank, 5u);
  EXPECT_EQ(process.fixed.budget_bytes, 9u);
  EXPECT_EQ(process.program, "solver");
  EXPECT_EQ(process.command_line, std::string_view("a\0b", 3));
  EXPECT_EQ(process.host, "host");
  EXPECT_EQ(process.directory, "/d");
  const auto clock = std::get<DecodedClock>(reader.next().value());
  EXPECT_EQ(clock.fixed.ticks_per_second, 1e9);
  EXPECT_EQ(clock.name, "tsc");
  EXPECT_EQ(clock.node, "boot");
  const auto module = std::get<DecodedModule>(reader.next().value());
  EXPECT_EQ(module.path, "/lib/ü.so");
  EXPECT_EQ(module.build_id, "c0ffee");
  EXPECT_EQ(std::get<DecodedCallSite>(reader.next().value()).fixed.offset, 0x123u);
  EXPECT_EQ(std::get<DecodedShortRuns>(reader.next().value()).fixed.run_bytes, 8u);
  const auto communicator = std::get<DecodedCommunicator>(reader.next().value());
  ASSERT_EQ(communicator.ranges.size(), 3u);
  EXPECT_EQ(communicator.ranges[2].stride, -1);
  EXPECT_EQ(communicator.name, "halo");
  const auto topology = std::get<DecodedTopology>(reader.next().value());
  ASSERT_EQ(topology.dimensions.size(), 2u);
  EXPECT_EQ(topology.dimensions[1].extent, 3u);
  EXPECT_EQ(std::get<DecodedFile>(reader.next().value()).path, "");
  EXPECT_EQ(std::get<DecodedThread>(reader.next().value()).fixed.tid, 4711u);
  const auto mark = std::get<DecodedMarkName>(reader.next().value());
  EXPECT_EQ(mark.fixed.name, 7u);
  EXPECT_EQ(mark.name, "step");
  EXPECT_EQ(std::get<DecodedNotice>(reader.next().value()).text, "something");
  EXPECT_EQ(std::get<DecodedUsage>(reader.next().value()).fixed.peak_memory_bytes, 40u);
  const auto code = std::get<DecodedPythonCode>(reader.next().value());
  EXPECT_EQ(code.fixed.first_line, 42u);
  EXPECT_EQ(code.file, "/s.py");
  EXPECT_EQ(code.lines, std::string_view("\0\1", 2));
  const auto memory = std::get<DecodedMemory>(reader.next().value());
  ASSERT_EQ(memory.points.size(), 2u);
  EXPECT_EQ(memory.points[1].kibibytes, 200u);
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_EQ(reader.error(), "");
  EXPECT_EQ(reader.count(), 14u);
}

TEST(Definitions, OneThatDoesNotFitLeavesTheRestAsItWas) {
  std::array<std::uint64_t, 8> storage{};
  DefinitionWriter writer(std::as_writable_bytes(std::span(storage)));
  EXPECT_TRUE(writer.add(FileDefinition{1, 0}, "short"));
  const std::size_t used = writer.bytes();
  EXPECT_FALSE(writer.add(FileDefinition{2, 0}, "a name that is longer than what is left"));
  EXPECT_EQ(writer.bytes(), used);
  EXPECT_EQ(writer.count(), 1u);
  EXPECT_TRUE(writer.add(FileDefinition{2, 0}, "tiny"));
}

TEST(Definitions, LongStringsAreCut) {
  Written out;
  ASSERT_TRUE(out.writer.add(FileDefinition{1, 0}, std::string(3 * kMaxStringBytes, 'x')));
  DefinitionReader reader(out.payload());
  EXPECT_EQ(std::get<DecodedFile>(reader.next().value()).path.size(), kMaxStringBytes);
}

TEST(Definitions, UnknownKindIsSkipped) {
  Written out;
  ASSERT_TRUE(out.writer.add(FileDefinition{1, 0}, "a"));
  ASSERT_TRUE(out.writer.add(FileDefinition{2, 0}, "b"));
  const std::uint16_t later = 999;
  std::memcpy(out.payload().data(), &later, sizeof(later));
  DefinitionReader reader(out.payload());
  EXPECT_EQ(std::get<UnknownDefinition>(reader.next().value()).header.kind, later);
  EXPECT_EQ(std::get<DecodedFile>(reader.next().value()).path, "b");
}

TEST(Definitions, EveryTruncationIsAnError) {
  Written out;
  ASSERT_TRUE(out.writer.add(kClock, "tsc", "boot"));
  for (std::size_t bytes = 1; bytes < out.payload().size(); ++bytes) {
    DefinitionReader reader(out.payload().first(bytes));
    EXPECT_FALSE(reader.next().has_value()) << bytes;
    EXPECT_NE(reader.error(), "") << bytes;
  }
}

TEST(Definitions, LengthOfAStringIsNotBelieved) {
  Written out;
  ASSERT_TRUE(out.writer.add(FileDefinition{1, 0}, "abcd"));
  const std::uint32_t huge = std::numeric_limits<std::uint32_t>::max();
  std::memcpy(out.payload().data() + sizeof(DefinitionHeader) + sizeof(FileDefinition), &huge, sizeof(huge));
  EXPECT_NE(out.read_error(), "");
}

TEST(Definitions, SenselessClockIsAnError) {
  for (const double rate :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Written out;
    ClockDefinition clock = kClock;
    clock.ticks_per_second = rate;
    ASSERT_TRUE(out.writer.add(clock, "", ""));
    EXPECT_NE(out.read_error(), "") << rate;
  }
}

TEST(Definitions, SenselessCommunicatorIsAnError) {
  const CommunicatorDefinition good{1, CommunicatorKind::kIntra, 0, 0, 4, 1, 0, 1, 0, 0, 1};
  const auto error = [](CommunicatorDefinition fixed, RankRange range) {
    Written out;
    EXPECT_TRUE(out.writer.add(fixed, std::span(&range, 1), ""));
    return out.read_error();
  };
  EXPECT_EQ(error(good, {0, 4, 1}), "");
  EXPECT_EQ(error(good, {kNoPeer, 2, 0}), "");
  EXPECT_NE(error(good, {0, 5, 1}), "");
  EXPECT_NE(error(good, {0, 0, 1}), "");
  EXPECT_EQ(error(good, {3, 1, 0}), "");
  EXPECT_NE(error(good, {3, 2, 0}), "") << "one rank twice";
  EXPECT_NE(error(good, {-5, 1, 1}), "");
  EXPECT_NE(error(good, {2, 4, -1}), "");
  EXPECT_NE(error(good, {std::numeric_limits<std::int32_t>::max(), 2, 1}), "");
  CommunicatorDefinition bad = good;
  bad.rank = 4;
  EXPECT_NE(error(bad, {0, 4, 1}), "");
  bad = good;
  bad.first_range = std::numeric_limits<std::uint32_t>::max();
  EXPECT_NE(error(bad, {0, 4, 1}), "");
  bad = good;
  bad.remote_size = 1;
  EXPECT_NE(error(bad, {0, 4, 1}), "");
  bad = good;
  bad.kind = static_cast<CommunicatorKind>(2);
  EXPECT_NE(error(bad, {0, 4, 1}), "");
}

TEST(Definitions, AnnouncedCountMustBeRight) {
  Written out;
  ASSERT_TRUE(out.writer.add(FileDefinition{1, 0}, "a"));
  const Pack pack = make_pack(PackClass::kDefinitions, out.payload(), 2);
  EXPECT_FALSE(check_pack(pack.bytes()));
}

}  // namespace
}  // namespace ardoise::instrument

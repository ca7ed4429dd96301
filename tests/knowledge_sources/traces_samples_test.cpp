// Samples and counters in traces.
#include <algorithm>

#include "knowledge_sources/plugins/traces/trace_samples.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::ContextRecord;
using instrument::SampleRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::string_view_literals;

constexpr std::uint64_t kSamplesOfFirst = std::uint64_t{kSamplesOfThread} << 32;

SampleRecord sample(std::uint64_t tick, std::uint32_t context, std::uint16_t function = 0, std::uint32_t weight = 100) {
  SampleRecord record{};
  record.tick = tick;
  record.context = context;
  record.weight = weight;
  record.function = function;
  return record;
}

class SampledTraces : public TracesFixture {
 protected:
  // As a process sends them: it counts all samples of an epoch before their first pack.
  replay::PrintedTrace traced_as_one_epoch(PackMaker& maker, std::uint64_t samples) {
    maker.flush();
    begin({{.name = "program", .ranks = 1}});
    for (replay::Pack& pack : maker.take()) {
      pack.header().samples.recorded = samples;
      session_->submit(pack);
      session_->board().drain();
    }
    finish();
    return read();
  }
  // Contexts: main calls solve, in two modules that have no symbols; and a sampler of 1 kHz.
  static void define(PackMaker& maker) {
    maker.define(instrument::ModuleDefinition{1, 0, 0, 4096}, "/no/such/solver"sv, "a1"sv);
    maker.define(instrument::ModuleDefinition{2, 0, 8192, 4096}, "/no/such/library.so"sv, "b2"sv);
    maker.define(instrument::SamplingDefinition{0, instrument::SamplingCause::kStart, 1000, 1000.0, 0, 0, 1, 1, 0, 0});
    maker.define(instrument::SamplingDefinition{0, instrument::SamplingCause::kMemory, 5000, 500.0, 0, 0, 1, 1, 0, 0});
    maker.contexts(0, std::vector<ContextRecord>{{1, 0, 1, 0, 0x100}, {2, 1, 2, 1, 0x40}, {3, 1, 2, 0, 0x80}});
  }
};

TEST_F(SampledTraces, SamplesHaveTheirCallingContexts) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, instrument::kNoPeer, 0, 0);
  // Packs by level: one lies within the other.
  maker.samples(0, std::vector{sample(2500, 2), sample(2010, 3, id(FunctionId::kBarrier) + 1)});
  maker.samples(0, std::vector{sample(2400, 2), sample(2600, 0)});
  define(maker);
  const auto trace = traced_as_one_epoch(maker, 4);
  const auto samples = trace.of_kind("CALLING_CONTEXT_SAMPLE");
  ASSERT_THAT(samples, SizeIs(4));
  std::vector<std::uint64_t> times;
  for (const auto& each : samples) {
    EXPECT_EQ(each.location, kSamplesOfFirst);
    times.push_back(each.time);
  }
  EXPECT_THAT(times, ElementsAre(trace_time(2010), trace_time(2400), trace_time(2500), trace_time(2600)));
  const auto contexts = trace.defined("CALLING_CONTEXT");
  ASSERT_THAT(contexts, SizeIs(4));
  EXPECT_THAT(trace.definitions, HasSubstr("\"(solver)\""));
  EXPECT_THAT(trace.definitions, HasSubstr("\"(library.so)\""));
  EXPECT_THAT(samples[0].attributes, HasSubstr("MPI_Barrier"));
  EXPECT_THAT(samples[1].attributes, HasSubstr("(library.so)"));
  EXPECT_EQ(samples[1].attributes, samples[2].attributes);
  EXPECT_THAT(samples[3].attributes, HasSubstr("(unknown)"));
  EXPECT_THAT(trace.defined("INTERRUPT_GENERATOR"), ElementsAre(HasSubstr("1000")));
  EXPECT_EQ(trace.calls(), (std::map<std::string, std::uint64_t>{{"MPI_Barrier", 1}}));
  EXPECT_THAT(finished_.notices, IsEmpty());
}

TEST_F(SampledTraces, CountersAreMetricsThatAddUp) {
  PackMaker maker({});
  maker.define(instrument::CountersDefinition{2, instrument::SampleUnit::kCpuNanoseconds}, "cpu"sv,
               std::vector<std::string_view>{"instructions", "cache-misses"});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, instrument::kNoPeer, 0, 0);
  define(maker);
  maker.samples(0, std::vector{sample(2200, 2), sample(2400, 2, 0, 0)}, 1, std::vector<std::uint64_t>{10, 1, 20, 2});
  maker.samples(0, std::vector{sample(2300, 2)}, 0, std::vector<std::uint64_t>{7, 0});
  const auto trace = traced_as_one_epoch(maker, 3);
  EXPECT_THAT(trace.of_kind("CALLING_CONTEXT_SAMPLE"), SizeIs(2));  // one had no weight
  const auto metrics = trace.of_kind("METRIC");
  ASSERT_THAT(metrics, SizeIs(3));
  EXPECT_THAT(metrics[0].attributes, HasSubstr("(\"instructions\" <0>; UINT64; 20"));
  EXPECT_THAT(metrics[1].attributes, HasSubstr("(\"instructions\" <0>; UINT64; 27"));
  EXPECT_THAT(metrics[2].attributes, HasSubstr("(\"instructions\" <0>; UINT64; 67"));
  EXPECT_THAT(metrics[2].attributes, HasSubstr("(\"cache-misses\" <1>; UINT64; 6"));
  EXPECT_THAT(trace.defined("METRIC_INSTANCE"), ElementsAre(HasSubstr("Scope: LOCATION \"Master thread\"")));
}

TEST_F(SampledTraces, OnlyRanksAndTimesRestrictThem) {
  const auto samples_of = [this](const std::string& selection) {
    PackMaker maker({});
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, instrument::kNoPeer, 0, 0);
    define(maker);
    maker.samples(0, std::vector{sample(2500, 2), sample(4500, 2)});
    std::filesystem::remove_all(folder_ / "trace");
    return traced({&maker}, selection).of_kind("CALLING_CONTEXT_SAMPLE").size();
  };
  EXPECT_EQ(samples_of("all"), 2u);
  EXPECT_EQ(samples_of("from=2us"), 1u);
  EXPECT_EQ(samples_of("functions=mpi"), 0u);
  EXPECT_EQ(samples_of("min=1us"), 0u);
  EXPECT_EQ(samples_of("ranks=1"), 0u);
}

TEST_F(SampledTraces, LateSamplesAreMovedAndCounted) {
  PackMaker maker({});
  // Each is an epoch that begins before the end of the previous one.
  for (const std::uint64_t tick : {3000u, 3500u, 3499u, 3600u}) maker.samples(0, std::vector{sample(tick, 2)});
  const auto trace = traced({&maker});
  EXPECT_THAT(trace.of_kind("CALLING_CONTEXT_SAMPLE"), SizeIs(4));
  EXPECT_THAT(trace.properties, HasSubstr("ARDOISE::MOVED_SAMPLES"));
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("1 sample was reported late")));
}

TEST_F(SampledTraces, ALaunchThatWasEndedHasThoseOfBothParts) {
  PackMaker maker({});
  maker.define(instrument::CountersDefinition{1, instrument::SampleUnit::kCpuNanoseconds}, "cpu"sv,
               std::vector<std::string_view>{"instructions"});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, instrument::kNoPeer, 0, 0);
  define(maker);
  maker.flush();
  maker.samples(0, std::vector{sample(2200, 2)}, 0, std::vector<std::uint64_t>{5});
  auto packs = maker.take();
  maker.samples(0, std::vector{sample(2300, 2)}, 0, std::vector<std::uint64_t>{6});
  begin({{.name = "program", .ranks = 1}}, "all");
  session_->submit(packs);
  session_->board().drain();
  archive_->close_parts();
  session_.reset();
  begin({{.name = "program", .ranks = 1}}, "");
  for (const auto& pack : packs) {
    const auto of = reinterpret_cast<const instrument::PackHeader*>(pack.bytes().data())->pack_class;
    if (of == static_cast<std::uint16_t>(instrument::PackClass::kDefinitions)) session_->submit(pack);
  }
  session_->submit(maker.take());
  finish();
  const auto trace = read();
  const auto samples = trace.of_kind("CALLING_CONTEXT_SAMPLE");
  ASSERT_THAT(samples, SizeIs(2));
  EXPECT_EQ(samples[0].attributes, samples[1].attributes);
  EXPECT_THAT(samples[0].attributes, HasSubstr("(library.so)"));
  EXPECT_THAT(trace.of_kind("METRIC").back().attributes, HasSubstr("UINT64; 11"));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Lamport clocks in traces: a receive is later than its send, and the end of a collective later than all entries.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "knowledge_sources/otf2/writer/trace_clocks.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CompletionRecord;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::string_view_literals;

class TraceClocksOfRanks : public TracesFixture {
 protected:
  static constexpr std::uint32_t kRanks = 4, kSteps = 200;

  // A ring of messages, a sum, and a non-blocking barrier that continues while the next message is sent.
  static std::vector<replay::Pack> packs_of(std::uint32_t rank) {
    PackMaker maker({.rank = rank}, 100);
    const instrument::RankRange all{0, kRanks, 1};
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 77, 0, kRanks, rank, 0, 1, 0, 0, 1},
        std::span(&all, 1), ""sv);
    maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, rank * 1e-6, 0, 0}, "tsc"sv, "boot"sv);
    const auto next = static_cast<std::int32_t>((rank + 1) % kRanks),
               before = static_cast<std::int32_t>((rank + kRanks - 1) % kRanks);
    for (std::uint32_t step = 1; step <= kSteps; ++step) {
      const std::uint64_t begin = 10'000 * step + 100 * rank;
      if (rank != 0) maker.call(FunctionId::kRecv, Shape::kReceive, begin, 100, before, 1, 8, 3);
      maker.call(FunctionId::kSend, Shape::kSend, begin + 1000, 100, next, 1, 8, 2);
      if (rank == 0) maker.call(FunctionId::kRecv, Shape::kReceive, begin + 1500, 100, before, 1, 8, 3);
      maker.call(FunctionId::kIbarrier, Shape::kCollective, begin + 2000, 10, instrument::kNoPeer, 0, 0, 4);
      maker.call(FunctionId::kSend, Shape::kSend, begin + 2500, 100, next, 2, 8, 2);
      maker.call(FunctionId::kRecv, Shape::kReceive, begin + 3000, 100, before, 2, 8, 3);
      maker.call(FunctionId::kWait, Shape::kCompletes, begin + 4000, 100, -1, 1, 0, 5);
      maker.mpi_extension(CompletionRecord{begin + 2000, 0, 1, -1, 0, 0,
                                           instrument::make_word(0, id(FunctionId::kIbarrier), Shape::kCompletion)});
      maker.call(FunctionId::kAllreduce, Shape::kCollective, begin + 5000, 1000, instrument::kNoPeer, 8, 8, 1);
    }
    maker.finish();
    return maker.take();
  }
  replay::PrintedTrace traced_ranks(const std::string& selection) {
    begin({{.name = "program", .ranks = kRanks}}, selection, 2);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) session_->submit(packs_of(rank), rank % 2);
    finish();
    return read();
  }
  // The value of an attribute by its name, as otf2-print shows it; none: missing.
  static std::optional<std::uint64_t> number_of(const replay::PrintedTrace::Event& event, const std::string& name) {
    const std::size_t at = event.attributes.find("\"" + name + "\"");
    if (at == std::string::npos) return std::nullopt;
    const std::size_t value = event.attributes.find("UINT64; ", at);
    return std::stoull(event.attributes.substr(value + 8));
  }
  using Clocks = std::map<std::pair<std::uint64_t, std::string>, std::vector<std::uint64_t>>;
  // The clocks by location and kind of event, in their order. Expects that they grow on each location.
  static Clocks clocks_of(const replay::PrintedTrace& trace) {
    Clocks clocks;
    std::map<std::uint64_t, std::uint64_t> last;
    for (const auto& event : trace.events) {
      const auto clock = number_of(event, "ardoise::lamport");
      if (!clock) continue;
      EXPECT_GT(*clock, last[event.location]) << event.kind;
      last[event.location] = *clock;
      std::string kind = event.kind;
      if (const std::string tag = event.of("Tag"); !tag.empty()) kind += tag;
      clocks[{event.location, kind}].push_back(*clock);
    }
    return clocks;
  }
};

TEST_F(TraceClocksOfRanks, AreInTheOrderOfCauses) {
  const auto trace = traced_ranks("all,attributes=clocks");
  EXPECT_THAT(finished_.notices, IsEmpty());
  auto clocks = clocks_of(trace);
  for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
    for (const std::string tag : {"1", "2"}) {
      const auto &sent = clocks[{rank, "MPI_SEND" + tag}], &received = clocks[{(rank + 1) % kRanks, "MPI_RECV" + tag}];
      ASSERT_THAT(sent, SizeIs(kSteps));
      ASSERT_THAT(received, SizeIs(kSteps));
      for (std::size_t i = 0; i < kSteps; ++i) EXPECT_GT(received[i], sent[i]) << rank << " " << i;
    }
  }
  for (std::size_t i = 0; i < kSteps; ++i) {
    std::uint64_t entered = 0, requested = 0;
    std::set<std::uint64_t> left;
    for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
      entered = std::max(entered, clocks[{rank, "MPI_COLLECTIVE_BEGIN"}].at(i));
      requested = std::max(requested, clocks[{rank, "NON_BLOCKING_COLLECTIVE_REQUEST"}].at(i));
      left.insert(clocks[{rank, "MPI_COLLECTIVE_END"}].at(i));
    }
    EXPECT_THAT(left, ElementsAre(entered + 1));
    for (std::uint64_t rank = 0; rank < kRanks; ++rank)
      EXPECT_GT((clocks[{rank, "NON_BLOCKING_COLLECTIVE_COMPLETE"}].at(i)), requested);
  }
  const auto properties = trace.defined("LOCATION_PROPERTY");
  ASSERT_THAT(properties, SizeIs(kRanks));
  EXPECT_THAT(properties.back(), AllOf(HasSubstr("ardoise::clock_error_ns"), HasSubstr("3000")));
  EXPECT_THAT(trace.properties, Not(HasSubstr("WITHOUT_OTHER_END")));
}

TEST_F(TraceClocksOfRanks, OfChosenRanksCountTheirOtherEndsAsMissing) {
  const auto trace = traced_ranks("ranks=1-3,attributes=clocks");
  auto clocks = clocks_of(trace);
  EXPECT_THAT(trace.properties, AllOf(HasSubstr("ARDOISE::CLOCKS_WITHOUT_OTHER_END"), HasSubstr("400")))
      << "receives of rank 1";
  EXPECT_EQ((clocks[{1, "MPI_COLLECTIVE_END"}]), (clocks[{3, "MPI_COLLECTIVE_END"}]));
}

// A time range cuts the ranks at different places; clocks cover all that was traced.
TEST_F(TraceClocksOfRanks, OfACutAreOfItsEvents) {
  const auto trace = traced_ranks("from=500us,to=1ms,attributes=clocks");
  auto clocks = clocks_of(trace);
  ASSERT_THAT((clocks[{0, "MPI_COLLECTIVE_END"}]), Not(IsEmpty()));
  EXPECT_EQ((clocks[{0, "MPI_COLLECTIVE_END"}]), (clocks[{2, "MPI_COLLECTIVE_END"}]));
}

class LamportClocks : public TracesFixture {
 protected:
  static std::vector<std::uint64_t> clocks_of(const TraceClocks& clocks, std::uint64_t location, std::size_t count) {
    std::vector<std::uint64_t> all;
    ClocksOfLocation in(clocks.clocks_of(location));
    for (std::size_t i = 0; i < count; ++i) all.push_back(in.next());
    return all;
  }
};

// Each waits for a message that the other one sends later.
TEST_F(LamportClocks, GoOnWhereAllWaitForEachOther) {
  TraceClocks clocks(folder_ / "clocks");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    clocks.begin_location(rank);
    clocks.add_receive(TraceClocks::Channel{0, 1 - rank, rank, 7}, 0);
    clocks.add_send(TraceClocks::Channel{0, rank, 1 - rank, 7}, 0);
    clocks.end_location();
  }
  clocks.resolve();
  EXPECT_EQ(clocks.unmatched(), 1u);
  const auto first = clocks_of(clocks, 0, 2), second = clocks_of(clocks, 1, 2);
  EXPECT_TRUE(first[1] < second[0] || second[1] < first[0]);
}

TEST_F(LamportClocks, ReachAcrossManyBlocksOfEvents) {
  constexpr std::uint64_t kMessages = (1u << 20) + 1000;  // more than are held while they are added
  TraceClocks clocks(folder_ / "clocks");
  clocks.begin_location(0);
  for (std::uint64_t i = 0; i < kMessages; ++i) clocks.add_send(TraceClocks::Channel{0, 0, 1, 7}, i);
  clocks.end_location();
  clocks.begin_location(1);
  for (std::uint64_t i = 0; i < kMessages; ++i) clocks.add_receive(TraceClocks::Channel{0, 0, 1, 7}, i);
  clocks.end_location();
  clocks.resolve();
  EXPECT_EQ(clocks.unmatched(), 0u);
  EXPECT_EQ(clocks_of(clocks, 0, kMessages).back(), kMessages);
  EXPECT_EQ(clocks_of(clocks, 1, kMessages).back(), kMessages + 1);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

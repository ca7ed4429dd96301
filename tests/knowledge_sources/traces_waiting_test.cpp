// Attributes of calls that are added when a trace is finished: their waiting time and its pattern.
#include <sys/resource.h>

#include <csignal>
#include <map>

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

class TraceWaiting : public TracesFixture {
 protected:
  static constexpr std::uint32_t kRanks = 4, kSteps = 60;
  static constexpr std::uint64_t kStepTicks = 1'000'000;
  TraceWaiting() { plugins_ = {"traces", "waits"}; }

  static void define(PackMaker& maker, std::uint32_t rank, std::uint32_t ranks) {
    const instrument::RankRange all{0, ranks, 1};
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 77, 0, ranks, rank, 0, 1, 0, 0, 1},
        std::span(&all, 1), ""sv);
    maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 0, 0, 0}, "tsc"sv, "boot"sv);
  }
  // Each step: a sum, a message to the next rank, and two operations that are completed together; some are late.
  static std::vector<replay::Pack> packs_of(std::uint32_t rank) {
    PackMaker maker({.rank = rank}, 7);
    define(maker, rank, kRanks);
    const auto next = static_cast<std::int32_t>((rank + 1) % kRanks),
               before = static_cast<std::int32_t>((rank + kRanks - 1) % kRanks);
    for (std::uint32_t step = 1; step <= kSteps; ++step) {
      const std::uint64_t begin = kStepTicks * step, late = (rank * 7919 + step * 104'729) % 90'001;
      maker.call(FunctionId::kAllreduce, Shape::kCollective, begin + late, static_cast<std::uint32_t>(450'000 - late),
                 instrument::kNoPeer, 8, 8, 1);
      const std::uint64_t sent = begin + 500'000 + late / 2;
      maker.call(FunctionId::kSend, Shape::kSend, sent, 10'000, next, 1, 8, 2);
      maker.call(FunctionId::kRecv, Shape::kReceive, sent + 10'000, 80'000, before, 1, 8, 3);
      const std::uint64_t started = begin + 700'000 + late / 2;
      maker.call(FunctionId::kIsend, Shape::kSend, started, 100, next, 2, 8, 5);
      maker.call(FunctionId::kIrecv, Shape::kPostReceive, started + 200, 100, before, 2, 8, 6);
      maker.call(FunctionId::kWaitall, Shape::kCompletes, started + 1000, 90'000, -1, 2, 0, 4);
      maker.mpi_extension(CompletionRecord{started, 0, 1, -1, 0, 0,
                                           instrument::make_word(0, id(FunctionId::kIsend), Shape::kCompletion)});
      maker.mpi_extension(CompletionRecord{started + 200, 0, 1, before, 2, 8,
                                           instrument::make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)});
    }
    maker.finish();
    return maker.take();
  }
  struct Waiting {
    std::uint64_t calls = 0, ns = 0;
    std::map<std::string, std::uint64_t> patterns;
  };
  static std::uint64_t waiting_of(const replay::PrintedTrace::Event& event) {
    const std::size_t at = event.attributes.find("UINT64; ");
    return at == std::string::npos ? 0 : std::stoull(event.attributes.substr(at + 8));
  }
  // By function.
  static std::map<std::string, Waiting> waiting_in(const replay::PrintedTrace& trace) {
    std::map<std::string, Waiting> all;
    for (const auto& event : trace.events) {
      if (event.kind != "LEAVE" || waiting_of(event) == 0) continue;
      Waiting& of = all[event.of("Region")];
      ++of.calls;
      of.ns += waiting_of(event);
      const std::size_t at = event.attributes.find("STRING; \"");
      EXPECT_NE(at, std::string::npos) << event.attributes;
      if (at != std::string::npos)
        ++of.patterns[event.attributes.substr(at + 9, event.attributes.find('"', at + 9) - at - 9)];
    }
    return all;
  }
};

TEST_F(TraceWaiting, IsAtTheEndOfTheCallThatWaited) {
  PackMaker early({.rank = 0}), late({.rank = 1});
  define(early, 0, 2);
  define(late, 1, 2);
  early.call(FunctionId::kAllreduce, Shape::kCollective, 2000, 700, instrument::kNoPeer, 8, 8, 1);
  late.call(FunctionId::kAllreduce, Shape::kCollective, 2500, 200, instrument::kNoPeer, 8, 8, 1);
  early.call(FunctionId::kSend, Shape::kSend, 3000, 10, 1, 1, 8, 2);
  late.call(FunctionId::kRecv, Shape::kReceive, 2900, 150, 0, 1, 8, 3);
  early.finish();
  late.finish();
  const auto trace = traced({&early, &late}, "all,attributes=waiting");
  std::vector<std::tuple<std::uint64_t, std::string, std::uint64_t>> leaves;
  for (const auto& event : trace.of_kind("LEAVE"))
    leaves.emplace_back(event.location, event.of("Region"), waiting_of(event));
  EXPECT_THAT(leaves,
              testing::UnorderedElementsAre(std::tuple(0, "MPI_Allreduce", 500), std::tuple(1, "MPI_Allreduce", 0),
                                            std::tuple(0, "MPI_Send", 0), std::tuple(1, "MPI_Recv", 100)));
  const auto waiting = waiting_in(trace);
  EXPECT_THAT(waiting.at("MPI_Allreduce").patterns, ElementsAre(std::pair("wait_nxn", 1)));
  EXPECT_THAT(waiting.at("MPI_Recv").patterns, ElementsAre(std::pair("late_sender", 1)));
  EXPECT_THAT(trace.defined("ATTRIBUTE"), SizeIs(2));
  EXPECT_THAT(trace.properties, Not(HasSubstr("WITHOUT_CALL")));
  EXPECT_THAT(finished_.notices, IsEmpty());
}

TEST_F(TraceWaiting, IsAsMuchAsInTheReportWhicheverAnalyzerFindsIt) {
  for (const std::size_t analyzers : {1u, 3u}) {
    begin({{.name = "program", .ranks = kRanks}}, "attributes=waiting", analyzers);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) session_->submit(packs_of(rank), rank % analyzers);
    const auto run = session_->finish();
    finished_ = archive_->finish();
    std::map<std::string, std::uint64_t> expected, got;
    for (const auto& site : run.applications.at(0).waiting.call_sites)
      expected[site.function] += static_cast<std::uint64_t>(std::llround(site.waiting_seconds * 1e9));
    ASSERT_THAT(expected, SizeIs(3)) << "a sum, a receive, a call that completes two operations";
    const auto trace = read();
    for (const auto& [function, waiting] : waiting_in(trace)) got[function] = waiting.ns;
    EXPECT_EQ(got, expected) << analyzers;
    EXPECT_THAT(trace.of_kind("ENTER"), SizeIs(6 * kSteps * kRanks));
    EXPECT_THAT(trace.of_kind("MPI_IRECV"), SizeIs(kSteps * kRanks));
    EXPECT_THAT(trace.properties, Not(HasSubstr("WITHOUT_CALL")));
    std::filesystem::remove_all(folder_ / "trace");
  }
}

TEST_F(TraceWaiting, OfCallsThatAreNotChosenIsNotMissed) {
  begin({{.name = "program", .ranks = kRanks}}, "ranks=1-2,functions=MPI_Recv,attributes=waiting");
  for (std::uint32_t rank = 0; rank < kRanks; ++rank) session_->submit(packs_of(rank));
  finish();
  const auto trace = read();
  const auto waiting = waiting_in(trace);
  ASSERT_THAT(waiting, SizeIs(1));
  EXPECT_GT(waiting.at("MPI_Recv").calls, 0u);
  EXPECT_THAT(trace.of_kind("ENTER"), SizeIs(2 * kSteps));
  EXPECT_THAT(trace.properties, Not(HasSubstr("WITHOUT_CALL")));
}

// A missing pack contains calls with waits that are reported nevertheless; here the test reports them by hand.
TEST_F(TraceWaiting, WithoutItsCallIsCounted) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 10, instrument::kNoPeer, 0, 0, 1);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 9000, 10, instrument::kNoPeer, 0, 0, 1);
  begin({{.name = "program", .ranks = 1}}, "attributes=waiting");
  maker.flush();
  session_->submit(maker.take());
  const auto barrier = id(FunctionId::kBarrier);
  const std::vector<RankWait> waits{
      {0, barrier, 1, 0, 1001, 1001, 7}, {0, barrier, 1, 0, 5000, 5000, 7}, {0, barrier, 2, 0, 1000, 1000, 7}};
  auto entry = blackboard::make_entry(WaitSpans::type("0:program"), waits.size() * sizeof(RankWait));
  std::memcpy(entry.writable().data(), waits.data(), waits.size() * sizeof(RankWait));
  session_->board().submit(std::move(entry));
  finish();
  const auto trace = read();
  EXPECT_EQ(waiting_in(trace).at("MPI_Barrier").ns, 7u) << "1 ns of rounding";
  EXPECT_THAT(trace.properties, AllOf(HasSubstr("ARDOISE::WAITS_WITHOUT_CALL"), HasSubstr("2")));
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("waits whose call is missing (2)")));
}

// Detected in the middle of a file, at its end, and in the files of the clocks.
TEST_F(TraceWaiting, AFullDiskWhileItIsAttachedCostsTheTraceOnly) {
  ::signal(SIGXFSZ, SIG_IGN);
  for (const auto& [calls, selection] :
       {std::pair(400'000u, "attributes=waiting"), std::pair(60'000u, "attributes=waiting"),
        std::pair(60'000u, "attributes=clocks")}) {
    PackMaker maker({});
    for (std::uint64_t i = 0; i < calls; ++i)
      maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 10 * i, 4, instrument::kNoPeer, 0, 0, 1);
    begin({{.name = "program", .ranks = 1}}, selection);
    maker.flush();
    session_->submit(maker.take());
    const RankWait wait{.rank = 0, .function = id(FunctionId::kBarrier), .call_site = 1, .call_begin = 1000, .ns = 1};
    auto entry = blackboard::make_entry(WaitSpans::type("0:program"), sizeof wait);
    std::memcpy(entry.writable().data(), &wait, sizeof wait);
    session_->board().submit(std::move(entry));
    (void)session_->finish();
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 1 << 19;
    ::setrlimit(RLIMIT_FSIZE, &small);
    finished_ = archive_->finish();
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(finished_.notices, ElementsAre(AllOf(HasSubstr("The trace of program could not be written: "),
                                                     HasSubstr("File too large"))));
    EXPECT_THAT(finished_.archives, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "trace") || std::filesystem::exists(folder_ / "trace.part"));
  }
}

TEST_F(TraceWaiting, BeyondTheRoomIsCounted) {
  CallNotes waits(folder_, [](const std::string& sentence) { FAIL() << sentence; });
  const std::vector<RankWait> some(1000, RankWait{.rank = 3});
  for (std::uint64_t all = 0; all <= CallNotes::kMostOfRank; all += some.size()) waits.add(some);
  waits.flush();
  std::vector<RankWait> read;
  std::uint64_t missing = 0;
  std::vector<NotedValue> none;
  NotesOfPart(folder_).add_to(read, none, 3, missing);
  EXPECT_EQ(read.size(), CallNotes::kMostOfRank);
  EXPECT_EQ(read.size() + missing, (CallNotes::kMostOfRank / 1000 + 1) * 1000);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

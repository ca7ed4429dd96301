// Traces in OTF2 from packs that were made by hand, read back with OTF2's own reader.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "instrument/format/mark_name.hpp"
#include "knowledge_sources/plugins/traces/trace_rank.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CompletionRecord;
using instrument::MarkExtension;
using instrument::MarkKind;
using instrument::PosixFunction;
using replay::PrintedTrace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::uint64_t at(std::uint64_t tick) { return trace_time(tick); }

CompletionRecord completion(FunctionId function, std::uint64_t post_begin, std::int32_t peer, std::int32_t tag,
                            std::uint32_t bytes, std::uint32_t comm = 0) {
  return {post_begin, 0, 1, peer, tag, bytes, instrument::make_word(comm, id(function), Shape::kCompletion)};
}
MarkExtension mark(MarkKind kind, std::uint64_t tick, const char* name, std::uint64_t value) {
  return {tick, value, instrument::mark_name_id(name), 0, kind, {}, instrument::kMarkWord};
}

instrument::PackClass class_of(const replay::Pack& pack) {
  return static_cast<instrument::PackClass>(
      reinterpret_cast<const instrument::PackHeader*>(pack.bytes().data())->pack_class);
}

// Bytes on disk of files that this process has open, including removed ones.
std::int64_t open_bytes_below(const std::filesystem::path& folder) {
  std::int64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string file = std::filesystem::read_symlink(entry.path(), ignored).string();
    struct stat status {};
    if (file.starts_with(folder.string()) && ::stat(entry.path().c_str(), &status) == 0) bytes += status.st_blocks;
  }
  return bytes * 512;
}

class Traces : public TracesFixture {};

// A process with an MPI_Init of unknown duration.
void define_process(PackMaker& maker) {
  maker.define(instrument::ProcessDefinition{1, 0, 1, 0, 1000, 0, 0, 0, 1}, std::string_view("program"),
               std::string_view("program"), std::string_view("host"), std::string_view("/"));
  maker.flush();
}

TEST_F(Traces, ABlockingMessageIsInItsTwoCalls) {
  PackMaker sender({.rank = 0}), receiver({.rank = 1});
  sender.call(FunctionId::kSend, Shape::kSend, 2000, 100, 1, 7, 64);
  receiver.call(FunctionId::kRecv, Shape::kReceive, 1900, 250, 0, 7, 64);
  const PrintedTrace trace = traced({&sender, &receiver});
  ASSERT_THAT(kinds_of(trace), ElementsAre("ENTER", "ENTER", "MPI_SEND", "LEAVE", "MPI_RECV", "LEAVE"));
  EXPECT_EQ(trace.events[0].location, 1u);
  EXPECT_EQ(trace.events[0].time, at(1900));
  EXPECT_EQ(trace.events[0].of("Region"), "MPI_Recv");
  const auto& send = trace.events[2];
  EXPECT_EQ(send.location, 0u);
  EXPECT_EQ(send.time, at(2000));
  EXPECT_EQ(send.of("Receiver"), "1");
  EXPECT_EQ(send.of("Communicator"), "MPI_COMM_WORLD");
  EXPECT_EQ(send.of("Tag"), "7");
  EXPECT_EQ(send.of("Length"), "64");
  const auto& receive = trace.events[4];
  EXPECT_EQ(receive.time, at(2150));
  EXPECT_EQ(receive.of("Sender"), "0");
  EXPECT_EQ(receive.of("Length"), "64");
  EXPECT_THAT(finished_.notices, IsEmpty());
  EXPECT_THAT(complaints_, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.part"));
}

TEST_F(Traces, RequestsTieTheEndToTheBegin) {
  PackMaker maker({}, 3);  // the completions come in a later pack than their call
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2000, 10, instrument::kAnySource, instrument::kAnyTag, 100);
  maker.call(FunctionId::kIsend, Shape::kSend, 2020, 10, 0, 5, 40);
  maker.call(FunctionId::kWaitall, Shape::kCompletes, 2100, 50, instrument::kNoPeer, 2, 0);
  maker.mpi_extension(completion(FunctionId::kIsend, 2020, instrument::kNoPeer, 5, 0));
  maker.mpi_extension(completion(FunctionId::kIrecv, 2000, 0, 5, 40));
  const PrintedTrace trace = traced({&maker});
  ASSERT_THAT(kinds_of(trace), ElementsAre("ENTER", "MPI_IRECV_REQUEST", "LEAVE", "ENTER", "MPI_ISEND", "LEAVE",
                                           "ENTER", "MPI_ISEND_COMPLETE", "MPI_IRECV", "LEAVE"));
  EXPECT_EQ(trace.events[1].of("Request"), trace.events[8].of("Request"));
  EXPECT_EQ(trace.events[4].of("Request"), trace.events[7].of("Request"));
  EXPECT_NE(trace.events[1].of("Request"), trace.events[4].of("Request"));
  EXPECT_EQ(trace.events[8].of("Sender"), "0");
  EXPECT_EQ(trace.events[8].of("Tag"), "5");
  EXPECT_EQ(trace.events[8].of("Length"), "40");
  EXPECT_EQ(trace.events[8].time, at(2150));
}

TEST_F(Traces, ACancelledReceiveIsSaid) {
  PackMaker maker({});
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2000, 10, 0, 1, 100);
  maker.call(FunctionId::kWait, Shape::kCompletes, 2100, 50, instrument::kNoPeer, 1, 0);
  maker.mpi_extension(completion(FunctionId::kIrecv, 2000, instrument::kNoPeer, instrument::kAnyTag, 0));
  EXPECT_THAT(kinds_of(traced({&maker})),
              ElementsAre("ENTER", "MPI_IRECV_REQUEST", "LEAVE", "ENTER", "MPI_REQUEST_CANCELLED", "LEAVE"));
}

TEST_F(Traces, CollectivesHaveOperationRootAndBytes) {
  PackMaker maker({});
  maker.call(FunctionId::kBcast, Shape::kRooted, 2000, 10, 0, 12, 8);
  maker.call(FunctionId::kIallreduce, Shape::kCollective, 2100, 10, instrument::kNoPeer, 16, 32);
  maker.call(FunctionId::kWait, Shape::kCompletes, 2200, 10, instrument::kNoPeer, 1, 0);
  maker.mpi_extension(completion(FunctionId::kIallreduce, 2100, instrument::kNoPeer, 0, 0));
  const PrintedTrace trace = traced({&maker});
  ASSERT_THAT(kinds_of(trace), ElementsAre("ENTER", "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END", "LEAVE", "ENTER",
                                           "NON_BLOCKING_COLLECTIVE_REQUEST", "LEAVE", "ENTER",
                                           "NON_BLOCKING_COLLECTIVE_COMPLETE", "LEAVE"));
  const auto& broadcast = trace.events[2];
  EXPECT_EQ(broadcast.of("Operation"), "BCAST");
  EXPECT_EQ(broadcast.of("Root"), "0");
  EXPECT_EQ(broadcast.of("Sent"), "8");
  EXPECT_EQ(broadcast.of("Received"), "12");
  const auto& reduction = trace.events[8];
  EXPECT_EQ(reduction.of("Operation"), "ALLREDUCE");
  EXPECT_EQ(reduction.of("Sent"), "32");
  EXPECT_EQ(reduction.of("Received"), "16");
}

TEST_F(Traces, CallsOfMpiAndOfIoComeInTheOrderOfTime) {
  // The packs of I/O come last, or first.
  for (const bool reversed : {false, true}) {
    PackMaker maker({}, 1);
    define_process(maker);
    for (std::uint64_t i = 0; i < 20; ++i) {
      maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 100 * i, 10, instrument::kNoPeer, 0, 0);
      maker.posix({2050 + 100 * i, 10, 1, 1, id(PosixFunction::kWrite), 0, 500 + i});
    }
    maker.define(instrument::FileDefinition{1, 0}, std::string_view("/tmp/data"));
    maker.flush();
    auto packs = maker.take();
    std::ranges::stable_sort(packs, {}, class_of);
    if (reversed) std::ranges::reverse(packs);
    begin({{.name = "program", .ranks = 1}});
    for (const auto& pack : packs) {
      session_->submit(pack);
      session_->board().drain();
    }
    finish();
    const PrintedTrace trace = read();
    const auto enters = trace.of_kind("ENTER");
    ASSERT_THAT(enters, SizeIs(40));
    for (std::size_t i = 0; i < 40; ++i) {
      const auto& enter = enters[i];
      EXPECT_EQ(enter.of("Region"), i % 2 == 0 ? "MPI_Barrier" : "write");
      EXPECT_EQ(enter.time, at(2000 + 50 * i));
    }
    const auto operations = trace.of_kind("IO_OPERATION_COMPLETE");
    ASSERT_THAT(operations, SizeIs(20));
    EXPECT_THAT(operations[3].attributes, HasSubstr("/tmp/data"));
    EXPECT_THAT(operations[3].attributes, HasSubstr("503"));
    std::filesystem::remove_all(folder_ / "trace");
  }
}

// Packs of I/O are rarer, as a process sends them: each has records between those of MPI packs that were sent before.
TEST_F(Traces, RecordsThatAThreadHoldsBackAreWaitedFor) {
  PackMaker process({}), maker({}, 10);
  define_process(process);
  for (std::uint64_t i = 0; i < 200; ++i)
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 10'000 * i, 4, instrument::kNoPeer, 0, 0);
  auto sent = maker.take();
  std::uint64_t recorded = 0;
  std::vector<instrument::PosixRecord> held;
  std::vector<replay::Pack> mixed;
  std::uint64_t order = 0;
  for (std::uint64_t i = 0; i < 20; ++i) {
    replay::Pack& mpi = sent[i];
    held.push_back({6000 + 10'000 * 10 * i, 2, 1, 0, id(PosixFunction::kWrite), 0, 1});
    held.push_back({6000 + 10'000 * (10 * i + 5), 2, 1, 0, id(PosixFunction::kWrite), 0, 1});
    mpi.header().posix.recorded = recorded;
    mpi.header().other_open = static_cast<std::uint32_t>(
        (mpi.header().last_tick - held.front().begin) / instrument::PackHeader::kOpenTicks + 1);
    mixed.push_back(mpi);
    if (i % 4 != 3) continue;
    recorded += held.size();
    instrument::PackHeader header = mpi.header();
    header.pack_class = static_cast<std::uint16_t>(instrument::PackClass::kPosix);
    header.record_count = static_cast<std::uint32_t>(held.size());
    header.payload_bytes = static_cast<std::uint32_t>(held.size() * sizeof held[0]);
    header.first_tick = held.front().begin;
    header.last_tick = held.back().begin + 2;
    header.order = order++;
    header.posix.recorded = recorded;
    header.other_open = 0;
    mixed.emplace_back(header, std::as_bytes(std::span(held)));
    held.clear();
  }
  begin({{.name = "program", .ranks = 1}});
  session_->submit(process.take());
  for (const auto& pack : mixed) {
    session_->submit(pack);
    session_->board().drain();
  }
  finish();
  const PrintedTrace trace = read();
  EXPECT_EQ(trace.calls(), (std::map<std::string, std::uint64_t>{{"MPI_Barrier", 200}, {"write", 40}}));
  EXPECT_THAT(finished_.notices, IsEmpty());
}

TEST_F(Traces, AnalyzersAndTheOrderOfPacksMakeNoDifference) {
  const auto packs_of = [](std::uint32_t rank) {
    PackMaker maker({.rank = rank}, 7);
    for (std::uint64_t i = 0; i < 50; ++i) {
      maker.call(FunctionId::kSend, Shape::kSend, 2000 + 100 * i, 10, 1 - static_cast<std::int32_t>(rank), 3, 8 + rank,
                 rank + 1);
      maker.call(FunctionId::kRecv, Shape::kReceive, 2050 + 100 * i, 10, 1 - static_cast<std::int32_t>(rank), 3,
                 9 - rank, 5);
    }
    maker.flush();
    return maker.take();
  };
  std::vector<std::string> texts;
  for (const std::size_t analyzers : {1u, 2u}) {
    begin({{.name = "program", .ranks = 2}}, "all", analyzers);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      auto packs = packs_of(rank);
      if (analyzers == 2) std::ranges::reverse(packs);
      session_->submit(packs, rank % analyzers);
    }
    finish();
    const PrintedTrace trace = read();
    std::string& text = texts.emplace_back();
    for (const auto& each : trace.events) {
      // Numbers of regions may differ.
      text += each.kind + std::to_string(each.location) + " " + std::to_string(each.time) + each.of("Region") +
              each.of("Receiver") + each.of("Length") + "\n";
    }
    std::filesystem::remove_all(folder_ / "trace");
  }
  EXPECT_EQ(texts[0], texts[1]);
}

TEST_F(Traces, LateRecordsAreMovedAndCounted) {
  PackMaker maker({}, TraceRank::kMostWaiting / 2);
  maker.posix({2005, 2, 1, 0, id(PosixFunction::kWrite), 0, 1});
  for (std::uint64_t i = 0; i < TraceRank::kMostWaiting + 10; ++i)
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 10 * i, 4, instrument::kNoPeer, 0, 0);
  maker.flush();
  auto packs = maker.take();
  begin({{.name = "program", .ranks = 1}}, "functions=io,MPI_Barrier,from=1us,to=2us");
  for (const auto pack_class : {instrument::PackClass::kMpi, instrument::PackClass::kPosix}) {
    for (const auto& pack : packs) {
      if (class_of(pack) == pack_class) session_->submit(pack);
    }
    session_->board().drain();
    session_->reduction().make_room();
  }
  finish();
  const PrintedTrace trace = read();
  EXPECT_EQ(trace.calls().at("write"), 1u);
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("1 call was reported late and shown later than made")));
  EXPECT_THAT(trace.properties, HasSubstr("ARDOISE::MOVED_CALLS"));
}

TEST_F(Traces, MarksAreParametersMetricsAndRegions) {
  PackMaker maker({});
  for (const char* name : {"step", "residual", "outer", "inner"})
    maker.define(instrument::MarkNameDefinition{instrument::mark_name_id(name), 0}, std::string_view(name));
  maker.mpi_extension(mark(MarkKind::kPhaseBegin, 2000, "outer", 0));
  maker.mpi_extension(mark(MarkKind::kSnapshot, 2010, "step", 41));
  maker.mpi_extension(mark(MarkKind::kPhaseBegin, 2020, "inner", 0));
  maker.mpi_extension(mark(MarkKind::kValue, 2030, "residual", std::bit_cast<std::uint64_t>(0.25)));
  maker.mpi_extension(mark(MarkKind::kPhaseEnd, 2040, "outer", 0));  // before the one in it
  maker.mpi_extension(mark(MarkKind::kPhaseEnd, 2050, "unbegun", 0));
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2060, 4, instrument::kNoPeer, 0, 0);
  const PrintedTrace trace = traced({&maker});
  ASSERT_THAT(kinds_of(trace), ElementsAre("ENTER", "PARAMETER_INT64", "ENTER", "METRIC", "LEAVE", "LEAVE", "ENTER",
                                           "ENTER", "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END", "LEAVE", "LEAVE"));
  EXPECT_EQ(trace.events[0].of("Region"), "outer");
  EXPECT_THAT(trace.events[1].attributes, HasSubstr("\"step\""));
  EXPECT_THAT(trace.events[1].attributes, HasSubstr("41"));
  EXPECT_THAT(trace.events[3].attributes, HasSubstr("residual"));
  EXPECT_THAT(trace.events[3].attributes, HasSubstr("0.25"));
  EXPECT_EQ(trace.events[4].of("Region"), "inner");
  EXPECT_EQ(trace.events[5].of("Region"), "outer");
  EXPECT_EQ(trace.events[6].of("Region"), "inner");
  EXPECT_EQ(trace.events[6].time, at(2040));
}

TEST_F(Traces, TheSelectionLeavesTheRestOut) {
  const auto make = [](std::uint32_t rank) {
    PackMaker maker({.rank = rank});
    maker.call(FunctionId::kIsend, Shape::kSend, 2000, 100, 0, 1, 1);
    maker.call(FunctionId::kBarrier, Shape::kCollective, 3000, 200, instrument::kNoPeer, 0, 0);
    maker.call(FunctionId::kWait, Shape::kCompletes, 4000, 300, instrument::kNoPeer, 1, 0);
    maker.mpi_extension(completion(FunctionId::kIsend, 2000, instrument::kNoPeer, 1, 0));
    maker.flush();
    return maker;
  };
  const auto trace_of = [&](const std::string& selection) {
    PackMaker first = make(0), second = make(1);
    std::filesystem::remove_all(folder_ / "trace");
    return traced({&first, &second}, selection);
  };
  // The end of a message belongs to its begin.
  EXPECT_THAT(kinds_of(trace_of("ranks=1,functions=MPI_Isend")),
              ElementsAre("ENTER", "MPI_ISEND", "LEAVE", "MPI_ISEND_COMPLETE"));
  EXPECT_THAT(kinds_of(trace_of("ranks=0,functions=MPI_Wait")), ElementsAre("ENTER", "LEAVE"));
  EXPECT_THAT(trace_of("from=2us,to=3us").calls(), ElementsAre(std::pair("MPI_Barrier", 2)));
  EXPECT_THAT(trace_of("min=0.25us").calls(), ElementsAre(std::pair("MPI_Wait", 2)));
}

TEST_F(Traces, ASelectionThatNothingMatchesIsSaidAndTheArchiveIsRead) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
  const PrintedTrace trace = traced({&maker}, "from=1h");
  EXPECT_THAT(trace.events, IsEmpty());
  EXPECT_THAT(finished_.notices, ElementsAre("The trace of program has no events: --trace "
                                             "from=1h selects nothing in this run."));
}

TEST_F(Traces, CommunicatorsHaveTheirMembers) {
  std::vector<PackMaker> makers;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    PackMaker& maker = makers.emplace_back(replay::Origin{.rank = rank});
    const auto half = static_cast<std::int32_t>(rank % 2);
    const std::vector<instrument::RankRange> own{{half, 2, 2}}, both{{half, 2, 2}, {1 - half, 2, 2}};
    maker.define(instrument::CommunicatorDefinition{1, instrument::CommunicatorKind::kIntra, 50u + rank % 2, 0, 2,
                                                    rank / 2, 0, 1, 0, 0, 1},
                 std::span<const instrument::RankRange>(own), std::string_view("half"));
    maker.define(
        instrument::CommunicatorDefinition{2, instrument::CommunicatorKind::kInter, 99, 0, 2, rank / 2, 2, 1, 1, 0, 2},
        std::span<const instrument::RankRange>(both), std::string_view(""));
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 1, 8, 1, 1);
    maker.call(FunctionId::kSend, Shape::kSend, 2100, 10, 1, 1, 8, 1, 2);
    maker.call(FunctionId::kSend, Shape::kSend, 2200, 10, 1, 1, 8, 1, 77);  // never defined
  }
  const PrintedTrace trace = traced({&makers[0], &makers[1], &makers[2], &makers[3]});
  const auto communicators = trace.defined("COMM");
  ASSERT_THAT(communicators, SizeIs(4));  // the world, two halves, and what is not known
  EXPECT_THAT(communicators[1], HasSubstr("\"half\""));
  EXPECT_THAT(trace.defined("INTER_COMM"), SizeIs(1));
  const auto groups = trace.defined("GROUP");
  EXPECT_THAT(groups,
              ::testing::Contains(HasSubstr("2 Members: 0 (\"Master thread\" <0>), 2 (\"Master thread\" <2>)")));
  EXPECT_THAT(groups,
              ::testing::Contains(HasSubstr("2 Members: 1 (\"Master thread\" <1>), 3 (\"Master thread\" <3>)")));
  for (const auto& send : trace.of_kind("MPI_SEND")) {
    if (send.time == at(2100)) continue;
    EXPECT_EQ(send.of("Communicator"), send.time == at(2000) ? "half" : "(not known)");
  }
}

TEST_F(Traces, ThreadsAreLocationsAndOneMayEndWhatAnotherStarts) {
  PackMaker starts({}), ends({});
  define_process(ends);
  starts.call(FunctionId::kIrecv, Shape::kPostReceive, 2000, 10, 0, 1, 8);
  ends.call(FunctionId::kWait, Shape::kCompletes, 2100, 10, instrument::kNoPeer, 1, 0);
  ends.mpi_extension(completion(FunctionId::kIrecv, 2000, 0, 1, 8));
  starts.flush();
  ends.flush();
  auto of_ends = ends.take();
  for (replay::Pack& pack : of_ends) {
    pack.header().thread = 1;
    pack.header().flags |= instrument::kSeveralMpiThreads;
  }
  begin({{.name = "program", .ranks = 1}});
  session_->submit(of_ends);
  session_->board().drain();
  session_->submit(starts.take());
  finish();
  const PrintedTrace trace = read();
  ASSERT_THAT(kinds_of(trace), ElementsAre("ENTER", "MPI_IRECV_REQUEST", "LEAVE", "ENTER", "MPI_IRECV", "LEAVE"));
  EXPECT_EQ(trace.events[1].location, 0u);
  EXPECT_EQ(trace.events[4].location, std::uint64_t{1} << 32);
  EXPECT_EQ(trace.events[1].of("Request"), trace.events[4].of("Request"));
}

TEST_F(Traces, SumsAndMissingPacksAreMarkersPropertiesAndNotices) {
  PackMaker maker({}, 1);
  for (std::uint64_t i = 0; i < 3; ++i)
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 100 * i, 10, instrument::kNoPeer, 0, 0);
  auto packs = maker.take();
  packs.erase(packs.begin() + 1);
  instrument::AggregateRecord sums{};
  sums.word = instrument::make_word(0, id(FunctionId::kBarrier), Shape::kCollective);
  sums.function = id(FunctionId::kBarrier);
  sums.calls = 7;
  sums.records = 5;  // and two that were only counted
  instrument::PackHeader header = packs[0].header();
  header.pack_class = static_cast<std::uint16_t>(instrument::PackClass::kAggregates);
  header.payload_bytes = sizeof sums;
  header.first_tick = 3000;
  header.last_tick = 3500;
  header.order = 0;
  packs.emplace_back(header, std::as_bytes(std::span(&sums, 1)));
  begin({{.name = "program", .ranks = 1}});
  session_->submit(packs);
  finish();
  const PrintedTrace trace = read();
  EXPECT_EQ(trace.calls().at("MPI_Barrier"), 2u);
  EXPECT_THAT(finished_.notices,
              ElementsAre("The trace of program lacks calls aggregated for lack of memory (5), quick queries that "
                          "were only counted (2), calls of packs that did not arrive, in gaps (1)."));
  EXPECT_THAT(trace.properties, HasSubstr("ARDOISE::CALLS_AS_SUMS"));
  EXPECT_THAT(trace.markers, HasSubstr("5 calls were aggregated for lack of memory"));
  EXPECT_THAT(trace.markers, HasSubstr(std::to_string(at(3000))));
  EXPECT_THAT(trace.markers, HasSubstr("calls before this are missing"));
}

TEST_F(Traces, AClockThatIsKnownBetterLaterCorrectsTheTimes) {
  PackMaker maker({}, 1);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 1000, 10, instrument::kNoPeer, 0, 0);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 1'000'001'000, 10, instrument::kNoPeer, 0, 0);
  instrument::ClockDefinition clock{};
  clock.tick = 2'000'000'000;
  clock.realtime_ns = 1'700'000'000'000'000'000;
  clock.ticks_per_second = 1e9 / 1.001;
  maker.define(clock, std::string_view("tsc"), std::string_view("node"));
  const PrintedTrace trace = traced({&maker});
  const auto enters = trace.of_kind("ENTER");
  ASSERT_THAT(enters, SizeIs(2));
  EXPECT_EQ(enters[0].time, kTraceLead);
  EXPECT_EQ(enters[1].time, kTraceLead + 1'001'000'000);
}

TEST_F(Traces, ProgramsOfOneWorldShareAnArchiveOthersHaveTheirOwn) {
  const auto packs_of = [](std::uint32_t partition, std::uint32_t rank) {
    PackMaker maker({.partition = partition, .rank = rank});
    maker.call(FunctionId::kSend, Shape::kSend, 2000, 10, 0, 1, 8);
    maker.flush();
    return maker.take();
  };
  begin({{.partition = 0, .name = "ocean", .ranks = 2, .world = 0, .place = {0, 3}},
         {.partition = 1, .name = "ice", .ranks = 1, .world = 0, .place = {2, 3}},
         {.partition = 2, .name = "bin/post", .ranks = 1, .world = 2, .place = {0, 1}}});
  for (const auto& [partition, rank] : {std::pair(0u, 0u), {0u, 1u}, {1u, 0u}, {2u, 0u}})
    session_->submit(packs_of(partition, rank));
  finish();
  const PrintedTrace together = read("trace-ocean"), apart = read("trace-bin_post");
  EXPECT_THAT(finished_.archives, SizeIs(2));
  EXPECT_THAT(together.defined("LOCATION"), SizeIs(3));
  EXPECT_THAT(together.of_kind("MPI_SEND"), SizeIs(3));
  EXPECT_EQ(together.of_kind("MPI_SEND").back().location, 2u);
  EXPECT_THAT(apart.of_kind("MPI_SEND"), SizeIs(1));
}

TEST_F(Traces, AFolderThatCannotBeMadeCostsTheTraceOnly) {
  std::ofstream(folder_ / "trace.part").close();
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
  begin({{.name = "program", .ranks = 1}});
  maker.flush();
  session_->submit(maker.take());
  finish();
  EXPECT_THAT(complaints_, ElementsAre(::testing::AllOf(HasSubstr("There is no trace: '"), HasSubstr("trace.part' "),
                                                        HasSubstr("cannot be written"))));
  EXPECT_THAT(finished_.archives, IsEmpty());
}

TEST_F(Traces, ModesAreTheUmasksWhichStays) {
  for (const mode_t mask : {022u, 077u, 027u}) {
    const mode_t before = ::umask(mask);
    PackMaker maker({});
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
    (void)traced({&maker});
    EXPECT_EQ(::umask(before), mask);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "trace")) {
      struct stat found {};
      ASSERT_EQ(::stat(entry.path().c_str(), &found), 0);
      EXPECT_EQ(found.st_mode & 07777 & mask, 0u) << entry.path();
      if (S_ISREG(found.st_mode)) {
        EXPECT_EQ(found.st_mode & 0600, 0600u) << entry.path();
        ++files;
      }
    }
    EXPECT_GE(files, 3u);
    TraceArchive::remove_old(folder_);
  }
}

TEST_F(Traces, AFolderThatOthersCanWriteToCostsTheTraceOnly) {
  std::filesystem::permissions(folder_, std::filesystem::perms{0777});
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
  begin({{.name = "program", .ranks = 1}});
  maker.flush();
  session_->submit(maker.take());
  finish();
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("its parent folder is accessible to other users")));
  EXPECT_THAT(finished_.archives, IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(Traces, AFullDiskCostsTheTraceOnly) {
  ::signal(SIGXFSZ, SIG_IGN);
  // Detected when the file is closed, and before that.
  for (const std::uint64_t calls : {100'000u, 400'000u}) {
    PackMaker maker({});
    for (std::uint64_t i = 0; i < calls; ++i)
      maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + 10 * i, 4, instrument::kNoPeer, 0, 0);
    maker.flush();
    begin({{.name = "program", .ranks = 1}});
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 1 << 20;
    ::setrlimit(RLIMIT_FSIZE, &small);
    session_->submit(maker.take());
    finish();
    ::setrlimit(RLIMIT_FSIZE, &before);
    EXPECT_THAT(complaints_, ElementsAre("There is no trace: '" + (folder_ / "trace.part").string() +
                                         "' cannot be written: File too large."));
    EXPECT_THAT(finished_.archives, IsEmpty());
    EXPECT_THAT(finished_.notices, IsEmpty());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "trace.part"));
    EXPECT_EQ(open_bytes_below(folder_), 0);
    complaints_.clear();
  }
}

TEST_F(Traces, APartThatIsNotWholeIsLeftOutAndSaid) {
  PackMaker maker({});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
  begin({{.name = "program", .ranks = 1}});
  maker.flush();
  session_->submit(maker.take());
  std::filesystem::create_directories(folder_ / "trace.part" / "part-killed");
  std::filesystem::create_directories(folder_ / "trace.part" / "part-broken");
  std::ofstream(folder_ / "trace.part" / "part-broken" / "tables") << "no tables";
  finish();
  EXPECT_EQ(read().calls().at("MPI_Barrier"), 1u);
  EXPECT_THAT(finished_.notices, ElementsAre("The trace lacks what 2 analyzers had of it when killed."));
}

TEST_F(Traces, UnsentPacksOfAnEndedLaunchFollowItsSentOnes) {
  PackMaker maker({}, 3);
  maker.define(instrument::MarkNameDefinition{instrument::mark_name_id("step"), 0}, std::string_view("step"));
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 4, instrument::kNoPeer, 0, 0);
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2100, 10, 0, 1, 8, 3);
  maker.call(FunctionId::kIrecv, Shape::kPostReceive, 2200, 10, 0, 1, 8, 3);
  maker.call(FunctionId::kWait, Shape::kCompletes, 2300, 10, instrument::kNoPeer, 1, 0, 9);
  maker.mpi_extension(completion(FunctionId::kIrecv, 2100, 0, 1, 8));
  maker.mpi_extension(mark(MarkKind::kSnapshot, 2400, "step", 1));
  maker.call(FunctionId::kAllreduce, Shape::kCollective, 2500, 4, instrument::kNoPeer, 0, 0);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2600, 4, instrument::kNoPeer, 0, 0);
  maker.flush();
  const auto packs = maker.take();  // definitions, and 3, 3 and 2 records
  ASSERT_THAT(packs, SizeIs(4));
  PackMaker silent({.rank = 1});  // of which nothing had been sent
  silent.call(FunctionId::kBcast, Shape::kRooted, 2050, 4, 0, 4, 0);
  silent.flush();
  begin({{.name = "program", .ranks = 2}}, "functions=mpi");
  session_->submit({packs.begin(), packs.begin() + 2});
  session_->board().drain();
  archive_->close_parts();
  EXPECT_TRUE(TraceArchive::has_parts(folder_));
  session_.reset();

  begin({{.name = "program", .ranks = 2}}, "");
  session_->submit(packs[0]);
  session_->submit(packs[3]);
  session_->submit(packs[2]);
  session_->submit(packs[1]);  // came before, too
  session_->submit(silent.take());
  finish();
  const PrintedTrace trace = read();
  std::vector<std::string> kinds;
  for (const auto& each : trace.events) {
    if (each.location == 0 && each.kind != "ENTER" && each.kind != "LEAVE") kinds.push_back(each.kind);
  }
  EXPECT_THAT(kinds, ElementsAre("MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END", "MPI_IRECV_REQUEST", "MPI_IRECV_REQUEST",
                                 "MPI_IRECV", "PARAMETER_INT64", "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END",
                                 "MPI_COLLECTIVE_BEGIN", "MPI_COLLECTIVE_END"));
  const std::map<std::string, std::uint64_t> calls{
      {"MPI_Allreduce", 1}, {"MPI_Barrier", 2}, {"MPI_Bcast", 1}, {"MPI_Irecv", 2}, {"MPI_Wait", 1}};
  EXPECT_EQ(trace.calls(), calls);
  EXPECT_EQ(trace.events.back().time, at(2604));
  EXPECT_EQ(trace.of_kind("MPI_IRECV").at(0).of("Length"), "8");
  EXPECT_THAT(finished_.notices, IsEmpty());
  EXPECT_THAT(complaints_, IsEmpty());
  EXPECT_FALSE(TraceArchive::has_parts(folder_));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// OTF2 archives become packs: the round trip through a trace changes nothing, and archives of other tools are analysed
// like programs that ran under Ardoise.
#include "knowledge_sources/otf2/packs/trace_packs.hpp"

#include "instrument/format/mark_name.hpp"
#include "instrument/format/pack_reader.hpp"
#include "replay/made_archive.hpp"
#include "replay/synthetic.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using replay::MadeArchive;
using replay::ScratchFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

struct Analysed {
  reports::Application application;
  std::vector<std::string> notices, faults;
  std::string name;
};

Analysed analyse(const std::filesystem::path& folder) {
  Analysed analysed;
  const ArchiveReader archive(folder);
  const TracedProgram program(archive);
  Session session({{.name = program.name(), .ranks = program.ranks()}});
  TracePacks packs(program, [&](MadePack pack) {
    const auto check = instrument::check_pack(pack.bytes());
    EXPECT_TRUE(check) << check.error;
    session.submit_bytes(pack.bytes());
  });
  analysed.faults = archive.read_side_by_side(packs).sentences();
  packs.finish();
  analysed.application = session.application();
  analysed.notices = packs.notices();
  analysed.name = program.name();
  return analysed;
}

using FunctionTuple = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, long>;
std::vector<FunctionTuple> functions_of(const std::vector<reports::FunctionProfile>& functions) {
  std::vector<FunctionTuple> result;
  for (const auto& each : functions)
    result.emplace_back(each.function, each.calls, each.bytes, each.bytes_sent, each.bytes_received,
                        std::lround(each.seconds * 1e9));
  return result;
}

using PatternTuple = std::tuple<std::string, std::uint64_t, long>;
std::vector<PatternTuple> patterns_of(const reports::Application& application) {
  std::vector<PatternTuple> result;
  for (const auto& each : application.waiting.patterns)
    result.emplace_back(each.pattern, each.occurrences, std::lround(each.seconds * 1e9));
  return result;
}

class TracePacksRoundTrip : public TracesFixture {
 protected:
  // The same packs twice: analysed directly, and through their trace.
  std::pair<reports::Application, Analysed> both_ways(std::uint32_t ranks, std::vector<std::vector<replay::Pack>> packs,
                                                      const std::string& selection = "all") {
    Session direct({{.name = "program", .ranks = ranks}});
    begin({{.name = "program", .ranks = ranks}}, selection);
    for (const auto& each : packs) {
      direct.submit(each);
      session_->submit(each);
    }
    finish();
    EXPECT_THAT(complaints_, IsEmpty());
    return {direct.application(), analyse(folder_ / "trace")};
  }
};

TEST_F(TracePacksRoundTrip, AProgramIsWhatItWasBefore) {
  const replay::SyntheticProgram program{.ranks = 8, .steps = 30, .records_per_pack = 300, .late_ticks = 30'000};
  std::vector<std::vector<replay::Pack>> packs;
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) packs.push_back(replay::synthetic_packs(program, rank));
  const auto [direct, traced] = both_ways(program.ranks, std::move(packs));
  EXPECT_THAT(traced.faults, IsEmpty());
  EXPECT_THAT(traced.notices, IsEmpty());
  const auto& detour = traced.application;
  EXPECT_EQ(functions_of(detour.mpi), functions_of(direct.mpi));
  EXPECT_EQ(functions_of(detour.posix), functions_of(direct.posix));
  EXPECT_EQ(edges_of(detour), edges_of(direct));
  // The packs do not define MPI_COMM_WORLD, the trace does: there its collectives are matched, too.
  ASSERT_THAT(patterns_of(direct), ElementsAre(PatternTuple{"late_sender", 120, 2'400'000}));
  EXPECT_THAT(patterns_of(detour), ::testing::IsSupersetOf(patterns_of(direct)));
  EXPECT_EQ(detour.waiting.resolved_messages, direct.waiting.resolved_messages);
  EXPECT_EQ(detour.waiting.resolved_calls, 8U * (30 + 3));
  EXPECT_THAT(detour.waiting.unreceived, IsEmpty());
  ASSERT_THAT(detour.files, SizeIs(1));
  EXPECT_EQ(detour.files[0].path, direct.files[0].path);
  EXPECT_EQ(detour.files[0].bytes_written, direct.files[0].bytes_written);
  EXPECT_EQ(detour.hosts, direct.hosts);
  EXPECT_EQ(detour.layout.extents, direct.layout.extents);
  for (const auto& ledger : detour.quality.ledger) {
    EXPECT_EQ(ledger.received, ledger.recorded) << ledger.record_class;
  }
  EXPECT_EQ(detour.quality.ranks_complete, program.ranks);
}

TEST_F(TracePacksRoundTrip, EveryKindOfMessageIsWhatItWasBefore) {
  std::vector<std::vector<replay::Pack>> packs;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    const auto peer = static_cast<std::int32_t>(1 - rank);
    const std::array<instrument::RankRange, 1> both{{{0, 2, 1}}};
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 5, 0, 2, rank, 0, 1, 0, 0, 1},
        std::span<const instrument::RankRange>(both), std::string_view("MPI_COMM_WORLD"));
    // Both halves of one call.
    maker.mpi({2000, 100, 1, peer, 3, 64, instrument::make_word(0, id(FunctionId::kSendrecv), Shape::kSend)});
    maker.mpi_extension(instrument::ReceiveHalfExtension{
        64, peer, 3, 0, 0, extension_word(ExtensionKind::kReceiveHalf, FunctionId::kSendrecv)});
    maker.total(instrument::PackClass::kMpi, id(FunctionId::kSendrecv), 1, 100, 64, 64);
    // Started together, completed together; a cancelled one.
    maker.call(FunctionId::kStartall, Shape::kLocal, 3000, 50, instrument::kNoPeer, 0, 0);
    const auto started = [&](std::uint64_t begin, std::uint64_t bytes, Shape shape) {
      maker.mpi_extension(instrument::StartedExtension{begin, bytes, peer, 4,
                                                       instrument::make_word(0, id(FunctionId::kStartall), shape),
                                                       extension_word(ExtensionKind::kStarted, FunctionId::kStartall)});
    };
    started(3000, 0, Shape::kPostReceive);
    started(3001, 4096, Shape::kSend);
    maker.total(instrument::PackClass::kMpi, id(FunctionId::kStartall), 0, 0, 4096, 0);
    maker.call(FunctionId::kIrecv, Shape::kPostReceive, 3100, 10, instrument::kAnySource, instrument::kAnyTag, 0);
    maker.call(FunctionId::kWaitall, Shape::kCompletes, 3200, 700, instrument::kNoPeer, 3, 0, 1, instrument::kNoComm);
    const auto completed = [&](std::uint64_t begin, FunctionId function, std::int32_t from, std::int32_t tag,
                               std::uint32_t bytes) {
      maker.mpi_extension(instrument::CompletionRecord{begin, 0, 1, from, tag, bytes,
                                                       instrument::make_word(0, id(function), Shape::kCompletion)});
    };
    completed(3000, FunctionId::kStartall, peer, 4, 4096);
    completed(3001, FunctionId::kStartall, instrument::kNoPeer, 4, 0);
    completed(3100, FunctionId::kIrecv, instrument::kNoPeer, instrument::kAnyTag, 0);
    maker.total(instrument::PackClass::kMpi, id(FunctionId::kStartall), 0, 0, 0, 4096);
    // More than 32 bits of time and of bytes.
    maker.mpi({5000, instrument::kWide, 1, peer, 9, instrument::kWide,
               instrument::make_word(0, id(rank == 0 ? FunctionId::kSend : FunctionId::kRecv),
                                     rank == 0 ? Shape::kSend : Shape::kReceive)});
    maker.mpi_extension(instrument::WideExtension{
        6'000'000'000, 5'000'000'000, 0, 0,
        extension_word(ExtensionKind::kWideValues, rank == 0 ? FunctionId::kSend : FunctionId::kRecv)});
    maker.total(instrument::PackClass::kMpi, id(rank == 0 ? FunctionId::kSend : FunctionId::kRecv), 1, 6'000'000'000,
                rank == 0 ? 5'000'000'000 : 0, rank == 0 ? 0 : 5'000'000'000);
    maker.call(FunctionId::kBarrier, Shape::kCollective, 6'050'000'000 + 1000 * rank, 5000, instrument::kNoPeer, 0, 0);
    // A non-blocking collective with a root.
    maker.call(FunctionId::kIbcast, Shape::kRooted, 6'100'000'000, 20, 1, rank == 0 ? 80 : 0, rank == 1 ? 80 : 0);
    maker.call(FunctionId::kWait, Shape::kCompletes, 6'100'001'000, 30, instrument::kNoPeer, 1, 0, 1,
               instrument::kNoComm);
    completed(6'100'000'000, FunctionId::kIbcast, instrument::kNoPeer, 0, 0);
    maker.finish();
    packs.push_back(maker.take());
  }
  const auto [direct, traced] = both_ways(2, std::move(packs));
  EXPECT_THAT(traced.notices, IsEmpty());
  EXPECT_EQ(functions_of(traced.application.mpi), functions_of(direct.mpi));
  EXPECT_EQ(edges_of(traced.application), edges_of(direct));
  ASSERT_THAT(patterns_of(direct), ::testing::Contains(::testing::FieldsAre("wait_barrier", 1, 1000)));
  EXPECT_EQ(patterns_of(traced.application), patterns_of(direct));
  EXPECT_EQ(traced.application.waiting.resolved_messages, direct.waiting.resolved_messages);
  EXPECT_THAT(traced.application.waiting.unreceived, IsEmpty());
}

TEST_F(TracePacksRoundTrip, WaitsShorterThanTheErrorOfTheClocksAreNotToldApartEither) {
  std::vector<std::vector<replay::Pack>> packs;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank}, 100);
    const instrument::RankRange all{0, 2, 1};
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 77, 0, 2, rank, 0, 1, 0, 0, 1},
        std::span(&all, 1), std::string_view());
    maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, rank * 1e-6, 0, 0}, std::string_view("tsc"),
                 std::string_view("boot"));
    // The first message is 100 ns late, the second one 3 µs.
    for (const std::uint64_t late : {100UL, 3000UL}) {
      const std::uint64_t begin = 100 * late;
      if (rank == 0) maker.call(FunctionId::kSend, Shape::kSend, begin + late, 50, 1, 1, 8, 2);
      if (rank == 1) maker.call(FunctionId::kRecv, Shape::kReceive, begin, 5000, 0, 1, 8, 3);
    }
    maker.finish();
    packs.push_back(maker.take());
  }
  const auto [direct, traced] = both_ways(2, std::move(packs), "all,attributes=clocks");
  ASSERT_THAT(patterns_of(direct), ElementsAre(PatternTuple{"late_sender", 1, 3000}));
  ASSERT_NEAR(direct.waiting.unresolved.below_clock_seconds, 100e-9, 1e-12);
  EXPECT_THAT(patterns_of(traced.application), ::testing::IsSupersetOf(patterns_of(direct)));
  EXPECT_NEAR(traced.application.waiting.unresolved.below_clock_seconds, 100e-9, 1e-12);
  EXPECT_NEAR(traced.application.quality.clock_error_seconds, 1e-6, 1e-12);
}

TEST_F(TracePacksRoundTrip, NeighboursAreSaidToBeMissing) {
  PackMaker maker({});
  maker.call(FunctionId::kNeighbor_allgather, Shape::kNeighbour, 2000, 100, instrument::kNoPeer, 8, 8);
  maker.call(FunctionId::kNeighbor_alltoall, Shape::kNeighbour, 3000, 100, instrument::kNoPeer, 8, 8);
  maker.flush();
  const auto [direct, traced] = both_ways(1, {maker.take()});
  EXPECT_EQ(functions_of(traced.application.mpi), functions_of(direct.mpi));
  EXPECT_THAT(traced.notices, ElementsAre(HasSubstr("In the trace, 2 calls of neighbourhood collectives lack")));
}

TEST_F(TracePacksRoundTrip, APartOfARunIsSaidToBeOne) {
  for (const std::string selection : {"all,attributes=messages", "ranks=0"}) {
    PackMaker maker({});
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 100, instrument::kNoPeer, 0, 0);
    begin({{.name = "program", .ranks = 1}}, selection);
    maker.finish();
    session_->submit(maker.take());
    finish();
    const auto notices = analyse(folder_ / "trace").notices;
    if (selection == "ranks=0") {
      EXPECT_THAT(notices, ElementsAre(HasSubstr("only the selection --trace ranks=0")));
    } else {
      EXPECT_THAT(notices, IsEmpty());
    }
    std::filesystem::remove_all(folder_ / "trace");
  }
}

TEST_F(TracePacksRoundTrip, OneSidedCommunicationIsWhatItWasBefore) {
  std::vector<std::vector<replay::Pack>> packs;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    const auto peer = static_cast<std::int32_t>(1 - rank);
    const std::array<instrument::RankRange, 1> both{{{0, 2, 1}}};
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 5, 0, 2, rank, 0, 1, 0, 0, 1},
        std::span<const instrument::RankRange>(both), std::string_view("MPI_COMM_WORLD"));
    const auto call = [&](FunctionId function, Shape shape, std::uint64_t begin, std::uint32_t ticks,
                          std::int32_t target, instrument::WindowAct act, std::uint32_t bytes) {
      maker.call(function, shape, begin, ticks, target, instrument::window_tag(0, act), bytes);
    };
    using enum instrument::WindowAct;
    call(FunctionId::kWin_fence, Shape::kWindow, 2000 + 1000 * rank, 2000, instrument::kNoPeer, kNone, 0);
    call(FunctionId::kPut, Shape::kPut, 5000, 20, peer, kNone, 800);
    call(FunctionId::kGet, Shape::kGet, 5100, 20, peer, kNone, 400);
    call(FunctionId::kWin_fence, Shape::kWindow, 5200, 300, instrument::kNoPeer, kNone, 0);
    // Rank 1 waits in its flush for what rank 0 has locked.
    call(FunctionId::kWin_lock, Shape::kWindow, 6000 + 100 * rank, 10, 0, kExclusive, 0);
    call(FunctionId::kRput, Shape::kPut, 6200, 30, 0, kNone, 64);
    maker.call(FunctionId::kWait, Shape::kCompletes, 6300, 20, instrument::kNoPeer, 1, 0, 1, instrument::kNoComm);
    maker.mpi_extension(instrument::CompletionRecord{
        6200, 0, 1, instrument::kNoPeer, 0, 0, instrument::make_word(0, id(FunctionId::kRput), Shape::kCompletion)});
    call(FunctionId::kWin_unlock, Shape::kWindow, 7000, 500 + 1000 * rank, 0, kNone, 0);
    // Rank 0 posts late for what rank 1 starts.
    if (rank == 0) {
      call(FunctionId::kWin_post, Shape::kWindow, 12'000, 20, instrument::kNoPeer, kNone, 0);
    } else {
      call(FunctionId::kWin_start, Shape::kWindow, 10'000, 2100, instrument::kNoPeer, kNone, 0);
    }
    maker.mpi_extension(instrument::GroupExtension{
        {peer}, 1, extension_word(ExtensionKind::kGroup, rank == 0 ? FunctionId::kWin_post : FunctionId::kWin_start)});
    call(rank == 0 ? FunctionId::kWin_wait : FunctionId::kWin_complete, Shape::kWindow, 12'500, 900,
         instrument::kNoPeer, kNone, 0);
    maker.finish();
    packs.push_back(maker.take());
  }
  const auto [direct, traced] = both_ways(2, std::move(packs));
  EXPECT_THAT(traced.notices, IsEmpty());
  EXPECT_EQ(functions_of(traced.application.mpi), functions_of(direct.mpi));
  EXPECT_EQ(edges_of(traced.application), edges_of(direct));
  ASSERT_THAT(direct.waiting.patterns, SizeIs(::testing::Ge(2U)));
  EXPECT_EQ(patterns_of(traced.application), patterns_of(direct));
}

// Time of calls by function, and the number of known callers.
std::vector<std::tuple<std::string, int, long>> calls_by_stack(const reports::SampleProfile& samples) {
  const auto& tree = samples.tree;
  std::vector<std::tuple<std::string, int, long>> calls;
  for (std::size_t i = 0; i < tree.parent.size(); ++i) {
    if (!(tree.call_seconds[i] > 0)) continue;
    int callers = 0;
    for (std::uint32_t at = tree.parent[i]; at != reports::kNoParent; at = tree.parent[at]) ++callers;
    calls.emplace_back(samples.functions[tree.function[i]].symbol, callers, std::lround(tree.call_seconds[i] * 1e9));
  }
  return calls;
}

TEST_F(TracePacksRoundTrip, CallsComeFromTheSameStacks) {
  using instrument::ContextRecord;
  using instrument::ContextTotalsRecord;
  using instrument::PackClass;
  PackMaker maker({});
  maker.define(instrument::ModuleDefinition{1, 0, 0, 4096}, std::string_view("/no/such/solver"),
               std::string_view("a1"));
  maker.contexts(0, std::vector<ContextRecord>{{1, 0, 1, 0, 0x100}, {2, 1, 1, 0, 0x200}, {3, 2, 1, 0, 0x300}});
  std::vector<ContextTotalsRecord> totals;
  const auto add = [&](std::uint32_t context, PackClass pack_class, std::uint16_t function, std::uint64_t begin,
                       std::uint32_t ticks) {
    maker.mpi_extension(instrument::ContextExtension{begin, context, static_cast<std::uint16_t>(pack_class), function,
                                                     0, 0, instrument::kContextWord});
    ContextTotalsRecord total{};
    total.context = context;
    total.record_class = static_cast<std::uint16_t>(pack_class);
    total.function = function;
    total.calls = 1;
    total.ticks = ticks;
    totals.push_back(total);
  };
  const auto barrier = [&](std::uint32_t context, std::uint64_t begin, std::uint32_t ticks) {
    add(context, PackClass::kMpi, id(FunctionId::kBarrier), begin, ticks);
    maker.call(FunctionId::kBarrier, Shape::kCollective, begin, ticks, instrument::kNoPeer, 0, 0);
  };
  barrier(2, 2000, 100);
  barrier(3, 3000, 200);
  barrier(2, 4000, 50);
  add(1, PackClass::kPosix, id(instrument::PosixFunction::kWrite), 5000, 30);
  maker.posix({5000, 30, 1, 1, id(instrument::PosixFunction::kWrite), 0, 500});
  maker.context_totals(0, totals);
  maker.finish();
  std::vector<std::vector<replay::Pack>> packs{maker.take()};
  const auto [direct, traced] = both_ways(1, std::move(packs), "all,attributes=stacks");
  EXPECT_THAT(traced.faults, IsEmpty());
  EXPECT_THAT(traced.notices, IsEmpty());
  ASSERT_THAT(calls_by_stack(direct.samples), SizeIs(3));
  EXPECT_THAT(calls_by_stack(traced.application.samples),
              ::testing::UnorderedElementsAreArray(calls_by_stack(direct.samples)));
}

TEST_F(TracePacksRoundTrip, MarksOfTheProgramMakeTheSameSnapshots) {
  std::vector<std::vector<replay::Pack>> packs;
  PackMaker maker({});
  const std::uint32_t name = instrument::mark_name_id("step");
  maker.define(instrument::MarkNameDefinition{name, 0}, std::string_view("step"));
  for (std::uint64_t step = 0; step < 5; ++step) {
    const std::uint64_t begin = 2000 + step * 10'000;
    maker.call(FunctionId::kBarrier, Shape::kCollective, begin, 100, instrument::kNoPeer, 0, 0);
    instrument::MarkExtension mark{};
    mark.tick = begin + 500;
    mark.value = step;
    mark.name = name;
    mark.kind = instrument::MarkKind::kSnapshot;
    mark.word = instrument::kMarkWord;
    maker.mpi_extension(mark);
  }
  maker.finish();
  packs.push_back(maker.take());
  const auto [direct, traced] = both_ways(1, std::move(packs));
  const auto series_of = [](const reports::Application& application) {
    std::vector<std::tuple<std::string, std::string, std::vector<std::int64_t>>> list;
    for (const auto& each : application.snapshots.series) list.emplace_back(each.trigger, each.name, each.numbers);
    return list;
  };
  ASSERT_THAT(direct.snapshots.series, ::testing::Not(IsEmpty()));
  EXPECT_EQ(series_of(traced.application), series_of(direct));
}

// Two ranks with a clock of a million ticks a second and no MPI_Init: rank 0 computes, sends in a function and waits
// in another; rank 1 has a second thread.
class TracePacksOfOthers : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kStart = 7'000'000;  // of the first event
  enum Regions : OTF2_RegionRef { kMain, kSolve, kIsend, kWaitall, kRecv, kWrite, kFoo, kMystery };

  void SetUp() override {
    made_.emplace(scratch_.path() / "others");
    auto* const rank0 = made_->events(0);
    enter(rank0, 0, kMain);
    enter(rank0, 100, kSolve);
    enter(rank0, 400, kIsend);
    OTF2_EvtWriter_MpiIsend(rank0, nullptr, kStart + 400, 1, 0, 5, 1000, 77);
    leave(rank0, 410, kIsend);
    enter(rank0, 410, kIsend);  // at once
    OTF2_EvtWriter_MpiIsend(rank0, nullptr, kStart + 410, 1, 0, 5, 2000, 78);
    leave(rank0, 410, kIsend);
    leave(rank0, 500, kSolve);
    enter(rank0, 500, kWaitall);
    OTF2_EvtWriter_MpiIsendComplete(rank0, nullptr, kStart + 650, 77);
    OTF2_EvtWriter_MpiIsendComplete(rank0, nullptr, kStart + 650, 78);
    leave(rank0, 700, kWaitall);
    enter(rank0, 710, kWrite);
    leave(rank0, 730, kWrite);
    leave(rank0, 1000, kMain);
    auto* const rank1 = made_->events(2);
    enter(rank1, 10, kMain);
    enter(rank1, 300, kRecv);
    OTF2_EvtWriter_MpiRecv(rank1, nullptr, kStart + 420, 0, 0, 5, 1000);
    leave(rank1, 420, kRecv);
    // In no MPI call: another library does it.
    enter(rank1, 500, kFoo);
    OTF2_EvtWriter_MpiRecv(rank1, nullptr, kStart + 520, 0, 0, 5, 2000);
    leave(rank1, 530, kFoo);
    leave(rank1, 1000, kMystery);  // was not entered
    auto* const thread = made_->events(3);
    enter(thread, 600, kFoo);
    leave(thread, 900, kFoo);
    OTF2_EvtWriter_ThreadFork(made_->events(1), nullptr, kStart + 900, OTF2_PARADIGM_OPENMP, 2);
  }

  Analysed finish(bool has_clock) {
    if (has_clock)
      OTF2_GlobalDefWriter_WriteClockProperties(made_->global(), 1'000'000, kStart, 1000, OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteSystemTreeNode(made_->global(), 0, made_->string("host"), made_->string("node"),
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    const std::vector<std::uint64_t> members{0, 2}, indices{0, 1};
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      OTF2_GlobalDefWriter_WriteLocationGroup(made_->global(), rank, made_->string("process"),
                                              OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_LOCATION_GROUP);
      const std::uint64_t counts[2][2] = {{16, 1}, {8, 2}};
      for (std::uint32_t thread = 0; thread < 2; ++thread)
        OTF2_GlobalDefWriter_WriteLocation(made_->global(), rank * 2 + thread, made_->string("thread"),
                                           OTF2_LOCATION_TYPE_CPU_THREAD, counts[rank][thread], rank);
    }
    OTF2_GlobalDefWriter_WriteGroup(made_->global(), 0, made_->string(""), OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, members.data());
    OTF2_GlobalDefWriter_WriteGroup(made_->global(), 1, made_->string(""), OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, indices.data());
    OTF2_GlobalDefWriter_WriteComm(made_->global(), 0, made_->string(""), 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    made_->region(kMain, "main", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, "solver.c", 10);
    made_->region(kSolve, "solve", OTF2_PARADIGM_COMPILER, OTF2_REGION_ROLE_FUNCTION, "solver.c", 40);
    made_->region(kIsend, "mpi_isend_", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT);
    made_->region(kWaitall, "MPI_Waitall()", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT);
    made_->region(kRecv, "MPI_Recv", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_POINT2POINT);
    made_->region(kWrite, "pwrite64", OTF2_PARADIGM_UNKNOWN, OTF2_REGION_ROLE_FILE_IO);
    made_->region(kFoo, "foo");
    made_->region(kMystery, "mystery");
    return analyse(made_->close());
  }

  static void enter(OTF2_EvtWriter* out, std::uint64_t time, OTF2_RegionRef region) {
    OTF2_EvtWriter_Enter(out, nullptr, kStart + time, region);
  }
  static void leave(OTF2_EvtWriter* out, std::uint64_t time, OTF2_RegionRef region) {
    OTF2_EvtWriter_Leave(out, nullptr, kStart + time, region);
  }

  ScratchFolder scratch_;
  std::optional<MadeArchive> made_;
};

TEST_F(TracePacksOfOthers, CallsAreCountedByTheirNamesHoweverTheyAreSpelled) {
  const Analysed traced = finish(true);
  EXPECT_THAT(traced.faults, IsEmpty());
  EXPECT_EQ(traced.name, "others");
  const auto& application = traced.application;
  EXPECT_EQ(application.ranks, 2U);
  EXPECT_EQ(application.threads, 2U);
  EXPECT_NEAR(application.wall_seconds, 1e-3, 1e-6);
  EXPECT_EQ(find(application.mpi, "MPI_Isend").calls, 2U);
  EXPECT_EQ(find(application.mpi, "MPI_Isend").bytes_sent, 3000U);
  EXPECT_NEAR(find(application.mpi, "MPI_Isend").seconds, 10e-6, 1e-8);
  EXPECT_NEAR(find(application.mpi, "MPI_Waitall").seconds, 200e-6, 1e-8);
  EXPECT_EQ(find(application.posix, "pwrite").calls, 1U);
  EXPECT_THAT(edges_of(application), ElementsAre(EdgeTuple{0, 1, 2, 3000, 10'000}));
}

TEST_F(TracePacksOfOthers, AMessageOutsideOfMpiIsACallWithoutDuration) {
  const Analysed traced = finish(true);
  EXPECT_EQ(find(traced.application.mpi, "MPI_Recv").calls, 2U);
  EXPECT_EQ(find(traced.application.mpi, "MPI_Recv").bytes_received, 3000U);
  EXPECT_EQ(traced.application.waiting.resolved_messages, 2U);
  EXPECT_THAT(traced.notices,
              UnorderedElementsAre(HasSubstr("1 messages, collectives and accesses are outside"),
                                   HasSubstr("1 regions are left without having been entered"),
                                   HasSubstr("1 events of threads"), HasSubstr("not sampled CPU time")));
}

TEST_F(TracePacksOfOthers, FunctionsOfTheProgramHaveTheirExactTimeAndCallMpi) {
  const Analysed traced = finish(true);
  const auto& samples = traced.application.samples;
  const auto seconds_of = [&](const std::string& symbol) {
    const auto found = std::ranges::find(samples.functions, symbol, &reports::SampledFunction::symbol);
    return found == samples.functions.end() ? -1.0 : found->self;
  };
  EXPECT_NEAR(seconds_of("solve"), 390e-6, 1e-8);  // 400, less 10 in MPI_Isend
  EXPECT_NEAR(seconds_of("foo"), 330e-6, 1e-8);    // 30 in rank 1, 300 in its other thread
  EXPECT_NEAR(seconds_of("main"), (380 + 290 + 80 + 470) * 1e-6, 1e-8);
  const auto site = std::ranges::find(traced.application.call_sites, "MPI_Isend", &reports::CallSite::function);
  ASSERT_NE(site, traced.application.call_sites.end());
  EXPECT_EQ(site->symbol, "solve");
  EXPECT_EQ(site->source_file, "solver.c");
  EXPECT_EQ(site->line, 40U);
  EXPECT_EQ(site->calls, 2U);
}

TEST_F(TracePacksOfOthers, WithoutAClockTimesAreNanosecondsFromTheFirstOneOn) {
  const Analysed traced = finish(false);
  EXPECT_NEAR(traced.application.wall_seconds, 1000e-9, 20e-9);
  EXPECT_EQ(find(traced.application.mpi, "MPI_Isend").calls, 2U);
}

TEST(TracePacks, TimeOfFunctionsCountsFromMpiInitToMpiFinalize) {
  const ScratchFolder scratch;
  MadeArchive made(scratch.path() / "init");
  auto* const out = made.events(0);
  const auto enter = [&](std::uint64_t time, OTF2_RegionRef region) {
    OTF2_EvtWriter_Enter(out, nullptr, time, region);
  };
  const auto leave = [&](std::uint64_t time, OTF2_RegionRef region) {
    OTF2_EvtWriter_Leave(out, nullptr, time, region);
  };
  enter(1000, 0);
  enter(2000, 1);
  leave(9000, 1);
  enter(10'000, 3);
  leave(10'500, 3);
  enter(12'000, 2);
  leave(15'000, 2);
  leave(20'000, 0);
  made.clock(1000, 19'000);
  made.processes(1, 8);
  made.region(0, "main");
  made.region(1, "MPI_Init", OTF2_PARADIGM_MPI);
  made.region(2, "MPI_Finalize", OTF2_PARADIGM_MPI);
  made.region(3, "MPI_Barrier", OTF2_PARADIGM_MPI);
  const Analysed traced = analyse(made.close());
  EXPECT_NEAR(traced.application.init_seconds, 7000e-9, 1e-12);
  EXPECT_NEAR(traced.application.wall_seconds, 3000e-9, 1e-12);
  ASSERT_THAT(traced.application.mpi, SizeIs(1));
  const auto main = std::ranges::find(traced.application.samples.functions, "main", &reports::SampledFunction::symbol);
  ASSERT_NE(main, traced.application.samples.functions.end());
  EXPECT_NEAR(main->self, 2500e-9, 1e-12);
}

// Score-P records them since version 8.
TEST(TracePacks, CollectivesWithinMpiInitAndMpiFinalizeAreNoCalls) {
  const ScratchFolder scratch;
  MadeArchive made(scratch.path() / "init");
  auto* const out = made.events(0);
  std::uint64_t time = 1000;
  for (const auto& [region, operation] :
       {std::pair(0U, OTF2_COLLECTIVE_OP_CREATE_HANDLE), std::pair(1U, OTF2_COLLECTIVE_OP_BARRIER),
        std::pair(2U, OTF2_COLLECTIVE_OP_DESTROY_HANDLE)}) {
    OTF2_EvtWriter_Enter(out, nullptr, time, region);
    OTF2_EvtWriter_MpiCollectiveBegin(out, nullptr, time);
    OTF2_EvtWriter_MpiCollectiveEnd(out, nullptr, time + 500, static_cast<OTF2_CollectiveOp>(operation), 0,
                                    OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
    OTF2_EvtWriter_Leave(out, nullptr, time + 500, region);
    time += 1000;
  }
  made.clock(1000, 3000);
  made.processes(1, 12);
  made.region(0, "MPI_Init", OTF2_PARADIGM_MPI);
  made.region(1, "MPI_Barrier", OTF2_PARADIGM_MPI);
  made.region(2, "MPI_Finalize", OTF2_PARADIGM_MPI);
  const Analysed traced = analyse(made.close());
  EXPECT_THAT(functions_of(traced.application.mpi), ElementsAre(FunctionTuple{"MPI_Barrier", 1, 0, 0, 0, 500}));
  EXPECT_THAT(traced.notices, ::testing::Not(::testing::Contains(HasSubstr("outside of MPI calls"))));
}

TEST(TracePacks, OperationsThatNeverEndAreSentInTheEndAndThoseThatEndLateAreToldToBeLate) {
  constexpr std::uint32_t kCalls = 300'000;
  const ScratchFolder scratch;
  MadeArchive made(scratch.path() / "late");
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    auto* const out = made.events(rank);
    OTF2_EvtWriter_Enter(out, nullptr, 1000, 0);
    OTF2_EvtWriter_MpiIrecvRequest(out, nullptr, 1001, 1);
    OTF2_EvtWriter_Leave(out, nullptr, 1002, 0);
    for (std::uint64_t i = 0; i < kCalls; ++i) {
      OTF2_EvtWriter_Enter(out, nullptr, 2000 + 10 * i, 1);
      OTF2_EvtWriter_MpiCollectiveBegin(out, nullptr, 2000 + 10 * i);
      OTF2_EvtWriter_MpiCollectiveEnd(out, nullptr, 2005 + 10 * i, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                      OTF2_COLLECTIVE_ROOT_NONE, 0, 0);
      OTF2_EvtWriter_Leave(out, nullptr, 2005 + 10 * i, 1);
    }
  }
  made.clock(1000, 2000 + 10 * kCalls);
  made.processes(2, 3 + 4 * kCalls);
  made.region(0, "MPI_Irecv", OTF2_PARADIGM_MPI);
  made.region(1, "MPI_Barrier", OTF2_PARADIGM_MPI);
  const Analysed traced = analyse(made.close());
  EXPECT_EQ(find(traced.application.mpi, "MPI_Barrier").calls, 2U * kCalls);
  EXPECT_EQ(find(traced.application.mpi, "MPI_Irecv").calls, 2U);
  EXPECT_EQ(traced.application.waiting.resolved_calls, 2U * kCalls);
  EXPECT_THAT(traced.notices, ElementsAre(HasSubstr("2 operations took so long")));
}

// A receive that is tested again and again while it is open: its message still meets its send.
TEST(TracePacks, AReceiveMayBeOpenForAHundredThousandCalls) {
  constexpr std::uint64_t kTests = 100'000;
  const ScratchFolder scratch;
  MadeArchive made(scratch.path() / "asked");
  auto* const sender = made.events(0);
  OTF2_EvtWriter_Enter(sender, nullptr, 900'000, 3);
  OTF2_EvtWriter_MpiSend(sender, nullptr, 900'001, 1, 0, 7, 40);
  OTF2_EvtWriter_Leave(sender, nullptr, 900'010, 3);
  for (std::uint64_t i = 0; i < 2 * kTests; ++i) {
    OTF2_EvtWriter_Enter(sender, nullptr, 2'000'000 + 10 * i, 1);
    OTF2_EvtWriter_Leave(sender, nullptr, 2'000'005 + 10 * i, 1);
  }
  auto* const receiver = made.events(1);
  OTF2_EvtWriter_Enter(receiver, nullptr, 1000, 0);
  OTF2_EvtWriter_MpiIrecvRequest(receiver, nullptr, 1001, 1);
  OTF2_EvtWriter_Leave(receiver, nullptr, 1002, 0);
  for (std::uint64_t i = 0; i < 2 * kTests; ++i) {
    OTF2_EvtWriter_Enter(receiver, nullptr, 2000 + 4 * i, 1);
    OTF2_EvtWriter_Leave(receiver, nullptr, 2002 + 4 * i, 1);
  }
  OTF2_EvtWriter_Enter(receiver, nullptr, 850'000, 2);
  OTF2_EvtWriter_MpiIrecv(receiver, nullptr, 900'020, 0, 0, 7, 40, 1);
  OTF2_EvtWriter_Leave(receiver, nullptr, 900'020, 2);
  made.clock(1000, 6'000'000);
  made.processes(2, 4 * kTests + 6);
  made.region(0, "MPI_Irecv", OTF2_PARADIGM_MPI);
  made.region(1, "MPI_Testany", OTF2_PARADIGM_MPI);
  made.region(2, "MPI_Waitany", OTF2_PARADIGM_MPI);
  made.region(3, "MPI_Send", OTF2_PARADIGM_MPI);
  const Analysed traced = analyse(made.close());
  EXPECT_EQ(traced.application.waiting.resolved_messages, 1U);
  EXPECT_THAT(patterns_of(traced.application), ::testing::Contains(::testing::FieldsAre("late_sender", 1, 50'000)));
  EXPECT_THAT(traced.notices, IsEmpty());
}

TEST(TracePacks, ALocationThatIsCutOffIsAnalysedAsFarAsItGoes) {
  const ScratchFolder scratch;
  MadeArchive made(scratch.path() / "cut");
  auto* const out = made.events(0);
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    OTF2_EvtWriter_Enter(out, nullptr, 1000 + 10 * i, 0);
    OTF2_EvtWriter_Leave(out, nullptr, 1005 + 10 * i, 0);
  }
  made.clock(1000, 20'000'000);
  made.processes(1, 2'000'000);
  made.region(0, "MPI_Barrier", OTF2_PARADIGM_MPI);
  const auto folder = made.close();
  const auto file = folder / "traces" / "0.evt";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  const Analysed traced = analyse(folder);
  EXPECT_THAT(traced.faults, ElementsAre(HasSubstr("incomplete events")));
  EXPECT_GT(find(traced.application.mpi, "MPI_Barrier").calls, 100'000U);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Traces that drop their oldest part (last=, limit=, keep=), and traces of some threads or phases (threads=, phases=).
#include "instrument/format/mark_name.hpp"
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::MarkExtension;
using instrument::MarkKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TraceRing : public TracesFixture {
 protected:
  // A call and an access to a file each 10 ms, `seconds` long.
  static void work(PackMaker& maker, std::uint64_t seconds) {
    for (std::uint64_t ms = 10; ms < seconds * 1000; ms += 10) {
      maker.call(FunctionId::kBarrier, Shape::kCollective, replay::Origin{}.origin_tick + ms * 1'000'000, 1000,
                 instrument::kNoPeer, 0, 0);
      maker.posix({replay::Origin{}.origin_tick + ms * 1'000'000 + 2000, 500, 1, 0,
                   static_cast<std::uint16_t>(instrument::PosixFunction::kFsync), 0, 0});
    }
  }
  static void mark(PackMaker& maker, MarkKind kind, std::uint64_t ms, const char* name) {
    maker.mpi_extension(MarkExtension{replay::Origin{}.origin_tick + ms * 1'000'000,
                                      1,
                                      instrument::mark_name_id(name),
                                      0,
                                      kind,
                                      {},
                                      instrument::kMarkWord});
  }
  // Begins of the calls of MPI, ms since MPI_Init.
  static std::vector<std::uint64_t> begins(const replay::PrintedTrace& trace) {
    std::vector<std::uint64_t> list;
    for (const auto& event : trace.of_kind("ENTER")) {
      if (event.of("Region") == "MPI_Barrier") list.push_back((event.time - kTraceLead) / 1'000'000);
    }
    return list;
  }
};

TEST_F(TraceRing, LastKeepsTheEnd) {
  PackMaker maker({}, 8);
  work(maker, 10);
  const auto trace = traced({&maker}, "last=2s");
  const auto list = begins(trace);
  EXPECT_EQ(list.back(), 9'990u);
  EXPECT_EQ(list.front(), 8'000u);
  EXPECT_EQ(list.size(), (9'990 - list.front()) / 10 + 1) << "nothing is missing in between";
  EXPECT_NEAR(static_cast<double>(trace.calls().at("fsync")), static_cast<double>(list.size()), 16);
  EXPECT_THAT(finished_.notices, IsEmpty()) << "nothing is moved or missing";
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(TraceRing, AroundASnapshotOfTheNameItIsKept) {
  PackMaker maker({}, 8);
  for (std::uint64_t ms = 10; ms < 10'000; ms += 10) {
    maker.call(FunctionId::kBarrier, Shape::kCollective, replay::Origin{}.origin_tick + ms * 1'000'000, 1000,
               instrument::kNoPeer, 0, 0);
    if (ms == 3'000) mark(maker, MarkKind::kSnapshot, 3'001, "slow");
    if (ms == 5'000) mark(maker, MarkKind::kSnapshot, 5'001, "fast");
  }
  const auto list = begins(traced({&maker}, "last=500ms,keep=slow"));
  std::vector<std::uint64_t> seconds(10);
  for (const std::uint64_t ms : list) ++seconds[ms / 1000];
  EXPECT_THAT(seconds, ElementsAre(0u, 0u, 49u, 51u, 0u, 0u, 0u, 0u, 0u, 50u));
  EXPECT_EQ(list.front(), 2'510u);
}

TEST_F(TraceRing, BeyondTheLimitTheOldestIsDroppedAndCounted) {
  PackMaker maker({});
  constexpr std::uint64_t kCalls = 500'000;  // 16 MB
  for (std::uint64_t i = 0; i < kCalls; ++i)
    maker.call(FunctionId::kBarrier, Shape::kCollective, replay::Origin{}.origin_tick + 1000 * i, 100,
               instrument::kNoPeer, 0, 0);
  begin({{.name = "program", .ranks = 1}}, "limit=8M");
  maker.flush();
  for (auto& pack : maker.take()) {
    std::vector<replay::Pack> one;
    one.push_back(std::move(pack));
    session_->submit(std::move(one));
  }
  finish();
  const auto list = read().of_kind("ENTER");
  EXPECT_LE(list.size() * 32, 9u << 20);
  EXPECT_GE(list.size() * 32, 6u << 20);
  EXPECT_EQ(list.back().time, kTraceLead + 1000 * (kCalls - 1));
  ASSERT_THAT(finished_.notices, SizeIs(1));
  EXPECT_THAT(finished_.notices[0], HasSubstr("records of earlier calls dropped because of limit= (" +
                                              std::to_string(kCalls - list.size()) + ")"));
}

TEST_F(TraceRing, OnlyTheChosenThreadsAreThere) {
  begin({{.name = "program", .ranks = 1}}, "threads=1-2");
  for (std::uint32_t thread = 0; thread < 3; ++thread) {
    PackMaker maker({});
    if (thread == 0)  // which calls MPI_Init
      maker.define(instrument::ProcessDefinition{1, 0, 1, 0, 1500, 400, 0, 0, 1}, std::string_view("program"),
                   std::string_view("program"), std::string_view("host"), std::string_view("/"));
    maker.call(FunctionId::kBarrier, Shape::kCollective, 2000 + thread, 100, instrument::kNoPeer, 0, 0);
    maker.flush();
    auto packs = maker.take();
    for (replay::Pack& pack : packs) pack.header().thread = thread;
    session_->submit(packs);
  }
  finish();
  std::vector<std::uint64_t> threads;
  for (const auto& event : read().of_kind("ENTER")) threads.push_back(event.location >> 32);
  EXPECT_THAT(threads, ElementsAre(1u, 2u));
}

TEST_F(TraceRing, OnlyCallsInTheChosenPhasesAreThere) {
  PackMaker maker({});
  const auto call = [&](std::uint64_t ms) {
    maker.call(FunctionId::kBarrier, Shape::kCollective, replay::Origin{}.origin_tick + ms * 1'000'000, 100,
               instrument::kNoPeer, 0, 0);
  };
  call(10);
  mark(maker, MarkKind::kPhaseBegin, 20, "solve");
  call(30);
  mark(maker, MarkKind::kPhaseBegin, 40, "other");
  call(50);
  mark(maker, MarkKind::kPhaseEnd, 60, "solve");
  call(70);
  mark(maker, MarkKind::kPhaseEnd, 80, "other");
  EXPECT_THAT(begins(traced({&maker}, "phases=solve")), ElementsAre(30u, 50u));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

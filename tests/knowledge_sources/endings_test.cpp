// The ends of ranks and their last places, from the definitions of their survivors.
#include <signal.h>

#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::EndCause;
using instrument::EndDefinition;
using instrument::RecentCall;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kOrigin = 1000;

EndDefinition end_by(EndCause cause, std::uint64_t tick, int signal = 0, int status = 0) {
  EndDefinition end{};
  end.cause = cause;
  end.tick = tick;
  end.end_tick = tick + 5;
  end.signal = signal;
  end.status = status;
  end.wait_status = -1;
  return end;
}
RecentCall open_call(FunctionId function, Shape shape, std::uint64_t begin, std::uint64_t ticks, std::int32_t peer,
                     std::int32_t tag) {
  return {begin, ticks, 8,   instrument::make_word(instrument::kWorldComm, id(function), shape),
          0,     peer,  tag, instrument::kOpenCall,
          0};
}

reports::Ending ending_of(const std::vector<std::pair<EndDefinition, std::vector<RecentCall>>>& ranks) {
  Session session({{0, "solver", static_cast<std::uint32_t>(ranks.size())}});
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [end, calls] = ranks[rank];
    PackMaker maker({.rank = rank, .origin_tick = kOrigin});
    maker.define(end);
    maker.define(instrument::RecentCallsDefinition{0, static_cast<std::uint32_t>(calls.size()), end.end_tick},
                 std::span<const RecentCall>(calls));
    maker.finish();
    session.submit(maker.take());
  }
  return session.application().ending;
}

TEST(Endings, AProgramThatBecameAnotherOneSaysWhich) {
  Session session({{0, "solver", 1}});
  PackMaker maker({.rank = 0, .origin_tick = kOrigin});
  EndDefinition end = end_by(EndCause::kExec, 2'000'000'000);
  end.program = 7;
  end.wait_status = 0;
  maker.define(instrument::FileDefinition{7, 0}, std::string_view("/bin/sleep"));
  maker.define(end);
  maker.finish();
  session.submit(maker.take());
  const auto ending = session.application().ending;
  ASSERT_THAT(ending.ends, SizeIs(1));
  EXPECT_EQ(ending.ends[0].cause, "exec");
  EXPECT_EQ(ending.ends[0].call.file, "/bin/sleep");
  EXPECT_NEAR(ending.ends[0].seconds, 2.0, 1e-5);
}

TEST(Endings, TheFirstToEndComesFirstAndThoseThatEndedAlikeAreOne) {
  const auto ending = ending_of({{end_by(EndCause::kSignal, 3'000'000'000, SIGTERM), {}},
                                 {end_by(EndCause::kSignal, 2'000'001'000, SIGSEGV), {}},
                                 {end_by(EndCause::kSignal, 3'100'000'000, SIGTERM), {}}});
  ASSERT_THAT(ending.ends, SizeIs(2));
  EXPECT_EQ(ending.ends[0].cause, "signal");
  EXPECT_EQ(ending.ends[0].signal, "SIGSEGV");
  EXPECT_THAT(ending.ends[0].ranks, ElementsAre(1));
  EXPECT_NEAR(ending.ends[0].seconds, 2.0, 1e-9);
  EXPECT_THAT(ending.ends[1].ranks, ElementsAre(0, 2));
}

TEST(Endings, RanksInTheSameCallAreOneLine) {
  const auto end = end_by(EndCause::kSignal, 3'000'000'000, SIGTERM);
  const auto ending =
      ending_of({{end, {open_call(FunctionId::kRecv, Shape::kReceive, 2'000'000'000, 1'000'000'000, 1, 5)}},
                 {end, {open_call(FunctionId::kSend, Shape::kSend, 2'500'000'000, 500'000'000, 0, 6)}},
                 {end, {open_call(FunctionId::kRecv, Shape::kReceive, 2'900'000'000, 100'000'000, 0, 5)}}});
  ASSERT_THAT(ending.stands, SizeIs(2));
  const reports::RankPosition& receiving = ending.stands[0];
  EXPECT_EQ(receiving.call.function, "MPI_Recv");
  EXPECT_THAT(receiving.ranks, ElementsAre(0, 2));
  EXPECT_EQ(receiving.call.peer, reports::kSeveralPeers);
  EXPECT_EQ(receiving.call.tag, 5);
  EXPECT_NEAR(receiving.least_seconds, 0.1, 1e-9);
  EXPECT_NEAR(receiving.most_seconds, 1, 1e-9);
  EXPECT_EQ(ending.stands[1].call.peer, 0);
}

// From the file that it writes while it runs.
TEST(Endings, ALivingProcessHasAPlaceAndNoEnd) {
  Session session({{0, "solver", 1}});
  PackMaker maker({.origin_tick = kOrigin});
  const std::vector<instrument::StackFrame> frames{{7, 1, 0x123}, {7, 0, 0x456}};
  maker.define(instrument::StackDefinition{0, instrument::StackOf::kSample, 2, 0},
               std::span<const instrument::StackFrame>(frames));
  maker.flush();
  session.submit(maker.take());
  const auto ending = session.application().ending;
  EXPECT_THAT(ending.ends, IsEmpty());
  ASSERT_THAT(ending.stands, SizeIs(1));
  EXPECT_THAT(ending.stands[0].ranks, ElementsAre(0));
  EXPECT_EQ(ending.stands[0].call.function, "");
  ASSERT_THAT(ending.stands[0].stack, SizeIs(2));
  EXPECT_EQ(ending.stands[0].stack[0].offset, 0x123u);
}

TEST(Endings, AnAbortIsNamedWithItsCodeAndAnErrorWithItsCall) {
  auto at_exit = end_by(EndCause::kExit, 2'000'000'000, 0, 6);
  const auto ending = ending_of({{at_exit, {open_call(FunctionId::kAbort, Shape::kLocal, 1'000'000'000, 10, -1, 42)}},
                                 {at_exit, {open_call(FunctionId::kSend, Shape::kSend, 1'000'000'000, 10, 1, 7)}},
                                 {at_exit, {}}});
  ASSERT_THAT(ending.ends, SizeIs(3));
  EXPECT_EQ(ending.ends[0].cause, "abort");
  EXPECT_EQ(ending.ends[0].status, 42);
  EXPECT_EQ(ending.ends[1].cause, "error");
  EXPECT_EQ(ending.ends[1].call.function, "MPI_Send");
  EXPECT_EQ(ending.ends[1].status, 6);
  EXPECT_EQ(ending.ends[2].cause, "exit");
}

TEST(Endings, TheKernelsStatusCountsIfTheProcessLeftNoNote) {
  auto killed = end_by(EndCause::kUnknown, 0);
  killed.wait_status = SIGKILL;
  auto exited = killed;
  exited.wait_status = 3 << 8;
  auto nothing = killed;
  nothing.wait_status = -1;
  const auto ending = ending_of({{killed, {}}, {exited, {}}, {nothing, {}}});
  ASSERT_THAT(ending.ends, SizeIs(3));
  EXPECT_EQ(ending.ends[0].cause, "killed");
  EXPECT_EQ(ending.ends[0].signal, "SIGKILL");
  EXPECT_EQ(ending.ends[1].cause, "exit");
  EXPECT_EQ(ending.ends[1].status, 3);
  EXPECT_EQ(ending.ends[2].cause, "unknown");
}

TEST(Endings, FinishedProgramsHaveNoEnding) {
  PackMaker maker({});
  maker.finish();
  Session session({{0, "solver", 1}});
  session.submit(maker.take());
  EXPECT_THAT(session.application().ending.ends, IsEmpty());
  EXPECT_THAT(session.application().ending.stands, IsEmpty());
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Traces of some iterations of the main loop, which becomes known only at the end of the program.
#include "traces_fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CompletionRecord;
using instrument::MarkKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TraceIterations : public TracesFixture {
 protected:
  static constexpr std::uint32_t kRanks = 2;
  static constexpr std::uint64_t kFirst = 1'000'000, kStep = 100'000;  // ticks
  TraceIterations() { plugins_ = {"traces", "snapshots"}; }

  static void mark(PackMaker& maker, MarkKind kind, std::uint64_t tick, std::uint64_t value = 0) {
    maker.mpi_extension(instrument::MarkExtension{tick, value, 9, 0, kind, {}, instrument::kMarkWord});
  }
  // A phase over all; each step starts a message that the next one completes, and reads a file.
  static std::vector<replay::Pack> packs_of(std::uint32_t rank, std::uint32_t steps) {
    PackMaker maker({.rank = rank}, 9);
    mark(maker, MarkKind::kPhaseBegin, 5000);
    maker.call(FunctionId::kBcast, Shape::kRooted, 6000, 100, 0, 0, 4, 9);
    const auto other = static_cast<std::int32_t>(1 - rank);
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint64_t begin = kFirst + step * kStep;
      maker.call(FunctionId::kAllreduce, Shape::kCollective, begin, 1000, instrument::kNoPeer, 8, 8, 1);
      maker.call(FunctionId::kWait, Shape::kCompletes, begin + 20'000, 100, -1, 1, 0, 4);
      if (step != 0)
        maker.mpi_extension(CompletionRecord{begin - kStep + 40'000, 0, 1, -1, 0, 0,
                                             instrument::make_word(0, id(FunctionId::kIsend), Shape::kCompletion)});
      maker.call(FunctionId::kIsend, Shape::kSend, begin + 40'000, 100, other, 2, 8, 5);
      mark(maker, MarkKind::kSnapshot, begin + 50'000, step + 1);
      maker.call(FunctionId::kSend, Shape::kSend, begin + 60'000, 100, other, 1, 8, 2);
      maker.call(FunctionId::kRecv, Shape::kReceive, begin + 70'000, 100, other, 1, 8, 3);
    }
    mark(maker, MarkKind::kPhaseEnd, kFirst + steps * kStep + 50'000);
    maker.call(FunctionId::kReduce, Shape::kRooted, kFirst + steps * kStep + 60'000, 100, 0, 0, 4, 8);
    maker.finish();
    return maker.take();
  }
  replay::PrintedTrace traced_steps(std::uint32_t steps, const std::string& selection) {
    begin({{.name = "program", .ranks = kRanks}}, selection, 2);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) session_->submit(packs_of(rank, steps), rank);
    finish();
    return read();
  }
};

TEST_F(TraceIterations, HaveWhatBeginsInThemAndItsEnds) {
  const auto trace = traced_steps(60, "iterations=10-12");
  EXPECT_THAT(finished_.notices, IsEmpty());
  const std::map<std::string, std::uint64_t> calls{
      {"MPI_Allreduce", 6}, {"MPI_Isend", 6}, {"MPI_Recv", 6}, {"MPI_Send", 6}, {"MPI_Wait", 6}};
  EXPECT_EQ(trace.calls(), calls);
  std::vector<std::uint64_t> begins;
  for (const auto& event : trace.of_kind("ENTER")) {
    if (event.of("Region") == "MPI_Allreduce" && event.location == 0) begins.push_back(event.time);
  }
  const std::uint64_t first = trace_time(kFirst + 9 * kStep);
  EXPECT_THAT(begins, ElementsAre(first, first + kStep, first + 2 * kStep));
  EXPECT_EQ(trace.events.front().time, first);
  EXPECT_THAT(trace.of_kind("MPI_ISEND"), SizeIs(6));
  const auto ends = trace.of_kind("MPI_ISEND_COMPLETE");
  ASSERT_THAT(ends, SizeIs(6)) << "that of iteration 12 is in iteration 13, that in iteration 10 is of iteration 9";
  EXPECT_EQ(ends.back().time, trace_time(kFirst + 12 * kStep + 20'100));
  std::vector<std::string> numbers;
  for (const auto& event : trace.of_kind("PARAMETER_INT64")) {
    if (event.location == 0) numbers.push_back(event.of("Value"));
  }
  EXPECT_THAT(numbers, ElementsAre("10", "11", "12"));
}

TEST_F(TraceIterations, AreGivenInSeveralRanges) {
  EXPECT_EQ(traced_steps(60, "iterations=1,59-60,ranks=1").calls().at("MPI_Allreduce"), 3u);
}

TEST_F(TraceIterations, ThatAreNotThereMakeAnEmptyTrace) {
  EXPECT_THAT(traced_steps(60, "iterations=61").events, IsEmpty());
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("the main loop of program has 60 iterations")));
}

TEST_F(TraceIterations, WithoutAMainLoopMakeAnEmptyTrace) {
  EXPECT_THAT(traced_steps(2, "iterations=1").events, IsEmpty());
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("no main loop was found in program")));
}

// A rank has room for 16384 pieces of it.
TEST_F(TraceIterations, ThatAreKnownTogetherOnlyComeTogether) {
  const auto trace = traced_steps(20'000, "iterations=101");
  const std::uint64_t iterations = trace.calls().at("MPI_Allreduce") / kRanks;
  EXPECT_GT(iterations, 1u);
  EXPECT_LT(iterations, 100u);
  EXPECT_THAT(finished_.notices, ElementsAre(HasSubstr("only in groups of")));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

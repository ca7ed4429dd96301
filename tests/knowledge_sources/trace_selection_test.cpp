// The selection of the part of a run for its trace, as text.
#include "knowledge_sources/otf2/contents/trace_selection.hpp"

#include <stdexcept>
#include <string>

#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using ::testing::HasSubstr;

std::string fault_of(const std::string& text) {
  try {
    TraceSelection selection(text);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

TEST(TraceSelection, AllHasEverything) {
  const TraceSelection all("all");
  EXPECT_TRUE(all.has_rank(100'000));
  EXPECT_TRUE(all.has_call(false, id(FunctionId::kSend), -5, 0));
  EXPECT_TRUE(all.has_call(true, id(instrument::PosixFunction::kRead), 1'000'000'000'000, 0));
}

TEST(TraceSelection, RanksAreNumbersAndRanges) {
  const TraceSelection some("ranks=0-3,8");
  EXPECT_TRUE(some.has_rank(0) && some.has_rank(3) && some.has_rank(8));
  EXPECT_FALSE(some.has_rank(4) || some.has_rank(7) || some.has_rank(9));
  EXPECT_TRUE(some.has_function(false, id(FunctionId::kSend)));
}

TEST(TraceSelection, FunctionsAreNamesAndClasses) {
  const TraceSelection some("functions=MPI_Send,io");
  EXPECT_TRUE(some.has_function(false, id(FunctionId::kSend)));
  EXPECT_FALSE(some.has_function(false, id(FunctionId::kRecv)));
  EXPECT_TRUE(some.has_function(true, id(instrument::PosixFunction::kRead)));
  const TraceSelection mpi("functions=mpi");
  EXPECT_TRUE(mpi.has_function(false, id(FunctionId::kRecv)));
  EXPECT_FALSE(mpi.has_function(true, id(instrument::PosixFunction::kRead)));
}

TEST(TraceSelection, TimesHaveUnits) {
  const TraceSelection some("from=10ms,to=1.5s,min=20us");
  EXPECT_TRUE(some.has_time(10'000'000));
  EXPECT_FALSE(some.has_time(9'999'999));
  EXPECT_TRUE(some.has_time(1'499'999'999));
  EXPECT_FALSE(some.has_time(1'500'000'000));
  EXPECT_TRUE(some.has_call(false, id(FunctionId::kSend), 10'000'000, 20'000));
  EXPECT_FALSE(some.has_call(false, id(FunctionId::kSend), 10'000'000, 19'999));
  EXPECT_TRUE(TraceSelection("from=2m,to=1h").has_time(120'000'000'000));
  EXPECT_FALSE(TraceSelection("from=2").has_time(1'999'999'999));
}

TEST(TraceSelection, ItemsCombine) {
  const TraceSelection some("ranks=1,2,functions=MPI_Send,MPI_Recv,from=1s");
  EXPECT_TRUE(some.has_rank(2));
  EXPECT_FALSE(some.has_rank(3));
  EXPECT_TRUE(some.has_call(false, id(FunctionId::kRecv), 1'000'000'000, 0));
  EXPECT_FALSE(some.has_call(false, id(FunctionId::kBcast), 1'000'000'000, 0));
}

TEST(TraceSelection, AttributesAreChosenByClass) {
  EXPECT_FALSE(TraceSelection("all").attributes().has(AttributeClass::kArguments));
  const TraceSelection some("all,attributes=messages");
  EXPECT_TRUE(some.attributes().has(AttributeClass::kMessages));
  EXPECT_FALSE(some.attributes().has(AttributeClass::kArguments));
  EXPECT_TRUE(some.has_rank(7));
  EXPECT_TRUE(TraceSelection("ranks=1,attributes=all").attributes().has(AttributeClass::kArguments));
  EXPECT_TRUE(TraceSelection("ranks=1,attributes=all").attributes().has(AttributeClass::kStacks));
  EXPECT_TRUE(TraceSelection("attributes=stacks").attributes().has(AttributeClass::kStacks));
  EXPECT_FALSE(some.attributes().has(AttributeClass::kStacks));
}

TEST(TraceSelection, IterationsAreNumbersAndRangesFromOneOn) {
  EXPECT_FALSE(TraceSelection("all").has_iterations());
  const TraceSelection some("iterations=37-40,100,ranks=1");
  EXPECT_TRUE(some.has_iterations() && some.has_rank(1) && !some.has_rank(37));
  EXPECT_TRUE(some.has_iteration_in(40, 40) && some.has_iteration_in(33, 37) && some.has_iteration_in(97, 200));
  EXPECT_FALSE(some.has_iteration_in(36, 36) || some.has_iteration_in(41, 99));
  EXPECT_THAT(fault_of("iterations=0-3"), HasSubstr("from 1 on"));
  EXPECT_THAT(fault_of("iterations=4-3"), HasSubstr("from 1 on"));
}

TEST(TraceSelection, AFaultNamesThePlaceAndWhatWasExpected) {
  EXPECT_EQ(fault_of("functions=MPI_Send,MPI_Snd,min=1ms"),
            "--trace \"functions=MPI_Send,MPI_Snd,min=1ms\" cannot be read at \"MPI_Snd,min=1ms\": expected a function "
            "of MPI or I/O, mpi or io");
  EXPECT_THAT(fault_of(""), HasSubstr("cannot be read at its end: expected all, or ranks="));
  EXPECT_THAT(fault_of("ranks=0,"), HasSubstr("at its end: expected ranks, as 0-3,8"));
  EXPECT_THAT(fault_of("ranks=3-1"), HasSubstr("expected ranks"));
  EXPECT_THAT(fault_of("ranks=-1"), HasSubstr("expected ranks"));
  EXPECT_THAT(fault_of("ranks=99999999999"), HasSubstr("expected ranks"));
  EXPECT_THAT(fault_of("rank=1"), HasSubstr("at \"rank=1\": expected all, or ranks="));
  EXPECT_THAT(fault_of("ranks=1,all"), HasSubstr("at \"all\": expected ranks"));
  EXPECT_THAT(fault_of("all,1"), HasSubstr("at \"1\": expected all, or ranks="));
  EXPECT_THAT(fault_of("attributes=arguments,other"), HasSubstr("expected attributes: all, arguments, messages"));
  EXPECT_THAT(fault_of("min=1ms,2ms"), HasSubstr("at \"2ms\": expected another item: ranks="));
  EXPECT_THAT(fault_of("min=1d"), HasSubstr("expected a duration"));
  EXPECT_THAT(fault_of("min=-1s"), HasSubstr("expected a duration"));
  EXPECT_THAT(fault_of("min=nan"), HasSubstr("expected a duration"));
  EXPECT_THAT(fault_of("min=1e300h"), HasSubstr("expected a duration"));
  EXPECT_THAT(fault_of("to=2s,from=2s"), HasSubstr("at \"from=2s\": expected a time \"to\" after \"from\""));
  EXPECT_THAT(fault_of("min=1,min=2"), HasSubstr("expected \"min=\" once"));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

// Attributes of events in traces: arguments of calls, numbers of messages.
#include <cerrno>

#include "instrument/format/argument_bytes.hpp"
#include "traces_fixture.hpp"
#include "vmpi/argument_kinds.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::ArgumentsExtension;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using vmpi::ArgumentKind;
using Arguments = std::vector<std::pair<ArgumentKind, std::vector<std::int64_t>>>;

class TraceAttributes : public TracesFixture {
 protected:
  // Arguments of the call that begins then; several values make an array.
  static void arguments(PackMaker& maker, FunctionId function, std::uint64_t begin, const Arguments& all) {
    std::vector<std::uint8_t> bytes;
    const auto put = [&](std::int64_t number) {
      instrument::put_argument_number(number, [&](std::uint8_t byte) { bytes.push_back(byte); });
    };
    for (const auto& [kind, values] : all) {
      const bool is_array = values.size() != 1;
      bytes.push_back(static_cast<std::uint8_t>(static_cast<int>(kind) | (is_array ? instrument::kArrayBit : 0)));
      if (is_array) put(static_cast<std::int64_t>(values.size()));
      for (const std::int64_t each : values) put(each);
    }
    for (std::uint32_t number = 0; number * ArgumentsExtension::kBytes < bytes.size(); ++number) {
      ArgumentsExtension some{};
      some.number = number;
      some.call = static_cast<std::uint32_t>(begin);
      some.word = instrument::make_word(static_cast<std::uint32_t>(instrument::ExtensionKind::kArguments), id(function),
                                        Shape::kExtension);
      const std::size_t first = number * ArgumentsExtension::kBytes;
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                  std::min(ArgumentsExtension::kBytes, bytes.size() - first), some.bytes);
      maker.mpi_extension(some);
    }
  }
  static std::string attributes_of(const replay::PrintedTrace& trace, const std::string& region) {
    for (const auto& event : trace.events) {
      if (event.kind == "ENTER" && event.of("Region") == region) return event.attributes;
    }
    return "(not there)";
  }
  // Numbers of messages of a rank's events of the kind, in their order; -1: none.
  static std::vector<int> numbers(const replay::PrintedTrace& trace, const std::string& kind,
                                  std::uint64_t location = 0) {
    std::vector<int> numbers;
    for (const auto& event : trace.of_kind(kind)) {
      if (event.location != location) continue;
      const std::size_t at = event.attributes.find("UINT64; ");
      numbers.push_back(at == std::string::npos ? -1 : std::stoi(event.attributes.substr(at + 8)));
    }
    return numbers;
  }
  static void define_type(PackMaker& maker, std::uint32_t number, std::string_view text) {
    maker.define(instrument::DatatypeDefinition{number, 0, 4, 0, 4}, text);
  }
};

TEST_F(TraceAttributes, ArgumentsAreAtTheBeginOfTheirCall) {
  PackMaker maker({}, 3);  // arguments may be in an earlier pack than their call
  define_type(maker, 1, "MPI_INT");
  define_type(maker, 2, "vector(2,1,3;;MPI_INT)");
  arguments(maker, FunctionId::kAlltoallw, 2000,
            {{ArgumentKind::kSendCounts, {1, 2, 300'000}},
             {ArgumentKind::kSendTypes, {1, 2, 0}},
             {ArgumentKind::kReceiveType, {2}},
             {ArgumentKind::kInPlace, {1}},
             {ArgumentKind::kSource, {-2}},
             {ArgumentKind::kOperation, {3}}});
  maker.call(FunctionId::kAlltoallw, Shape::kCollective, 2000, 10, instrument::kNoPeer, 0, 8);
  maker.call(FunctionId::kBarrier, Shape::kCollective, 3000, 10, instrument::kNoPeer, 0, 0);
  const auto trace = traced({&maker}, "all,attributes=arguments");
  EXPECT_THAT(attributes_of(trace, "MPI_Alltoallw"),
              AllOf(HasSubstr("\"1,2,300000\""), HasSubstr("\"MPI_INT | vector(2,1,3;;MPI_INT) | -\""),
                    HasSubstr("\"vector(2,1,3;;MPI_INT)\""), HasSubstr("UINT8; 1"), HasSubstr("INT64; -2"),
                    HasSubstr("\"MPI_SUM\"")));
  EXPECT_THAT(attributes_of(trace, "MPI_Barrier"), Not(HasSubstr("ATTRIBUTES")));
  EXPECT_THAT(trace.defined("ATTRIBUTE").front(), HasSubstr("ardoise::recvtype"));
}

TEST_F(TraceAttributes, WithoutTheSelectionTheTraceIsPlain) {
  PackMaker maker({});
  arguments(maker, FunctionId::kBarrier, 2000, {{ArgumentKind::kCount, {1}}});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 2000, 10, instrument::kNoPeer, 0, 0);
  const auto trace = traced({&maker});
  EXPECT_THAT(attributes_of(trace, "MPI_Barrier"), Not(HasSubstr("ATTRIBUTES")));
  EXPECT_THAT(trace.defined("ATTRIBUTE"), IsEmpty());
}

TEST_F(TraceAttributes, ArgumentsOfACallThatBecameASumBelongToNoOtherCall) {
  PackMaker maker({});
  arguments(maker, FunctionId::kBcast, 1900, {{ArgumentKind::kCount, {1}}});
  maker.call(FunctionId::kBcast, Shape::kRooted, 2000, 10, 0, 0, 4);
  arguments(maker, FunctionId::kReduce, 3000, {{ArgumentKind::kCount, {1}}});
  maker.call(FunctionId::kBarrier, Shape::kCollective, 3000, 10, instrument::kNoPeer, 0, 0);
  const auto trace = traced({&maker}, "attributes=all");
  EXPECT_THAT(attributes_of(trace, "MPI_Bcast"), Not(HasSubstr("ATTRIBUTES")));
  EXPECT_THAT(attributes_of(trace, "MPI_Barrier"), Not(HasSubstr("ATTRIBUTES")));
}

TEST_F(TraceAttributes, RequestsAreTheirNumbersOrTheirAges) {
  PackMaker maker({});
  for (const std::uint64_t begin : {2000u, 2100u, 2200u})
    maker.call(FunctionId::kIrecv, Shape::kPostReceive, begin, 10, 0, 0, 8);
  arguments(maker, FunctionId::kWait, 2300, {{ArgumentKind::kRequests, {200}}});
  maker.call(FunctionId::kWait, Shape::kCompletes, 2300, 10, instrument::kNoPeer, 1, 0);
  arguments(maker, FunctionId::kWaitall, 2400, {{ArgumentKind::kRequests, {400, 0, -1, 200}}});
  maker.call(FunctionId::kWaitall, Shape::kCompletes, 2400, 10, instrument::kNoPeer, 0, 0);
  const auto trace = traced({&maker}, "attributes=arguments");
  EXPECT_THAT(attributes_of(trace, "MPI_Wait"), AllOf(HasSubstr("ardoise::request\""), HasSubstr("UINT64; 1")));
  EXPECT_THAT(attributes_of(trace, "MPI_Waitall"), HasSubstr("\"2,-,*,0\""));
}

TEST_F(TraceAttributes, CallsTellTheStacksThatTheyComeFrom) {
  using namespace std::string_view_literals;
  using instrument::ContextRecord;
  using instrument::PackClass;
  for (const std::string selection : {"all,attributes=stacks", "functions=mpi,io,attributes=stacks", "all"}) {
    PackMaker maker({}, 3);  // a context may be in an earlier pack than its call
    maker.define(instrument::ModuleDefinition{1, 0, 0, 4096}, "/no/such/solver"sv, "a1"sv);
    maker.define(instrument::ModuleDefinition{2, 0, 8192, 4096}, "/no/such/library.so"sv, "b2"sv);
    maker.contexts(0, std::vector<ContextRecord>{{1, 0, 1, 0, 0x100}, {7, 1, 2, 0, 0x80}, {8, 0, 2, 0, 0x90}});
    const auto comes_from = [&](std::uint32_t context, PackClass pack_class, std::uint32_t function,
                                std::uint64_t begin) {
      maker.mpi_extension(instrument::ContextExtension{begin, context, static_cast<std::uint16_t>(pack_class),
                                                       static_cast<std::uint16_t>(function), 0, 0,
                                                       instrument::kContextWord});
    };
    const auto write = [&](std::uint64_t begin) {
      maker.posix({begin, 10, 1, 1, id(instrument::PosixFunction::kWrite), 0, 500});
    };
    comes_from(7, PackClass::kMpi, id(FunctionId::kBcast), 2000);
    maker.call(FunctionId::kBcast, Shape::kRooted, 2000, 10, 0, 0, 4);
    comes_from(1, PackClass::kPosix, id(instrument::PosixFunction::kWrite), 3000);
    write(3000);
    comes_from(7, PackClass::kPosix, id(instrument::PosixFunction::kWrite), 3100);
    write(3100);
    comes_from(8, PackClass::kMpi, id(FunctionId::kReduce), 4000);  // became a sum
    maker.call(FunctionId::kBarrier, Shape::kCollective, 4100, 10, instrument::kNoPeer, 0, 0);
    // I/O in a callback that the program gave to MPI: it ends before the call.
    for (const std::uint64_t begin : {5100u, 5200u}) {
      comes_from(7, PackClass::kPosix, id(instrument::PosixFunction::kWrite), begin);
      write(begin);
    }
    comes_from(1, PackClass::kMpi, id(FunctionId::kAllreduce), 5000);
    maker.call(FunctionId::kAllreduce, Shape::kCollective, 5000, 900, instrument::kNoPeer, 0, 0);
    std::filesystem::remove_all(folder_ / "trace");
    const auto trace = traced({&maker}, selection);
    std::vector<std::string> stacks;  // of each call
    for (const auto& event : trace.of_kind("ENTER")) {
      const std::size_t at = event.attributes.find("CALLING_CONTEXT; ");
      stacks.push_back(at == std::string::npos ? "" : event.attributes.substr(at));
    }
    ASSERT_THAT(stacks, SizeIs(7)) << selection;
    if (selection == "all") {
      EXPECT_THAT(stacks, Each(""));
      EXPECT_THAT(trace.defined("CALLING_CONTEXT"), IsEmpty());
      continue;
    }
    EXPECT_THAT(stacks, ElementsAre(HasSubstr("(library.so)"), HasSubstr("(solver)"), HasSubstr("(library.so)"), "",
                                    HasSubstr("(solver)"), HasSubstr("(library.so)"), HasSubstr("(library.so)")));
    EXPECT_THAT(trace.properties, Not(HasSubstr("MOVED_CALLS")));
    EXPECT_THAT(trace.defined("CALLING_CONTEXT"), SizeIs(2));  // of those that are used
    EXPECT_THAT(trace.properties, AllOf(HasSubstr("MISSING_ATTRIBUTES"), HasSubstr("1")));
    EXPECT_THAT(finished_.notices, Contains(HasSubstr("lacks call stacks of calls, which are unknown (1)")));
  }
}

TEST_F(TraceAttributes, FailedCallsOfIoTellTheirError) {
  for (const std::string selection : {"all", "all,attributes=errors"}) {
    PackMaker maker({});
    maker.posix({2000, 10, 1, 0, id(instrument::PosixFunction::kOpen), instrument::kPosixFailed | ENOENT << 1, 0});
    maker.posix({3000, 10, 1, 1, id(instrument::PosixFunction::kWrite), 0, 500});
    const auto trace = traced({&maker}, selection);
    const auto leaves = trace.of_kind("LEAVE");
    ASSERT_THAT(leaves, SizeIs(2));
    const bool is_wanted = selection != "all";
    EXPECT_EQ(leaves[0].attributes.find("(\"ardoise::error\" <0>; UINT64; 2)") != std::string::npos, is_wanted);
    EXPECT_EQ(leaves[1].attributes.find("ardoise::error"), std::string::npos);
    EXPECT_THAT(trace.defined("ATTRIBUTE"), SizeIs(is_wanted ? 1 : 0));
    std::filesystem::remove_all(folder_ / "trace");
  }
}

TEST_F(TraceAttributes, BothEndsOfAMessageHaveItsNumber) {
  PackMaker sender({.rank = 0}), receiver({.rank = 1});
  for (const std::uint64_t begin : {2000u, 2100u, 2200u}) {
    sender.call(FunctionId::kSend, Shape::kSend, begin, 10, 1, begin == 2100 ? 8 : 7, 64);
    receiver.call(FunctionId::kRecv, Shape::kReceive, begin, 50, 0, begin == 2100 ? 8 : 7, 64);
  }
  const auto trace = traced({&sender, &receiver}, "attributes=messages");
  EXPECT_THAT(numbers(trace, "MPI_SEND"), ElementsAre(0, 0, 1));
  EXPECT_THAT(numbers(trace, "MPI_RECV", 1), ElementsAre(0, 0, 1));
}

// The receive that was posted first gets the first message, whichever ends first.
TEST_F(TraceAttributes, ReceivesCountInTheOrderOfTheirPosting) {
  const auto completion = [](std::uint64_t post_begin, std::int32_t tag) {
    return instrument::CompletionRecord{
        post_begin, 0, 1, 0, tag, 8, instrument::make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)};
  };
  PackMaker receiver({});
  receiver.call(FunctionId::kIrecv, Shape::kPostReceive, 2000, 10, 0, 7, 8);
  receiver.call(FunctionId::kIrecv, Shape::kPostReceive, 2100, 10, instrument::kAnySource, instrument::kAnyTag, 8);
  receiver.call(FunctionId::kIrecv, Shape::kPostReceive, 2200, 10, 0, 7, 8);
  receiver.call(FunctionId::kWaitany, Shape::kCompletes, 2300, 10, instrument::kNoPeer, 1, 0);
  receiver.mpi_extension(completion(2200, 7));
  receiver.call(FunctionId::kWaitany, Shape::kCompletes, 2400, 10, instrument::kNoPeer, 1, 0);
  receiver.mpi_extension(completion(2000, 7));
  receiver.call(FunctionId::kWaitany, Shape::kCompletes, 2500, 10, instrument::kNoPeer, 1, 0);
  receiver.mpi_extension(completion(2100, 7));
  receiver.call(FunctionId::kRecv, Shape::kReceive, 2600, 10, 0, 7, 8);
  const auto trace = traced({&receiver}, "attributes=messages");
  EXPECT_THAT(numbers(trace, "MPI_IRECV"), ElementsAre(-1, 0, 1))
      << "what ended first may be message 1 or 2, which is known only when the second one has ended";
  EXPECT_THAT(numbers(trace, "MPI_RECV"), ElementsAre(3));
}

TEST_F(TraceAttributes, ThereAreNoNumbersBehindAGap) {
  PackMaker sender({}, 1);
  for (const std::uint64_t begin : {2000u, 2100u, 2200u, 2300u})
    sender.call(FunctionId::kSend, Shape::kSend, begin, 10, 1, 7, 64);
  sender.flush();
  auto packs = sender.take();
  ASSERT_EQ(packs.size(), 4u);
  packs.erase(packs.begin() + 1);
  begin({{.name = "program", .ranks = 1}}, "attributes=messages");
  session_->submit(packs);
  finish();
  EXPECT_THAT(numbers(read(), "MPI_SEND"), ElementsAre(0, -1, -1));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

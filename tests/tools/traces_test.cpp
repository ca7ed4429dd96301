// Traces of launches are read back with OTF2's own reader and compared with the profile of the same run.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/replay/printed_trace.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using replay::PrintedTrace;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::uint64_t number(const std::string& text) { return text.empty() ? 0 : std::stoull(text); }

class TracesTest : public LaunchFixture {
 protected:
  [[nodiscard]] PrintedTrace trace(const std::string& name = "trace") const {
    PrintedTrace printed(output_ + "/" + name + "/traces.otf2");
    replay::expect_in_order(printed);
    return printed;
  }
  // Output of `ardoise trace check`.
  [[nodiscard]] std::string check(const std::string& name = "trace") const {
    return replay::output_of(std::string(ARDOISE) + " trace check '" + output_ + "/" + name + "'");
  }
};

class TracedPrograms : public TracesTest, public ::testing::WithParamInterface<std::string> {};  // analyzers

// Adds all calls of the profile, except those that were only counted, and MPI_Init.
void add_calls(const reports::Application& application, std::map<std::string, std::uint64_t>& calls) {
  for (const auto* const list : {&application.mpi, &application.posix}) {
    for (const auto& function : *list) calls[function.function] += function.calls;
  }
  calls["MPI_Init"] += application.ranks;
}
void expect_calls(const PrintedTrace& trace, const reports::Application& application) {
  std::map<std::string, std::uint64_t> wanted;
  add_calls(application, wanted);
  EXPECT_EQ(trace.calls(), wanted);
}

// A process killed while it records a call may have it in its sums but not in its records.
void expect_calls_but_one_of_each_rank(const PrintedTrace& trace, const reports::Application& application) {
  std::map<std::string, std::uint64_t> wanted;
  add_calls(application, wanted);
  std::uint64_t missing = 0;
  const auto calls = trace.calls();
  for (const auto& [function, number] : wanted) {
    const auto found = calls.find(function);
    const std::uint64_t there = found == calls.end() ? 0 : found->second;
    EXPECT_LE(there, number) << function;
    missing += number - std::min(there, number);
  }
  EXPECT_LE(missing, application.ranks);
  EXPECT_LE(calls.size(), wanted.size());
}

// Messages that were sent from rank to rank: number and bytes.
using Edges = std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint64_t, std::uint64_t>>;

// Counts only messages in the world.
Edges sent(const PrintedTrace& trace) {
  Edges edges;
  for (const auto& each : trace.events) {
    if (each.kind != "MPI_SEND" && each.kind != "MPI_ISEND") continue;
    auto& [messages, bytes] = edges[{each.location & UINT32_MAX, number(each.of("Receiver"))}];
    ++messages;
    bytes += number(each.of("Length"));
  }
  return edges;
}
Edges received(const PrintedTrace& trace) {
  Edges edges;
  for (const auto& each : trace.events) {
    if (each.kind != "MPI_RECV" && each.kind != "MPI_IRECV") continue;
    auto& [messages, bytes] = edges[{number(each.of("Sender")), each.location & UINT32_MAX}];
    ++messages;
    bytes += number(each.of("Length"));
  }
  return edges;
}
Edges edges_of(const reports::Application& application) {
  Edges edges;
  for (const auto& edge : application.edges) edges[{edge.source, edge.target}] = {edge.messages, edge.bytes};
  return edges;
}

TEST_P(TracedPrograms, ARingHasTheCallsMessagesAndBytesOfItsProfile) {
  const auto result = ardoise({"--trace", "all", "--analyzers", GetParam()}, {"-n", "5", RING, "50"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("the trace is '" + output_ + "/trace/traces.otf2'."));
  const auto printed = trace();
  const auto application = profile().applications.at(0);
  expect_calls(printed, application);
  EXPECT_EQ(sent(printed), edges_of(application));
  EXPECT_EQ(received(printed), edges_of(application));
  EXPECT_THAT(printed.defined("LOCATION_GROUP"), SizeIs(5));
  // The region has MPI as its file, as Scalasca expects; the call site is known separately.
  EXPECT_THAT(printed.defined("REGION"), Contains(AllOf(HasSubstr("ring_program.cpp\" "), HasSubstr("File: \"MPI\""))));
  EXPECT_THAT(run_and_read({ARDOISE, "trace", "info", output_}).output, HasSubstr("/ring_program.cpp:"));
  EXPECT_THAT(profile().notices, Not(Contains(HasSubstr("trace"))));
  EXPECT_FALSE(std::filesystem::exists(output_ + "/trace.part"));
  EXPECT_THAT(check(), HasSubstr("Nothing is wrong"));
}

// Covers all kinds of traffic: any source, persistent requests, a split communicator, an intercommunicator, files.
TEST_P(TracedPrograms, AllKindsOfTrafficAreThere) {
  const auto result = ardoise({"--trace", "all,attributes=arguments,messages,stacks", "--analyzers", GetParam()},
                              {"-n", "4", TRAFFIC, (folder_ / "traffic.out").string()});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto printed = trace();
  expect_calls(printed, profile().applications.at(0));
  std::uint64_t sends = 0, receives = 0, sent_bytes = 0, received_bytes = 0;
  std::set<std::pair<std::uint64_t, std::string>> begun, ended;
  std::map<std::string, std::string> attributes_of;  // by function
  for (const auto& each : printed.events) {
    EXPECT_EQ(each.attributes.find("INVALID"), std::string::npos) << each.kind << each.attributes;
    EXPECT_EQ(each.attributes.find("(not known)"), std::string::npos) << each.kind << each.attributes;
    if (each.kind == "ENTER") {
      attributes_of[each.of("Region")] += each.attributes;
      EXPECT_EQ(each.attributes.find("ardoise::callstack") != std::string::npos,
                each.of("Region") != "MPI_Init" && each.of("Region") != "MPI_Init_thread")
          << each.of("Region");
    }
    const bool is_message =
        each.kind == "MPI_SEND" || each.kind == "MPI_ISEND" || each.kind == "MPI_RECV" || each.kind == "MPI_IRECV";
    EXPECT_EQ(each.attributes.find("ardoise::message") != std::string::npos, is_message) << each.kind;
    if (each.kind == "MPI_SEND" || each.kind == "MPI_ISEND") {
      ++sends;
      sent_bytes += number(each.of("Length"));
    }
    if (each.kind == "MPI_RECV" || each.kind == "MPI_IRECV") {
      ++receives;
      received_bytes += number(each.of("Length"));
    }
    if (each.kind.starts_with("IO_")) continue;
    const std::string request = each.of("Request");
    if (each.kind == "MPI_ISEND" || each.kind == "MPI_IRECV_REQUEST" ||
        each.kind == "NON_BLOCKING_COLLECTIVE_REQUEST") {
      EXPECT_TRUE(begun.emplace(each.location, request).second) << each.kind << each.attributes;
    } else if (!request.empty()) {
      EXPECT_TRUE(ended.emplace(each.location, request).second) << each.kind << each.attributes;
    }
  }
  EXPECT_NE(sends, 0u);
  EXPECT_EQ(sends, receives);
  EXPECT_EQ(sent_bytes, received_bytes);
  EXPECT_EQ(begun, ended);
  EXPECT_EQ(printed.of_kind("MPI_COLLECTIVE_BEGIN").size(), printed.of_kind("MPI_COLLECTIVE_END").size());
  EXPECT_EQ(printed.of_kind("IO_OPERATION_BEGIN").size(), printed.of_kind("IO_OPERATION_COMPLETE").size());
  EXPECT_THAT(attributes_of["MPI_Gatherv"], HasSubstr("\"1,2,3,4\"")) << "at the root: what comes from each";
  EXPECT_THAT(attributes_of["MPI_Reduce"], AllOf(HasSubstr("\"MPI_SUM\""), HasSubstr("\"MPI_DOUBLE\"")));
  EXPECT_THAT(attributes_of["MPI_Send"] + attributes_of["MPI_Sendrecv"] + attributes_of["MPI_Bcast"],
              HasSubstr("\"vector(10,2,5;;MPI_INT)\""));
  EXPECT_THAT(attributes_of["MPI_Comm_split"], HasSubstr("ardoise::newcomm"));
  EXPECT_THAT(printed.defined("INTER_COMM"), SizeIs(1));
  EXPECT_THAT(printed.defined("IO_REGULAR_FILE"), Contains(HasSubstr("traffic.out")));
  EXPECT_THAT(printed.defined("CART_TOPOLOGY"), SizeIs(1));
  EXPECT_THAT(printed.defined("RMA_WIN"), SizeIs(1));
  std::uint64_t put = 0, got = 0, put_bytes = 0, got_bytes = 0;
  for (const auto& each : printed.events) {
    if (each.kind == "RMA_PUT") put_bytes += number(each.of("Bytes"));
    if (each.kind == "RMA_GET") got_bytes += number(each.of("Bytes"));
  }
  for (const auto& function : profile().applications.at(0).mpi) {
    if (function.function == "MPI_Put") put = function.bytes_sent;
    if (function.function == "MPI_Get") got = function.bytes_received;
  }
  EXPECT_NE(put, 0u);
  EXPECT_EQ(put_bytes, put);
  EXPECT_NE(got, 0u);
  EXPECT_EQ(got_bytes, got);
  EXPECT_THAT(printed.properties, Not(HasSubstr("UNFINISHED")));
  EXPECT_THAT(check(), HasSubstr("Nothing is wrong"));
}

TEST_P(TracedPrograms, TimesAndSamplesAreThoseOfTheProfile) {
  const auto result = ardoise({"--trace", "all", "--analyzers", GetParam()},
                              {"-n", "4", LATE_RANKS, "late_sender", (folder_ / "truth").string()});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto printed = trace();
  const auto application = profile().applications.at(0);
  expect_calls(printed, application);
  EXPECT_EQ(printed.of_kind("CALLING_CONTEXT_SAMPLE").size(), application.samples.samples);
  EXPECT_THAT(printed.markers, HasSubstr("Ardoise finding"));
  std::map<std::string, double> seconds;
  std::map<std::uint64_t, std::vector<std::uint64_t>> begins;
  for (const auto& each : printed.events) {
    if (each.kind == "ENTER") begins[each.location].push_back(each.time);
    if (each.kind != "LEAVE") continue;
    seconds[each.of("Region")] += 1e-9 * static_cast<double>(each.time - begins[each.location].back());
    begins[each.location].pop_back();
  }
  for (const auto& function : application.mpi) {
    EXPECT_NEAR(seconds[function.function], function.seconds,
                2e-9 * static_cast<double>(function.calls) + 1e-4 * function.seconds)
        << function.function;
  }
  EXPECT_THAT(check(), HasSubstr("Nothing is wrong"));
}

INSTANTIATE_TEST_SUITE_P(Analyzers, TracedPrograms, ::testing::Values("1", "3"));

TEST_F(TracesTest, ThreadsAreLocations) {
  const auto result = ardoise({"--trace", "all"}, {"-n", "2", THREADS});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto printed = trace();
  expect_calls(printed, profile().applications.at(0));
  EXPECT_EQ(sent(printed), received(printed));
  std::set<std::uint64_t> locations;
  for (const auto& each : printed.events) locations.insert(each.location);
  EXPECT_GT(locations.size(), 2u);
  EXPECT_THAT(check(), HasSubstr("Nothing is wrong"));
}

TEST_F(TracesTest, ProgramsShareAnArchiveAsTheyShareTheirWorld) {
  const auto together = ardoise({"--trace", "all"}, {"-n", "2", COUPLED, "ocean", ":", "-n", "3", COUPLED, "air"});
  EXPECT_EQ(together.status, 0) << together.output;
  const auto printed = trace();
  EXPECT_THAT(printed.defined("LOCATION_GROUP"), SizeIs(5));
  EXPECT_EQ(sent(printed), received(printed));
  std::map<std::string, std::uint64_t> wanted;
  for (const auto& application : profile().applications) add_calls(application, wanted);
  EXPECT_EQ(printed.calls(), wanted);
  EXPECT_THAT(check(), HasSubstr("Nothing is wrong"));
}

TEST_F(TracesTest, SeparateProgramsHaveArchivesOfTheirOwn) {
  const auto result = ardoise({"--trace", "all", "--separate", "--analyzers", "2"},
                              {"-n", "2", RING, "20", ":", "-n", "3", RING, "30"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto applications = profile().applications;
  ASSERT_THAT(applications, SizeIs(2));
  for (const auto& application : applications) {
    const auto printed = trace("trace-" + application.name);
    expect_calls(printed, application);
    EXPECT_EQ(sent(printed), edges_of(application));
    EXPECT_THAT(check("trace-" + application.name), HasSubstr("Nothing is wrong"));
  }
}

TEST_F(TracesTest, ASelectionIsWhatIsThere) {
  const auto result = ardoise({"--trace", "ranks=1-2,functions=MPI_Send"}, {"-n", "4", RING, "20"});
  EXPECT_EQ(result.status, 0) << result.output;
  const auto printed = trace();
  EXPECT_THAT(printed.calls(), SizeIs(1));
  std::set<std::uint64_t> locations;
  for (const auto& each : printed.events) locations.insert(each.location);
  EXPECT_EQ(locations, (std::set<std::uint64_t>{1, 2}));
  EXPECT_THAT(printed.defined("LOCATION_GROUP"), SizeIs(4));
}

TEST_F(TracesTest, ASelectionThatNothingMatchesIsSaid) {
  const auto result = ardoise({"--trace", "functions=MPI_Alltoallw"}, {"-n", "2", RING, "20"});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(trace().events, IsEmpty());
  EXPECT_THAT(profile().notices, Contains(HasSubstr("--trace functions=MPI_Alltoallw selects nothing in this run")));
}

TEST_F(TracesTest, AFaultInTheSelectionIsSaidBeforeTheLaunch) {
  const auto result = ardoise({"--trace", "functions=MPI_Sent"}, {"-n", "2", RING, "20"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.output, HasSubstr("--trace \"functions=MPI_Sent\" cannot be read at \"functions=MPI_Sent\""));
  EXPECT_FALSE(std::filesystem::exists(output_));
}

TEST_F(TracesTest, CapturedPacksGiveTheSameTrace) {
  const std::string capture = (folder_ / "capture").string(), again = (folder_ / "again").string();
  const auto live = ardoise({"--trace", "all", "--capture", capture}, {"-n", "3", RING, "40"});
  EXPECT_EQ(live.status, 0) << live.output;
  const auto replayed = run_and_read({ARDOISE, "export", capture, "--format", "otf2", "--output", again});
  EXPECT_EQ(replayed.status, 0) << replayed.output;
  const PrintedTrace first = trace(), second(again + "/trace/traces.otf2");
  ASSERT_EQ(first.events.size(), second.events.size());
  for (std::size_t i = 0; i < first.events.size(); ++i) {
    EXPECT_EQ(first.events[i].kind, second.events[i].kind);
    EXPECT_EQ(first.events[i].time, second.events[i].time);
    EXPECT_EQ(first.events[i].of("Region"), second.events[i].of("Region"));
  }
}

// The report is like that of a measured run.
TEST_F(TracesTest, ATraceHasAReportAndSnapshots) {
  ASSERT_EQ(ardoise({"--trace", "all"}, {"-n", "2", RING, "40"}).status, 0);
  const std::string again = (folder_ / "again").string();
  const Words words{ARDOISE, "report",      output_ + "/trace", "--output",
                    again,   "--no-report", "--snapshot-every", "10ms"};
  const auto made = run_and_read(words);
  EXPECT_EQ(made.status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("ardoise report: the snapshots are '" + again + "/snapshots-0.ards'."));
  EXPECT_TRUE(reports::read_profile_json(again + "/profile.json"));
  const auto refused = run_and_read({ARDOISE, "report", output_, "--snapshot-every", "10ms"});
  EXPECT_EQ(refused.status, 2) << "the folder of a report is its profile";
  EXPECT_THAT(refused.output, HasSubstr("--snapshot-every is for traces and captured packs"));
}

// The trace includes data that processes had not sent when they died, as the report does.
TEST_F(TracesTest, ALaunchThatDiesHasATraceOfAllThatTheReportHas) {
  for (const std::string flush : {"1", "0.01"}) {
    for (const std::string how : {"segv", "kill", "mpi_abort"}) {
      const auto result = ardoise({"--trace", "all", "--analyzers", "2"},
                                  {"-n", "3", "env", "ARDOISE_FLUSH_EVERY=" + flush, ENDINGS, how});
      EXPECT_NE(result.status, 0);
      const auto printed = trace();
      EXPECT_THAT(printed.defined("LOCATION_GROUP"), SizeIs(3));
      expect_calls_but_one_of_each_rank(printed, profile().applications.at(0));
      EXPECT_GE(printed.calls().at("MPI_Barrier"), 300u - 3u);
      EXPECT_THAT(profile().notices, Not(Contains(HasSubstr("trace"))));
      EXPECT_FALSE(std::filesystem::exists(output_ + "/trace.part"));
      std::filesystem::remove_all(output_);
    }
  }
}

}  // namespace
}  // namespace ardoise::launcher

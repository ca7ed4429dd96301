// Replays traces under the launcher and compares the measurements of original and replay.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "tests/hostile_names.hpp"
#include "tests/replay/made_archive.hpp"
#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

namespace fs = std::filesystem;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Calls, bytes sent, bytes received, by function.
using Sums = std::map<std::string, std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;
// Messages and bytes, by ranks.
using Edges = std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint64_t, std::uint64_t>>;

// False for calls that a replay does not make: queries, datatypes, and calls that are only counted.
bool is_replayed(const reports::FunctionProfile& function) {
  static const std::set<std::string> kLocal{"MPI_Comm_rank",   "MPI_Comm_size",        "MPI_Comm_compare",
                                            "MPI_Get_count",   "MPI_Comm_remote_size", "MPI_Type_commit",
                                            "MPI_Type_vector", "MPI_Type_free"};
  return !kLocal.contains(function.function);
}

class TraceReplayTest : public LaunchFixture {
 protected:
  [[nodiscard]] Captured replayed(const std::string& ranks, const Words& options = {}) const {
    Words words{ARDOISE, "--no-report", "--quiet", "--output", replay_output()};
    Words launch{"-n", ranks, REPLAY, output_};
    launch.insert(launch.end(), options.begin(), options.end());
    return launched(words, launch);
  }
  // Runs the replay without Ardoise.
  [[nodiscard]] Captured replay(const std::string& ranks, const Words& options = {}) const {
    Words launch{"-n", ranks, REPLAY, output_};
    launch.insert(launch.end(), options.begin(), options.end());
    return by_hand(launch);
  }
  [[nodiscard]] Captured record(const std::string& trace, const Words& launch) const {
    return ardoise({"--quiet", "--policy", "block", "--trace", trace}, launch);
  }
  [[nodiscard]] std::string replay_output() const { return (folder_ / "replayed").string(); }
  [[nodiscard]] reports::Run replay_profile() const {
    auto run = reports::read_profile_json(replay_output() + "/profile.json");
    EXPECT_TRUE(run) << run.error;
    return run ? *run.value : reports::Run{};
  }
};

Sums sums_of(const reports::Run& run) {
  Sums sums;
  for (const auto& application : run.applications) {
    for (const auto& function : application.mpi) {
      if (is_replayed(function))
        sums[function.function] = {function.calls, function.bytes_sent, function.bytes_received};
    }
  }
  return sums;
}

Edges edges_of(const reports::Run& run) {
  Edges edges;
  for (const auto& application : run.applications) {
    for (const auto& edge : application.edges) edges[{edge.source, edge.target}] = {edge.messages, edge.bytes};
  }
  return edges;
}

// Blocking, non-blocking, persistent, probes, collectives of all kinds, topologies, derived datatypes, windows, files.
TEST_F(TraceReplayTest, EveryCallIsMadeAgain) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "4", TRAFFIC}).status, 0);
  const Captured result = replayed("4");
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(sums_of(replay_profile()), sums_of(profile()));
  EXPECT_EQ(edges_of(replay_profile()), edges_of(profile()));
  EXPECT_THAT(edges_of(profile()), SizeIs(8));
  EXPECT_THAT(result.output, ContainsRegex("\nMPI_[A-Z][a-z_]+ +[0-9]+ "));
  EXPECT_THAT(result.output, ContainsRegex("The run took [0-9.]+ s, recorded [0-9.]+ s"));
}

// Reads files that existed before the program, and files that it wrote and opened again.
TEST_F(TraceReplayTest, FilesHaveWhatIsReadOfThem) {
  const fs::path files = folder_ / "files", scratch = folder_ / "scratch";
  fs::create_directories(files);
  fs::create_directories(scratch);
  std::ofstream(files / "input") << std::string(3 * 4000, 'x');
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "3", FILES, files.string()}).status, 0);
  const auto own = [&](int number) { return scratch / ("ardoise-replay-file-" + std::to_string(number)); };
  for (int number = 0; number < 20; ++number) std::ofstream(own(number)) << "the user's";
  const Captured result = replayed("3", {"--quiet", "--pause", "none", "--scratch", scratch.string()});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(sums_of(replay_profile()), sums_of(profile()));
  for (const char* function : {"MPI_File_read_at", "MPI_File_iread_at", "MPI_File_read_all", "MPI_File_read_ordered"})
    EXPECT_EQ(std::get<2>(sums_of(profile()).at(function)),
              3u * (std::string(function) == "MPI_File_read_all" ? 2000 : 4000))
        << function;
  EXPECT_EQ(std::get<0>(sums_of(profile()).at("MPI_Improbe")), 6u);
  EXPECT_EQ(std::get<0>(sums_of(profile()).at("MPI_Comm_idup")), 3u);
  // The replay's own reads and preparations are not measured.
  EXPECT_THAT(replay_profile().applications.at(0).posix, ::testing::IsEmpty());
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch), {}), 20);
  for (int number = 0; number < 20; ++number) {
    std::ifstream file(own(number));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "the user's");
  }
  fs::remove_all(output_);
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "3", FILES, files.string(), "cancel"}).status, 0);
  EXPECT_THAT(replay("3", {"--quiet", "--pause", "none"}).output, HasSubstr("3 calls of MPI_Cancel are skipped"));
}

TEST_F(TraceReplayTest, DatatypesAreMadeOfTheirTexts) {
  const Captured result = by_hand({"-n", "1", TYPES_TEST});
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST_F(TraceReplayTest, ThreadsCallAsTheyDid) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "2", THREADS}).status, 0);
  const Captured result = replayed("2", {"--quiet", "--pause", "none"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(sums_of(replay_profile()), sums_of(profile()));
  EXPECT_EQ(edges_of(replay_profile()), edges_of(profile()));
}

// Receives of all kinds compete for messages. A wrong assignment would hang.
TEST_F(TraceReplayTest, WildcardsGetTheMessagesThatTheyGot) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "4", RACES, "1", "40"}).status, 0);
  const Captured result = replayed("4", {"--quiet", "--pause", "none"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(edges_of(replay_profile()), edges_of(profile()));
}

TEST_F(TraceReplayTest, AlsoThoseOfThreads) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "2", RACES, "1", "15", "threads"}).status, 0);
  const Captured result = replayed("2", {"--quiet", "--pause", "none"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_EQ(edges_of(replay_profile()), edges_of(profile()));
}

TEST_F(TraceReplayTest, WithoutArgumentsBytesAndPartnersAreKept) {
  ASSERT_EQ(record("all", {"-n", "3", RING, "50"}).status, 0);
  const Captured result = replayed("3", {"--quiet"});
  ASSERT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("messages are replayed as bytes because their datatypes are not in the trace"));
  EXPECT_EQ(edges_of(replay_profile()), edges_of(profile()));
}

TEST_F(TraceReplayTest, WhatIfsChangeTimeAndSizes) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "2", RING, "20"}).status, 0);
  const Captured result =
      replayed("2", {"--bytes", "3", "--compute", "0", "--noise", "0.5", "--slow", "1=2", "--open-wildcards"});
  ASSERT_EQ(result.status, 0) << result.output;
  const Edges recorded = edges_of(profile()), made = edges_of(replay_profile());
  ASSERT_EQ(made.size(), recorded.size());
  for (const auto& [ranks, sums] : recorded) {
    EXPECT_EQ(made.at(ranks).first, sums.first);
    EXPECT_EQ(made.at(ranks).second, 3 * sums.second);
  }
}

TEST_F(TraceReplayTest, SomeOfTheRanksAreReplayedAlone) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "4", RING, "30"}).status, 0);
  const Captured result = replayed("2", {"--quiet", "--ranks", "1-2"});
  ASSERT_EQ(result.status, 0) << result.output;
  // Edges between ranks 1 and 2.
  Edges wanted;
  for (const auto& [ranks, sums] : edges_of(profile())) {
    if (ranks.first >= 1 && ranks.first <= 2 && ranks.second >= 1 && ranks.second <= 2)
      wanted.emplace(std::pair(ranks.first - 1, ranks.second - 1), sums);
  }
  EXPECT_FALSE(wanted.empty());
  EXPECT_EQ(edges_of(replay_profile()), wanted);
}

TEST_F(TraceReplayTest, WhatCannotBeReplayedIsSaidAndNothingHangs) {
  ASSERT_EQ(record("all,attributes=arguments", {"-n", "2", RING, "20"}).status, 0);
  const Captured fewer = replay("3");
  EXPECT_NE(fewer.status, 0);
  EXPECT_THAT(fewer.output, HasSubstr("the trace is of 2 ranks: start that many, mpirun -n 2 ardoise-replay"));
  const Captured option = replay("2", {"--pause", "never"});
  EXPECT_NE(option.status, 0);
  EXPECT_THAT(option.output, HasSubstr("ardoise-replay: --pause"));
  const Captured scratch = replay("2", {"--scratch", "/nowhere"});
  EXPECT_NE(scratch.status, 0);
  EXPECT_THAT(scratch.output, HasSubstr("--scratch"));

  std::filesystem::resize_file(output_ + "/trace/traces/1.evt", 700);
  const Captured broken = replay("2");
  EXPECT_NE(broken.status, 0);
  EXPECT_THAT(broken.output, HasSubstr("ardoise-replay: the trace is broken: "));
  std::filesystem::remove_all(output_);
  const Captured none = replay("2");
  EXPECT_NE(none.status, 0);
  EXPECT_THAT(none.output, HasSubstr("ardoise-replay: "));
}

// A trace with calls that can be replayed, and some that cannot.
TEST_F(TraceReplayTest, NoNameOfATraceIsShownAsItIs) {
  std::string name = "xxx";
  for (const std::string& hostile : kHostile) name += hostile;
  replay::MadeArchive archive(folder_ / "made");
  for (const std::uint64_t rank : {0u, 1u}) {
    OTF2_EvtWriter* const out = archive.events(rank);
    OTF2_EvtWriter_Enter(out, nullptr, 10, 0);
    if (rank == 0) OTF2_EvtWriter_MpiSend(out, nullptr, 20, 1, 0, 7, 8);
    if (rank == 1) OTF2_EvtWriter_MpiRecv(out, nullptr, 20, 0, 0, 7, 8);
    OTF2_EvtWriter_Leave(out, nullptr, 30, 0);
    for (const OTF2_RegionRef region : {1u, 2u}) {
      OTF2_EvtWriter_Enter(out, nullptr, 40 + 20 * region, region);
      OTF2_EvtWriter_MpiSend(out, nullptr, 45 + 20 * region, 1, 1, 7, 8);
      OTF2_EvtWriter_Leave(out, nullptr, 50 + 20 * region, region);
    }
  }
  archive.clock(0, 1000);
  archive.processes(2, 9);
  OTF2_GlobalDefWriter_WriteComm(archive.global(), 1, archive.string(name), 1, OTF2_UNDEFINED_COMM,
                                 OTF2_COMM_FLAG_NONE);
  archive.region(0, "MPI_Send", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, name, 3);
  archive.region(1, name, OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, name, 4);
  archive.region(2, "MPI_Alltoallw", OTF2_PARADIGM_MPI, OTF2_REGION_ROLE_FUNCTION, name, 5);
  OTF2_Archive_SetMachineName(archive.archive(), name.c_str());
  OTF2_Archive_SetProperty(archive.archive(), "ARDOISE::PROGRAM", name.c_str(), true);
  const std::string made = archive.close().string();
  for (const std::string& trace : {made, made + "/" + name}) {
    const Captured result = by_hand({"-n", "2", REPLAY, trace});
    EXPECT_THAT(result.output, HasSubstr("ardoise-replay: "));
    expect_clean(result.output, result.output);
  }
}

TEST_F(TraceReplayTest, MessagesWithoutTheOtherEndAreLeftOut) {
  ASSERT_EQ(record("ranks=0,functions=MPI_Send,attributes=arguments", {"-n", "2", RING, "20"}).status, 0);
  const Captured result = replay("2", {"--quiet"});
  EXPECT_THAT(result.output,
              HasSubstr("20 messages have no other end in the trace and are skipped (from rank 0 to rank 1"));
}

TEST_F(TraceReplayTest, CollectivesOfSomeRanksAreRefused) {
  ASSERT_EQ(record("ranks=0,attributes=arguments", {"-n", "2", RING, "20"}).status, 0);
  const Captured result = replay("2", {"--quiet"});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, ContainsRegex("take part in 0 to [0-9]+ of its collectives|has no data of rank 1"));
}

}  // namespace
}  // namespace ardoise::launcher

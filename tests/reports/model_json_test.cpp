// profile.json: written data is read back, and the reader answers every bad file with a sentence.
#include "reports/model_json.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "reports/extensions.hpp"
#include "reports/model_check.hpp"
#include "tests/reports/synthetic_run.hpp"
#include "tests/rounds.hpp"

namespace ardoise::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string temporary(const std::string& name) { return ::testing::TempDir() + "ardoise_" + name; }

// The written model with one change, as text.
template <class Change>
std::string changed(Change&& change) {
  static const Json written = Json::parse(profile_to_json(testing::synthetic_run(8)));
  Json json = written;
  change(json, json["applications"][0]);
  return json.dump();
}

TEST(ModelJson, ReadsBackWhatItWrote) {
  for (const reports::Run& run : {testing::synthetic_run(64), testing::synthetic_run(1), testing::empty_run()}) {
    const std::string text = profile_to_json(run);
    const Result<reports::Run> back = profile_from_json(text);
    ASSERT_TRUE(back) << back.error;
    // Arrays keep nine digits: from the second time on nothing changes.
    const std::string second = profile_to_json(*back.value);
    const Result<reports::Run> again = profile_from_json(second);
    ASSERT_TRUE(again) << again.error;
    EXPECT_TRUE(profile_to_json(*again.value) == second);
    EXPECT_EQ(back.value->applications[0].edges.size(), run.applications[0].edges.size());
    EXPECT_EQ(extensions_of(back.value->applications[0]), extensions_of(run.applications[0]));
  }
}

TEST(ModelJson, HoldsTheDocumentedKeysOfEachApplication) {
  const Json json = Json::parse(profile_to_json(testing::synthetic_run(8)));
  ASSERT_EQ(json["applications"].size(), 2U);
  for (const Json& a : json["applications"]) {
    for (const char* key :
         {"name", "command", "ranks", "wall_seconds", "mpi", "posix", "edges", "call_sites", "quality"}) {
      EXPECT_TRUE(a.contains(key)) << key;
    }
    EXPECT_TRUE(a["quality"].contains("ledger"));
    for (const char* key : {"function", "calls", "seconds", "bytes"}) EXPECT_TRUE(a["mpi"][0].contains(key)) << key;
    for (const char* key : {"source", "target", "messages", "bytes", "seconds"})
      EXPECT_TRUE(a["edges"][0].contains(key)) << key;
  }
}

TEST(ModelJson, OptionsOfTheRunAreWrittenAndReadBack) {
  reports::Run run = testing::empty_run();
  run.settings = {{"rate", "97", "command line"}, {"period", "by the event", "default"}};
  const std::string text = profile_to_json(run);
  EXPECT_EQ(Json::parse(text)["settings"][0], Json({{"name", "rate"}, {"value", "97"}, {"set_by", "command line"}}));
  const Result<reports::Run> back = profile_from_json(text);
  ASSERT_TRUE(back) << back.error;
  ASSERT_EQ(back.value->settings.size(), 2U);
  EXPECT_EQ(back.value->settings[1].value, "by the event");
}

TEST(ModelJson, KeepsExactIntegersAndNanoseconds) {
  reports::Run run = testing::empty_run();
  FunctionProfile& send = run.applications[0].mpi.emplace_back();
  send.calls = 18446744073709551615ULL;
  send.seconds = 12.345678901;
  const Result<reports::Run> back = profile_from_json(profile_to_json(run));
  ASSERT_TRUE(back) << back.error;
  EXPECT_EQ(back.value->applications[0].mpi[0].calls, 18446744073709551615ULL);
  EXPECT_NEAR(back.value->applications[0].mpi[0].seconds, 12.345678901, 1e-7);
}

TEST(ModelJson, AnyBytesInNamesStillGiveValidJson) {
  const std::string text = profile_to_json(testing::nasty_run());
  EXPECT_TRUE(Json::accept(text));
  EXPECT_TRUE(profile_from_json(text)) << profile_from_json(text).error;
}

TEST(ModelJson, EveryTruncationIsOneSentence) {
  const std::string text = profile_to_json(testing::synthetic_run(2));
  for (std::size_t length = 0; length + 1 < text.size(); length += 21100 / rounds(100)) {
    const Result<reports::Run> run = profile_from_json(std::string_view(text).substr(0, length));
    ASSERT_FALSE(run) << length;
    EXPECT_EQ(run.error.find('\n'), std::string::npos);
  }
}

TEST(ModelJson, WrongTypeNamesThePlace) {
  const auto error = [](const std::string& text) { return profile_from_json(text).error; };
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["edges"][3]["target"] = "x"; })),
              AllOf(HasSubstr("applications[0].edges[3].target"), HasSubstr("integer")));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["ranks"] = -4; })),
              HasSubstr("applications[0].ranks must be an integer"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["ranks"] = 1e10; })), HasSubstr("applications[0].ranks must be"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["mpi"] = Json::object(); })),
              HasSubstr("applications[0].mpi must be an array"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["quality"] = 3; })),
              HasSubstr("applications[0].quality must be an object"));
  EXPECT_THAT(error("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(error("7"), HasSubstr("must be an object"));
}

TEST(ModelJson, ArraysThatDoNotFitTheRanksAreRefused) {
  const auto error = [](const std::string& text) { return profile_from_json(text).error; };
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["density"][0]["calls"].push_back(1); })),
              HasSubstr("density[0].calls has 7 cells for 6 ranks"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["per_rank"]["wall_seconds"].erase(0); })),
              HasSubstr("per_rank.wall_seconds has 5 cells"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["per_rank"]["host"][2] = 9; })), HasSubstr("per_rank.host[2]"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["edges"][1]["source"] = 6; })), HasSubstr("edges[1] names a rank"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["temporal"]["bins"] = 4294967295U; })), HasSubstr("temporal.share"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["temporal"]["share"][5] = 1.5; })), HasSubstr("temporal.share[5]"));
  EXPECT_THAT(error(changed([](Json&, Json& a) {
                a["layout"]["extents"] = {4294967295U, 4294967295U, 4294967295U};
              })),
              HasSubstr("extents do not fit"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["layout"]["rank_of_cell"] = {1, 2}; })), HasSubstr("rank_of_cell"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["ranks"] = 4000000000U; })), HasSubstr("ranks must be given"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a.erase("ranks"); })), HasSubstr("ranks must be given"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["mpi"][0]["seconds"] = -1; })), HasSubstr("mpi[0]"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["snapshots"]["series"][0]["group_bytes"].erase(0); })),
              HasSubstr("series[0] has lists by groups of ranks of different lengths"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["snapshots"]["series"][0]["group_calls"][3] = -1; })),
              HasSubstr("series[0]"));
  EXPECT_THAT(error(changed([](Json&, Json& a) { a["extensions"] = 1; })), HasSubstr("extensions must be an object"));
}

TEST(ModelJson, MoreRanksThanBytesAreRefused) {
  const std::string text = R"({"schema_version": 3, "applications": [{"name": "a", "ranks": 40000000}]})";
  EXPECT_EQ(profile_from_json(text).error,
            fmt::format("it has 40000000 ranks in {} bytes; the file is damaged, copy it "
                        "again or profile again",
                        text.size()));
}

TEST(ModelJson, OtherVersionsAreNamed) {
  EXPECT_THAT(profile_from_json(changed([](Json& j, Json&) { j["schema_version"] = 4; })).error,
              AllOf(HasSubstr("schema version 4"), HasSubstr("reads up to 3")));
  EXPECT_THAT(profile_from_json("{}").error, HasSubstr("schema_version"));
}

TEST(ModelJson, VersionOneHasNoSamplesAndIsRead) {
  const Result<reports::Run> run = profile_from_json(changed([](Json& j, Json& a) {
    j["schema_version"] = 1;
    a.erase("samples");
  }));
  ASSERT_TRUE(run) << run.error;
  EXPECT_TRUE(run.value->applications[0].samples.functions.empty());
  EXPECT_FALSE(run.value->applications[0].mpi.empty());
}

// A profile from before waiting was part of the profile over time; mismatches are refused.
TEST(ModelJson, SnapshotsWithoutWaitingAreReadAsNoneWaited) {
  const auto without = profile_from_json(changed([](Json&, Json& a) {
    for (Json& series : a["snapshots"]["series"]) {
      series.erase("waiting_seconds");
      series.erase("group_waiting_seconds");
      for (Json& calls : series["calls"]) calls.erase("waiting_seconds");
    }
  }));
  ASSERT_TRUE(without) << without.error;
  const SnapshotSeries& series = without.value->applications[0].snapshots.series.at(0);
  EXPECT_EQ(series.waiting_seconds, std::vector<double>(series.seconds.size(), 0.0));
  EXPECT_EQ(series.group_waiting_seconds, std::vector<double>(series.own_seconds.size(), 0.0));
  EXPECT_EQ(series.calls.at(0).waiting_seconds, std::vector<double>(series.seconds.size(), 0.0));
  const auto bad = profile_from_json(
      changed([](Json&, Json& a) { a["snapshots"]["series"][0]["group_waiting_seconds"] = Json::array({0.1}); }));
  EXPECT_THAT(bad.error, HasSubstr("group_waiting_seconds has 1 cells"));
}

TEST(ModelJson, WaitingOfRanksThatAreNotThereIsRefused) {
  const auto error = [](auto&& change) {
    return profile_from_json(changed([&](Json&, Json& a) { change(a["waiting"]); })).error;
  };
  EXPECT_THAT(error([](Json& w) { w["edges"][0]["awaited"] = 99; }), HasSubstr("waiting.edges[0] names a rank"));
  EXPECT_THAT(error([](Json& w) { w["causes"][0]["rank"] = 99; }), HasSubstr("waiting.causes name a rank"));
  EXPECT_THAT(error([](Json& w) { w["causes"][0]["seconds"] = -1; }), HasSubstr("waiting.causes[0]"));
  EXPECT_THAT(error([](Json& w) {
                w["unreceived"] = {{{"messages", 1}, {"source", 99}}};
              }),
              HasSubstr("waiting.unreceived name a rank"));
  EXPECT_THAT(error([](Json& w) { w["critical_path"][0]["rank"] = 99; }),
              HasSubstr("waiting.critical_path names a rank"));
  EXPECT_THAT(error([](Json& w) { w["patterns"][0]["longest"]["awaited"] = 99; }),
              HasSubstr("longest waits name a rank"));
  EXPECT_THAT(error([](Json& w) { w["call_sites"][0]["awaited"] = 99; }), HasSubstr("waiting.call_sites name a rank"));
  EXPECT_THAT(error([](Json& w) { w["over_time"]["bins"] = 99; }), HasSubstr("waiting.over_time.seconds"));
  EXPECT_THAT(error([](Json& w) { w["over_time"]["ranks_per_group"] = 0; }), HasSubstr("more groups than ranks"));
  EXPECT_THAT(error([](Json& w) { w["efficiency_over_time"]["transfer"] = {1}; }), HasSubstr("different lengths"));
  EXPECT_THAT(error([](Json& w) { w["efficiency"]["transfer"] = -1; }), HasSubstr("waiting.efficiency has a negative"));
  EXPECT_THAT(error([](Json& w) { w["per_rank"]["origin_seconds"] = {1}; }),
              HasSubstr("waiting.per_rank.origin_seconds"));
}

TEST(ModelJson, GroupsOfCommunicatorsThatDoNotFitAreRefused) {
  const auto error = [](auto&& change) {
    return profile_from_json(changed([&](Json&, Json& a) { change(a["communicators"][0]); })).error;
  };
  EXPECT_THAT(error([](Json& c) { c["group_of_rank"] = {1}; }), HasSubstr("group_of_rank must have"));
  EXPECT_THAT(error([](Json& c) { c["least_efficient"] = 7; }), HasSubstr("least_efficient is not a group"));
}

TEST(ModelJson, SamplesThatDoNotFitTogetherAreRefused) {
  const auto error = [](auto&& change) {
    return profile_from_json(changed([&](Json&, Json& a) { change(a["samples"]); })).error;
  };
  EXPECT_THAT(error([](Json& s) { s["tree"]["parent"][2] = 2; }),
              HasSubstr("samples.tree.parent[2] is not an earlier node"));
  EXPECT_THAT(error([](Json& s) { s["tree"]["parent"][0] = 5; }), HasSubstr("samples.tree.parent[0]"));
  EXPECT_THAT(error([](Json& s) { s["tree"]["self"].push_back(1); }),
              HasSubstr("samples.tree.self has 23 elements, not 22"));
  EXPECT_THAT(error([](Json& s) { s["tree"]["self"][3] = -1; }), HasSubstr("samples.tree.self[3]"));
  EXPECT_THAT(error([](Json& s) { s["tree"]["function"][3] = 22; }),
              HasSubstr("samples.tree.function[3] is not below 22"));
  EXPECT_THAT(error([](Json& s) { s["lines"][1]["function"] = 99; }),
              HasSubstr("samples.lines[1].function is not below"));
  EXPECT_THAT(error([](Json& s) { s["functions"][4]["counters"].push_back(1); }),
              HasSubstr("samples.functions[4].counters"));
  EXPECT_THAT(error([](Json& s) { s["functions"][4]["max_rank"] = 6; }), HasSubstr("samples.functions[4].max_rank"));
  EXPECT_THAT(error([](Json& s) { s["per_rank"]["self"].erase(0); }), HasSubstr("samples.per_rank.self has 47 cells"));
  EXPECT_THAT(error([](Json& s) { s["per_rank"]["functions"][0] = 22; }), HasSubstr("samples.per_rank.functions[0]"));
  EXPECT_THAT(error([](Json& s) { s["cluster_of_rank"][0] = 7; }), HasSubstr("samples.cluster_of_rank[0]"));
  EXPECT_THAT(error([](Json& s) { s["clusters"][0]["mean_share"].erase(0); }),
              HasSubstr("samples.clusters[0].mean_share"));
  EXPECT_THAT(error([](Json& s) { s["timeline"]["bins"] = 4294967295U; }), HasSubstr("samples.timeline.self"));
  EXPECT_THAT(error([](Json& s) { s["timeline"]["rank_step"] = 0; }), HasSubstr("samples.timeline.rank_step"));
  EXPECT_THAT(error([](Json& s) { s["rate_changes"][0]["rank"] = 6; }), HasSubstr("samples.rate_changes[0]"));
  EXPECT_THAT(error([](Json& s) { s["threads"]["taken"].erase(0); }),
              HasSubstr("samples.threads.taken has 5 elements"));
  EXPECT_THAT(error([](Json& s) { s["threads"]["rank"][1] = 6; }), HasSubstr("samples.threads.rank[1]"));
}

TEST(ModelJson, UnknownKeysAreSkipped) {
  const std::string text = changed([](Json& j, Json& a) {
    j["later"] = {{"ranks", "x"}, {"deep", {1, {{"a", 2}}}}};
    a["edges"][0]["colour"] = {1, 2, 3};
  });
  EXPECT_TRUE(profile_from_json(text)) << profile_from_json(text).error;
}

TEST(ModelJson, DeepNestingIsRefused) {
  const std::string deep = R"({"applications":[{"extensions":{"x":)" + std::string(100000, '[');
  EXPECT_THAT(profile_from_json(deep).error, HasSubstr("nested"));
}

TEST(ModelJson, FileErrorsNameTheFile) {
  EXPECT_THAT(read_profile_json("/nowhere/profile.json").error,
              AllOf(HasSubstr("/nowhere/profile.json"), HasSubstr("No such file")));
  EXPECT_THAT(read_profile_json("/tmp").error, HasSubstr("/tmp is not a file"));
  EXPECT_THAT(read_profile_json("/dev/zero").error, HasSubstr("/dev/zero is not a file"));
  const std::string path = temporary("broken.json");
  std::ofstream(path) << "{\"schema_version\": 1, \"applications\": [";
  EXPECT_THAT(read_profile_json(path).error, AllOf(HasSubstr(path), HasSubstr("damaged")));
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_THAT(read_profile_json(path).error, HasSubstr("empty"));
  std::filesystem::remove(path);
}

TEST(ModelJson, FailedWriteLeavesTheOldFileAndNothingElse) {
  const std::filesystem::path folder = temporary("full_disk");
  std::filesystem::create_directories(folder);
  const std::string path = folder / "profile.json";
  std::ofstream(path) << "old";
  // A limit on file size fails in the middle of the file, as a full disk does.
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 20000, before.rlim_max };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Outcome written = write_profile_json(testing::synthetic_run(64), path);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(written.error, AllOf(HasSubstr(path), HasSubstr("--output")));
  std::string content;
  std::ifstream(path) >> content;
  EXPECT_EQ(content, "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

TEST(ModelJson, WritingIntoAMissingFolderIsOneSentence) {
  EXPECT_THAT(write_profile_json(testing::empty_run(), "/nowhere/profile.json").error,
              AllOf(HasSubstr("/nowhere/profile.json"), HasSubstr("No such file or directory"), HasSubstr("--output")));
}

TEST(ModelJson, SyntheticRunsFulfilTheRules) {
  for (const std::uint32_t ranks : {1U, 2U, 7U, 64U, 1024U}) {
    const Outcome check = check_model(testing::synthetic_run(ranks));
    EXPECT_TRUE(check) << check.error;
  }
}

}  // namespace
}  // namespace ardoise::reports

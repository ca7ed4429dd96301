// `ardoise show` prints whole tables, by rank, as CSV; a missing table, program or rank gives one error message.
#include "tools/ardoise/show/show.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/reports/synthetic_run.hpp"
#include "tools/ardoise/common/usage_error.hpp"
#include "tools/ardoise/report/finish_report.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string why_not(const ShowRequest& request) {
  try {
    (void)shown_table(reports::testing::coupled_run(), request);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

// Reading a FIFO would block forever.
TEST(Show, AFifoInTheFolderOfAReportIsRefused) {
  const std::filesystem::path folder = ::testing::TempDir() + "/show_fifo_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  EXPECT_EQ(profile_in(folder.string()), (folder / "profile.json").string()) << "said when it is read";
  ASSERT_EQ(::mkfifo((folder / "profile.json").c_str(), 0600), 0);
  EXPECT_THROW((void)profile_in(folder.string()), UsageError);
  std::filesystem::remove_all(folder);
}

TEST(Show, ATableIsWhole) {
  const auto run = reports::testing::coupled_run();
  std::size_t functions = 0;
  for (const auto& a : run.applications) functions += a.mpi.size() + a.posix.size();
  EXPECT_EQ(lines_of(shown_table(run, {.table = "calls"})), functions + 1);
  EXPECT_EQ(lines_of(shown_table(run, {.table = "sites", .program = "ocean"})),
            run.applications[0].call_sites.size() + 1);
  EXPECT_THAT(shown_table(run, {.table = "calls", .limit = 2}), HasSubstr(" more\n"));
  for (const char* table :
       {"functions", "files", "edges", "waits", "causes", "path", "snapshots", "snapshot-calls", "snapshot-ranks"})
    EXPECT_GT(lines_of(shown_table(run, {.table = table})), 3u);
}

TEST(Show, CsvHasRawNumbersAndUnitsInTheNames) {
  auto run = reports::testing::coupled_run();
  run.applications.resize(1);
  auto& a = run.applications[0];
  a.mpi.resize(1);
  a.posix.clear();
  a.mpi[0].function = "MPI_\"Send\", x";
  a.mpi[0].calls = 12345678;
  a.mpi[0].seconds = 0.1;
  const auto text = shown_table(run, {.table = "calls", .csv = true});
  EXPECT_THAT(text, AllOf(StartsWith("function,class,calls,time_seconds,share,"),
                          HasSubstr("\n\"MPI_\"\"Send\"\", x\","), HasSubstr(",12345678,0.1,")));
}

TEST(Show, RanksAreThoseOfTheWorld) {
  const auto run = reports::testing::coupled_run();
  EXPECT_THAT(shown_table(run, {.table = "edges", .ranks = "11", .csv = true}),
              HasSubstr("ocean,0,11,atmosphere,10,65536,6553.6,0.5\n"));
  const auto functions = shown_table(run, {.table = "functions", .ranks = "4", .csv = true});
  EXPECT_THAT(functions, StartsWith("program,rank,function,place,self,share\natmosphere,4,"));
  const std::size_t all = run.applications[1].samples.per_rank.functions.size();
  EXPECT_EQ(lines_of(functions), all + 1);
  EXPECT_EQ(lines_of(shown_table(run, {.table = "functions", .ranks = "4-5,9"})), 3 * all + 1);
}

// Shows all snapshots of ranks 14 and 15, which drift, with the clusters of the tenths in the report.
TEST(Show, SnapshotsOfRanksHaveTheirClusters) {
  auto run = reports::testing::coupled_run();
  run.applications = {reports::testing::synthetic_application("drifts", {.ranks = 16})};
  const auto& s = run.applications[0].snapshots.series[0];
  const auto text = shown_table(run, {.table = "snapshot-ranks", .ranks = "14", .sort = "number", .csv = true});
  EXPECT_EQ(lines_of(text), s.seconds.size() + 1);
  EXPECT_THAT(text, AllOf(StartsWith("series,number,first_rank,last_rank,cluster,own_seconds,mpi_bytes,"),
                          HasSubstr("\niteration,2,14,14,C,"), HasSubstr("\niteration,100,14,14,,")));
}

TEST(Show, SortsByAnyColumn) {
  auto run = reports::testing::coupled_run();
  run.applications = {run.applications[0]};
  auto& a = run.applications[0];
  a.edges = {{0, 1, 5, 10, 0}, {0, 2, 9, 1, 0}};
  a.edges_between.clear();
  EXPECT_THAT(shown_table(run, {.table = "edges", .csv = true}), HasSubstr("time_seconds\n0,1,"));
  EXPECT_THAT(shown_table(run, {.table = "edges", .sort = "messages", .csv = true}), HasSubstr("time_seconds\n0,2,"));
}

TEST(Show, EdgesOfASingleProgramHaveNoColumnOfPrograms) {
  auto run = reports::testing::coupled_run();
  EXPECT_THAT(shown_table(run, {.table = "edges", .csv = true}), HasSubstr("to_rank,to_program,"));
  run.applications = {run.applications[0]};
  EXPECT_THAT(shown_table(run, {.table = "edges", .csv = true}), HasSubstr("to_program")) << "some are with others";
  run.applications[0].edges_between.clear();
  EXPECT_THAT(shown_table(run, {.table = "edges", .csv = true}), StartsWith("from_rank,to_rank,messages,bytes,"));
  EXPECT_THAT(shown_table(run, {.table = "edges"}), Not(HasSubstr("of program")));
}

TEST(Show, CausesAndPathHaveTheLinesOfTheHotFunctions) {
  auto run = reports::testing::coupled_run();
  run.applications = {run.applications[0]};
  auto& a = run.applications[0];
  a.samples.functions.resize(1);
  auto& boundary = a.samples.functions[0];
  boundary.symbol = "boundary";
  boundary.kind = "code";
  boundary.source_file = "/src/late.py";
  boundary.line = 12;
  a.samples.lines = {{0, "/src/late.py", 15, 9, 1.0, 0.1}};
  a.waiting.causes = {{0, "boundary", "/src/late.py", 14, "computation", 1.0, 0.1}};
  a.waiting.critical_path = {{"computation", "", "boundary", "/src/late.py", 14, 1.0, 0.1, 0, 1.0}};
  for (const char* table : {"functions", "causes", "path"})
    for (const bool csv : {false, true})
      EXPECT_THAT(shown_table(run, {.table = table, .csv = csv}), HasSubstr("late.py:15")) << table;
}

TEST(Show, WhatIsNotThereIsOneSentence) {
  EXPECT_EQ(why_not({.table = "nodes"}),
            "there is no table 'nodes'; the tables are calls, sites, waits, causes, path, edges, functions, files, "
            "snapshots, snapshot-calls, snapshot-ranks.");
  EXPECT_EQ(why_not({.table = "calls", .program = "x"}), "the run has no program 'x', only ocean, atmosphere, post.");
  EXPECT_THAT(why_not({.table = "calls", .sort = "x"}),
              StartsWith("calls has no column 'x'; its columns are program, function, "));
  EXPECT_EQ(why_not({.table = "files", .ranks = "1"}),
            "the profile has files summed over all ranks; --ranks is for causes, edges, functions, snapshot-ranks.");
  EXPECT_EQ(why_not({.table = "edges", .program = "atmosphere", .ranks = "3"}),
            "there is no rank 3: atmosphere has ranks 4 to 11.");
}

}  // namespace
}  // namespace ardoise::launcher

// Programs that share one MPI_COMM_WORLD: ranks are shown with their numbers in the world.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/figures/graph_layout.hpp"
#include "reports/text/text_document.hpp"
#include "tests/reports/synthetic_run.hpp"

namespace ardoise::reports {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const Section& section) {
  std::string text;
  for (const Block& block : section.blocks) {
    if (const auto* table = std::get_if<Table>(&block)) text += text_table(*table, "");
    if (const auto* paragraph = std::get_if<Paragraph>(&block)) text += plain(paragraph->text) + "\n";
    if (const auto* facts = std::get_if<FactList>(&block)) {
      for (const auto& [name, value] : facts->facts) text += name + ": " + plain(value) + "\n";
    }
  }
  return text;
}

TEST(WorldRanks, TheOverviewSaysWhichRanksOfTheWorldItIs) {
  const reports::Run run = testing::coupled_run();
  EXPECT_THAT(text_of(overview(run, run.applications[1], RunFindings(run))),
              HasSubstr("ranks 4 to 11 of the 12 in an MPI_COMM_WORLD shared with ocean\n"));
  EXPECT_THAT(text_of(overview(run, run.applications[2], RunFindings(run))), Not(HasSubstr("MPI_COMM_WORLD")));
}

TEST(WorldRanks, MessagesBetweenProgramsAreSummed) {
  const reports::Run run = testing::coupled_run();
  EXPECT_THAT(text_of(between_programs(run)),
              AllOf(HasSubstr("ocean         atmosphere       110  68.0 KiB  750 ms  0 → 11: 64.0 KiB\n"),
                    HasSubstr("atmosphere    ocean              7     700 B  125 ms  5 → 1: 700 B\n")));
  EXPECT_THAT(summary_text(document_of(run)), HasSubstr("Messages between programs"));
  EXPECT_TRUE(between_programs(testing::synthetic_run(8)).blocks.empty());
}

TEST(WorldRanks, AProgramThatWasNotMeasuredIsSaidToBe) {
  reports::Run run = testing::coupled_run();
  run.applications.erase(run.applications.begin());
  EXPECT_THAT(text_of(between_programs(run)), HasSubstr("(not measured)"));
}

TEST(WorldRanks, TablesGraphsAndGroupsHaveThem) {
  const reports::Run run = testing::coupled_run();
  reports::Application a = run.applications[1];
  a.edges = {{0, 7, 1, 10, 0}};
  EXPECT_THAT(text_of(heaviest_connections(a)), HasSubstr("        4       11"));
  EXPECT_EQ(graph_of(a, 128, 32).labels.front(), "4");
  EXPECT_EQ(graph_of(a, 4, 2).labels.back(), "8–11");
  EXPECT_THAT(text_of(rank_groups(a)), HasSubstr("4–7, 9, 10"));
  a.waiting.edges = {{0, 7, 0.25}, {1, 7, 0.5}, {1, 2, 1e-9}};
  a.waiting.patterns = {{"wait_nxn", 0.75, 20, {0.1, 0, 0, 7}}};
  a.waiting.per_rank.caused_seconds = {0, 0, 1e-9, 0, 0, 0, 0, 0.75};
  a.waiting.per_rank.waiting_seconds.assign(8, 0);
  a.waiting.unresolved = {};
  a.waiting.unresolved.collective_calls.incomplete = 1;
  a.waiting.unresolved.collective_calls.other = 20;
  const std::string text = text_of(waiting(a));
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("Wait at all-to-all: until the last rank enters"), HasSubstr("   5              11  500 ms"),
          Not(HasSubstr("1.00 ns")),
          HasSubstr("Waiting is unknown for 1 collective call because not all ranks of the communicator were recorded, "
                    "for 20 collective calls because they use intercommunicators")));
  a.waiting = {};
  EXPECT_TRUE(waiting(a).blocks.empty());
}

TEST(WorldRanks, WaitingForAnotherProgramIsSaidWithItsRankAndWhatItDoes) {
  const reports::Run run = testing::coupled_run();
  const reports::Application& ocean = run.applications[0];
  const std::string text = text_of(waiting(ocean));
  EXPECT_THAT(text,
              AllOf(HasSubstr("atmosphere     9         90.0 ms  radiation (radiation.cpp:12)         72.0 ms"),
                    HasSubstr("other programs of this MPI_COMM_WORLD        42.7 s              50 %"),
                    HasSubstr("The path runs through rank 3 for 25.6 s, rank 0 for 17.1 s. The path is an estimate"),
                    HasSubstr("All programs of this MPI_COMM_WORLD share one path")));
}

}  // namespace
}  // namespace ardoise::reports

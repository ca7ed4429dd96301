#include "tools/ardoise/launch/rank_file.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include "tests/tools/parsed_line.hpp"

namespace ardoise::launcher {
namespace {

constexpr const char* kTwo = "# places\nrank 0=a slot=0:1\nrank 1=+n1 slot=1-2";

TEST(RankFile, AnalyzersAreOnMachinesOfTheProgramsRanks) {
  EXPECT_EQ(with_analyzers(kTwo, 2, 1), std::string(kTwo) + "\nrank 2=a slot=*\n");
  EXPECT_EQ(with_analyzers(kTwo, 2, 2), std::string(kTwo) + "\nrank 2=a slot=*\nrank 3=+n1 slot=*\n");
}

TEST(RankFile, PlacesThatTheUserGivesThemStay) {
  EXPECT_EQ(with_analyzers(kTwo, 1, 1), std::nullopt) << "rank 1 is the analyzer";
  EXPECT_EQ(with_analyzers(kTwo, 1, 2), std::string(kTwo) + "\nrank 2=a slot=*\n");
}

TEST(RankFile, WhatIsNoRankFileIsLeftToMpirun) {
  EXPECT_EQ(with_analyzers("", 2, 1), std::nullopt);
  EXPECT_EQ(with_analyzers("rank one=a slot=*\nrank 2\n", 2, 1), std::nullopt);
}

TEST(RankFile, TheLineNamesACopyWhileItIsNeeded) {
  std::string unique = ::testing::TempDir() + "/rank_file_XXXXXX";
  ASSERT_NE(::mkdtemp(unique.data()), nullptr);
  const std::filesystem::path folder = unique;
  std::ofstream(folder / "mine") << kTwo;
  auto line = parsed_line("mpirun --rankfile " + (folder / "mine").string() + " -n 2 ./a");
  std::string named;
  {
    const RankFile file(line, 2, 1, folder);
    named = line.contexts[0].options[0].value();
    EXPECT_NE(named, (folder / "mine").string());
    std::ostringstream text;
    text << std::ifstream(named).rdbuf();
    EXPECT_EQ(text.str(), std::string(kTwo) + "\nrank 2=a slot=*\n");
  }
  EXPECT_FALSE(std::filesystem::exists(named));
  EXPECT_THROW((RankFile(line = parsed_line("mpirun -rf " + (folder / "mine").string() + " -n 2 ./a"), 2, 1,
                         folder / "missing")),
               UsageError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ardoise::launcher

// Messages on programs that hang for a while or forever. Correct programs with a late rank get no error message; wrong
// programs get one that names the error. Runs a few of the patterns; --gtest_also_run_disabled_tests runs all (ctest -L
// torture).
#include <gmock/gmock.h>

#include <iostream>
#include <sstream>

#include "tests/tools/launch_fixture.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kLatePatterns = 40, kWrongPatterns = 40;

class HangsTest : public LaunchFixture {
 protected:
  // Lines that name errors in a hang, each with its pattern.
  struct Said {
    int lines = 0;
    std::string faults;
    std::string output;
  };
  [[nodiscard]] Said said_of_late(int first, int last, int late, const std::string& pause) const {
    const auto result = ardoise({"--hang", "0.5"}, {"-n", "4", LATE_PATTERNS, std::to_string(first),
                                                    std::to_string(last), std::to_string(late), pause, "1.5"});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("all ended"));
    Said said{0, "", result.output};
    std::istringstream lines(result.output);
    std::string pattern;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("pattern ")) pattern = line;
      if (line.find("made progress in MPI for") == std::string::npos) continue;
      ++said.lines;
      if (line.find("no fault seen: ") == std::string::npos) said.faults += pattern + ", " + pause + ": " + line + "\n";
    }
    return said;
  }
};

TEST_F(HangsTest, RightProgramsWithALateRankHaveNoFault) {
  for (const int late : {0, 1}) {
    const Said said = said_of_late(1, 9, late, late == 0 ? "computes" : "sleeps");
    EXPECT_EQ(said.faults, "");
    EXPECT_GT(said.lines, 0);
    EXPECT_THAT(said.output, HasSubstr(late == 0 ? "rank 0 computes in pause_here (mpi_late_patterns.c:"
                                                 : "rank 1 sleeps or is blocked outside MPI for"));
    EXPECT_THAT(said.output, HasSubstr(", the others wait for it"));
  }
}

TEST_F(HangsTest, WrongProgramsAreNamed) {
  const std::vector<std::pair<int, std::string>> few{
      {9, "deadlock: rank 0 waits in MPI_Waitall"},
      {12, "a collective with different roots: rank 0 is in MPI_Wait in igathers_of_different_roots"},
      {14, "deadlock: rank 0 waits in MPI_Barrier"}};
  for (const auto& [number, sentence] : few) {
    const auto result = ardoise_until_it_hangs({"--hang", "0.5"}, {"-n", "3", WRONG_PATTERNS, std::to_string(number)});
    EXPECT_THAT(result.output, HasSubstr(sentence)) << number;
    std::filesystem::remove_all(output_);
  }
}

TEST_F(HangsTest, DISABLED_AllLatePatterns) {
  int lines = 0;
  std::string faults;
  for (const std::string pause : {"computes", "sleeps", "reads"}) {
    for (const int late : {0, 1, 3}) {
      const Said said = said_of_late(1, kLatePatterns, late, pause);
      lines += said.lines;
      faults += said.faults;
      std::filesystem::remove_all(output_);
    }
  }
  std::cout << lines << " hangs of right programs\n";
  EXPECT_EQ(faults, "");
}

TEST_F(HangsTest, DISABLED_AllWrongPatterns) {
  int named = 0;
  std::string missed;
  for (int number = 1; number <= kWrongPatterns; ++number) {
    // The run must end even if no hang is reported.
    const auto result =
        ardoise({"--hang", "0.5", "--time-limit", "4"}, {"-n", "3", WRONG_PATTERNS, std::to_string(number)});
    std::filesystem::remove_all(output_);
    const auto at = result.output.find("no rank has made progress");
    const std::string line = at == std::string::npos ? "" : result.output.substr(at, result.output.find('\n', at) - at);
    std::cout << number << ": " << line << "\n";
    if (line.empty() || line.find("no fault seen") != std::string::npos) {
      missed += std::to_string(number) + ": " + result.output + "\n";
    } else {
      ++named;
    }
  }
  EXPECT_GE(named, kWrongPatterns * 95 / 100) << missed;
}

}  // namespace
}  // namespace ardoise::launcher

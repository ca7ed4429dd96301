// Contexts that --partition joins, and values that it refuses.
#include "tools/ardoise/launch/partition_option.hpp"

#include <gmock/gmock.h>

#include "tests/tools/parsed_line.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::optional<std::string>>;

const std::string kLine = "mpirun -n 2 ./ocean a : -n 1 ./io : -n 3 bin/ice : -n 4 ./ocean b";

std::string complaint(const std::vector<std::string>& options, const std::string& line = kLine) {
  try {
    (void)assign_partitions(options, parsed_line(line));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PartitionOption, JoinsContextsByNumberAndByProgram) {
  const auto line = parsed_line(kLine);
  EXPECT_EQ(assign_partitions({}, line), Names(4));
  EXPECT_EQ(assign_partitions({"earth=0,2"}, line), (Names{"earth", {}, "earth", {}}));
  EXPECT_EQ(assign_partitions({"earth=ice,io"}, line), (Names{{}, "earth", "earth", {}}));
  EXPECT_EQ(assign_partitions({"earth=./ocean"}, line), (Names{"earth", {}, {}, "earth"}));  // all that run it
  EXPECT_EQ(assign_partitions({"a=0,3", "b=1,ice"}, line), (Names{"a", "b", "b", "a"}));
}

TEST(PartitionOption, ANumberIsAContextUnlessThereIsOnlyAProgramOfThatName) {
  EXPECT_EQ(assign_partitions({"x=7"}, parsed_line("mpirun ./a : ./7")), (Names{{}, "x"}));
  EXPECT_EQ(assign_partitions({"x=1"}, parsed_line("mpirun ./1 : ./b")), (Names{{}, "x"}));
}

TEST(PartitionOption, RefusesNamesThatCannotBe) {
  EXPECT_THAT(complaint({"=0,1"}), HasSubstr("it is empty"));
  EXPECT_THAT(complaint({"  =0,1"}), HasSubstr("it is empty"));
  EXPECT_THAT(complaint({std::string(128, 'x') + "=0,1"}), HasSubstr("longer than 127 bytes"));
  EXPECT_THAT(complaint({"a\tb=0"}), HasSubstr("control characters"));
  EXPECT_THAT(complaint({"Analyzer=0,1"}), HasSubstr("the name of the analyzers"));
}

TEST(PartitionOption, RefusesWhatIsGivenTwice) {
  EXPECT_THAT(complaint({"a=0", "a=1"}), HasSubstr("'a' is given twice"));
  EXPECT_THAT(complaint({"a=0,1", "b=1,2"}), HasSubstr("context 1 (./io) is put into a partition twice"));
  EXPECT_THAT(complaint({"a=0,0"}), HasSubstr("twice"));
  EXPECT_THAT(complaint({"a=0"}, "mpirun -x VMPI_PARTITION_NAME=b ./a : ./b"), HasSubstr("leave out one"));
}

TEST(PartitionOption, RefusesContextsThatAreNotThere) {
  EXPECT_THAT(complaint({"a=0,4"}), HasSubstr("'4', which is not on the launch line; there is 0 ./ocean, 1 ./io, "));
  EXPECT_THAT(complaint({"a=0,land"}), HasSubstr("'land'"));
  EXPECT_THAT(complaint({"a=0,-1"}), HasSubstr("'-1'"));
  EXPECT_THAT(complaint({"a=0,,1"}), HasSubstr("''"));
  EXPECT_THAT(complaint({"a="}), HasSubstr("names no programs"));
  EXPECT_THAT(complaint({"a"}), HasSubstr("names no programs"));
}

TEST(PartitionVariable, IsCheckedLikeTheOption) {
  const auto check = [](const std::string& line, const char* environment) -> std::string {
    try {
      check_partition_variable(parsed_line(line), environment);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(check("mpirun -x VMPI_PARTITION_NAME=earth ./a : ./b", nullptr), "");
  EXPECT_EQ(check("mpirun ./a", "earth"), "");
  EXPECT_THAT(check("mpirun ./a", ""), HasSubstr("the environment variable VMPI_PARTITION_NAME"));
  EXPECT_THAT(check("mpirun ./a : -x VMPI_PARTITION_NAME= ./b", nullptr), HasSubstr("it is empty"));
  EXPECT_THAT(check("mpirun -x VMPI_PARTITION_NAME=Analyzer ./b", nullptr), HasSubstr("analyzers"));
}

}  // namespace
}  // namespace ardoise::launcher

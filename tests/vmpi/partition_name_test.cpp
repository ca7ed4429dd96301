// Names of partitions.
#include "vmpi/world/partition_name.hpp"

#include <gtest/gtest.h>

namespace ardoise::vmpi {
namespace {

using Arguments = std::vector<std::string>;

TEST(ProgramName, IsTheLastComponentOfTheCommand) {
  EXPECT_EQ(program_name({"./solver", "in.cfg"}, "/home/u/solver"), "solver");
  EXPECT_EQ(program_name({"/usr/bin/lmp", "-in", "melt"}, "/usr/bin/lmp_mpi"), "lmp");
  EXPECT_EQ(program_name({}, "/opt/a b/pöst"), "pöst");
  EXPECT_EQ(program_name({}, "/tmp/gone (deleted)"), "gone");
  EXPECT_EQ(program_name({}, ""), "program");
}

TEST(ProgramName, OfAnInterpreterIsItsScript) {
  EXPECT_EQ(program_name({"python3", "demo/heat.py", "10"}, ""), "heat.py");
  EXPECT_EQ(program_name({"/usr/bin/python3.11", "-u", "-W", "ignore", "heat.py"}, ""), "heat.py");
  EXPECT_EQ(program_name({"python3", "-m", "mpi4py", "heat.py"}, ""), "mpi4py");
  EXPECT_EQ(program_name({"/bin/sh", "./run.sh"}, ""), "run.sh");
  EXPECT_EQ(program_name({"java", "-cp", "lib", "-jar", "/x/app.jar"}, ""), "app.jar");
  EXPECT_EQ(program_name({"/lib64/ld-linux-x86-64.so.2", "--library-path", "/x", "./solver"}, ""), "solver");
}

TEST(ProgramName, OfAnInterpreterWithoutScriptIsItsOwn) {
  EXPECT_EQ(program_name({"python3", "-c", "print(1)"}, ""), "python3");
  EXPECT_EQ(program_name({"sh", "-c", "./a"}, ""), "sh");
  EXPECT_EQ(program_name({"python3"}, ""), "python3");
}

TEST(ProgramName, FitsAndHasNoControlCharacters) {
  EXPECT_EQ(program_name({std::string(500, 'x')}, "").size(), kMaxPartitionName);
  EXPECT_EQ(program_name({"a\nb"}, ""), "a_b");
}

TEST(PartitionName, RefusesEmptyLongAndControl) {
  EXPECT_EQ(invalid_partition_name("Analyzer"), nullptr);
  EXPECT_EQ(invalid_partition_name(std::string(127, 'x')), nullptr);
  EXPECT_NE(invalid_partition_name(""), nullptr);
  EXPECT_NE(invalid_partition_name("  "), nullptr);
  EXPECT_NE(invalid_partition_name(std::string(128, 'x')), nullptr);
  EXPECT_NE(invalid_partition_name("a\tb\n"), nullptr);
}

TEST(PartitionName, CutsNoCharacterInTwo) {
  EXPECT_EQ(truncated("aö", 2), "a");
  EXPECT_EQ(truncated("aö", 3), "aö");
  EXPECT_EQ(truncated("", 0), "");
}

TEST(UniqueNames, CountUpAndLeaveExplicitNamesAlone) {
  Arguments names = {"solver", "solver", "post", "solver", "post"};
  make_names_unique(names, {false, true, false, false, false});
  EXPECT_EQ(names, (Arguments{"solver#2", "solver", "post", "solver#3", "post#2"}));
}

TEST(UniqueNames, StayWithinTheLimitAndAvoidNamesThatLookNumbered) {
  Arguments names = {std::string(127, 'x'), std::string(127, 'x'), "a#2", "a", "a"};
  make_names_unique(names, {false, false, false, false, false});
  EXPECT_EQ(names[1], std::string(125, 'x') + "#2");
  EXPECT_EQ(names[4], "a#3");
}

}  // namespace
}  // namespace ardoise::vmpi

// Parses launch lines as mpirun does, and restores them word by word.
#include "tools/ardoise/launch/launch_line.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "reports/text/shell_quote.hpp"
#include "tools/ardoise/launch/shown_command.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::string sentence_for(const std::string& line) {
  try {
    (void)parse_launch_line(split(line));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

class SameWords : public ::testing::TestWithParam<const char*> {};

TEST_P(SameWords, ComeOutAsWentIn) {
  const auto words = split(GetParam());
  EXPECT_EQ(to_words(parse_launch_line(words)), words);
}

INSTANTIATE_TEST_SUITE_P(
    LaunchLine, SameWords,
    ::testing::Values("mpirun ./a", "mpirun -n 4 ./solver in.cfg : -n 2 ./post",
                      "mpiexec --np 3 -x A=B --mca btl tcp,self -H a:2,b ./a -n 4 --mca x",
                      "/opt/mpi/bin/orterun --oversubscribe -wdir /tmp -n 1 a : -wd / -np 1 b : -c 2 c",
                      "mpirun --map-by ppr:1:core --bind-to none --rank-by slot -N 2 a",
                      "mpirun -q -tag-output --timeout 5 --report-bindings a --help",
                      "mpirun --gmca a b --tune f -am g -rf ranks -n 4 python3 -m mpi4py x.py"));

TEST(LaunchLine, ProgramBeginsAfterTheOptionsArguments) {
  const auto line =
      parse_launch_line(split("mpirun --mca a b -x C -n 4 --hostfile h ./solver -n 9 in.cfg : -np 2 post"));
  ASSERT_EQ(line.contexts.size(), 2U);
  EXPECT_EQ(line.contexts[0].program, "./solver");
  EXPECT_THAT(line.contexts[0].arguments, ElementsAre("-n", "9", "in.cfg"));
  EXPECT_EQ(line.contexts[0].processes(), 4U);
  EXPECT_EQ(line.contexts[1].program, "post");
  EXPECT_EQ(line.contexts[1].processes(), 2U);
}

TEST(LaunchLine, WithoutNumberOfProcessesThereIsNone) {
  EXPECT_EQ(parse_launch_line({"mpirun", "a"}).contexts[0].processes(), std::nullopt);
}

TEST(LaunchLine, EveryContextStartsItsOptionsAnew) {
  const auto line = parse_launch_line(split("mpirun -wdir /x -n 1 a : -n 1 b"));
  EXPECT_NE(line.contexts[0].find({"wd", "wdir"}), nullptr);
  EXPECT_EQ(line.contexts[1].find({"wd", "wdir"}), nullptr);
}

TEST(LaunchLine, EmptyContextAtTheEndIsPassedOver) {
  EXPECT_EQ(parse_launch_line(split("mpirun -n 1 a :")).contexts.size(), 1U);
}

TEST(LaunchLine, DoubleDashEndsTheOptions) {
  EXPECT_EQ(parse_launch_line(split("mpirun -n 1 -- -odd x")).contexts[0].program, "-odd");
}

TEST(LaunchLine, TheLastOfSeveralCounts) {
  EXPECT_EQ(parse_launch_line(split("mpirun -n 1 -np 3 a")).contexts[0].processes(), 3U);
}

TEST(LaunchLine, AppFileBecomesContexts) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "launch_line_app";
  std::ofstream(path) << "# two programs\n-np 2 ./a one two\n\n-n 1 -x Q=1 ./b # tail\n";
  const auto line = parse_launch_line({"mpirun", "--tag-output", "--app", path.string(), "ignored"});
  EXPECT_THAT(to_words(line), ElementsAre("mpirun", "--tag-output", "-np", "2", "./a", "one", "two", ":", "-n", "1",
                                          "-x", "Q=1", "./b"));
}

TEST(LaunchLine, WhatIsWrongIsNamed) {
  EXPECT_THAT(sentence_for("mpirun"), HasSubstr("names no program"));
  EXPECT_THAT(sentence_for("mpirun -n 4"), HasSubstr("names no program"));
  EXPECT_THAT(sentence_for("mpirun -n 4 ./a : -n 2"), HasSubstr("part 2"));
  EXPECT_THAT(sentence_for("mpirun -n four ./a"), HasSubstr("'four'"));
  EXPECT_THAT(sentence_for("mpirun -n 4x ./a"), HasSubstr("'4x'"));
  EXPECT_THAT(sentence_for("mpirun ./a : -n"), HasSubstr("'-n'"));
  EXPECT_THAT(sentence_for("mpirun --mca one"), HasSubstr("a name and a value"));
  EXPECT_THAT(sentence_for("mpirun --no-such-option ./a"), HasSubstr("'--no-such-option'"));
  EXPECT_THAT(sentence_for("mpirun --app /no/such/file"), HasSubstr("/no/such/file"));
}

TEST(ShellQuote, OnlyWhereNeeded) {
  EXPECT_EQ(reports::shell_quote(std::vector<std::string>{"mpirun", "-x", "A=b", "./a b", "it's", "", "$x"}),
            "mpirun -x A=b './a b' 'it'\\''s' '' '$x'");
}

std::string shown(const std::string& line, LauncherKind kind = LauncherKind::kOpenMpi, bool names_only = false) {
  return shown_command(parse_launch_line(split(line), kind), names_only);
}

TEST(ShownCommand, ValuesOfVariablesAreHidden) {
  EXPECT_EQ(shown("mpirun -np 2 -x A=b -x B --x C=d ./a -x 5 : -x E= env -i F=g -u H=i J=k ./b L=m"),
            "mpirun -np 2 -x A=… -x B --x C=… ./a -x 5 : -x E=… env -i F=… -u H=i J=… ./b L=m");
  EXPECT_EQ(shown("mpirun --mca mca_base_env_list A=1;B=2 --mca pml ob1 --gmca x_token y ./a"),
            "mpirun --mca mca_base_env_list … --mca pml ob1 --gmca x_token … ./a");
  EXPECT_EQ(shown("mpiexec -genv A 1 -genv B=2 -genvlist A,B -n 4 -env C 3 ./a -env D 5", LauncherKind::kHydra),
            "mpiexec -genv A … -genv B=… -genvlist A,B -n 4 -env C … ./a -env D 5");
}

TEST(ShownCommand, SecretsOfProgramsAreHidden) {
  EXPECT_EQ(shown("mpirun -n 2 ./a --token=x --steps=3 : ./b --password y https://u:p@h/z"),
            "mpirun -n 2 ./a --token=… --steps=3 : ./b --password … https://…@h/z");
}

TEST(ShownCommand, NothingButNamesWhereTheUserWantsThat) {
  EXPECT_EQ(shown("mpirun -n 2 -x A=b ./a --steps=3 : -H h ./b c", LauncherKind::kOpenMpi, true), "mpirun ./a : ./b");
}

TEST(LaunchLine, HydrasOptionsAreItsOwn) {
  const auto hydra = [](const std::string& line) { return parse_launch_line(split(line), LauncherKind::kHydra); };
  const auto line = hydra("mpirun -genv A 1 -genv B=2 -hosts=a,b -n 4 -env C 3 ./solver -n 9 : -np=2 -l ./post");
  ASSERT_EQ(line.contexts.size(), 2U);
  EXPECT_EQ(line.contexts[0].program, "./solver");
  EXPECT_EQ(line.contexts[0].processes(), 4U);
  EXPECT_EQ(line.contexts[1].program, "./post");
  EXPECT_EQ(line.contexts[1].processes(), 2U);
  EXPECT_EQ(to_words(line),
            split("mpirun -genv A 1 -genv B=2 -hosts=a,b -n 4 -env C 3 ./solver -n 9 : -np=2 -l ./post"));
  EXPECT_THROW((void)hydra("mpirun --oversubscribe -n 2 a"), UsageError);
  EXPECT_THROW((void)hydra("mpirun -n=x a"), UsageError);
}

}  // namespace
}  // namespace ardoise::launcher

// The command line of ardoise and its variables: precedence, refused values, and variables for all processes.
#include "tools/ardoise/common/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tools/ardoise/common/usage_error.hpp"

namespace ardoise::launcher {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

std::map<std::string, std::string> given_environment;

ParsedCommandLine parse(std::vector<const char*> words, std::map<std::string, std::string> variables = {}) {
  given_environment = std::move(variables);
  words.insert(words.begin(), "ardoise");
  return parse_command_line(static_cast<int>(words.size()), words.data(), [](const char* name) -> const char* {
    const auto found = given_environment.find(name);
    return found == given_environment.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(std::vector<const char*> words, std::map<std::string, std::string> variables = {}) {
  words.push_back("mpirun");
  try {
    (void)parse(std::move(words), std::move(variables));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Options, WhatFollowsTheLauncherIsNotOurs) {
  const auto parsed = parse({"--quiet", "mpirun", "--verbose", "-n", "2", "./a", "--sample", "wal"});
  EXPECT_THAT(parsed.launch_line, ElementsAre("mpirun", "--verbose", "-n", "2", "./a", "--sample", "wal"));
  EXPECT_TRUE(parsed.options.quiet);
  EXPECT_FALSE(parsed.options.verbose);
  EXPECT_THAT(parsed.options.environment, IsEmpty());
}

TEST(Options, TheCommandLineWinsOverTheEnvironment) {
  const auto variables = std::map<std::string, std::string>{
      {"ARDOISE_RATE", "50"}, {"ARDOISE_OUTPUT", "there"}, {"ARDOISE_QUIET", "1"}, {"ARDOISE_ANALYZERS", "3"}};
  const auto parsed = parse({"--rate", "70", "--output", "here", "mpirun"}, variables);
  EXPECT_THAT(parsed.options.environment, ElementsAre(Pair("ARDOISE_RATE", "70")));
  EXPECT_THAT(parsed.options.on_command_line, ElementsAre("rate"));
  EXPECT_EQ(parsed.options.output, "here");
  EXPECT_TRUE(parsed.options.quiet);
  EXPECT_EQ(parsed.options.analyzers, 3u);
  EXPECT_THAT(parse({"--rate", "70", "--rate", "80", "mpirun"}).options.environment,
              ElementsAre(Pair("ARDOISE_RATE", "80")));
}

TEST(Options, TheValueThatTheCommandLineReplacesIsNotJudged) {
  EXPECT_EQ(refusal({"--rate", "70"}, {{"ARDOISE_RATE", "abc"}}), "");
}

TEST(Options, WhatProgramsAndAnalyzersNeedIsForwardedHoweverItIsGiven) {
  const auto parsed =
      parse({"--bin", "128k", "--workers", "2", "--perf", "off", "mpirun"}, {{"ARDOISE_RATE", "50"},
                                                                             {"ARDOISE_PERIOD", "7"},
                                                                             {"ARDOISE_SAMPLE_SHARE", "0.02"},
                                                                             {"ARDOISE_CAPTURE", "/copies"},
                                                                             {"ARDOISE_POLICY", ""},
                                                                             {"ARDOISE_VERBOSE", "1"}});
  EXPECT_THAT(parsed.options.environment, ElementsAre(Pair("ARDOISE_RATE", "50"), Pair("ARDOISE_WORKERS", "2"),
                                                      Pair("ARDOISE_SAMPLE_SHARE", "0.02"), Pair("ARDOISE_PERIOD", "7"),
                                                      Pair("ARDOISE_PERF", "off"), Pair("ARDOISE_BIN", "128k"),
                                                      Pair("ARDOISE_CAPTURE", "/copies")));
  EXPECT_THAT(parsed.options.on_command_line, ElementsAre("workers", "perf", "bin"));
  EXPECT_EQ(parsed.options.capture, "/copies");
}

TEST(Options, FoldersOfProgramsAreAbsolute) {
  const auto parsed = parse({"--capture", "copies", "mpirun"});
  ASSERT_EQ(parsed.options.environment.size(), 1u);
  EXPECT_THAT(parsed.options.environment[0].second, StartsWith("/"));
}

TEST(Options, PluginsAndPartitionsMayBeGivenSeveralTimes) {
  const auto parsed =
      parse({"--plugin", "a.so", "--plugin", "b.so", "--partition", "x=0", "--partition", "y=1", "mpirun"});
  EXPECT_THAT(parsed.options.plugins, ElementsAre("a.so", "b.so"));
  EXPECT_THAT(parsed.options.partitions, ElementsAre("x=0", "y=1"));
  EXPECT_THAT(parsed.launch_line, ElementsAre("mpirun"));
}

TEST(Options, ABadValueIsRefusedWithItsNameAndWhatIsAllowed) {
  EXPECT_THAT(refusal({"--sample", "wal"}), StartsWith("--sample wal is not off, cpu or an event (cycles, "));
  EXPECT_THAT(refusal({"--sample", "wall"}), StartsWith("--sample wall is not off, cpu or an event ("));
  EXPECT_EQ(refusal({}, {{"ARDOISE_RATE", "abc"}}), "ARDOISE_RATE=abc is not a number from 0.1 to 100000.");
  EXPECT_THAT(refusal({"--counters", "cycles,flops"}),
              StartsWith("--counters cycles,flops is not a list of at most 8 events with commas between them ("));
  EXPECT_EQ(refusal({"--analyzers", "0"}), "--analyzers 0 is not a whole number from 1 to 100000.");
  EXPECT_EQ(refusal({}, {{"ARDOISE_QUIET", "perhaps"}}), "ARDOISE_QUIET=perhaps is not on or off.");
  EXPECT_THROW((void)parse({"--rate"}), UsageError);
}

TEST(Options, TheTimeLimitIsToldAsItWasGiven) {
  EXPECT_FALSE(parse({"mpirun"}).options.time_limit);
  for (const auto& [given, seconds, words] :
       {std::tuple{"30m", 1800.0, "30 m"}, {"90", 90.0, "90 s"}, {"1.5h", 5400.0, "1.5 h"}}) {
    const auto limit = parse({"--time-limit", given, "mpirun"}).options.time_limit;
    ASSERT_TRUE(limit) << given;
    EXPECT_EQ(limit->length.count(), seconds);
    EXPECT_EQ(limit->words, words);
  }
}

TEST(Options, DisabledIsToldAsItWasGiven) {
  EXPECT_EQ(parse({"mpirun"}).options.disabled, "");
  EXPECT_EQ(parse({"mpirun"}, {{"ARDOISE_DISABLE", "0"}}).options.disabled, "");
  EXPECT_EQ(parse({"mpirun"}, {{"ARDOISE_DISABLE", "1"}}).options.disabled, "ARDOISE_DISABLE=1");
  EXPECT_EQ(parse({"--disable", "mpirun"}).options.disabled, "--disable");
}

}  // namespace
}  // namespace ardoise::launcher

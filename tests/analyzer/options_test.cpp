// Options of the analyzer on its command line and in its environment, and the record of the run's options.
#include "analyzer/options/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ardoise::analyzer {
namespace {

ParsedOptions parse(std::vector<std::string> words, const std::map<std::string, std::string>& variables = {}) {
  words.insert(words.begin(), "ardoise-analyzer");
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  auto parsed = parse_options(static_cast<int>(pointers.size()), pointers.data());
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  return parsed;
}

std::string recorded(const ParsedOptions& parsed, const std::string& name) {
  for (const auto& setting : parsed.options->settings) {
    if (setting.name == name) return setting.value + ", " + setting.set_by;
  }
  return "";
}

TEST(AnalyzerOptions, AreThoseOfTheCommandLineElseOfTheEnvironment) {
  const auto parsed = parse({"--workers", "3", "--plugin", "a.so", "--plugin", "b.so", "--no-report"},
                            {{"ARDOISE_WORKERS", "7"}, {"ARDOISE_MEMORY", "1G"}});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(parsed.options->workers, 3u);
  EXPECT_EQ(parsed.options->memory_bytes, std::size_t{1} << 30);
  EXPECT_EQ(parsed.options->plugins, (std::vector<std::string>{"a.so", "b.so"}));
  EXPECT_FALSE(parsed.options->render);
  EXPECT_EQ(parsed.options->output, "ardoise-report");
}

TEST(AnalyzerOptions, BadValuesOfItsOwnAreRefusedThoseOfProgramsAreNot) {
  EXPECT_EQ(parse({"--workers", "0"}).status, 2);
  EXPECT_EQ(parse({}, {{"ARDOISE_MEMORY", "lots"}}).status, 2);
  EXPECT_TRUE(parse({}, {{"ARDOISE_RATE", "abc"}}).options);
}

TEST(AnalyzerOptions, HelpFitsIn80ColumnsOfAScreen) {
  ::testing::internal::CaptureStdout();
  const auto status = parse({"--help"}).status;
  std::istringstream help(::testing::internal::GetCapturedStdout());
  EXPECT_EQ(status, 0);
  std::size_t lines = 0;
  for (std::string line; std::getline(help, line); ++lines) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_GT(lines, 20u);
  EXPECT_LE(lines, 55u);
}

// Under `ardoise`, which has read the rules, programs are already running.
TEST(AnalyzerOptions, RulesAreReadForALaunchOnly) {
  EXPECT_EQ(parse({"--rules", "/none"}).status, 2);
  EXPECT_EQ(parse({"--check", "--rules", "/none"}).status, 2);
  const auto late = parse({"--rules", "/none", "--status-file", "status"});
  ASSERT_TRUE(late.options);
  EXPECT_NE(late.options->rules_fault, "");
  EXPECT_TRUE(parse({"--rules", "/none", "--replay", "packs"}).options);
  EXPECT_TRUE(parse({"--merge"}, {{"ARDOISE_RULES", "/none"}}).options);
}

TEST(AnalyzerOptions, TheRecordSaysWhoSetWhat) {
  const auto parsed = parse({"--on-command-line", "rate,bin", "--memory", "2G"},
                            {{"ARDOISE_RATE", "50"}, {"ARDOISE_BIN", "32k"}, {"ARDOISE_SAMPLE", "off"}});
  ASSERT_TRUE(parsed.options);
  EXPECT_EQ(recorded(parsed, "rate"), "50, command line");
  EXPECT_EQ(recorded(parsed, "bin"), "32k, command line");
  EXPECT_EQ(recorded(parsed, "memory"), "2G, command line");
  EXPECT_EQ(recorded(parsed, "sample"), "off, environment");
  EXPECT_EQ(recorded(parsed, "policy"), "adapt, default");
  EXPECT_EQ(recorded(parsed, "period"), "by the event, default");
  EXPECT_EQ(recorded(parsed, "output"), "");  // not part of the measurement
  EXPECT_TRUE(parse({"--replay", "packs"}).options->settings.empty());
}

}  // namespace
}  // namespace ardoise::analyzer

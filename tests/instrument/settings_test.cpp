// The option table, and the options that programs read from their environment.
#include "instrument/settings/settings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "instrument/settings/option_table.hpp"
#include "instrument/settings/sampler_settings.hpp"

namespace ardoise::instrument {
namespace {

std::map<std::string, std::string> environment;
const char* get(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}

TEST(OptionTable, VariablesAreTheNamesInCapitals) {
  EXPECT_EQ(option("rate")->variable(), "ARDOISE_RATE");
  EXPECT_EQ(option("sample-share")->variable(), "ARDOISE_SAMPLE_SHARE");
  EXPECT_EQ(option("plugin")->variable(), "");
}

TEST(OptionTable, RowsAreComplete) {
  for (const Option& row : kOptions) {
    EXPECT_EQ(std::count_if(kOptions.begin(), kOptions.end(), [&](const Option& o) { return o.name == row.name; }), 1);
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_NE(row.flags & (kForLauncher | kForProgram | kForAnalyzer), 0u) << row.name;
    EXPECT_EQ(row.value.empty(), row.kind == OptionKind::kFlag) << row.name;
    EXPECT_NE(row.initial.empty(), row.default_words.empty()) << row.name;
    if (!row.initial.empty()) {
      EXPECT_EQ(expected_if_invalid(row, row.initial), std::nullopt) << row.name;
    }
    // A block of the stream and the choice of the sampler are made once.
    if ((row.flags & kMayChange) != 0) {
      EXPECT_EQ(row.flags, kForProgram | kMayChange) << row.name;
    }
  }
}

TEST(OptionTable, RangesEndWhereTheyAreSaidTo) {
  EXPECT_EQ(expected_if_invalid(*option("rate"), "0.1"), std::nullopt);
  EXPECT_EQ(expected_if_invalid(*option("rate"), "100000"), std::nullopt);
  for (const char* bad : {"0.09", "100001", "nan", "inf", "fast", "5 ", "-1", ""})
    EXPECT_EQ(expected_if_invalid(*option("rate"), bad), "a number from 0.1 to 100000") << bad;
  EXPECT_EQ(expected_if_invalid(*option("bin"), "32k"), std::nullopt);
  EXPECT_EQ(expected_if_invalid(*option("bin"), "64M"), std::nullopt);
  for (const char* bad : {"32767", "67108865", "65G", "64kk", "-1", "k", "lots"})
    EXPECT_EQ(expected_if_invalid(*option("bin"), bad), "a size from 32k to 64M") << bad;
  EXPECT_EQ(expected_if_invalid(*option("budget"), "65G"), "a size up to 64G");
  for (const char* bad : {"0", "1.5", "4097", "x"})
    EXPECT_EQ(expected_if_invalid(*option("workers"), bad), "a whole number from 1 to 4096") << bad;
  EXPECT_EQ(expected_if_invalid(*option("policy"), "wait"), "adapt or block");
  EXPECT_EQ(expected_if_invalid(*option("perf"), "maybe"), "on or off");
}

TEST(OptionTable, SizesMayNameTheirBytes) {
  EXPECT_EQ(parse_size("256MB"), std::uint64_t{256} << 20);
  EXPECT_EQ(parse_size("256MiB"), std::uint64_t{256} << 20);
  EXPECT_EQ(parse_size("1K"), 1024u);
  EXPECT_EQ(parse_size("17179869184G"), std::nullopt);
  EXPECT_EQ(parse_size("5iB"), std::nullopt);
}

TEST(OptionTable, DurationsAreSecondsUnlessTheyHaveAUnit) {
  EXPECT_EQ(parse_duration("90"), 90);
  EXPECT_EQ(parse_duration("90s"), 90);
  EXPECT_EQ(parse_duration("500ms"), 0.5);
  EXPECT_EQ(parse_duration("30m"), 1800);
  EXPECT_EQ(parse_duration("1.5h"), 5400);
  EXPECT_EQ(expected_if_invalid(*option("time-limit"), "10000h"), std::nullopt);
  for (const char* bad : {"0", "0.5", "-3m", "10001h", "30 m", "30min", "m", "soon", "inf", ""}) {
    EXPECT_EQ(expected_if_invalid(*option("time-limit"), bad),
              "a time from 1 s to 10000 h, e.g. 90 (seconds), 30m or 1.5h")
        << bad;
  }
}

TEST(OptionTable, ProgramsAreSampledByWhatDoesNotEndTheirSystemCalls) {
  for (const char* good : {"off", "cpu", "page-faults", "cycles"})
    EXPECT_EQ(expected_if_invalid(*option("sample"), good), std::nullopt) << good;
  for (const char* bad : {"wall", "wal", "context-switches", "cpu-migrations"}) {
    const auto wanted = expected_if_invalid(*option("sample"), bad);
    ASSERT_TRUE(wanted) << bad;
    EXPECT_TRUE(wanted->starts_with("off, cpu or an event (cycles, ")) << *wanted;
    EXPECT_EQ(wanted->find("context-switches"), std::string::npos) << *wanted;
  }
  EXPECT_EQ(expected_if_invalid(*option("counters"), "context-switches,,cycles"), std::nullopt);
  EXPECT_TRUE(expected_if_invalid(*option("counters"), "cycles,flops"));
  EXPECT_EQ(expected_if_invalid(*option("counters"), "cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles"),
            std::nullopt);
  EXPECT_TRUE(
      expected_if_invalid(*option("counters"), "cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles,cycles"));
}

TEST(Settings, WithoutVariablesAreTheDefaultsOfTheStructs) {
  environment = {};
  const Settings settings = read_settings(get), defaults;
  EXPECT_EQ(settings.disabled, defaults.disabled);
  EXPECT_EQ(settings.budget_bytes, defaults.budget_bytes);
  EXPECT_EQ(settings.bin_bytes, defaults.bin_bytes);
  EXPECT_EQ(settings.policy, defaults.policy);
  EXPECT_EQ(settings.mpi_share, defaults.mpi_share);
  EXPECT_EQ(settings.flush_seconds, defaults.flush_seconds);
  EXPECT_EQ(settings.capture_directory, "");
  EXPECT_EQ(settings.complaint, "");
  const SamplerSettings sampler = read_sampler_settings(get), sampler_defaults;
  EXPECT_EQ(sampler.mode, sampler_defaults.mode);
  EXPECT_EQ(sampler.hertz, sampler_defaults.hertz);
  EXPECT_EQ(sampler.period, sampler_defaults.period);
  EXPECT_EQ(sampler.share, sampler_defaults.share);
  EXPECT_EQ(sampler.use_perf, sampler_defaults.use_perf);
  EXPECT_TRUE(sampler.counters.empty());
}

TEST(Settings, AreRead) {
  environment = {{"ARDOISE_BUDGET", "1G"},
                 {"ARDOISE_BIN", "128k"},
                 {"ARDOISE_FLUSH_EVERY", "0.5"},
                 {"ARDOISE_CAPTURE", "/d"},
                 {"ARDOISE_DISABLE", "1"},
                 {"ARDOISE_POLICY", "block"},
                 {"ARDOISE_MPI_SHARE", "0"},
                 {"ARDOISE_SAMPLE", "page-faults"},
                 {"ARDOISE_RATE", "97"},
                 {"ARDOISE_PERIOD", "1000"},
                 {"ARDOISE_SAMPLE_SHARE", "0.05"},
                 {"ARDOISE_PERF", "0"},
                 {"ARDOISE_COUNTERS", "cycles,instructions,,page-faults"}};
  const Settings settings = read_settings(get);
  EXPECT_EQ(settings.complaint, "");
  EXPECT_EQ(settings.budget_bytes, std::size_t{1} << 30);
  EXPECT_EQ(settings.bin_bytes, 131072u);
  EXPECT_EQ(settings.flush_seconds, 0.5);
  EXPECT_EQ(settings.capture_directory, "/d");
  EXPECT_TRUE(settings.disabled);
  EXPECT_EQ(settings.policy, Policy::kBlock);
  EXPECT_EQ(settings.mpi_share, 0);
  const SamplerSettings sampler = read_sampler_settings(get);
  EXPECT_EQ(sampler.mode, SampleMode::kEvent);
  EXPECT_EQ(sampler.event->name, "page-faults");
  EXPECT_EQ(sampler.hertz, 97);
  EXPECT_EQ(sampler.period, 1000u);
  EXPECT_EQ(sampler.share, 0.05);
  EXPECT_FALSE(sampler.use_perf);
  ASSERT_EQ(sampler.counters.size(), 3u);
  EXPECT_EQ(sampler.counters[2]->name, "page-faults");
  environment = {{"ARDOISE_SAMPLE", "off"}, {"ARDOISE_DISABLE", "0"}, {"ARDOISE_BUDGET", ""}};
  EXPECT_EQ(read_sampler_settings(get).mode, SampleMode::kOff);
  EXPECT_FALSE(read_settings(get).disabled);
  EXPECT_EQ(read_settings(get).complaint, "");
}

TEST(Settings, ABadValueIsNamedAndTheDefaultIsUsed) {
  const SamplerSettings defaults;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"ARDOISE_BUDGET", "lots"},
                                                                                    {"ARDOISE_POLICY", "wait"},
                                                                                    {"ARDOISE_MPI_SHARE", "2"},
                                                                                    {"ARDOISE_BIN", "64kk"},
                                                                                    {"ARDOISE_FLUSH_EVERY", "nan"},
                                                                                    {"ARDOISE_SAMPLE", "wall"},
                                                                                    {"ARDOISE_RATE", "-1"},
                                                                                    {"ARDOISE_PERIOD", "0"},
                                                                                    {"ARDOISE_SAMPLE_SHARE", "2"},
                                                                                    {"ARDOISE_PERF", "perhaps"},
                                                                                    {"ARDOISE_COUNTERS", "flops"}}) {
    environment = {{name, value}};
    const Settings settings = read_settings(get);
    EXPECT_TRUE(settings.complaint.starts_with(name + "=" + value + " is not ")) << settings.complaint;
    EXPECT_TRUE(settings.complaint.ends_with("; the default is used.")) << settings.complaint;
    EXPECT_EQ(settings.budget_bytes, Settings{}.budget_bytes);
    EXPECT_EQ(settings.bin_bytes, Settings{}.bin_bytes);
    EXPECT_EQ(settings.flush_seconds, Settings{}.flush_seconds);
    EXPECT_EQ(settings.policy, Policy::kAdapt);
    EXPECT_EQ(settings.mpi_share, 0.5);
    const SamplerSettings sampler = read_sampler_settings(get);
    EXPECT_EQ(sampler.mode, SampleMode::kCpu);
    EXPECT_EQ(sampler.hertz, defaults.hertz);
    EXPECT_EQ(sampler.period, defaults.period);
    EXPECT_EQ(sampler.share, defaults.share);
    EXPECT_TRUE(sampler.use_perf);
    EXPECT_TRUE(sampler.counters.empty());
  }
}

TEST(Settings, BudgetHoldsAtLeastEightBins) {
  environment = {{"ARDOISE_BIN", "16M"}};
  EXPECT_EQ(read_settings(get).budget_bytes, std::size_t{128} << 20);
  environment = {{"ARDOISE_BUDGET", "100k"}};
  const Settings settings = read_settings(get);
  EXPECT_EQ(settings.budget_bytes, 8 * settings.bin_bytes);
  EXPECT_EQ(settings.complaint,
            "ARDOISE_BUDGET: 100 KiB have no room for a bin of 64 KiB for each class of events; 512 KiB are used.");
}

}  // namespace
}  // namespace ardoise::instrument

// Commands to running processes are read as written, and invalid ones are refused; settings that may change during a
// run do change.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <vector>

#include "instrument/settings/changes.hpp"
#include "instrument/settings/control_file.hpp"
#include "instrument/settings/function_set.hpp"
#include "instrument/settings/live_settings.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<ControlCommand> commands_of(std::string_view text, bool* is_good = nullptr) {
  std::vector<ControlCommand> all;
  const bool good = for_each_command(text, [&](const ControlCommand& command) { all.push_back(command); });
  if (is_good != nullptr) *is_good = good;
  return all;
}

TEST(ControlFile, CommandsComeOneALine) {
  bool is_good = false;
  const auto all =
      commands_of("ardoise control 1\n1/*/*/rate=1000\n2/0-3,8/my solver/rate=5 flush-every=0.2\n3/*/*/half", &is_good);
  EXPECT_TRUE(is_good);
  ASSERT_EQ(all.size(), 2u) << "the last line is not whole";
  EXPECT_EQ(all[0].number, 1u);
  EXPECT_EQ(all[0].settings, "rate=1000");
  EXPECT_EQ(all[1].ranks, "0-3,8");
  EXPECT_EQ(all[1].program, "my solver");
  EXPECT_EQ(all[1].settings, "rate=5 flush-every=0.2");
  EXPECT_TRUE(is_for(all[1], "my solver", 8));
  EXPECT_FALSE(is_for(all[1], "my solver", 4));
  EXPECT_FALSE(is_for(all[1], "other", 8));
}

TEST(ControlFile, ARuleSaysWhichItIs) {
  bool is_good = false;
  const auto all =
      commands_of("ardoise control 1\n1/3/solver/rule=12 rate=5 flush-every=launch\n2/*/*/rate=5\n", &is_good);
  EXPECT_TRUE(is_good);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].rule, 12u);
  EXPECT_EQ(all[0].settings, "rate=5 flush-every=launch");
  EXPECT_EQ(all[1].rule, 0u);
  EXPECT_TRUE(commands_of("ardoise control 1\n1/3/solver/rule=x rate=5\n", &is_good).empty());
  EXPECT_FALSE(is_good);
}

TEST(Changes, AreOfOptionsThatMayChange) {
  EXPECT_EQ(fault_of_changes("rate=5  flush-every=launch record=sums"), "");
  EXPECT_EQ(fault_of_changes(""), "");
  EXPECT_EQ(fault_of_changes("rate"), "'rate' is not NAME=VALUE.");
  EXPECT_THAT(fault_of_changes("speed=launch"), StartsWith("there is no option 'speed'"));
  EXPECT_THAT(fault_of_changes("policy=launch"), StartsWith("'policy' cannot change"));
  EXPECT_THAT(fault_of_changes("rate=5 rate=-1"), StartsWith("'-1' is not allowed for rate"));
}

TEST(Changes, MayBeSnapshots) {
  EXPECT_EQ(fault_of_changes("snapshot=before-restart_2.0 rate=5"), "");
  for (const char* const bad : {"snapshot=", "snapshot=a/b", "snapshot=a\nb", "snapshot=\xc3\xa9"})
    EXPECT_THAT(fault_of_changes(bad), HasSubstr("is no name of a snapshot")) << bad;
  EXPECT_THAT(fault_of_changes("snapshot=" + std::string(65, 'x')), HasSubstr("up to 64 letters"));
}

TEST(FunctionSet, IsReadByNames) {
  FunctionSet sums;
  EXPECT_TRUE(parse_record("sums", sums));
  EXPECT_EQ(sums, FunctionSet::all());
  EXPECT_TRUE(parse_record("sums:mpi,io", sums));
  EXPECT_EQ(sums, FunctionSet::all());
  EXPECT_TRUE(parse_record("events", sums));
  EXPECT_EQ(sums, FunctionSet());
  EXPECT_TRUE(parse_record("sums:read,MPI_Iprobe", sums));
  const auto iprobe = static_cast<std::uint32_t>(vmpi::FunctionId::kIprobe);
  EXPECT_TRUE(sums.has(true, static_cast<std::uint32_t>(PosixFunction::kRead)));
  EXPECT_FALSE(sums.has(true, static_cast<std::uint32_t>(PosixFunction::kWrite)));
  EXPECT_TRUE(sums.has(false, iprobe));
  EXPECT_FALSE(sums.has(false, iprobe + 1));
  for (const char* const bad : {"", "sum", "sums:", "sums:,", "sums:read,", "sums:reads", "sums: read", "mpi"}) {
    if (std::string_view(bad) == "sums:read,") continue;  // as sums:read
    EXPECT_FALSE(parse_record(bad, sums)) << bad;
  }
}

TEST(ControlFile, RanksAreNumbersAndRanges) {
  EXPECT_TRUE(is_in_ranks("*", 7));
  EXPECT_TRUE(is_in_ranks("1,5-9", 7));
  EXPECT_TRUE(is_in_ranks("7", 7));
  for (const char* const none : {"", "8", "1-6", "9-5", "x", "7x", "-7", "7-", ",7", "7,x"}) {
    EXPECT_FALSE(is_in_ranks(none, 7)) << none;
  }
}

TEST(NumberRanges, AreReadAndWritten) {
  const std::uint32_t numbers[] = {0, 1, 2, 5, 8, 9};
  EXPECT_EQ(ranges_text(numbers), "0-2,5,8-9");
  std::vector<std::uint32_t> read;
  EXPECT_TRUE(for_each_range("0-2,5,8-9", [&](const NumberRange& range) {
    for (std::uint32_t each = range.first; each <= range.last; ++each) read.push_back(each);
  }));
  EXPECT_TRUE(std::equal(read.begin(), read.end(), std::begin(numbers), std::end(numbers)));
  for (const char* const bad : {"", "3-1", "1-", "-1", "a", "1,,2", "1 ", "4294967296"})
    EXPECT_FALSE(are_ranges(bad)) << bad;
}

TEST(ControlFile, InvalidFilesAreRefused) {
  bool is_good = true;
  for (const char* const text : {"", "ardoise", "ardoise control 2\n1/*/*/rate=1\n", "rate=1\n"}) {
    EXPECT_TRUE(commands_of(text, &is_good).empty()) << text;
    EXPECT_FALSE(is_good) << text;
  }
  EXPECT_EQ(commands_of("ardoise control 1\nx/*/*/rate=1\n2/*/*/rate=2\n", &is_good).size(), 1u);
  EXPECT_FALSE(is_good);
}

TEST(ControlFile, AnyTextCanBeRead) {
  std::mt19937 random(9);
  const std::string good = "ardoise control 1\n1/*/*/rate=1000\n2/0-3,8/solver/rate=5000 flush-every=0.2\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (auto changes = random() % 6; changes != 0; --changes)
      text[random() % text.size()] = static_cast<char>(random());
    text.resize(random() % (text.size() + 1));
    for (const ControlCommand& command : commands_of(text)) (void)is_for(command, "solver", 3);
  }
}

TEST(LiveTexts, AreTakenOnce) {
  LiveTexts live;
  std::vector<std::string> told;
  const auto take = [&] {
    live.take([&](std::string_view what, std::uint32_t number) { told.push_back(fmt::format("{} {}", number, what)); });
  };
  take();
  live.put("Set: ", "rate=1");
  live.put("Set: ", "flush-every=2", 7);
  take();
  take();
  EXPECT_THAT(told, ElementsAre("0 Set: rate=1", "7 Set: flush-every=2"));
  told.clear();
  for (int i = 0; i < 100; ++i) live.put(std::to_string(i), std::string(200, 'x'));
  take();
  EXPECT_EQ(told.size(), 16u);
  EXPECT_THAT(told.back(), StartsWith("0 99xx"));
}

}  // namespace
}  // namespace ardoise::instrument

// Rules are read, or refused with the position of the fault; rules that hold become a limited number of commands, and
// end in time.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "analyzer/output_folder/command_file.hpp"
#include "analyzer/output_folder/own_files.hpp"
#include "analyzer/rules/rule_actions.hpp"
#include "analyzer/rules/rule_file.hpp"
#include "analyzer/run/analyzer_run.hpp"
#include "analyzer/run/plugins.hpp"
#include "replay/synthetic.hpp"

namespace ardoise::analyzer {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string fault_of_rules(const std::string& text) {
  try {
    (void)parse_rules(text, "steer.rules");
    return "";
  } catch (const std::invalid_argument& wrong) {
    return wrong.what();
  }
}

TEST(RuleFile, LinesAreRulesCommentsOrEmpty) {
  const auto rules = parse_rules(
      "# what changes\n"
      "\n"
      "when calls(MPI_Alltoall) > 1000: rate=1000 for 10 s\n"
      "  when time(MPI_Wait) > 5 s since last :  rate=1000\trecord=events\r\n"
      "when bytes(write) > 1 GB: flush-every=0.25 on all\n"
      "when value(residual) < 1e-6: record=sums on all for 1.5min\n"
      "when time() > 1 h: rate=launch sample-share=0 for 500ms on all",
      "steer.rules");
  ASSERT_EQ(rules.size(), 5u);
  EXPECT_EQ(rules[0].condition, "calls(MPI_Alltoall) > 1000");
  EXPECT_EQ(rules[0].settings, "rate=1000");
  EXPECT_DOUBLE_EQ(rules[0].seconds, 10);
  EXPECT_EQ(rules[0].target, RuleTarget::kRank);
  EXPECT_EQ(rules[0].effect(), "set rate=1000 for 10 s");
  EXPECT_EQ(rules[1].condition, "time(MPI_Wait) > 5 s since last");
  EXPECT_EQ(rules[1].settings, "rate=1000 record=events");
  EXPECT_EQ(rules[1].seconds, 0);
  EXPECT_EQ(rules[2].effect(), "set flush-every=0.25 on all ranks");
  EXPECT_DOUBLE_EQ(rules[3].seconds, 90);
  EXPECT_EQ(rules[3].target, RuleTarget::kAll);
  EXPECT_DOUBLE_EQ(rules[4].seconds, 0.5);
  EXPECT_EQ(rules[4].settings, "rate=launch sample-share=0");
  EXPECT_THAT(parse_rules("", "none"), IsEmpty());
}

TEST(RuleFile, ARuleMayBeOfAllRanks) {
  const auto rules = parse_rules(
      "when balance() < 0.8: rate=1000 for 10 s on ranks that differ\n"
      "when balance(step) < 0.8: snapshot=uneven rate=1000\n",
      "steer.rules");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].target, RuleTarget::kDiffering);
  EXPECT_EQ(rules[0].effect(), "set rate=1000 on ranks that differ for 10 s");
  EXPECT_EQ(rules[1].target, RuleTarget::kAll);
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=1 on ranks that differ"),
              HasSubstr("ranks differ where the condition has balance()"));
  EXPECT_THAT(fault_of_rules("when balance() < 1: rate=1 on ranks"), HasSubstr("expected \"ranks that differ\""));
  EXPECT_THAT(fault_of_rules("when balance() < 1: snapshot=a/b"), HasSubstr("'a/b' is no name of a snapshot"));
}

TEST(RuleFile, AMistakeIsNamedWithItsLineAndPlace) {
  EXPECT_EQ(fault_of_rules("\n# so\nif calls(mpi) > 1: rate=1"),
            "the rules 'steer.rules', line 3: at \"if calls(mpi) > 1: r\": expected \"when\"");
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1 rate=1"), HasSubstr("at its end: expected \":\""));
  EXPECT_THAT(fault_of_rules("when calls(MPI_Sendd) > 1: rate=1"),
              AllOf(StartsWith("the rules 'steer.rules', line 1: the condition "),
                    HasSubstr("at \"MPI_Sendd) > 1\": expected a measured MPI or I/O function")));
  EXPECT_THAT(fault_of_rules("when : rate=1"), HasSubstr("the condition \"\" cannot be read"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1:"), HasSubstr("at its end: expected NAME=VALUE"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: for 5 s"), HasSubstr("at \"for 5 s\": expected NAME=VALUE"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: speed=5"), HasSubstr("there is no option 'speed'"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: policy=block"), HasSubstr("'policy' cannot change"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=fast"), EndsWith("has to be a number from 0.1 to 100000"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=1 soon"),
              HasSubstr("at \"soon\": expected NAME=VALUE, \"for\""));
  for (const char* const time : {"", "s", "10", "10 d", "x s", "0 s", "5 ms", "1e9 s", "1..2 s", "-1 s"})
    EXPECT_THAT(fault_of_rules(std::string("when calls(mpi) > 1: rate=1 for ") + time), HasSubstr("expected a time"))
        << time;
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=1 on some"), HasSubstr("at \"some\": expected \"all\""));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=1 on all on all"), HasSubstr("once each"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=1 for 1 s for 2 s"), HasSubstr("once each"));
  EXPECT_THAT(fault_of_rules("when calls(mpi) > 1: rate=1 for 1 s flush-every=1"), HasSubstr("at \"flush-every=1\""));
}

TEST(RuleFile, ManyAreRefused) {
  const std::string rule = "when calls(mpi) > 1: rate=1\n";
  std::string text;
  for (int i = 0; i < 64; ++i) text += rule;
  EXPECT_EQ(fault_of_rules(text), "");
  EXPECT_THAT(fault_of_rules(text + rule), HasSubstr("line 65: there are more than 64 rules"));
  EXPECT_THAT(fault_of_rules("#" + std::string(65536, ' ')), HasSubstr("longer than 64 KiB"));
}

TEST(RuleFile, AnyTextIsReadOrRefused) {
  std::mt19937 random(5);
  const std::string pieces[] = {"when ",
                                "calls(mpi) > 1",
                                ":",
                                " rate=1",
                                " for",
                                " 10",
                                " s",
                                " on",
                                " all",
                                "\n",
                                "#",
                                "\xff",
                                "s=",
                                " =",
                                "10s",
                                "\0x",
                                "\r",
                                "\t",
                                "ranks that differ",
                                "balance() < 1"};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (auto left = random() % 12; left != 0; --left) text += pieces[random() % std::size(pieces)];
    (void)fault_of_rules(text);
  }
}

class FolderOfRules : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string unique = (std::filesystem::path(::testing::TempDir()) / "rules_XXXXXX").string();
    ASSERT_NE(::mkdtemp(unique.data()), nullptr);
    folder_ = unique;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string fault_of_file(const std::filesystem::path& file) const {
    try {
      (void)read_rules(file);
      return "";
    } catch (const std::invalid_argument& wrong) {
      return wrong.what();
    }
  }
  std::filesystem::path folder_;
};

using RuleFiles = FolderOfRules;

TEST_F(RuleFiles, AreReadOrItIsSaidWhyNot) {
  std::ofstream(folder_ / "good") << "when calls(mpi) > 1: rate=1\n";
  EXPECT_EQ(read_rules(folder_ / "good").size(), 1u);
  EXPECT_THAT(fault_of_file(folder_ / "none"), EndsWith("none' cannot be read: No such file or directory"));
  EXPECT_THAT(fault_of_file(folder_), EndsWith("are not a regular file"));
  EXPECT_THAT(fault_of_file("/dev/zero"), EndsWith("are not a regular file"));
  std::ofstream(folder_ / "huge") << std::string(100'000, '#');
  EXPECT_THAT(fault_of_file(folder_ / "huge"), EndsWith("are longer than 64 KiB"));
}

using CommandFile = FolderOfRules;

TEST_F(CommandFile, EachCommandHasANumberOfItsOwn) {
  constexpr int kWriters = 4, kCommands = 50;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < kWriters; ++i) {
      writers.emplace_back([&] {
        for (int left = kCommands; left != 0; --left)
          EXPECT_NE(append_command(folder_, {0, "*", "*", "rate=1", 3}, WhenBusy::kWait).number, 0u);
      });
    }
  }
  std::set<std::uint32_t> numbers;
  const std::string text = read_own_file(folder_ / instrument::kControlName).value_or("");
  EXPECT_TRUE(instrument::for_each_command(text, [&](const instrument::ControlCommand& command) {
    numbers.insert(command.number);
    EXPECT_EQ(command.rule, 3u);
    EXPECT_EQ(command.settings, "rate=1");
  }));
  EXPECT_EQ(numbers.size(), std::size_t{kWriters * kCommands});
}

TEST_F(CommandFile, WritersNeverWaitOrWriteTooMuch) {
  EXPECT_EQ(append_command(folder_, {0, "0-3", "solver", "rate=1"}, WhenBusy::kReturn).number, 1u);
  const auto full = append_command(folder_, {0, "*", "*", "rate=1"}, WhenBusy::kReturn, 40);
  EXPECT_EQ(full.number, 0u);
  EXPECT_FALSE(full.is_busy);
  EXPECT_THAT(full.why, HasSubstr("is full"));
  EXPECT_THAT(append_command(folder_, {0, "*", "a/b", "rate=1"}, WhenBusy::kReturn).why, HasSubstr("has a '/'"));
  const int other = ::open((folder_ / instrument::kControlName).c_str(), O_RDONLY);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_TRUE(append_command(folder_, {0, "*", "*", "rate=1"}, WhenBusy::kReturn).is_busy);
  ::close(other);
  EXPECT_EQ(append_command(folder_, {0, "*", "*", "rate=1"}, WhenBusy::kReturn).number, 2u);
}

TEST(HeldRules, AreCountedByRuleAndRank) {
  HeldRules held;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 4; ++i) {
      workers.emplace_back([&] {
        for (std::uint32_t rank = 0; rank < 100; ++rank) held.note({1, 0, rank});
      });
    }
  }
  const TimesHeld times = held.take();
  EXPECT_EQ(times.size(), 100u);
  for (const auto& each : times) EXPECT_EQ(each.second, 4u);
  EXPECT_THAT(held.take(), IsEmpty());
}

class RuleActing : public ::testing::Test {
 protected:
  void use(const std::string& rules) {
    const auto all = parse_rules(rules, "test");
    counts_ = RuleCounts(all);
    knowledge_sources::Program solver{.partition = 0, .name = "solver", .ranks = 8};
    knowledge_sources::Program post{.partition = 1, .name = "post", .ranks = 4};
    post.place.first_rank = 8;  // of the same world
    actions_.emplace(all, std::vector{solver, post}, counts_,
                     [this](const instrument::ControlCommand& command, std::size_t most_bytes) {
                       if (is_busy_) return Appended{0, true, "busy"};
                       if (bytes_ > most_bytes) return Appended{0, false, "full"};
                       told_.push_back(std::string(command.ranks) + "/" + std::string(command.program) + "/" +
                                       std::to_string(command.rule) + "/" + std::string(command.settings));
                       return Appended{1, false, ""};
                     });
  }
  // The commands to the programs at that moment.
  std::vector<std::string> act(const std::vector<RuleOfRank>& held, std::chrono::milliseconds at) {
    TimesHeld times;
    for (const RuleOfRank& each : held) ++times[each];
    told_.clear();
    actions_->act(times, RuleActions::Time(1h + at));
    return told_;
  }
  RuleCounts counts_;
  std::optional<RuleActions> actions_;
  std::vector<std::string> told_;
  bool is_busy_ = false;
  std::size_t bytes_ = 0;
};

TEST_F(RuleActing, RanksOfOneTurnAreOneCommand) {
  use("when calls(mpi) > 1: rate=5\nwhen calls(io) > 1: flush-every=2 record=sums");
  EXPECT_THAT(act({}, 0ms), IsEmpty());
  EXPECT_THAT(act({{0, 0, 1}, {0, 0, 2}, {0, 0, 3}, {0, 0, 7}, {0, 1, 0}, {0, 1, 1}, {1, 0, 4}}, 50ms),
              ElementsAre("1-3,7/solver/1/rate=5", "8-9/post/1/rate=5", "4/solver/2/flush-every=2 record=sums"));
  EXPECT_THAT(act({}, 1h), IsEmpty()) << "for good";
}

TEST_F(RuleActing, OnAllIsForAllRanksOfTheProgram) {
  use("when calls(mpi) > 1: rate=5 for 2 s on all");
  EXPECT_THAT(act({{0, 1, 1}, {0, 1, 2}}, 0ms), ElementsAre("*/post/1/rate=5"));
  EXPECT_THAT(act({{0, 1, 3}}, 500ms), IsEmpty()) << "less than a second later";
  EXPECT_THAT(act({}, 2s), ElementsAre("*/post/1/rate=launch"));
}

TEST_F(RuleActing, WhatIsForSomeTimeEnds) {
  use("when calls(mpi) > 1: rate=5 flush-every=2 for 10 s");
  EXPECT_EQ(act({{0, 0, 0}, {0, 0, 1}}, 0ms).size(), 1u);
  EXPECT_THAT(act({{0, 0, 1}}, 4s), ElementsAre("1/solver/1/rate=5 flush-every=2"));
  EXPECT_THAT(act({}, 9'999ms), IsEmpty());
  EXPECT_THAT(act({}, 10s), ElementsAre("0/solver/1/rate=launch flush-every=launch"));
  EXPECT_THAT(act({}, 14s), ElementsAre("1/solver/1/rate=launch flush-every=launch")) << "from the last time on";
  EXPECT_THAT(act({}, 1h), IsEmpty());
}

TEST_F(RuleActing, OnceASecondAndNoMoreThanSoOften) {
  use("when calls(mpi) > 1: rate=5");
  EXPECT_EQ(act({{0, 0, 0}, {0, 0, 0}}, 0ms).size(), 1u);
  EXPECT_THAT(act({{0, 0, 0}}, 999ms), IsEmpty());
  EXPECT_EQ(act({{0, 0, 1}}, 999ms).size(), 1u) << "another rank";
  std::size_t acts = 0;
  for (int i = 1; i < 100; ++i) acts += act({{0, 0, 0}}, 1s * i).size();
  EXPECT_EQ(acts, 63u);
  EXPECT_THAT(counts_.notices(),
              ElementsAre("Rule 1 (when calls(mpi) > 1) held on 2 ranks, 103 times; set rate=5. It was suppressed 38 "
                          "times: a rule acts on a rank at most once a second and 64 times in all."));
}

TEST_F(RuleActing, NothingIsLostWhileAnotherWritesCommands) {
  use("when calls(mpi) > 1: rate=5 for 1 s");
  is_busy_ = true;
  EXPECT_THAT(act({{0, 0, 0}}, 0ms), IsEmpty());
  is_busy_ = false;
  EXPECT_THAT(act({}, 50ms), ElementsAre("0/solver/1/rate=5"));
  is_busy_ = true;
  EXPECT_THAT(act({}, 1'100ms), IsEmpty());
  is_busy_ = false;
  EXPECT_THAT(act({}, 1'150ms), ElementsAre("0/solver/1/rate=launch"));
}

TEST_F(RuleActing, HalfOfTheFileIsForEndsAndTheUser) {
  use("when calls(mpi) > 1: rate=5 for 2 s");
  EXPECT_EQ(act({{0, 0, 0}}, 0ms).size(), 1u);
  bytes_ = RuleActions::kMostBytes + 1;
  EXPECT_THAT(act({{0, 0, 1}, {0, 0, 2}}, 1s), IsEmpty());
  EXPECT_THAT(act({}, 2s), ElementsAre("0/solver/1/rate=launch"));
  EXPECT_THAT(act({}, 1h), IsEmpty()) << "what was never set does not end";
  EXPECT_THAT(counts_.notices(), ElementsAre(EndsWith("Its command could not be sent 2 times: full.")));
}

TEST(RuleCounts, AreThoseOfAllAnalyzers) {
  const auto rules = parse_rules("when calls(mpi) > 1: rate=5 on all\nwhen calls(io) > 1: rate=5", "test");
  RuleCounts one(rules), other(rules), root;
  one.of(0).ranks = one.of(0).times = 1;
  other.of(0).ranks = 2;
  other.of(0).times = 4;
  for (const RuleCounts* const each : {&one, &other}) {
    knowledge_sources::ByteWriter out;
    each->write(out);
    const auto bytes = out.take();
    knowledge_sources::ByteReader in(bytes, "rules");
    root.merge(RuleCounts::read(in));
    in.expect_end();
  }
  EXPECT_THAT(root.notices(),
              ElementsAre("Rule 1 (when calls(mpi) > 1) held on 3 ranks, 5 times; set rate=5 on all ranks.",
                          "Rule 2 never held."));
}

// Ranks go to two analyzers.
TEST(RulesOfARun, AreWatchedForEachRankAndToldByTheRoot) {
  const auto rules = parse_rules(
      "when calls(MPI_Allreduce) % 5 == 0: rate=5\n"
      "when time(MPI_Waitall) > 1 h: rate=5\n"
      "when bytes(MPI_Isend) > 0: rate=5",
      "test");
  const replay::SyntheticProgram program{.ranks = 8, .steps = 20};
  const knowledge_sources::Program solver{.partition = 0, .name = "solver", .ranks = 8};
  const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {});
  std::vector<std::unique_ptr<AnalyzerRun>> runs;
  for (std::uint32_t analyzer = 0; analyzer < 2; ++analyzer) {
    AnalyzerRun& run = *runs.emplace_back(std::make_unique<AnalyzerRun>(
        AnalyzerRun::Options{.workers = 2, .analyses = plugins.analyses, .rules = rules}));
    run.add_program(solver);
    std::vector<replay::Pack> packs;  // in use until drain()
    for (std::uint32_t rank = analyzer; rank < program.ranks; rank += 2) {
      for (auto& pack : replay::synthetic_packs(program, rank)) packs.push_back(std::move(pack));
    }
    for (auto& pack : packs)
      run.submit(SourcedPack{pack.writable(), [](void*, std::span<std::byte>) noexcept {}, nullptr});
    run.drain();
    const TimesHeld held = run.held_rules().take();
    TimesHeld expected;
    for (std::uint32_t rank = analyzer; rank < program.ranks; rank += 2) {
      expected[{0, 0, rank}] = 4;
      expected[{2, 0, rank}] = 1;
    }
    EXPECT_EQ(held, expected);
    RuleActions(rules, {solver}, run.rule_counts(), {}).count_late(held);
  }
  runs[0]->absorb(runs[1]->partial());
  reports::Run report;
  runs[0]->contribute(report);
  EXPECT_THAT(report.notices,
              ElementsAre("Rule 1 (when calls(MPI_Allreduce) % 5 == 0) held on 8 ranks, 32 times; set rate=5. It "
                          "was too late 32 times: the programs had ended.",
                          "Rule 3 (when bytes(MPI_Isend) > 0) held on 8 ranks, 8 times; set rate=5. It was too late 8 "
                          "times: the programs had ended.",
                          "Rule 2 never held."));
}

}  // namespace
}  // namespace ardoise::analyzer

// States that analyzers write when their launch is ended become one report, as if they had merged over MPI; broken or
// missing states are reported.
#include "analyzer/states/safe_state.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "analyzer/commands/control.hpp"
#include "analyzer/output_folder/safe_state_files.hpp"
#include "analyzer/run/plugins.hpp"
#include "analyzer/states/merge_states.hpp"
#include "analyzer/states/safe_keeper.hpp"
#include "instrument/settings/control_file.hpp"
#include "replay/synthetic.hpp"
#include "reports/model_json.hpp"
#include "tests/analyzer/folder_fixture.hpp"
#include "tests/hostile_names.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void no_release(void*, std::span<std::byte>) noexcept {}

class SafeStateTest : public FolderTest {
 protected:
  void SetUp() override {
    options_.output = folder_.string();
    options_.command = "mpirun -n 8 solver";
    options_.render = false;
    options_.quiet = true;
  }

  // Ranks are assigned to the analyzers in turn; each writes its state.
  void leave_states(unsigned analyzers, const std::string& prefix = kSafeStatePrefix) {
    const replay::SyntheticProgram program{.ranks = 8, .steps = 20};
    const std::vector<knowledge_sources::Program> programs{{.partition = 0, .name = "solver", .ranks = 8}};
    const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {});
    for (unsigned analyzer = 0; analyzer < analyzers; ++analyzer) {
      AnalyzerRun run({.workers = 1, .analyses = plugins.analyses});
      run.add_program(programs[0]);
      std::vector<replay::Pack> packs;  // in use until drain()
      for (std::uint32_t rank = analyzer; rank < program.ranks; rank += analyzers) {
        for (auto& pack : replay::synthetic_packs(program, rank)) packs.push_back(std::move(pack));
      }
      for (auto& pack : packs) run.submit(SourcedPack{pack.writable(), no_release, nullptr});
      run.drain();
      RunFacts facts;
      facts.analyzer_ranks = analyzers;
      const std::vector<std::string> gone(analyzer == 0 ? 1 : 0, "rank 2 of solver");
      SafeKeeper keeper;
      EXPECT_TRUE(keeper.keep(run, [&] {
        write_safe_state(run, {programs, facts, gone, {{{0, 0}, 1}}, 0, prefix, 0, 1'800'000'000}, analyzer, options_);
      }));
      keeper.wait();
    }
  }
  [[nodiscard]] reports::Run merged(int status = kDone) const {
    EXPECT_EQ(merge_safe_states(options_), status);
    auto run = reports::read_profile_json((folder_ / "profile.json").string());
    EXPECT_TRUE(run) << run.error;
    return run ? *run.value : reports::Run{};
  }
  static std::uint64_t calls_of(const reports::Run& run) {
    std::uint64_t calls = 0;
    for (const auto& function : run.applications.at(0).mpi) calls += function.calls;
    return calls;
  }

  Options options_;
};

TEST_F(SafeStateTest, OneAnalyzersOrSeveralGiveTheSameNumbers) {
  leave_states(1);
  options_.job_status = 139;
  options_.ended_by = "SIGTERM to ardoise";
  const auto one = merged();
  EXPECT_THAT(one.notices, ElementsAre(HasSubstr("ended before its programs had finished MPI: rank 2 of solver ended "
                                                 "first, without MPI_Finalize; mpirun's status is that of signal 11")));
  EXPECT_EQ(one.ended_by, "SIGTERM to ardoise");
  EXPECT_EQ(one.command, "mpirun -n 8 solver");
  EXPECT_GT(calls_of(one), 0u);
  EXPECT_THAT(safe_state_files(folder_, kSafeStatePrefix), IsEmpty());
  fs::remove(folder_ / "profile.json");
  leave_states(3);
  EXPECT_THAT(safe_state_files(folder_, kSafeStatePrefix), SizeIs(3));
  const auto three = merged();
  EXPECT_EQ(calls_of(three), calls_of(one));
  EXPECT_EQ(three.applications[0].quality.ranks_complete, one.applications[0].quality.ranks_complete);
  EXPECT_EQ(three.analyzer_ranks, 3u);
}

// `ardoise control` builds a list of all ranks, and a merge collects facts about each.
TEST_F(SafeStateTest, MoreRanksThanThereAreBytesAreNotBelieved) {
  const auto state_of = [&](std::uint32_t ranks) {
    AnalyzerRun run({.workers = 1, .analyses = load_plugins(ARDOISE_PLUGIN_DIR, {}).analyses});
    run.add_program({.partition = 0, .name = "solver", .ranks = 8});
    const std::vector<knowledge_sources::Program> claimed{{.partition = 0, .name = "solver", .ranks = ranks}};
    write_safe_state(run, {claimed, {}, {}, {}, 0, kFirstStatePrefix, 0, 0}, 0, options_);
    return read_safe_state(safe_state_file(folder_, kFirstStatePrefix, 0)).facts.programs.at(0).ranks;
  };
  EXPECT_EQ(state_of(8), 8u);
  EXPECT_THROW((void)state_of(1u << 30), knowledge_sources::BadPartial);
  options_.control_wait_seconds = 0;
  EXPECT_EQ(control(options_), kIncomplete) << "no launch that it could control";
}

// The output of `ardoise status` and `ardoise control`.
TEST_F(SafeStateTest, NamesOfALaunchAreMadePrintable) {
  for (const std::string& hostile : kHostile) {
    const std::string name = hostile + std::string(3000, 'x');
    fs::remove_all(folder_);
    options_.output = (folder_ / ("report" + hostile)).string();
    fs::create_directories(options_.output);
    fs::permissions(options_.output, fs::perms{0700});
    options_.command = "mpirun " + name;
    options_.quiet = false;
    options_.control_wait_seconds = 0;
    options_.control_settings = "";
    AnalyzerRun run({.workers = 1, .analyses = load_plugins(ARDOISE_PLUGIN_DIR, {}).analyses});
    const std::vector<knowledge_sources::Program> programs{{.partition = 0, .name = "program" + name, .ranks = 2}};
    run.add_program(programs[0]);
    const std::vector<std::string> gone{"rank 1 of " + name};
    for (const char* const prefix : {kFirstStatePrefix, kSafeStatePrefix})
      write_safe_state(run, {programs, {}, gone, {}, 0, prefix, 0, 0}, 0, options_);
    std::string word = name;  // of a line
    std::erase(word, '\n');
    std::ofstream(fs::path(options_.output) / instrument::kControlName)
        << instrument::kControlHead << "1/*/" << word << "/rate=" << word << "\n2/" << word << "/*/snapshot=" << word
        << "\n";
    const std::string history = printed_by([&] { (void)control(options_); });
    expect_clean(history, "history");
    EXPECT_THAT(history, HasSubstr("xxx"));
    options_.control_settings = "rate=1000";
    const std::string unanswered = printed_by([&] { (void)control(options_); });
    expect_clean(unanswered, "no answer");
    EXPECT_THAT(unanswered, HasSubstr("xxx"));
    options_.control_settings = "rate=" + name;
    expect_clean(printed_by([&] { (void)control(options_); }), "settings");
    const std::string status = printed_by([&] { (void)merge_safe_states(options_); });
    expect_clean(status, "status");
    EXPECT_THAT(status, HasSubstr("xxx"));
    options_.output += "/none" + name.substr(0, 100);
    for (const std::string& settings : {std::string(), std::string("rate=1000")}) {
      options_.control_settings = settings;
      expect_clean(printed_by([&] { (void)control(options_); }), "no folder");
    }
    expect_clean(printed_by([&] { (void)merge_safe_states(options_); }), "no folder");
  }
}

TEST_F(SafeStateTest, WhatIsBrokenOrMissingIsSaid) {
  leave_states(3);
  fs::remove(safe_state_file(folder_, kSafeStatePrefix, 0));
  fs::resize_file(safe_state_file(folder_, kSafeStatePrefix, 1), 200);
  const auto run = merged(kIncomplete);
  EXPECT_THAT(run.notices,
              ::testing::Contains(HasSubstr("2 of 3 analyzers were killed: the data received there is lost.")));
  EXPECT_GT(calls_of(run), 0u);
}

// The data of killed analyzers at the time of the last snapshot.
TEST_F(SafeStateTest, TheLastSnapshotIsBetterThanNothing) {
  leave_states(2);
  const std::uint64_t calls = calls_of(merged());
  const std::string snapshot = std::string(kSnapshotPrefix) + "1-2-";
  leave_states(2, snapshot);
  for (const unsigned rank : {0u, 1u}) {
    std::ofstream(safe_state_file(folder_, kFirstStatePrefix, rank)) << "of its begin";
    use_as_first_state(snapshot, rank, options_);
  }
  const auto kept = merged(kIncomplete);
  EXPECT_THAT(kept.notices, ::testing::Contains(HasSubstr(
                                "2 of 2 analyzers were killed: the data received there after 08:00:00 UTC is lost.")));
  EXPECT_EQ(calls_of(kept), calls);
  EXPECT_THAT(safe_state_files(folder_, snapshot), IsEmpty());
}

TEST_F(SafeStateTest, NothingIsRenewedOnceTheReportWasMade) {
  leave_states(1, kNextStatePrefix);
  use_as_first_state(kNextStatePrefix, 0, options_);
  EXPECT_THAT(safe_state_files(folder_, kFirstStatePrefix), IsEmpty());
  std::ofstream(safe_state_file(folder_, kFirstStatePrefix, 0)) << "of its begin";
  use_as_first_state(kNextStatePrefix, 0, options_);
  EXPECT_GT(calls_of(merged(kIncomplete)), 0u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "profile.json and summary.txt";
}

TEST_F(SafeStateTest, StatesStayWhereNoProfileCanBeWritten) {
  leave_states(2);
  fs::create_directory(folder_ / "profile.json");
  EXPECT_EQ(merge_safe_states(options_), kIncomplete);
  EXPECT_THAT(safe_state_files(folder_, kSafeStatePrefix), SizeIs(2));
  fs::remove(folder_ / "profile.json");
  EXPECT_GT(calls_of(merged()), 0u);
}

TEST_F(SafeStateTest, NothingGivesNoReport) {
  EXPECT_EQ(merge_safe_states(options_), kIncomplete);
  std::ofstream(safe_state_file(folder_, kSafeStatePrefix, 0)) << "nonsense";
  EXPECT_EQ(merge_safe_states(options_), kIncomplete);
  EXPECT_FALSE(fs::exists(folder_ / "profile.json"));
  EXPECT_THAT(safe_state_files(folder_, kSafeStatePrefix), SizeIs(1)) << "it is left for somebody to look at";
}

}  // namespace
}  // namespace ardoise::analyzer

// Captured packs become the same profile with any number of analyzers and workers and in any order; a bad file affects
// only itself.
#include "analyzer/commands/replay.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "analyzer/results/results.hpp"
#include "analyzer/run/ingest.hpp"
#include "analyzer/run/plugins.hpp"
#include "analyzer/sources/capture_source.hpp"
#include "replay/pack_maker.hpp"
#include "replay/synthetic.hpp"
#include "reports/model_json.hpp"
#include "tests/analyzer/folder_fixture.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class ReplayTest : public FolderTest {
 protected:
  void SetUp() override { fs::create_directory(folder_ / "packs"); }

  // Two synthetic programs with a file for each rank.
  std::vector<std::string> capture_two_programs() {
    for (std::uint32_t partition = 0; partition < 2; ++partition) {
      const replay::SyntheticProgram program{.partition = partition, .ranks = 8 + 4 * partition, .steps = 20};
      for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
        instrument::PackFileWriter writer(folder_ / "packs" / (std::to_string(partition) + "." + std::to_string(rank)));
        for (auto& pack : replay::synthetic_packs(program, rank)) EXPECT_TRUE(writer.write(pack.bytes()));
      }
    }
    return {(folder_ / "packs").string()};
  }

  static void feed(Capture& capture, AnalyzerRun& run, std::uint32_t part, std::uint32_t parts) {
    EventLoop loop;
    CaptureSource source(capture, part, parts);
    ingest(loop, source, run);
  }

  // The profile of the capture with this many analyzers and workers, without the parts that may differ.
  static std::string profile(Capture& capture, std::uint32_t analyzers, unsigned workers) {
    static const auto plugins = load_plugins(ARDOISE_PLUGIN_DIR, {});
    std::vector<std::unique_ptr<AnalyzerRun>> runs;
    for (std::uint32_t part = 0; part < analyzers; ++part) {
      auto& each = *runs.emplace_back(
          std::make_unique<AnalyzerRun>(AnalyzerRun::Options{.workers = workers, .analyses = plugins.analyses}));
      for (const auto& program : capture.programs) each.add_program(program);
      feed(capture, each, part, analyzers);
      each.drain();
    }
    for (std::uint32_t part = analyzers; part-- > 1;) runs[0]->absorb(runs[part]->partial());
    EXPECT_THAT(runs[0]->complaints(), IsEmpty());
    reports::Run run;
    runs[0]->contribute(run);
    return reports::profile_to_json(run);
  }
};

TEST_F(ReplayTest, ProgramsAreFoundInTheCapture) {
  const auto capture = read_capture(capture_two_programs());
  EXPECT_THAT(capture.complaints, IsEmpty());
  ASSERT_THAT(capture.programs, SizeIs(2));
  EXPECT_EQ(capture.programs[0].ranks, 8U);
  EXPECT_EQ(capture.programs[1].partition, 1U);
  EXPECT_EQ(capture.programs[1].ranks, 12U);
}

TEST_F(ReplayTest, NumbersAreTheSameForAnyNumberOfAnalyzersAndWorkers) {
  auto capture = read_capture(capture_two_programs());
  const auto one = profile(capture, 1, 1);
  EXPECT_THAT(one, HasSubstr("MPI_Allreduce"));
  EXPECT_EQ(profile(capture, 1, 3), one);
  EXPECT_EQ(profile(capture, 2, 1), one);
  EXPECT_EQ(profile(capture, 3, 2), one);
  EXPECT_EQ(profile(capture, 7, 1), one);
}

TEST_F(ReplayTest, CountsAreThoseOfTheProgram) {
  auto capture = read_capture(capture_two_programs());
  const auto run = reports::profile_from_json(profile(capture, 2, 1));
  ASSERT_TRUE(run) << run.error;
  ASSERT_THAT(run.value->applications, SizeIs(2));
  for (const auto& application : run.value->applications) {
    const auto found = std::ranges::find(application.mpi, "MPI_Allreduce", &reports::FunctionProfile::function);
    ASSERT_NE(found, application.mpi.end());
    EXPECT_EQ(found->calls, 20U * application.ranks);
  }
}

TEST_F(ReplayTest, ReplayWritesTheFilesOfAReport) {
  Options options;
  options.replay = capture_two_programs();
  options.output = (folder_ / "out").string();
  options.render = false;
  options.quiet = true;
  EXPECT_EQ(replay(options), kDone);
  const auto run = reports::read_profile_json((folder_ / "out" / "profile.json").string());
  ASSERT_TRUE(run) << run.error;
  EXPECT_EQ(run.value->universe_ranks, 20U);
  EXPECT_TRUE(fs::exists(folder_ / "out" / "summary.txt"));
}

TEST_F(ReplayTest, ATraceIsAnalysedLikeTheRunThatItIsOf) {
  const replay::SyntheticProgram program{.ranks = 8, .steps = 20};
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    instrument::PackFileWriter writer(folder_ / "packs" / std::to_string(rank));
    for (auto& pack : replay::synthetic_packs(program, rank)) ASSERT_TRUE(writer.write(pack.bytes()));
  }
  Options options;
  options.render = false;
  options.quiet = true;
  options.replay = {(folder_ / "packs").string()};
  options.output = (folder_ / "run").string();
  options.trace = "all";
  ASSERT_EQ(replay(options), kDone);
  options.trace.clear();
  options.replay = {options.output};  // the report's folder, which contains its trace
  options.output = (folder_ / "again").string();
  ASSERT_EQ(replay(options), kDone);
  const auto run = reports::read_profile_json((folder_ / "run" / "profile.json").string());
  const auto again = reports::read_profile_json((folder_ / "again" / "profile.json").string());
  ASSERT_TRUE(run && again) << run.error << again.error;
  ASSERT_THAT(again.value->applications, SizeIs(1));
  const auto& before = run.value->applications[0].mpi;
  const auto& after = again.value->applications[0].mpi;
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(after[i].function, before[i].function);
    EXPECT_EQ(after[i].calls, before[i].calls);
    EXPECT_EQ(after[i].bytes, before[i].bytes);
    EXPECT_NEAR(after[i].seconds, before[i].seconds, 1e-8);
  }

  // Results would overwrite the trace.
  options.output = (folder_ / "run").string();
  EXPECT_EQ(replay(options), kIncomplete);
  EXPECT_TRUE(fs::exists(folder_ / "run" / "trace" / "traces.otf2"));

  // The rest of a truncated location is analysed, and the status reports it.
  options.output = (folder_ / "cut").string();
  const auto events = folder_ / "run" / "trace" / "traces" / "3.evt";
  fs::resize_file(events, fs::file_size(events) / 2);
  EXPECT_EQ(replay(options), kIncomplete);
  EXPECT_TRUE(fs::exists(folder_ / "cut" / "profile.json"));
}

TEST_F(ReplayTest, OtherFilesAreReportedAndNothingIsWritten) {
  std::ofstream(folder_ / "broken.otf2") << "no archive";
  Options options;
  options.output = (folder_ / "out").string();
  options.replay = {(folder_ / "broken.otf2").string()};
  EXPECT_EQ(replay(options), kIncomplete);
  options.replay = {(folder_ / "missing.otf2").string()};
  EXPECT_EQ(replay(options), kIncomplete);
  options.replay = {(folder_ / "broken.otf2").string(), (folder_ / "packs").string()};
  EXPECT_EQ(replay(options), kIncomplete);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(ReplayTest, ATruncatedFileIsReadToItsLastWholePack) {
  const auto paths = capture_two_programs();
  const auto file = folder_ / "packs" / "0.0";
  fs::resize_file(file, fs::file_size(file) - 40);
  const auto capture = read_capture(paths);
  ASSERT_THAT(capture.complaints, SizeIs(1));
  EXPECT_THAT(capture.complaints[0], HasSubstr("0.0"));
  EXPECT_THAT(capture.programs, SizeIs(2));
}

TEST_F(ReplayTest, NoPacksAtAllIsToldAndNothingIsWritten) {
  std::ofstream(folder_ / "packs" / "x") << "no pack";
  Options options;
  options.replay = {(folder_ / "packs").string(), "/no/such/file"};
  options.output = (folder_ / "out").string();
  EXPECT_EQ(replay(options), kIncomplete);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

// A few bytes may claim that a program has a million ranks, each of which takes memory.
TEST_F(ReplayTest, RanksThatNoFileHasAreBounded) {
  const auto path = folder_ / "packs" / "one";
  const auto complaints_of = [&](std::uint32_t ranks, std::uint32_t world_ranks) {
    replay::PackMaker maker({.rank = 0});
    instrument::ProcessDefinition process{};
    process.ranks = ranks;
    process.world_size = world_ranks;
    maker.define(process, std::string_view("program"), std::string_view("program"), std::string_view("host"),
                 std::string_view("/"));
    maker.finish();
    fs::remove(path);
    instrument::PackFileWriter writer(path);
    for (auto& pack : maker.take()) EXPECT_TRUE(writer.write(pack.bytes()));
    const auto capture = read_capture({path.string()});
    EXPECT_EQ(capture.programs.size(), capture.complaints.empty() ? 1u : 0u);
    return capture.complaints;
  };
  EXPECT_THAT(complaints_of(1024, 1024), IsEmpty());
  EXPECT_THAT(complaints_of(1025, 1025), ElementsAre(HasSubstr("have 1,025 ranks")));
  EXPECT_THAT(complaints_of(1u << 20, 1u << 20), SizeIs(1));
  EXPECT_THAT(complaints_of(1, 1u << 20), ElementsAre(HasSubstr("have 1,048,576 ranks"))) << "of their world";
}

TEST_F(ReplayTest, AFolderThatCannotBeMadeIsTold) {
  Options options;
  options.replay = capture_two_programs();
  std::ofstream(folder_ / "file") << "in the way";
  options.output = (folder_ / "file" / "out").string();
  options.render = false;
  options.quiet = true;
  EXPECT_EQ(replay(options), kIncomplete);
}

// A knowledge source that fails at every pack.
class Failing final : public knowledge_sources::Analysis {
 public:
  explicit Failing(const knowledge_sources::AnalysisContext& context) : level_(context.level) {}
  void attach(knowledge_sources::LevelSources& sources) override {
    sources.add(
        {"failing@" + level_,
         {blackboard::entry_type(level_, knowledge_sources::kMpiEvents)},
         [](const blackboard::Context&, std::span<blackboard::EntryRef>) { throw std::runtime_error("on purpose"); }});
  }
  [[nodiscard]] std::vector<std::byte> partial() const override { throw std::runtime_error("no partial result"); }
  void absorb(std::span<const std::byte>) override {}
  void contribute(const knowledge_sources::Resolver&, reports::Application&) const override {
    throw std::runtime_error("nothing to say");
  }

 private:
  std::string level_;
};

TEST_F(ReplayTest, AThrowingKnowledgeSourceCostsItsOwnPartOnly) {
  auto capture = read_capture(capture_two_programs());
  const auto without = reports::profile_from_json(profile(capture, 1, 1));
  auto analyses = load_plugins(ARDOISE_PLUGIN_DIR, {}).analyses;
  analyses.push_back({"failing", &knowledge_sources::create_analysis<Failing>});
  AnalyzerRun root({.workers = 2, .analyses = analyses});
  AnalyzerRun other({.workers = 2, .analyses = analyses});
  for (auto* each : {&root, &other}) {
    for (const auto& program : capture.programs) each->add_program(program);
    feed(capture, *each, each == &root ? 0 : 1, 2);
    each->drain();
  }
  root.absorb(other.partial());
  ASSERT_THAT(root.complaints(), Not(IsEmpty()));
  EXPECT_THAT(root.complaints()[0], HasSubstr("failing@"));
  EXPECT_THAT(root.complaints()[0], HasSubstr("on purpose"));
  reports::Run run;
  root.contribute(run);
  ASSERT_THAT(run.applications, SizeIs(2));
  EXPECT_EQ(run.applications[0].mpi.size(), without.value->applications[0].mpi.size());
  EXPECT_EQ(run.applications[0].edges.size(), without.value->applications[0].edges.size());
}

TEST_F(ReplayTest, MalformedPartialResultsAreAComplaint) {
  AnalyzerRun run({});
  const std::vector<std::byte> garbage(57, std::byte{0xAB});
  run.absorb(garbage);
  run.absorb({});
  EXPECT_THAT(run.complaints(), Not(IsEmpty()));
}

}  // namespace
}  // namespace ardoise::analyzer

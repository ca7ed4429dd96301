// Slow knowledge sources and a full blackboard: no entry is lost, and ingest stops instead.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <thread>

#include "analyzer/run/ingest.hpp"
#include "analyzer/run/plugins.hpp"
#include "knowledge_sources/otf2/writer/trace_archive.hpp"
#include "replay/printed_trace.hpp"
#include "replay/synthetic.hpp"
#include "reports/model_json.hpp"

namespace ardoise::analyzer {
namespace {

namespace fs = std::filesystem;
namespace ks = knowledge_sources;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Called first by every operation of the knowledge source below. Set while no operation runs.
std::function<void(const blackboard::Context&, const instrument::PackHeader&)> slow_down;

class Slow final : public ks::Analysis {
 public:
  explicit Slow(const ks::AnalysisContext& context) : level_(context.level) {}
  void attach(ks::LevelSources& sources) override {
    take<ks::MpiSpan>(sources, ks::kMpiEvents);
    take<ks::PosixSpan>(sources, ks::kPosixEvents);
    take<ks::DefinitionSpan>(sources, ks::kDefinitions);
  }
  void contribute(const ks::Resolver&, reports::Application&) const override {}

 private:
  template <class SpanOfRecords>
  void take(ks::LevelSources& sources, std::string_view entry) {
    sources.add({"slow@" + level_, {blackboard::entry_type(level_, entry)}, [](const auto& context, const auto& spans) {
                   if (slow_down) slow_down(context, *spans[0].template as<SpanOfRecords>().header);
                 }});
  }
  std::string level_;
};

// The packs of each rank in their order, interleaved at random.
class MixedPacks final : public PackSource {
 public:
  MixedPacks(std::vector<std::vector<replay::Pack>>& ranks, std::mt19937& random) : ranks_(ranks), random_(random) {
    next_.resize(ranks.size());
  }
  Next next(SourcedPack& pack) override {
    std::vector<std::size_t> left;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (next_[rank] < ranks_[rank].size()) left.push_back(rank);
    }
    if (left.empty()) return Next::end;
    const std::size_t rank = left[random_() % left.size()];
    pack = {ranks_[rank][next_[rank]++].writable(), [](void*, std::span<std::byte>) noexcept {}, nullptr};
    return Next::pack;
  }
  std::vector<std::string> complaints() const override { return {}; }

 private:
  std::vector<std::vector<replay::Pack>>& ranks_;
  std::mt19937& random_;
  std::vector<std::size_t> next_;
};

std::vector<std::vector<replay::Pack>> packs_of(const replay::SyntheticProgram& program) {
  std::vector<std::vector<replay::Pack>> packs;
  const instrument::RankRange all{0, program.ranks, 1};
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    replay::PackMaker world({.rank = rank, .origin_tick = replay::synthetic_origin(rank)});
    world.define(instrument::CommunicatorDefinition{instrument::kWorldComm, instrument::CommunicatorKind::kIntra, 5, 0,
                                                    program.ranks, rank, 0, 1, 0, 0, 1},
                 std::span(&all, 1), std::string_view("MPI_COMM_WORLD"));
    world.flush();
    auto& of_rank = packs.emplace_back(world.take());
    for (auto& pack : replay::synthetic_packs(program, rank)) of_rank.push_back(std::move(pack));
  }
  return packs;
}

class FullBoard : public ::testing::Test {
 protected:
  struct Result {
    std::string profile;
    std::vector<std::string> notices;
    std::map<std::string, std::uint64_t> traced;  // calls
  };
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("full_board_" + std::to_string(::getpid()) + "_" +
                                                ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    slow_down = nullptr;
    fs::remove_all(folder_);
  }

  Result run(
      const replay::SyntheticProgram& program, const std::string& selection, unsigned workers, std::size_t memory_bytes,
      const std::function<void(std::vector<std::vector<replay::Pack>>&)>& change = [](auto&) {}) {
    ks::TraceArchive archive(folder_);
    Result result;
    archive.begin([&](const std::string& sentence) { result.notices.push_back(sentence); });
    auto analyses = load_plugins(ARDOISE_PLUGIN_DIR, {}).analyses;
    analyses.insert(analyses.begin(), {"slow", [](const ks::AnalysisContext& context) {
                                         return std::unique_ptr<ks::Analysis>(new Slow(context));
                                       }});
    AnalyzerRun run({.workers = workers,
                     .memory_bytes = memory_bytes,
                     .analyses = std::move(analyses),
                     .traces = archive.settings(selection)});
    const ks::Program described{.name = "program", .ranks = program.ranks};
    archive.add_program(described);
    run.add_program(described);
    auto packs = packs_of(program);
    change(packs);
    MixedPacks source(packs, random_);
    EventLoop loop;
    ingest(loop, source, run);
    run.finish();
    reports::Run model;
    run.contribute(model);
    const auto finished = archive.finish();
    result.notices.insert(result.notices.end(), finished.notices.begin(), finished.notices.end());
    result.notices.insert(result.notices.end(), model.notices.begin(), model.notices.end());
    result.profile = reports::profile_to_json(model);
    result.traced = replay::PrintedTrace(folder_ / "trace" / "traces.otf2").calls();
    fs::remove_all(folder_ / "trace");
    return result;
  }

  std::mt19937 random_{20};
  fs::path folder_;
};

// The analysis continues and reports it.
TEST_F(FullBoard, APackThatIsMissingIsGivenUp) {
  const replay::SyntheticProgram program{.ranks = 2, .steps = 600, .records_per_pack = 40};
  const Result result = run(program, "all", 2, 64u << 10, [](std::vector<std::vector<replay::Pack>>& packs) {
    const auto lost = std::ranges::find_if(packs[1], [](replay::Pack& pack) {
      return pack.header().pack_class == static_cast<std::uint16_t>(instrument::PackClass::kMpi) &&
             pack.header().order == 7;
    });
    packs[1].erase(lost);
  });
  EXPECT_THAT(result.notices, Contains(HasSubstr("calls of packs that did not arrive, in gaps (1)")));
  EXPECT_LT(result.traced.at("MPI_Allreduce"), 2u * program.steps);
  EXPECT_GE(result.traced.at("MPI_Allreduce"), 2u * program.steps - 40);
}

TEST_F(FullBoard, NumbersAreThoseOfABoardWithRoomWhateverIsSlow) {
  const replay::SyntheticProgram program{.ranks = 5, .steps = 1500, .records_per_pack = 40};
  slow_down = nullptr;
  const Result expected = run(program, "all", 1, 256u << 20);
  EXPECT_THAT(expected.notices, IsEmpty());
  for (int round = 0; round < 8; ++round) {
    SCOPED_TRACE(round);
    std::atomic<unsigned> state = static_cast<unsigned>(random_());
    const unsigned one_in = 5 + static_cast<unsigned>(random_() % 300);
    slow_down = [&](const blackboard::Context&, const instrument::PackHeader&) {
      std::minstd_rand lot(state.fetch_add(1));
      (void)lot();
      if (lot() % one_in == 0) std::this_thread::sleep_for(std::chrono::microseconds(lot() % 4000));
    };
    const Result result =
        run(program, "all", 1 + static_cast<unsigned>(random_() % 4), std::size_t{1} << (20 + random_() % 3));
    EXPECT_THAT(result.notices, IsEmpty());
    EXPECT_EQ(result.traced, expected.traced);
    EXPECT_EQ(result.profile, expected.profile);
  }
}

}  // namespace
}  // namespace ardoise::analyzer

// Partial results that were truncated or changed on their way cause BadPartial or other numbers, never worse. After
// BadPartial nothing was added.
#include <random>

#include "fixture.hpp"
#include "knowledge_sources/reduction/level_resolver.hpp"
#include "replay/synthetic.hpp"
#include "reports/model_json.hpp"

namespace ardoise::knowledge_sources {
namespace {

blackboard::Options on_this_thread() {
  blackboard::Options options;
  options.workers = 0;
  return options;
}

// One analyzer with everything in it.
class Filled {
 public:
  explicit Filled(std::vector<AnalysisFactory> factories = replay::load_plugins())
      : reduction_(board_, std::move(factories)) {
    const replay::SyntheticProgram program{.ranks = 8, .steps = 3, .samples = 5};
    level_ = &reduction_.add_program({0, "synthetic", program.ranks});
    for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
      for (auto& pack : replay::synthetic_packs(program, rank)) {
        board_.submit(blackboard::adopt_entry(
            Reduction::pack_type(), pack.writable(), [](void*, auto) noexcept {}, nullptr));
        board_.drain();
      }
    }
  }
  Level& level() { return *level_; }
  Reduction& reduction() { return reduction_; }
  std::string json() {
    reports::Run run;
    reduction_.contribute(run);
    return reports::profile_to_json(run);
  }

 private:
  blackboard::Blackboard board_{on_this_thread()};
  Reduction reduction_;
  Level* level_;
};

TEST(Partial, EveryTruncationOfTheWholeIsRefusedAndAddsNothing) {
  Filled filled;
  const auto bytes = filled.reduction().partial();
  const std::string before = filled.json();
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::size_t size = i < 100 ? static_cast<std::size_t>(i) : random() % bytes.size();
    EXPECT_THROW(filled.reduction().absorb(std::span(bytes).first(size)), BadPartial) << size;
  }
  EXPECT_EQ(filled.json(), before);
}

TEST(Partial, AnotherNumberOfRanksIsRefused) {
  Filled filled;
  blackboard::Blackboard board(on_this_thread());
  Reduction other(board, replay::load_plugins());
  other.add_program({0, "synthetic", 9});
  EXPECT_THROW(other.absorb(filled.reduction().partial()), BadPartial);
}

// Each analysis by itself: its own bytes, cut and changed.
class PartialOf : public testing::TestWithParam<std::string> {};

TEST_P(PartialOf, SurvivesChangedBytes) {
  const auto factories = replay::load_plugins({GetParam()});
  const AnalysisContext context{"level", 0, 8, 1e9};
  blackboard::Blackboard board(on_this_thread());
  const auto filled = factories[0].create(context);
  LevelSources sources(board);
  filled->attach(sources);
  const replay::SyntheticProgram program{.ranks = 8, .steps = 3, .samples = 5};
  for (std::uint32_t rank = 0; rank < program.ranks; ++rank) {
    for (auto& pack : replay::synthetic_packs(program, rank)) {
      const auto view = *instrument::check_pack(pack.bytes()).pack;
      const auto submit = [&]<class Record>(std::string_view name, std::span<const Record> records) {
        board.submit(blackboard::make_entry_of(blackboard::entry_type("level", name),
                                               Span<Record>{blackboard::EntryRef(), &view.header(), records}));
        board.drain();
      };
      if (view.pack_class() == instrument::PackClass::kMpi) submit(kMpiEvents, view.records<instrument::MpiRecord>());
      if (view.pack_class() == instrument::PackClass::kPosix)
        submit(kPosixEvents, view.records<instrument::PosixRecord>());
      if (view.pack_class() == instrument::PackClass::kSamples) submit(kSamples, view.payload());
      if (view.pack_class() == instrument::PackClass::kDefinitions) submit(kDefinitions, view.payload());
      if (view.pack_class() == instrument::PackClass::kContexts)
        submit(kContexts, view.records<instrument::ContextRecord>());
      if (view.pack_class() == instrument::PackClass::kContextTotals)
        submit(kContextTotals, view.records<instrument::ContextTotalsRecord>());
    }
  }
  const auto bytes = filled->partial();
  {
    const auto target = factories[0].create(context);
    LevelSources unused(board);
    target->attach(unused);
    target->absorb(bytes);
    EXPECT_EQ(target->partial().size(), bytes.size());
  }
  std::mt19937 random(2);
  for (int i = 0; i < 60 && !bytes.empty(); ++i) {
    const auto target = factories[0].create(context);
    LevelSources unused(board);
    target->attach(unused);
    const auto empty = target->partial();
    EXPECT_THROW(target->absorb(std::span(bytes).first(random() % bytes.size())), BadPartial);
    EXPECT_EQ(target->partial(), empty);
    auto longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_THROW(target->absorb(longer), BadPartial);
    auto changed = bytes;
    // Half of the changes near the begin, where the counts are.
    const std::size_t place =
        i % 2 == 0 ? random() % changed.size() : random() % std::min<std::size_t>(64, changed.size());
    changed[place] ^= static_cast<std::byte>(1u << random() % 8);
    try {
      target->absorb(changed);
      (void)target->partial();
    } catch (const BadPartial&) {
      EXPECT_EQ(target->partial(), empty);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PartialOf, testing::ValuesIn(replay::kAllPlugins),
                         [](const auto& parameter) { return parameter.param; });

TEST(Partial, AccountsAndDefinitionsSurviveChangedBytes) {
  Filled filled;
  const auto bytes = filled.level().partial();
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) {
    auto changed = bytes;
    // Accounts and definitions come first.
    changed[random() % std::min<std::size_t>(changed.size(), 8000)] ^= static_cast<std::byte>(1u << random() % 8);
    blackboard::Blackboard board(on_this_thread());
    Reduction target(board, replay::load_plugins());
    Level& level = target.add_program({0, "synthetic", 8});
    try {
      level.absorb(changed);
    } catch (const BadPartial&) {
    }
    reports::Application application;
    EXPECT_NO_THROW(level.contribute(*level.make_resolver(), application));
  }
}

}  // namespace
}  // namespace ardoise::knowledge_sources

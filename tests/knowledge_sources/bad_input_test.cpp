// Faulty packs and plug-ins affect only themselves.
#include <fmt/format.h>

#include "fixture.hpp"

namespace ardoise::knowledge_sources {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<replay::Pack> one_send(std::uint32_t partition = 0, std::uint32_t rank = 0) {
  PackMaker maker({.partition = partition, .rank = rank});
  maker.call(FunctionId::kSend, Shape::kSend, 2000, 100, 0, 0, 8);
  maker.finish();
  return maker.take();
}

TEST(BadInput, WhatIsNoPackIsRefused) {
  Session session({{0, "program", 1}});
  session.submit(one_send());
  auto bad = one_send();
  bad[0].header().magic = 7;
  session.submit(bad[0]);
  session.submit_bytes(one_send()[0].bytes().first(100));
  session.submit_bytes({});
  const auto run = session.finish();
  EXPECT_EQ(run.notices.size(), 3u);
  EXPECT_THAT(run.notices, Contains(HasSubstr("This is not an event pack")));
  EXPECT_EQ(find(run.applications.at(0).mpi, "MPI_Send").calls, 1u);
}

TEST(BadInput, APackOfAnotherTableIsRefused) {
  Session session({{0, "program", 1}});
  auto packs = one_send();
  for (auto& pack : packs) pack.header().table_hash ^= 1;
  session.submit(packs);
  const auto application = session.application();
  EXPECT_EQ(application.quality.bad_packs, 2u);
  EXPECT_THAT(application.quality.notices, Contains(HasSubstr("numbers the MPI functions differently")));
  EXPECT_TRUE(application.mpi.empty());
}

TEST(BadInput, APackOfNoKnownProgramOrRankIsRefused) {
  Session session({{0, "program", 2}});
  session.submit(one_send(5));
  session.submit(one_send(0, 2));
  const auto run = session.finish();
  EXPECT_THAT(run.notices, Contains(HasSubstr("its partition 5")));
  EXPECT_EQ(run.applications.at(0).quality.bad_packs, 2u);
  EXPECT_THAT(run.applications.at(0).quality.notices, Contains(HasSubstr("its rank is beyond the 2 ranks")));
}

TEST(BadInput, RefusedPacksOfAllAnalyzersAreCounted) {
  Session session({{0, "program", 1}}, 0, 2);
  auto packs = one_send();
  for (auto& pack : packs) pack.header().table_hash ^= 1;
  session.submit(packs, 1);
  session.submit_bytes({}, 1);
  const auto run = session.finish();
  EXPECT_EQ(run.applications.at(0).quality.bad_packs, 2u);
  EXPECT_EQ(run.notices.size(), 1u);
}

TEST(BadInput, FunctionNumbersBeyondTheTableHaveAName) {
  PackMaker maker({});
  maker.mpi({2000, 10, 1, 0, 0, 0, instrument::make_word(0, 1023, Shape::kLocal)});
  maker.flush();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_EQ(session.application().mpi.at(0).function, "function 1023");
}

TEST(BadInput, ExtensionsWithoutTheirRecordAreSkipped) {
  PackMaker maker({});
  for (std::uint32_t kind = 0; kind < 6; ++kind) {
    maker.mpi({~0u, ~0u, ~0u, -1, -1, ~0u, instrument::make_word(kind, 1023, Shape::kExtension)});
  }
  maker.flush();
  Session session({{0, "program", 1}});
  session.submit(maker.take());
  EXPECT_NO_THROW((void)session.finish());
}

TEST(BadInput, AProgramCanBeAddedOnce) {
  Session session({{4, "program", 1}});
  EXPECT_THROW(session.reduction().add_program({4, "other", 1}), std::invalid_argument);
}

// Throws at the chosen place.
enum class Fault { kCreate, kAttach, kPartial, kAbsorb, kContribute };
template <Fault fault>
class Faulty final : public Analysis {
 public:
  explicit Faulty(const AnalysisContext& context) : level_(context.level) { fail_at(Fault::kCreate); }
  void attach(LevelSources& sources) override {
    // Must not run after this object is destroyed.
    sources.add({"faulty",
                 {blackboard::entry_type(level_, kMpiEvents)},
                 [this](const blackboard::Context&, std::span<blackboard::EntryRef>) { level_ += "."; }});
    fail_at(Fault::kAttach);
  }
  std::vector<std::byte> partial() const override {
    fail_at(Fault::kPartial);
    return {};
  }
  void absorb(std::span<const std::byte>) override { fail_at(Fault::kAbsorb); }
  void contribute(const Resolver&, reports::Application&) const override { fail_at(Fault::kContribute); }

 private:
  static void fail_at(Fault here) {
    if (here == fault) throw std::runtime_error("out of cheese");
  }

  std::string level_;
};

template <Fault fault>
reports::Application with_fault() {
  auto factories = replay::load_plugins();
  factories.insert(factories.begin(), {"faulty", &create_analysis<Faulty<fault>>});
  Session session({{0, "program", 1}}, 0, 2, factories);
  session.submit(one_send(), 1);
  return session.application();
}

TEST(BadInput, AnAnalysisThatThrowsLosesItsOwnPartOnly) {
  for (const auto& application :
       {with_fault<Fault::kCreate>(), with_fault<Fault::kAttach>(), with_fault<Fault::kPartial>(),
        with_fault<Fault::kAbsorb>(), with_fault<Fault::kContribute>()}) {
    EXPECT_EQ(find(application.mpi, "MPI_Send").calls, 1u);
    EXPECT_THAT(application.quality.notices, Contains(testing::AllOf(HasSubstr("faulty"), HasSubstr("out of cheese"))));
  }
}

TEST(BadInput, AnAnalysisOnOneAnalyzerOnlyIsSaid) {
  blackboard::Options options;
  options.workers = 0;
  blackboard::Blackboard here(options), there(options);
  Reduction first(here, replay::load_plugins({"topology"})),
      second(there, replay::load_plugins({"topology", "temporal"}));
  first.add_program({0, "program", 1});
  second.add_program({0, "program", 1});
  first.absorb(second.partial());
  reports::Run run;
  first.contribute(run);
  EXPECT_THAT(run.applications.at(0).quality.notices, Contains(HasSubstr("temporal is on another analyzer but not")));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

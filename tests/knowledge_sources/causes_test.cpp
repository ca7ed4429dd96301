// Extra work of awaited ranks: from samples between calls to the model.
#include "knowledge_sources/plugins/waits/causes.hpp"

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "knowledge_sources/plugins/waits/latest_samples.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::ContextRecord;
using instrument::SampledExtension;
using instrument::Shape;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using namespace std::string_view_literals;

constexpr std::uint32_t kRelax = 1, kBoundary = 2, kRelaxCells = 3, kBoundaryCells = 4;  // contexts

TEST(RankPlaces, NumbersArePlacesAndNotSamples) {
  RankPlaces places;
  SampledExtension sample{};
  sample.context = 5;
  sample.pc_offset = 16;
  EXPECT_EQ(places.number_of(0, sample), 1u);
  sample.tick = 99;
  EXPECT_EQ(places.number_of(0, sample), 1u);
  sample.pc_offset = 17;
  EXPECT_EQ(places.number_of(0, sample), 2u);
  EXPECT_EQ(places.number_of(1, sample), 3u) << "contexts are a thread's own";
  EXPECT_EQ(places.places()[1].key.pc_offset, 17u);
  for (std::uint32_t context = 10; context < 10 + RankPlaces::kMost; ++context) {
    sample.context = context;
    (void)places.number_of(0, sample);
  }
  EXPECT_EQ(places.places().size(), RankPlaces::kMost);
  EXPECT_EQ(places.number_of(0, sample), 0u);
}

TEST(LatestSamples, AreDrawnByTheirWeight) {
  int of_second = 0;
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    LatestSamples samples;
    const double from = 1e6 * i;
    samples.add(from - 1, 1'000'000, 7);
    samples.add(from + 1, 3000, 1);
    samples.add(from + 2, 1000, 2);
    samples.add(from + 9, 1'000'000, 8);
    const std::uint32_t drawn = samples.draw(from, from + 5);
    ASSERT_TRUE(drawn == 1 || drawn == 2) << drawn;
    EXPECT_EQ(drawn, samples.draw(from, from + 5)) << "the same for the same question";
    of_second += drawn == 2 ? 1 : 0;
  }
  EXPECT_NEAR(of_second, kDraws / 4, 4 * std::sqrt(kDraws * 0.25 * 0.75));
  EXPECT_EQ(LatestSamples().draw(0, 1e9), 0u);
}

// Calls of one rank, with what it was sampled in before each.
class Rank {
 public:
  explicit Rank(std::uint32_t rank, std::uint32_t ranks) : maker_({.rank = rank}) {
    maker_.define(instrument::CommunicatorDefinition{instrument::kWorldComm, instrument::CommunicatorKind::kIntra, 77,
                                                     0, ranks, rank, 0, 1, 0, 0, 1},
                  std::span<const instrument::RankRange>(std::array{instrument::RankRange{0, ranks, 1}}), ""sv);
    const std::array contexts{ContextRecord{kRelax, 0, instrument::kPythonModule, 0, std::uint64_t{1} << 32},
                              ContextRecord{kBoundary, 0, instrument::kPythonModule, 0, std::uint64_t{2} << 32},
                              ContextRecord{kRelaxCells, 1, instrument::kPythonModule, 0, std::uint64_t{3} << 32},
                              ContextRecord{kBoundaryCells, 2, instrument::kPythonModule, 0, std::uint64_t{3} << 32}};
    maker_.contexts(0, contexts);
    maker_.define(instrument::PythonCodeDefinition{1, 11, 20, 0}, "relax"sv, "/s/heat.py"sv, ""sv);
    maker_.define(instrument::PythonCodeDefinition{2, 11, 50, 0}, "boundary"sv, "/s/heat.py"sv, ""sv);
    maker_.define(instrument::PythonCodeDefinition{3, 11, 80, 0}, "cells"sv, "/s/heat.py"sv, ""sv);
  }
  void computes(std::uint32_t context, std::uint64_t us) {
    now_ += 1000 * us;
    claims(context, 1000 * us);
  }
  void claims(std::uint32_t context, std::uint64_t weight) {
    maker_.mpi_extension(SampledExtension{
        now_, weight, context, 0, 0, 0, 0,
        instrument::make_word(static_cast<std::uint32_t>(instrument::ExtensionKind::kSampled), 0, Shape::kExtension)});
  }
  void sleeps(std::uint64_t us) { now_ += 1000 * us; }
  void calls(FunctionId function, Shape shape, std::uint64_t until_us, std::int32_t peer = -1) {
    const std::uint64_t begin = now_;
    now_ = std::max(begin + 100, 1000 * until_us);
    maker_.call(function, shape, begin, static_cast<std::uint32_t>(now_ - begin), peer, 0, 8);
  }
  void is_in_mpi(std::uint64_t us) { calls(FunctionId::kType_commit, Shape::kLocal, now_ / 1000 + us); }
  std::vector<replay::Pack> take() {
    maker_.finish();
    return maker_.take();
  }

 private:
  PackMaker maker_;
  std::uint64_t now_ = 1'000'000;
};

std::vector<std::pair<std::string, double>> causes_of(const reports::Waiting& waiting) {
  std::vector<std::pair<std::string, double>> result;
  for (const auto& cause : waiting.causes)
    result.emplace_back(cause.symbol.empty() ? cause.kind : cause.symbol, std::round(cause.seconds * 1e6));
  return result;
}

// Both relax for 100 us in each step; rank 1 is 40 us late because of `before`.
template <class Before>
reports::Waiting late_by(std::size_t analyzers, Before&& before, bool messages = false) {
  Rank early(0, 2), late(1, 2);
  for (std::uint64_t step = 1; step <= 10; ++step) {
    early.computes(kRelax, 100);
    late.computes(kRelax, 100);
    before(late);
    const std::uint64_t until = 1000 + 150 * step;
    if (messages) {
      early.calls(FunctionId::kRecv, Shape::kReceive, until, 1);
      late.calls(FunctionId::kSend, Shape::kSend, until, 0);
    } else {
      for (Rank* rank : {&early, &late}) rank->calls(FunctionId::kAllreduce, Shape::kCollective, until);
    }
  }
  Session session({{0, "program", 2}}, 0, analyzers);
  for (auto& pack : early.take()) session.submit(pack, 0);
  for (auto& pack : late.take()) session.submit(pack, 1 % analyzers);
  const auto waiting = session.application().waiting;
  EXPECT_NEAR(waiting.per_rank.caused_seconds[1], 10 * 40e-6, 1e-6);
  return waiting;
}

TEST(Causes, WorkOfOnlyTheAwaitedRankIsTheCause) {
  for (const bool messages : {false, true}) {
    for (const std::size_t analyzers : {1U, 2U}) {
      const auto waiting = late_by(
          analyzers, [](Rank& late) { late.computes(kBoundary, 40); }, messages);
      // One sample of two represents both: the sum is exact, the parts are random.
      double sum = 0;
      for (const auto& cause : waiting.causes) {
        EXPECT_EQ(cause.rank, 1u);
        sum += cause.seconds;
      }
      EXPECT_NEAR(sum, 400e-6, 1e-6);
    }
  }
}

TEST(Causes, WorkOfBothIsNoCause) {
  const auto waiting = late_by(1, [](Rank& late) { late.sleeps(40); });
  EXPECT_THAT(causes_of(waiting), ElementsAre(Pair("other", 400)));
}

TEST(Causes, TimeInMpiIsACauseOfItsOwn) {
  const auto waiting = late_by(2, [](Rank& late) { late.is_in_mpi(40); });
  EXPECT_THAT(causes_of(waiting), ElementsAre(Pair("mpi", 400)));
}

// In each step both spend 100 us in one place, and the late one 40 us in another.
reports::WaitCause main_cause_of_many(std::uint32_t in_both, std::uint32_t in_late) {
  constexpr std::uint64_t kSteps = 4000;
  Rank early(0, 2), late(1, 2);
  for (std::uint64_t step = 1; step <= kSteps; ++step) {
    for (Rank* rank : {&early, &late}) rank->computes(in_both, 100);
    late.computes(in_late, 40);
    for (Rank* rank : {&early, &late}) rank->calls(FunctionId::kAllreduce, Shape::kCollective, 1000 + 150 * step);
  }
  Session session({{0, "program", 2}});
  session.submit(early.take());
  session.submit(late.take());
  const auto waiting = session.application().waiting;
  if (waiting.causes.empty()) return {};
  const auto& first = waiting.causes[0];
  EXPECT_EQ(first.kind, "computation");
  EXPECT_LT(std::abs(first.seconds - kSteps * 40e-6), first.error);
  EXPECT_LT(first.error, 0.25 * first.seconds);
  return first;
}

TEST(Causes, SharesAreTrueOnTheAverage) {
  const auto first = main_cause_of_many(kRelax, kBoundary);
  EXPECT_EQ(first.symbol, "boundary");
  EXPECT_EQ(first.source_file, "/s/heat.py");
  EXPECT_EQ(first.line, 50u);
}

TEST(Causes, ACallerOnTheAwaitedRankAloneRepresentsItsCommonCallees) {
  const auto first = main_cause_of_many(kRelaxCells, kBoundaryCells);
  EXPECT_EQ(first.symbol, "boundary");
  EXPECT_EQ(first.line, 50u);
}

TEST(Causes, WeightsThatCannotBeDoNoHarm) {
  const auto waiting = late_by(2, [](Rank& late) {
    late.claims(kBoundary, ~std::uint64_t{0});
    late.claims(99, 0);
    late.sleeps(40);
  });
  for (const auto& cause : waiting.causes) EXPECT_LE(cause.seconds, 400e-6 * 1.001);
}

TEST(Causes, PartialResultsOfAnotherProgramAreRefused) {
  Causes causes(2), other(3);
  ByteWriter out;
  other.write(out);
  const auto bytes = out.take();
  ByteReader in(bytes, "causes");
  EXPECT_THROW(causes.read(in), std::exception);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

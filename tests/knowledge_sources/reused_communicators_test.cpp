// Communicators that are created and freed in a loop: their numbers are used again, and waits stay the same.
#include <map>
#include <random>

#include "fixture.hpp"
#include "knowledge_sources/plugins/waits/rank_calls.hpp"
#include "knowledge_sources/reduction/definition_store.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::CompletionRecord;
using instrument::make_word;
using instrument::MpiRecord;
using instrument::RankRange;
using namespace std::string_view_literals;

constexpr std::uint32_t kBoth = 2;

// Each rank creates communicators, uses each for one of these, and frees it. Its number is new or that of an earlier one.
enum class Use { kNothing, kSum, kMessages, kLateMessages, kWindow, kFile, kLateSum };

class FreeingProgram {
 public:
  FreeingProgram(std::uint32_t seed, bool reuses) : random_(seed), reuses_(reuses) {
    for (std::uint32_t rank = 0; rank < kBoth; ++rank) {
      PackMaker& maker = makers_.emplace_back(replay::Origin{.rank = rank}, 5);
      maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 1e-9, 0, 0}, "tsc"sv, "boot"sv);
    }
  }
  void run(std::uint32_t communicators) {
    for (std::uint32_t comm = 1; comm <= communicators; ++comm) use(comm, static_cast<Use>(random_() % 7));
  }
  [[nodiscard]] reports::Waiting waiting(std::uint32_t shuffle, std::size_t analyzers) {
    std::vector<replay::Pack> packs;
    for (PackMaker& maker : makers_) {
      maker.finish();
      for (auto& pack : maker.take()) packs.push_back(std::move(pack));
    }
    std::mt19937 order(shuffle);
    if (shuffle != 0) std::ranges::shuffle(packs, order);
    Session session({{0, "program", kBoth}}, 0, analyzers);
    for (auto& pack : packs) session.submit(pack, pack.header().rank % analyzers);
    return session.application().waiting;
  }

 private:
  void use(std::uint32_t nth, Use use) {
    constexpr std::uint32_t kReused = 3;
    const std::uint32_t comm = reuses_ ? 1 + nth % kReused : nth;
    const auto late = static_cast<std::uint32_t>(1 + random_() % 900);
    const std::int32_t window =
        instrument::window_tag(use == Use::kWindow ? windows_[comm]++ : 0U, instrument::WindowAct::kNone);
    for (std::uint32_t rank = 0; rank < kBoth; ++rank) {
      tick_ = 100'000 * nth + (rank == nth % kBoth ? late : 0);
      PackMaker& maker = makers_[rank];
      const RankRange all{0, kBoth, 1};
      maker.define(CommunicatorDefinition{comm, CommunicatorKind::kIntra, 77, comm, kBoth, rank, 0, 1, 0, 0, 1},
                   std::span(&all, 1), ""sv);
      const auto other = static_cast<std::int32_t>(1 - rank);
      std::uint64_t send = 0, receive = 0, sum = 0;
      if (use == Use::kWindow) call(maker, FunctionId::kWin_create, Shape::kWindow, -1, window, comm);
      if (use == Use::kFile) call(maker, FunctionId::kFile_open, Shape::kLocal, -1, 0, comm);
      if (use == Use::kMessages || use == Use::kLateMessages) {
        send = call(maker, FunctionId::kIsend, Shape::kSend, other, 3, comm);
        receive = call(maker, FunctionId::kIrecv, Shape::kPostReceive, other, 3, comm);
      }
      if (use == Use::kMessages) wait(maker, send, receive, other, comm);
      if (use == Use::kSum) call(maker, FunctionId::kAllreduce, Shape::kCollective, -1, 0, comm);
      if (use == Use::kLateSum) sum = call(maker, FunctionId::kIallreduce, Shape::kCollective, -1, 0, comm);
      call(maker, FunctionId::kComm_free, Shape::kLocal, -1, 0, comm);
      if (use == Use::kWindow) call(maker, FunctionId::kWin_fence, Shape::kWindow, -1, window, comm);
      if (use == Use::kFile) call(maker, FunctionId::kFile_write_all, Shape::kFileWrite, 0, 0, comm);
      if (use == Use::kLateMessages) wait(maker, send, receive, other, comm);
      if (use == Use::kLateSum) {
        call(maker, FunctionId::kWait, Shape::kCompletes, -1, 1, comm);
        maker.mpi_extension(
            CompletionRecord{sum, 0, 1, -1, 0, 0, make_word(comm, id(FunctionId::kIallreduce), Shape::kCompletion)});
      }
    }
  }
  std::uint64_t call(PackMaker& maker, FunctionId function, Shape shape, std::int32_t peer, std::int32_t tag,
                     std::uint32_t comm) {
    tick_ += 1000;
    maker.call(function, shape, tick_, 950, peer, tag, 8, 1 + id(function), comm);
    return tick_;
  }
  void wait(PackMaker& maker, std::uint64_t send, std::uint64_t receive, std::int32_t other, std::uint32_t comm) {
    call(maker, FunctionId::kWaitall, Shape::kCompletes, -1, 2, comm);
    maker.mpi_extension(
        CompletionRecord{send, 0, 1, -1, 0, 0, make_word(comm, id(FunctionId::kIsend), Shape::kCompletion)});
    maker.mpi_extension(
        CompletionRecord{receive, 0, 1, other, 3, 8, make_word(comm, id(FunctionId::kIrecv), Shape::kCompletion)});
  }

  std::mt19937 random_;
  bool reuses_;
  std::map<std::uint32_t, std::uint32_t> windows_;
  std::uint64_t tick_ = 0;
  std::vector<PackMaker> makers_;
};

TEST(ReusedCommunicators, AreWaitedOnAsNewOnes) {
  std::uint64_t calls = 0, messages = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    FreeingProgram fresh(seed, false), reused(seed, true);
    fresh.run(40);
    reused.run(40);
    const auto expected = fresh.waiting(0, 1), seen = reused.waiting(seed, 1 + seed % 2);
    ASSERT_EQ(seen.resolved_calls, expected.resolved_calls) << seed;
    ASSERT_EQ(seen.resolved_messages, expected.resolved_messages) << seed;
    ASSERT_EQ(seen.unresolved.collective_calls.incomplete, expected.unresolved.collective_calls.incomplete) << seed;
    ASSERT_EQ(seen.patterns.size(), expected.patterns.size()) << seed;
    for (std::size_t i = 0; i < seen.patterns.size(); ++i) {
      EXPECT_EQ(seen.patterns[i].pattern, expected.patterns[i].pattern);
      EXPECT_EQ(seen.patterns[i].occurrences, expected.patterns[i].occurrences);
      EXPECT_NEAR(seen.patterns[i].seconds, expected.patterns[i].seconds, 1e-12);
    }
    calls += seen.resolved_calls;
    messages += seen.resolved_messages;
  }
  EXPECT_GT(calls, 1000u);
  EXPECT_GT(messages, 1000u);
}

// All ranks define a communicator equally: 8 bytes for each of them.
TEST(Communicators, AreDefinedOnceForAllRanks) {
  constexpr std::uint32_t kMany = 50, kCommunicators = 2000;
  const auto bytes_of = [](std::uint32_t ranks) {
    AnalysisContext context{};
    context.ranks = kMany;
    DefinitionStore store(context);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      PackMaker maker({.rank = rank});
      const RankRange all{0, kMany, 1};
      for (std::uint32_t comm = 0; comm < kCommunicators; ++comm)
        maker.define(CommunicatorDefinition{comm, CommunicatorKind::kIntra, 77, comm, kMany, rank, 0, 1, 0, 0, 1},
                     std::span(&all, 1), ""sv);
      maker.finish();
      for (auto& pack : maker.take()) {
        if (pack.header().pack_class != static_cast<std::uint16_t>(instrument::PackClass::kDefinitions)) continue;
        store.add({{}, &pack.header(), pack.bytes().subspan(sizeof(instrument::PackHeader))});
      }
    }
    return store.partial().size();
  };
  const std::size_t of_one = bytes_of(1), of_all = bytes_of(kMany);
  EXPECT_GT(of_one, std::size_t{kCommunicators} * 16);
  EXPECT_LE(of_all - of_one, std::size_t{kCommunicators} * (kMany - 1) * 8 + kMany * 64);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

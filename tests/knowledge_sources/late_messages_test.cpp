// Late messages: in the wrong order or not, in calls that complete several operations, and the result for each call
// site.
#include <algorithm>
#include <array>

#include "fixture.hpp"
#include "knowledge_sources/plugins/waits/shared_calls.hpp"
#include "knowledge_sources/plugins/waits/wrong_order.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CompletionRecord;
using instrument::make_word;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A receive of rank 0 whose call begins at `begin`, of a message that was sent at `sent`.
struct Received {
  double begin, sent;
};
std::vector<std::pair<double, bool>> decided(const std::vector<Received>& receives,
                                             const std::vector<std::size_t>& order) {
  WrongOrder wrong_order;
  std::vector<std::pair<double, bool>> result;  // begin of the wait, and whether in the wrong order
  const auto use = [&](const Wait& wait) { result.emplace_back(wait.begin, wait.pattern == WaitPattern::kWrongOrder); };
  for (const std::size_t i : order) {
    Part send{}, receive{};
    send.posted = receives[i].sent;
    receive.begin = receives[i].begin;
    receive.order = static_cast<std::uint32_t>(i);
    Wait wait{};
    if (receives[i].sent > receives[i].begin) {
      wait.pattern = WaitPattern::kLateSender;
      wait.begin = receives[i].begin;
      wait.ns = static_cast<std::uint64_t>(receives[i].sent - receives[i].begin);
      wait.order = receive.order;
    }
    wrong_order.add({0, 0}, send, receive, wait.ns == 0 ? nullptr : &wait, use);
  }
  wrong_order.settle(use);
  std::ranges::sort(result);
  return result;
}

TEST(WrongOrder, AMessageThatWasThereIsReceivedLater) {
  const std::vector<Received> receives{{100, 150}, {200, 120}, {300, 350}, {400, 380}};
  const auto expected = ElementsAre(Pair(100, true), Pair(300, false));
  EXPECT_THAT(decided(receives, {0, 1, 2, 3}), expected);
  EXPECT_THAT(decided(receives, {3, 1, 2, 0}), expected);
  EXPECT_THAT(decided(receives, {1, 3, 0, 2}), expected);
}

TEST(WrongOrder, OnlyTheNextReceivesCountInWhateverOrderTheyBecomeKnown) {
  std::vector<Received> receives{{100, 150}};
  for (double begin = 200; receives.size() < 40; begin += 100) receives.push_back({begin, begin - 1});
  receives[WrongOrder::kAfter + 1].sent = 120;  // one too far
  std::vector<std::size_t> order(receives.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  EXPECT_THAT(decided(receives, order), ElementsAre(Pair(100, false)));
  receives[WrongOrder::kAfter].sent = 120;
  EXPECT_THAT(decided(receives, order), ElementsAre(Pair(100, true)));
  std::ranges::reverse(order);
  EXPECT_THAT(decided(receives, order), ElementsAre(Pair(100, true)));
}

// Two senders in turn: no message of one is known yet while all of the other are.
TEST(WrongOrder, OneSendersMessagesMayBecomeKnownLongBeforeTheOthers) {
  std::vector<Received> receives;
  std::vector<std::size_t> order;
  constexpr std::size_t kPairs = 10'000;
  for (std::size_t i = 0; i < kPairs; ++i) {
    const double begin = 100.0 * static_cast<double>(i);
    receives.push_back({begin, begin + 10});
    receives.push_back({begin + 50, i % 4 == 0 ? begin + 5 : begin + 20});
    order.push_back(2 * i);
  }
  for (std::size_t i = 0; i < kPairs; ++i) order.push_back(2 * i + 1);
  const auto result = decided(receives, order);
  ASSERT_EQ(result.size(), kPairs);
  for (std::size_t i = 0; i < kPairs; ++i) EXPECT_EQ(result[i].second, i % 4 == 0) << i;
}

TEST(WrongOrder, AReceiveThatNeverBecomesKnownHoldsUpABoundedNumber) {
  WrongOrder wrong_order;
  std::size_t told = 0;
  const auto use = [&](const Wait& wait) {
    ++told;
    EXPECT_EQ(wait.pattern, WaitPattern::kLateSender);
  };
  const auto add = [&](std::uint32_t rank, std::uint32_t number) {
    Part send{}, receive{};
    receive.begin = 100.0 * number;
    send.posted = receive.begin + 10;
    receive.order = number;
    Wait wait{};
    wait.pattern = WaitPattern::kLateSender;
    wait.begin = receive.begin;
    wait.ns = 10;
    wait.order = number;
    wrong_order.add({0, rank}, send, receive, &wait, use);
  };
  // The first one takes nearly all of the room, the second one the rest.
  for (const std::uint32_t rank : {0u, 1u}) {
    told = 0;
    for (std::uint32_t number = 1; number < 3 * WrongOrder::kMost / 2; ++number) add(rank, number);
    EXPECT_GT(told, WrongOrder::kMost / 3) << rank;
    add(rank, 0);  // too late, and reported at once
  }
  wrong_order.settle(use);
}

Wait of_call(WaitPattern pattern, std::uint32_t awaited, std::uint64_t ns) {
  Wait wait{};
  wait.pattern = pattern;
  wait.awaited = awaited;
  wait.ns = ns;
  wait.operations = 3;
  wait.call = 7;
  return wait;
}

TEST(SharedCalls, TheLongestWaitIsTheCallsAndOfEqualOnesTheLateSenders) {
  const auto result = [](std::uint64_t late_sender, std::uint64_t late_receiver) {
    std::array waits{of_call(WaitPattern::kLateSender, 1, late_sender),
                     of_call(WaitPattern::kLateReceiver, 1, late_receiver), of_call(WaitPattern::kLateSender, 2, 10)};
    std::optional<Wait> first;
    std::ranges::sort(waits, {}, &Wait::ns);
    do {
      SharedCalls calls;
      std::optional<Wait> done;
      for (const Wait& wait : waits) done = calls.add(wait);
      EXPECT_TRUE(done);
      if (first) {
        EXPECT_EQ(done->pattern, first->pattern);
      }
      first = done;
    } while (std::ranges::next_permutation(waits, {}, &Wait::ns).found);
    return std::pair(first->pattern, first->ns);
  };
  EXPECT_EQ(result(1000, 900), std::pair(WaitPattern::kLateSender, std::uint64_t{1000}));
  EXPECT_EQ(result(990, 1000), std::pair(WaitPattern::kLateSender, std::uint64_t{990}));
  EXPECT_EQ(result(500, 1000), std::pair(WaitPattern::kLateReceiver, std::uint64_t{1000}));
  EXPECT_EQ(result(0, 0), std::pair(WaitPattern::kLateSender, std::uint64_t{10}));
}

// Rank 0 starts `sends` messages of 2 KiB to rank 1 and completes them in one call, optionally beside a receive that
// need not wait; rank 1 receives each 5 ms later.
reports::Waiting of_short_sends(std::uint32_t sends, bool and_receives) {
  Session session({{0, "program", 2}});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PackMaker maker({.rank = rank});
    const instrument::RankRange all{0, 2, 1};
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 77, 0, 2, rank, 0, 1, 0, 0, 1},
        std::span(&all, 1), std::string_view(""));
    if (rank == 0) {
      for (std::uint32_t i = 0; i < sends; ++i)
        maker.call(FunctionId::kIsend, Shape::kSend, 10'000 + 1000 * i, 100, 1, 0, 2048);
      if (and_receives) maker.call(FunctionId::kIrecv, Shape::kPostReceive, 19'000, 100, 1, 1, 8);
      const auto operations = static_cast<std::int32_t>(sends + (and_receives ? 1 : 0));
      maker.call(FunctionId::kWaitall, Shape::kCompletes, 20'000, 6'000'000, -1, operations, 0);
      for (std::uint32_t i = 0; i < sends; ++i)
        maker.mpi_extension(CompletionRecord{10'000 + 1000 * i, 0, 1, -1, 0, 0,
                                             make_word(0, id(FunctionId::kIsend), Shape::kCompletion)});
      if (and_receives)
        maker.mpi_extension(
            CompletionRecord{19'000, 0, 1, 1, 1, 8, make_word(0, id(FunctionId::kIrecv), Shape::kCompletion)});
    } else {
      if (and_receives) maker.call(FunctionId::kSend, Shape::kSend, 5'000, 100, 0, 1, 8);
      for (std::uint32_t i = 0; i < sends; ++i)
        maker.call(FunctionId::kRecv, Shape::kReceive, 5'020'000 + 1000 * i, 100, 0, 0, 2048);
    }
    maker.finish();
    session.submit(maker.take());
  }
  return session.application().waiting;
}

TEST(ShortSends, AreWaitedForWhereNothingElseIs) {
  for (const std::uint32_t sends : {1U, 2U, 5U}) {
    const auto waiting = of_short_sends(sends, false);
    ASSERT_EQ(waiting.patterns.size(), 1u);
    EXPECT_EQ(waiting.patterns[0].pattern, "late_receiver");
    EXPECT_EQ(waiting.patterns[0].occurrences, 1u);
    EXPECT_NEAR(waiting.patterns[0].seconds, 5e-3 + 1e-6 * (sends - 1), 1e-9);
  }
  EXPECT_THAT(of_short_sends(2, true).patterns, IsEmpty());
}

// In a large group only its first rank defines the ranks of the program in it.
TEST(LateMessages, MeetAlsoWhereOnlyOneRankKnowsTheGroup) {
  Session session({{0, "program", 3}}, 0, 2);
  const std::array<instrument::RankRange, 2> members{{{2, 1, 1}, {0, 1, 1}}};
  for (const std::uint32_t rank : {0U, 2U}) {
    const bool is_first = rank == 2;
    PackMaker maker({.rank = rank});
    maker.define(instrument::CommunicatorDefinition{1, instrument::CommunicatorKind::kIntra, 77, 0, 2,
                                                    is_first ? 0U : 1U, 0, 2, 0, 0, is_first ? 2U : 0U},
                 std::span(members).first(is_first ? 2 : 0), std::string_view(""));
    if (is_first) {
      maker.call(FunctionId::kSend, Shape::kSend, 2'000'000, 100, 1, 5, 8, 1, 1);
    } else {
      maker.call(FunctionId::kRecv, Shape::kReceive, 1'000'000, 1'500'000, 0, 5, 8, 1, 1);
    }
    maker.finish();
    session.submit(maker.take(), rank / 2);
  }
  const auto waiting = session.application().waiting;
  ASSERT_EQ(waiting.edges.size(), 1u);
  EXPECT_EQ(waiting.edges[0].waiter, 0u);
  EXPECT_EQ(waiting.edges[0].awaited, 2u);
  EXPECT_NEAR(waiting.edges[0].seconds, 1e-3, 1e-9);
}

TEST(WaitSites, TellWhoWaitsAndForWhom) {
  Session session({{0, "program", 4}}, 0, 2);
  const instrument::RankRange all{0, 4, 1};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    PackMaker maker({.rank = rank});
    maker.define(
        instrument::CommunicatorDefinition{0, instrument::CommunicatorKind::kIntra, 77, 0, 4, rank, 0, 1, 0, 0, 1},
        std::span(&all, 1), std::string_view(""));
    for (std::uint32_t step = 0; step < 3; ++step) {
      const std::uint32_t late = step == 2 ? 3 : 1;
      const std::uint64_t begin = 1'000'000 * (step + 1) + (rank == late ? 500'000 : 1000 * rank);
      maker.call(FunctionId::kBcast, Shape::kRooted, begin, static_cast<std::uint32_t>(900'000 - begin % 1'000'000),
                 static_cast<std::int32_t>(late), 8, 8);
    }
    maker.finish();
    session.submit(maker.take(), rank % 2);
  }
  const auto waiting = session.application().waiting;
  ASSERT_EQ(waiting.call_sites.size(), 1u);
  const reports::WaitSite& site = waiting.call_sites[0];
  EXPECT_EQ(site.waiters, 4u);
  EXPECT_EQ(site.first_waiter, 0u);
  EXPECT_EQ(site.last_waiter, 3u);
  EXPECT_EQ(site.awaited, 1u);
  EXPECT_NEAR(site.awaited_seconds, 2 * (1.5e-3 - 5e-6), 1e-9);
  EXPECT_EQ(site.longest.awaited, 1u);
  EXPECT_NEAR(site.longest.seconds, 500e-6, 1e-9);
  EXPECT_NEAR(site.longest.begin_seconds, 999e-6, 1e-9) << "of rank 0, in the first step";
  // When: half of each millisecond, but for the awaited rank.
  double sum = 0;
  for (const double seconds : waiting.over_time.seconds) sum += seconds;
  EXPECT_NEAR(sum, site.waiting_seconds, 1e-9);
  EXPECT_EQ(waiting.over_time.groups, 4u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

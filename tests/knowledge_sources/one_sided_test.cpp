// Waiting in one-sided synchronisation: epochs of windows and their locks, from packs in any order, over several
// analyzers.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "tests/rounds.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::ExtensionKind;
using instrument::GroupExtension;
using instrument::RankRange;
using instrument::WindowAct;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::string_view_literals;

// A program with ranks that act as a test describes, in microseconds since its start.
class Ranks {
 public:
  explicit Ranks(std::uint32_t ranks) {
    makers_.reserve(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      PackMaker& maker = makers_.emplace_back(replay::Origin{.rank = rank}, 3);
      const std::vector<RankRange> all{{0, ranks, 1}};
      maker.define(
          CommunicatorDefinition{instrument::kWorldComm, CommunicatorKind::kIntra, 77, 0, ranks, rank, 0, 1, 0, 0, 1},
          std::span<const RankRange>(all), ""sv);
      maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 1e-9, 0, 0}, "tsc"sv, "boot"sv);
    }
  }

  // Windows are numbered; peer: -1 is none.
  void call(std::uint32_t rank, FunctionId function, double begin, double end, std::int32_t peer = -1,
            WindowAct act = WindowAct::kNone) {
    const Shape shape = function == FunctionId::kPut ? Shape::kPut : Shape::kWindow;
    makers_[rank].call(function, shape, ticks(begin), static_cast<std::uint32_t>(ticks(end) - ticks(begin)), peer,
                       instrument::window_tag(window, act), 0, 1 + id(function));
  }
  void open(std::uint32_t rank, FunctionId function, double begin, double end, const std::vector<int>& group) {
    call(rank, function, begin, end);
    const auto word =
        instrument::make_word(static_cast<std::uint32_t>(ExtensionKind::kGroup), id(function), Shape::kExtension);
    for (std::size_t i = 0; i < group.size(); i += GroupExtension::kMost) {
      GroupExtension some{{}, static_cast<std::uint32_t>(std::min<std::size_t>(group.size() - i, 6)), word};
      std::copy_n(group.begin() + static_cast<std::ptrdiff_t>(i), some.count, some.ranks);
      makers_[rank].mpi_extension(some);
    }
  }
  void lock(std::uint32_t rank, double begin, double end, WindowAct act, std::int32_t target = 0) {
    call(rank, FunctionId::kWin_lock, begin, end, target, act);
  }
  void unlock(std::uint32_t rank, double begin, double end, std::int32_t target = 0) {
    call(rank, FunctionId::kWin_unlock, begin, end, target);
  }
  void put(std::uint32_t rank, double begin, double end, std::int32_t target = 0) {
    call(rank, FunctionId::kPut, begin, end, target);
  }

  // The result of one and of several analyzers, in any order of packs, always the same. folded: a rank's packs from
  // this one on.
  reports::Waiting waiting(std::uint32_t folded_rank = 99, std::uint64_t folded_from = 0) {
    std::vector<replay::Pack> packs;
    for (PackMaker& maker : makers_) {
      maker.finish();
      for (auto& pack : maker.take()) packs.push_back(std::move(pack));
    }
    for (auto& pack : packs) {
      if (pack.header().rank == folded_rank && pack.header().order >= folded_from &&
          pack.header().pack_class == static_cast<std::uint16_t>(instrument::PackClass::kMpi))
        pack.header().flags |= instrument::kFolded;
    }
    const auto ranks = static_cast<std::uint32_t>(makers_.size());
    reports::Waiting first;
    std::mt19937 random(7);
    for (std::size_t round = 0; round < 9; ++round) {
      const std::size_t analyzers = 1 + round % 3;
      if (round != 0) std::ranges::shuffle(packs, random);
      Session session({{0, "program", ranks}}, 0, analyzers);
      for (auto& pack : packs) session.submit(pack, pack.header().rank % analyzers);
      const auto application = session.application();
      expect_all_in_snapshots(application);
      auto waiting = application.waiting;
      if (round == 0) {
        first = std::move(waiting);
      } else {
        EXPECT_EQ(in_words(waiting), in_words(first)) << analyzers << " analyzers";
      }
    }
    return first;
  }

  // The profile over time has the same waits, also for locks, which are evaluated at the end.
  static void expect_all_in_snapshots(const reports::Application& application) {
    double all = 0, in_intervals = 0;
    for (const auto& site : application.waiting.call_sites) all += site.waiting_seconds;
    if (const auto* const series = reports::find_series(application.snapshots, "timer")) {
      for (const auto& calls : series->calls)
        in_intervals = std::accumulate(calls.waiting_seconds.begin(), calls.waiting_seconds.end(), in_intervals);
    }
    EXPECT_NEAR(in_intervals, all, 1e-12);
  }

  // "late_post MPI_Win_start 7 us, 1 times", by pattern and function.
  static std::vector<std::string> in_words(const reports::Waiting& waiting) {
    std::vector<std::string> words;
    for (const auto& site : waiting.call_sites)
      words.push_back(site.pattern + " " + site.function + " " + us(site.waiting_seconds) + " x" +
                      std::to_string(site.occurrences));
    for (const auto& edge : waiting.edges)
      words.push_back(std::to_string(edge.waiter) + " for " + std::to_string(edge.awaited) + " " + us(edge.seconds));
    const auto& unresolved = waiting.unresolved.collective_calls;
    if (const auto all = unresolved.folded + unresolved.incomplete + unresolved.beyond_memory + unresolved.other;
        all != 0)
      words.push_back("unresolved " + std::to_string(unresolved.folded) + " " + std::to_string(unresolved.incomplete));
    std::ranges::sort(words);
    return words;
  }

  std::uint32_t window = 0;  // of the calls that follow

 private:
  static std::uint64_t ticks(double us) { return 1000 + static_cast<std::uint64_t>(us * 1000); }
  static std::string us(double seconds) { return std::to_string(std::lround(seconds * 1e6)); }
  std::vector<PackMaker> makers_;
};

std::vector<std::string> words_of(Ranks& ranks) { return Ranks::in_words(ranks.waiting()); }

TEST(LatePost, AnOriginWaitsForTheLastOfItsTargets) {
  Ranks ranks(3);
  ranks.open(0, FunctionId::kWin_start, 10, 81, {1, 2});
  ranks.put(0, 82, 83, 1);
  ranks.call(0, FunctionId::kWin_complete, 84, 85);
  for (const auto& [target, at] : {std::pair(1u, 50.0), {2u, 80.0}}) {
    ranks.open(target, FunctionId::kWin_post, at, at + 1, {0});
    ranks.call(target, FunctionId::kWin_wait, 90, 91);
  }
  const auto waiting = ranks.waiting();
  EXPECT_THAT(Ranks::in_words(waiting), ElementsAre("0 for 2 70", "late_post MPI_Win_start 70 x1"));
  EXPECT_EQ(waiting.resolved_calls, 4u) << "two halves for each target";
}

TEST(LatePost, IsChargedToTheCallInWhichTheOriginIsWhenTheTargetComes) {
  for (const auto& [function, post, waited] : {std::tuple("MPI_Put", 35.0, 15), {"MPI_Win_complete", 70.0, 20}}) {
    Ranks ranks(2);
    ranks.open(0, FunctionId::kWin_start, 10, 11, {1});
    ranks.put(0, 20, post < 40 ? 36 : 21, 1);
    ranks.put(0, 37, 40, 1);
    ranks.call(0, FunctionId::kWin_complete, 50, 71);
    ranks.open(1, FunctionId::kWin_post, post, post + 1, {0});
    ranks.call(1, FunctionId::kWin_wait, 80, 81);
    EXPECT_THAT(words_of(ranks),
                ElementsAre("0 for 1 " + std::to_string(waited),
                            std::string("late_post ") + function + " " + std::to_string(waited) + " x1"));
  }
}

TEST(LatePost, AnOriginThatWorkedMeanwhileHasNotWaited) {
  Ranks ranks(2);
  ranks.open(0, FunctionId::kWin_start, 10, 11, {1});
  ranks.call(0, FunctionId::kWin_complete, 50, 51);
  ranks.open(1, FunctionId::kWin_post, 30, 31, {0});
  ranks.call(1, FunctionId::kWin_wait, 60, 61);
  EXPECT_THAT(words_of(ranks), IsEmpty());
}

void end_early(Ranks& ranks, FunctionId how, WindowAct act) {
  ranks.open(0, FunctionId::kWin_post, 1, 2, {1, 2});
  ranks.call(0, FunctionId::kWin_test, 5, 6);
  ranks.call(0, how, 10, 101, -1, act);
  for (const auto& [origin, put, complete] : {std::tuple(1u, 30.0, 95.0), {2u, 60.0, 90.0}}) {
    ranks.open(origin, FunctionId::kWin_start, 3, 4, {0});
    ranks.put(origin, put - 1, put);
    ranks.call(origin, FunctionId::kWin_complete, complete, complete + 1);
  }
}

TEST(EarlyWait, LastsUntilTheLastOperationOfTheLastOrigin) {
  Ranks ranks(3);
  end_early(ranks, FunctionId::kWin_wait, WindowAct::kNone);
  EXPECT_THAT(words_of(ranks),
              ElementsAre("0 for 1 85", "early_wait MPI_Win_wait 20 x1", "late_complete MPI_Win_wait 65 x1"))
      << "rank 1 completed last";
}

TEST(EarlyWait, TestsWaitForNothing) {
  Ranks ranks(3);
  end_early(ranks, FunctionId::kWin_test, WindowAct::kEnded);
  const auto waiting = ranks.waiting();
  EXPECT_THAT(Ranks::in_words(waiting), IsEmpty());
  EXPECT_EQ(waiting.resolved_calls, 4u);
}

TEST(EarlyWait, AnOriginWithoutOperationsCouldHaveCompletedAtOnce) {
  Ranks ranks(2);
  ranks.open(0, FunctionId::kWin_post, 1, 2, {1});
  ranks.call(0, FunctionId::kWin_wait, 10, 51);
  ranks.open(1, FunctionId::kWin_start, 3, 4, {0});
  ranks.call(1, FunctionId::kWin_complete, 50, 51);
  EXPECT_THAT(words_of(ranks), ElementsAre("0 for 1 40", "late_complete MPI_Win_wait 40 x1"));
}

TEST(Epochs, WindowsOfOneCommunicatorAreApart) {
  Ranks ranks(2);
  for (const std::uint32_t window : {1u, 0u}) {
    ranks.window = window;
    ranks.open(0, FunctionId::kWin_start, 10 + window, 10.5 + window, {1});
    ranks.open(1, FunctionId::kWin_post, window == 1 ? 2 : 60, window == 1 ? 3 : 61, {0});
  }
  for (const std::uint32_t window : {0u, 1u}) {
    ranks.window = window;
    ranks.call(0, FunctionId::kWin_complete, 40 + 100 * window, 70 + 100 * window);
    ranks.call(1, FunctionId::kWin_wait, 80 + 100 * window, 81 + 100 * window);
  }
  EXPECT_THAT(words_of(ranks), ElementsAre("0 for 1 20", "late_post MPI_Win_complete 20 x1"));
}

// Random epochs of up to six ranks on two windows, in which each may be origin and target of several: the waits are
// known when the epochs are made.
class RandomEpochs {
 public:
  RandomEpochs(std::uint32_t seed, std::uint32_t size) : random_(seed), size_(size), ranks_(size) {
    for (int round = 0; round < 6; ++round) add_round();
  }
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> expected;  // us, by waiter and awaited rank
  [[nodiscard]] Ranks& ranks() { return ranks_; }

 private:
  // No two times of a round are equal.
  double later(double than) { return than + 1 + static_cast<double>(random_() % 500) + 0.01 * (++unique_ % 90); }
  void expect(std::uint32_t waiter, std::uint32_t awaited, double us) {
    if (us > 0) expected[{waiter, awaited}] += us;
  }
  void add_round() {
    ranks_.window = random_() % 2;
    std::vector<std::vector<int>> targets(size_), origins(size_);
    for (std::uint32_t origin = 0; origin < size_; ++origin) {
      for (std::uint32_t target = 0; target < size_; ++target) {
        if (origin == target || random_() % 3 != 0) continue;
        targets[origin].push_back(static_cast<int>(target));
        origins[target].push_back(static_cast<int>(origin));
      }
    }
    const auto latest = [](const std::vector<int>& of, const std::vector<double>& times) {
      return *std::ranges::max_element(of, {}, [&](int rank) { return times[static_cast<std::size_t>(rank)]; });
    };
    std::vector<double> posted(size_), now(size_, end_), completed(size_);
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      if (origins[rank].empty()) continue;
      posted[rank] = later(end_);
      now[rank] = posted[rank] + 1;
      ranks_.open(rank, FunctionId::kWin_post, posted[rank], now[rank], origins[rank]);
    }
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      if (targets[rank].empty()) continue;
      const auto last = static_cast<std::uint32_t>(latest(targets[rank], posted));
      const double start = later(now[rank]);
      now[rank] = std::max(start, posted[last]) + 1;
      ranks_.open(rank, FunctionId::kWin_start, start, now[rank], targets[rank]);
      expect(rank, last, posted[last] - start);
      for (const int target : targets[rank]) {
        const double put = later(now[rank]);
        ranks_.put(rank, put, now[rank] = put + 1, target);
      }
      completed[rank] = later(now[rank]);
      ranks_.call(rank, FunctionId::kWin_complete, completed[rank], now[rank] = completed[rank] + 1);
    }
    for (std::uint32_t rank = 0; rank < size_; ++rank) {
      if (origins[rank].empty()) continue;
      const auto last = static_cast<std::uint32_t>(latest(origins[rank], completed));
      const double wait = later(now[rank]);
      now[rank] = std::max(wait, completed[last]) + 1;
      ranks_.call(rank, FunctionId::kWin_wait, wait, now[rank]);
      expect(rank, last, completed[last] - wait);
    }
    end_ = std::ranges::max(now);
  }

  std::mt19937 random_;
  std::uint32_t size_;
  unsigned unique_ = 0;
  double end_ = 10;
  Ranks ranks_;
};

TEST(Epochs, OfRandomProgramsAreWaitedForByTheRightRanks) {
  for (std::uint32_t seed = 0; seed < rounds(100); ++seed) {
    SCOPED_TRACE(seed);
    RandomEpochs program(seed, 2 + seed % 5);
    const auto waiting = program.ranks().waiting();
    ASSERT_EQ(waiting.unresolved.collective_calls, reports::UnresolvedCounts{});
    ASSERT_EQ(waiting.edges.size(), program.expected.size());
    for (const reports::WaitEdge& edge : waiting.edges) {
      const auto expected = program.expected.find({edge.waiter, edge.awaited});
      ASSERT_NE(expected, program.expected.end()) << edge.waiter << " for " << edge.awaited;
      ASSERT_NEAR(edge.seconds * 1e6, expected->second, 0.02);
    }
  }
}

TEST(Epochs, WithoutTheirOtherHalfAreCounted) {
  Ranks ranks(3);
  ranks.open(0, FunctionId::kWin_start, 10, 20, {1, 2});
  ranks.call(0, FunctionId::kWin_complete, 30, 31);
  ranks.open(1, FunctionId::kWin_post, 19, 20, {0});
  ranks.call(1, FunctionId::kWin_wait, 40, 41);
  ranks.open(1, FunctionId::kWin_post, 50, 51, {0, 2});
  EXPECT_THAT(words_of(ranks), ElementsAre("unresolved 0 3")) << "rank 2 says nothing; the last post has no end";
}

// Ten epochs of a ring: each rank is a target of the one before it.
Ranks ring(std::uint32_t size) {
  Ranks ranks(size);
  for (int step = 0; step < 10; ++step) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      const double at = 100 * step + 10;
      const int next = static_cast<int>((rank + 1) % size), before = static_cast<int>((rank + size - 1) % size);
      ranks.open(rank, FunctionId::kWin_post, at + rank, at + rank + 0.5, {before});
      ranks.open(rank, FunctionId::kWin_start, at + rank + 1, at + rank + 20, {next});
      ranks.put(rank, at + 40, at + 41, next);
      ranks.call(rank, FunctionId::kWin_complete, at + 50 + rank, at + 51 + rank);
      ranks.call(rank, FunctionId::kWin_wait, at + 60 + rank, at + 80);
    }
  }
  return ranks;
}

TEST(Epochs, OfARankWhoseRecordsBecameSumsAreUnresolvedFromThereOn) {
  Ranks all = ring(4);
  const auto whole = all.waiting();
  EXPECT_EQ(whole.resolved_calls, 80u);
  EXPECT_EQ(whole.unresolved.collective_calls, reports::UnresolvedCounts{});
  Ranks some = ring(4);
  const auto waiting = some.waiting(2, 8);  // seven records for each step, three in a pack: some steps are whole
  EXPECT_GT(waiting.resolved_calls, 40u);
  EXPECT_LT(waiting.resolved_calls, 80u);
  EXPECT_GT(waiting.unresolved.collective_calls.folded, 0u);
  EXPECT_GT(waiting.unresolved.collective_calls.incomplete, 0u);
  const auto& unresolved = waiting.unresolved.collective_calls;
  EXPECT_EQ(waiting.resolved_calls + unresolved.folded + unresolved.incomplete, 80u);
}

TEST(Locks, ALockWaitsForTheOneThatConflicts) {
  Ranks ranks(4);
  ranks.lock(1, 10, 11, WindowAct::kExclusive);
  ranks.unlock(1, 50, 51);
  ranks.lock(2, 20, 52, WindowAct::kExclusive);
  ranks.unlock(2, 90, 91);
  ranks.lock(3, 25, 92, WindowAct::kShared);
  ranks.unlock(3, 95, 96);
  const auto waiting = ranks.waiting();
  EXPECT_THAT(Ranks::in_words(waiting), ElementsAre("2 for 1 30", "3 for 2 65", "lock MPI_Win_lock 95 x2"));
  EXPECT_EQ(waiting.resolved_calls, 3u);
}

TEST(Locks, SharedOnesOtherTargetsAndOtherWindowsDoNotConflict) {
  Ranks ranks(5);
  ranks.lock(1, 10, 11, WindowAct::kShared);
  ranks.unlock(1, 50, 51);
  ranks.lock(2, 20, 60, WindowAct::kShared);
  ranks.unlock(2, 90, 91);
  ranks.lock(3, 20, 60, WindowAct::kExclusive, 4);
  ranks.unlock(3, 90, 91, 4);
  ranks.window = 1;
  ranks.lock(4, 20, 60, WindowAct::kExclusive);
  ranks.unlock(4, 90, 91);
  EXPECT_THAT(words_of(ranks), IsEmpty());
}

TEST(Locks, LockAllIsSharedOnAllTargets) {
  Ranks ranks(4);
  ranks.call(1, FunctionId::kWin_lock_all, 10, 11);
  ranks.call(1, FunctionId::kWin_unlock_all, 50, 51);
  ranks.lock(2, 20, 52, WindowAct::kExclusive, 3);
  ranks.unlock(2, 90, 91, 3);
  ranks.call(3, FunctionId::kWin_lock_all, 25, 92);
  ranks.call(3, FunctionId::kWin_unlock_all, 95, 96);
  EXPECT_THAT(words_of(ranks),
              ElementsAre("2 for 1 30", "3 for 2 65", "lock MPI_Win_lock 30 x1", "lock MPI_Win_lock_all 65 x1"));
}

// Like libraries that request the lock only for the first operation.
TEST(Locks, WhereTheLibraryIsLazyALaterCallWaits) {
  for (const bool flushes : {false, true}) {
    Ranks ranks(3);
    ranks.lock(1, 10, 11, WindowAct::kExclusive);
    ranks.put(1, 12, 13);
    ranks.unlock(1, 50, 55);
    ranks.lock(2, 20, 21, WindowAct::kExclusive);
    ranks.put(2, 22, 23);
    if (flushes) ranks.call(2, FunctionId::kWin_flush, 25, 56, 0);
    ranks.unlock(2, flushes ? 70 : 25, flushes ? 80 : 56);
    EXPECT_THAT(words_of(ranks),
                ElementsAre("2 for 1 25", flushes ? "lock MPI_Win_flush 25 x1" : "lock MPI_Win_unlock 25 x1"));
  }
}

TEST(Locks, WhereEitherMayHaveBeenFirstNeitherHasWaited) {
  Ranks ranks(3);
  ranks.lock(1, 10, 11, WindowAct::kExclusive);
  ranks.unlock(1, 50, 60);
  ranks.lock(2, 20, 21, WindowAct::kExclusive);
  ranks.call(2, FunctionId::kWin_flush, 22, 53, 0);
  ranks.unlock(2, 55, 57);
  EXPECT_THAT(words_of(ranks), IsEmpty());
}

TEST(Locks, OneThatIsGotAfterwardsIsNotWaitedFor) {
  Ranks ranks(3);
  ranks.lock(1, 10, 11, WindowAct::kExclusive);
  ranks.unlock(1, 50, 60);  // lost its processor
  ranks.lock(2, 20, 51, WindowAct::kExclusive);
  ranks.unlock(2, 55, 56);
  EXPECT_THAT(words_of(ranks), ElementsAre("2 for 1 30", "lock MPI_Win_lock 30 x1"));
}

TEST(Locks, ThatAreNeverGivenBackAreCounted) {
  Ranks ranks(2);
  ranks.lock(1, 10, 11, WindowAct::kExclusive);
  ranks.lock(0, 20, 30, WindowAct::kShared);
  ranks.unlock(0, 40, 41);
  EXPECT_THAT(words_of(ranks), ElementsAre("unresolved 0 1"));
}

TEST(OneSided, CausesAreWhatTheAwaitedRankDidLonger) {
  Ranks ranks(2);
  ranks.open(0, FunctionId::kWin_start, 10, 81, {1});
  ranks.call(0, FunctionId::kWin_complete, 84, 85);
  ranks.open(1, FunctionId::kWin_post, 80, 81, {0});
  ranks.call(1, FunctionId::kWin_wait, 90, 91);
  const auto waiting = ranks.waiting();
  ASSERT_EQ(waiting.causes.size(), 1u);
  EXPECT_EQ(waiting.causes[0].rank, 1u);
  EXPECT_EQ(waiting.causes[0].kind, "other");
  EXPECT_NEAR(waiting.causes[0].seconds, 70e-6, 1e-7);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

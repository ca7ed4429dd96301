// Waits between programs of one MPI_COMM_WORLD: a random program gives the same waits and critical path as one program
// or divided into several.
#include <map>
#include <random>

#include "fixture.hpp"
#include "tests/rounds.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CommunicatorDefinition;
using instrument::CommunicatorKind;
using instrument::CompletionRecord;
using instrument::make_word;
using instrument::RankRange;
using namespace std::string_view_literals;

using Sizes = std::vector<std::uint32_t>;  // ranks of each program

class RandomWorld {
 public:
  RandomWorld(std::uint32_t seed, Sizes sizes) : random_(seed) {
    std::uint32_t first = 0;
    for (std::uint32_t size : sizes) {
      programs_.push_back({static_cast<std::uint32_t>(programs_.size()), "program", size});
      programs_.back().place = {first, 0};
      for (std::uint32_t rank = 0; rank < size; ++rank)
        makers_.emplace_back(replay::Origin{.partition = programs_.back().partition, .rank = rank}, 7);
      first += size;
    }
    ranks_ = first;
    now_.resize(ranks_);
    for (auto& program : programs_) program.place.world_ranks = ranks_;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) begin(rank);
    define(instrument::kWorldComm, 0, ranks_);
    define(1, 0, ranks_ - 1);
    define(2, 1, ranks_ - 1);
  }
  void run(unsigned steps) {
    for (unsigned step = 0; step < steps; ++step) {
      for (std::uint64_t& now : now_) now += 1000 + random_() % 50'000;
      switch (random_() % 4) {
        case 0:
          sum(static_cast<std::uint32_t>(random_() % 3));
          break;
        case 1:
          late_receive();
          break;
        default:
          message();
      }
    }
  }
  [[nodiscard]] reports::Run finish(std::uint32_t shuffle, std::size_t analyzers) {
    std::vector<std::pair<replay::Pack, std::size_t>> packs;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      makers_[rank].define(instrument::ClockDefinition{2000, 0, 1e9, 0, 1e-9, now_[rank], 0}, "tsc"sv, "boot"sv);
      makers_[rank].finish();
      for (auto& pack : makers_[rank].take()) packs.emplace_back(std::move(pack), rank % analyzers);
    }
    std::mt19937 order(shuffle);
    std::ranges::shuffle(packs, order);
    Session session(programs_, shuffle % 3, analyzers);
    for (const auto& [pack, analyzer] : packs) session.submit(pack, analyzer);
    return session.finish();
  }

 private:
  struct Group {
    std::uint32_t first, size;
  };
  void begin(std::uint32_t rank) {
    const Program& program = *std::ranges::find_if(
        programs_, [&](const Program& each) { return rank < each.place.first_rank + each.ranks; });
    now_[rank] = 2000 + rank;
    makers_[rank].define(instrument::ProcessDefinition{ranks_, rank, 1 + rank, 0, now_[rank], 500, 0,
                                                       program.place.first_rank, program.ranks},
                         "p"sv, "p"sv, "h"sv, "/"sv);
    makers_[rank].define(instrument::ClockDefinition{1000, 0, 1e9, 0, 1e-9, 0, 0}, "tsc"sv, "boot"sv);
  }
  void define(std::uint32_t comm, std::uint32_t first, std::uint32_t size) {
    groups_[comm] = {first, size};
    const RankRange all{static_cast<std::int32_t>(first), size, 1};
    for (std::uint32_t rank = first; rank < first + size; ++rank)
      makers_[rank].define(
          CommunicatorDefinition{comm, CommunicatorKind::kIntra, 70 + comm, 0, size, rank - first, 0, 1, 0, 0, 1},
          std::span(&all, 1), ""sv);
  }
  void call(std::uint32_t rank, FunctionId function, Shape shape, std::uint64_t end, std::int32_t peer,
            std::int32_t tag, std::uint32_t comm) {
    makers_[rank].call(function, shape, now_[rank], static_cast<std::uint32_t>(end - now_[rank]), peer, tag, 8,
                       1 + id(function), comm);
    now_[rank] = end + 10;
  }
  void sum(std::uint32_t comm) {
    const Group group = groups_[comm];
    std::uint64_t last = 0;
    for (std::uint32_t rank = group.first; rank < group.first + group.size; ++rank) last = std::max(last, now_[rank]);
    for (std::uint32_t rank = group.first; rank < group.first + group.size; ++rank)
      call(rank, FunctionId::kAllreduce, Shape::kCollective, last + 100, -1, 0, comm);
  }
  // A pair of ranks, and their numbers in the communicator.
  struct Pair {
    std::uint32_t from, to, comm;
    std::int32_t source, destination;
  };
  Pair pair() {
    const auto comm = static_cast<std::uint32_t>(random_() % 3);
    const Group group = groups_[comm];
    const auto source = static_cast<std::uint32_t>(random_() % group.size);
    const auto destination = static_cast<std::uint32_t>((source + 1 + random_() % (group.size - 1)) % group.size);
    return {group.first + source, group.first + destination, comm, static_cast<std::int32_t>(source),
            static_cast<std::int32_t>(destination)};
  }
  void message() {
    const Pair two = pair();
    const std::uint64_t sent = now_[two.from];
    call(two.from, FunctionId::kSend, Shape::kSend, sent + 50, two.destination, 3, two.comm);
    call(two.to, FunctionId::kRecv, Shape::kReceive, std::max(sent, now_[two.to]) + 60, two.source, 3, two.comm);
  }
  void late_receive() {
    const Pair two = pair();
    const std::uint64_t received = now_[two.to];
    call(two.from, FunctionId::kSsend, Shape::kSend, std::max(now_[two.from], received) + 60, two.destination, 4,
         two.comm);
    call(two.to, FunctionId::kRecv, Shape::kReceive, std::max(now_[two.to], now_[two.from]) + 60, two.source, 4,
         two.comm);
  }

  std::mt19937 random_;
  std::uint32_t ranks_ = 0;
  std::vector<Program> programs_;
  std::map<std::uint32_t, Group> groups_;
  std::vector<std::uint64_t> now_;
  std::vector<PackMaker> makers_;
};

long ns(double seconds) { return std::lround(seconds * 1e9); }

// The waiting of all programs of a world, in ranks of the world.
struct WorldWaiting {
  std::map<std::string, std::pair<long, std::uint64_t>> patterns;  // ns and times
  std::map<std::pair<std::string, std::string>, std::pair<long, std::uint64_t>> sites;
  std::map<std::pair<std::uint32_t, std::uint32_t>, long> edges;
  std::vector<long> waiting, caused, origins, path;
  std::uint64_t calls = 0, messages = 0, incomplete = 0, other = 0;
  long below_clock = 0;

  explicit WorldWaiting(const reports::Run& run) {
    for (const auto& application : run.applications) add(application);
  }

 private:
  void add(const reports::Application& a) {
    const reports::Waiting& w = a.waiting;
    for (const auto& each : w.patterns) {
      patterns[each.pattern].first += ns(each.seconds);
      patterns[each.pattern].second += each.occurrences;
    }
    for (const auto& each : w.call_sites) {
      auto& site = sites[{each.function, each.pattern}];
      site.first += ns(each.waiting_seconds);
      site.second += each.occurrences;
    }
    for (const auto& each : w.edges) edges[{a.world_rank(each.waiter), a.world_rank(each.awaited)}] += ns(each.seconds);
    for (const auto& each : w.edges_between) edges[{each.waiter, each.awaited}] += ns(each.seconds);
    for (const double each : w.per_rank.waiting_seconds) waiting.push_back(ns(each));
    for (const double each : w.per_rank.caused_seconds) caused.push_back(ns(each));
    for (const double each : w.per_rank.origin_seconds) origins.push_back(ns(each));
    for (const double each : w.per_rank.critical_path_seconds) path.push_back(ns(each));
    calls += w.resolved_calls;
    messages += w.resolved_messages;
    incomplete += w.unresolved.collective_calls.incomplete + w.unresolved.message_ends.incomplete;
    other += w.unresolved.collective_calls.other + w.unresolved.message_ends.other;
    below_clock += ns(w.unresolved.below_clock_seconds);
  }
};

TEST(WorldWaits, AreTheSameForOneProgramAndForSeveral) {
  const std::vector<Sizes> divisions{{2, 4}, {5, 1}, {1, 2, 3}, {1, 1, 1, 1, 1, 1}};
  std::uint64_t messages = 0, between = 0;
  for (std::uint32_t seed = 0; seed < rounds(80); ++seed) {
    RandomWorld one(seed, {6}), several(seed, divisions[seed % divisions.size()]);
    one.run(120);
    several.run(120);
    const reports::Run expected_run = one.finish(seed, 1), run = several.finish(seed + 1, 1 + seed % 3);
    const WorldWaiting expected(expected_run), seen(run);
    ASSERT_EQ(seen.patterns, expected.patterns) << seed;
    ASSERT_EQ(seen.sites, expected.sites) << seed;
    ASSERT_EQ(seen.edges, expected.edges) << seed;
    ASSERT_EQ(seen.waiting, expected.waiting) << seed;
    ASSERT_EQ(seen.caused, expected.caused) << seed;
    ASSERT_EQ(seen.origins, expected.origins) << seed;
    ASSERT_EQ(seen.path, expected.path) << seed;
    ASSERT_EQ(seen.calls, expected.calls) << seed;
    ASSERT_EQ(seen.messages, expected.messages) << seed;
    ASSERT_EQ(seen.incomplete, 0u) << seed;
    ASSERT_EQ(seen.other, 0u) << seed;
    ASSERT_EQ(seen.below_clock, expected.below_clock) << seed;
    const double whole = expected_run.applications[0].waiting.critical_path_seconds;
    EXPECT_EQ(expected_run.applications[0].waiting.critical_path_elsewhere_seconds, 0);
    for (const auto& application : run.applications) {
      EXPECT_NEAR(application.waiting.critical_path_seconds + application.waiting.critical_path_elsewhere_seconds,
                  whole, 1e-9);
      for (const auto& edge : application.waiting.edges_between) {
        EXPECT_TRUE(edge.waiter - application.first_rank < application.ranks);
        EXPECT_FALSE(edge.awaited - application.first_rank < application.ranks);
        ++between;
      }
    }
    messages += seen.messages;
  }
  EXPECT_GT(messages, rounds(4000));
  EXPECT_GT(between, rounds(1000));
}

// Rank 2, of the second program, computes before each sum.
TEST(WorldWaits, TellForWhichRankOfAnotherProgramIsWaited) {
  std::vector<Program> programs{{0, "ocean", 2}, {1, "air", 1}};
  programs[0].place = {0, 3};
  programs[1].place = {2, 3};
  Session session(programs);
  const RankRange all{0, 3, 1};
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    PackMaker maker({.partition = rank / 2, .rank = rank % 2});
    maker.define(CommunicatorDefinition{instrument::kWorldComm, CommunicatorKind::kIntra, 7, 0, 3, rank, 0, 1, 0, 0, 1},
                 std::span(&all, 1), ""sv);
    maker.define(instrument::ClockDefinition{1000, 0, 1e9, 0, 1e-9, 10'001'000, 0}, "tsc"sv, "boot"sv);
    for (std::uint64_t step = 0; step < 10; ++step) {
      const std::uint64_t begin = 1000 + 1'000'000 * step, enter = begin + (rank == 2 ? 900'000 : 100'000);
      if (rank == 2) maker.call(FunctionId::kType_commit, Shape::kLocal, begin + 50'000, 840'000, -1, 0, 0);
      maker.call(FunctionId::kAllreduce, Shape::kCollective, enter, static_cast<std::uint32_t>(begin + 910'000 - enter),
                 -1, 8, 8);
    }
    maker.finish();
    session.submit(maker.take());
  }
  const auto run = session.finish();
  const reports::Waiting &ocean = run.applications[0].waiting, &air = run.applications[1].waiting;
  ASSERT_EQ(ocean.call_sites.size(), 1u);
  EXPECT_EQ(ocean.call_sites[0].awaited, reports::kNoRank);
  EXPECT_EQ(ocean.call_sites[0].awaited_other, 2u);
  EXPECT_NEAR(ocean.call_sites[0].awaited_seconds, 16e-3, 1e-9);
  EXPECT_EQ(ocean.call_sites[0].longest.awaited_other, 2u);
  ASSERT_EQ(ocean.others.size(), 1u);
  EXPECT_EQ(ocean.others[0].program, "air");
  EXPECT_EQ(ocean.others[0].rank, 2u);
  EXPECT_NEAR(ocean.others[0].seconds, 16e-3, 1e-9);
  EXPECT_EQ(ocean.others[0].cause.kind, "mpi");
  EXPECT_TRUE(ocean.edges.empty());
  EXPECT_EQ(ocean.edges_between.size(), 2u);
  EXPECT_NEAR(air.per_rank.caused_seconds[0], 16e-3, 1e-9);
  EXPECT_TRUE(air.call_sites.empty());
  EXPECT_NEAR(air.critical_path_seconds, 9.9e-3, 1e-6) << "but for the end";
  EXPECT_EQ(air.critical_path[0].function, "MPI_Type_commit");
  EXPECT_NEAR(air.critical_path_seconds + air.critical_path_elsewhere_seconds, 10e-3, 1e-9);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

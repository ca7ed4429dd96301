// Both ends of messages are paired: random programs run in a model of MPI's matching, which knows the true pairs.
#include <deque>
#include <map>
#include <random>
#include <set>

#include "fixture.hpp"
#include "knowledge_sources/plugins/waits/rank_calls.hpp"
#include "tests/rounds.hpp"

namespace ardoise::knowledge_sources {
namespace {

using instrument::CompletionRecord;
using instrument::kAnySource;
using instrument::kAnyTag;
using instrument::make_word;
using instrument::MpiRecord;

constexpr std::uint32_t kComms = 2, kTags = 3;

struct Envelope {
  std::uint32_t comm;
  std::int32_t source, tag;
};
bool matches(const Envelope& wanted, const Envelope& message) {
  return wanted.comm == message.comm && (wanted.source == kAnySource || wanted.source == message.source) &&
         (wanted.tag == kAnyTag || wanted.tag == message.tag);
}

// A model of MPI and the recorder's output for it. A send is named by its tick, a receive by that of its posting.
class Simulation {
 public:
  Simulation(std::uint32_t seed, std::uint32_t ranks) : random_(seed), ranks_(ranks) {}

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      if (chance(2)) arrive();
      step(below(static_cast<std::uint32_t>(ranks_.size())));
    }
    while (arrive()) continue;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) end(rank);
  }

  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;  // (send, receive), of ended receives
  [[nodiscard]] const std::vector<MpiRecord>& records(std::uint32_t rank) const { return ranks_[rank].records; }

 private:
  struct Message {
    Envelope envelope;
    std::uint64_t send;
  };
  struct Receive {
    Envelope wanted, got{};
    std::uint64_t posted, send = 0;  // 0: not yet
    bool blocking;
  };
  struct Rank {
    std::vector<MpiRecord> records;
    std::deque<Message> unexpected;
    std::deque<Receive> receives;                           // those that have not ended, in the order of posting
    std::vector<std::pair<std::uint64_t, Envelope>> sends;  // to be completed; source: the destination
    std::map<std::uint32_t, std::deque<Message>> coming;    // by source
    bool blocked = false;
  };

  bool chance(std::uint32_t one_in) { return below(one_in) == 0; }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  std::uint64_t tick() { return tick_ += 10; }

  static MpiRecord record(std::uint64_t begin, FunctionId function, Shape shape, const Envelope& e) {
    return {begin, 5, 1, e.source, e.tag, 8, make_word(e.comm, id(function), shape)};
  }
  void write(Rank& rank, const MpiRecord& record) { rank.records.push_back(record); }
  void complete(Rank& rank, FunctionId by, std::uint64_t posted, const Envelope& e, FunctionId from) {
    write(rank, {tick(), 5, 2, instrument::kNoPeer, 1, 0, make_word(instrument::kNoComm, id(by), Shape::kCompletes)});
    rank.records.push_back(std::bit_cast<MpiRecord>(
        CompletionRecord{posted, 0, 1, e.source, e.tag, 8, make_word(e.comm, id(from), Shape::kCompletion)}));
  }

  Envelope wanted() {
    return {below(kComms),
            chance(3) ? kAnySource : static_cast<std::int32_t>(below(static_cast<std::uint32_t>(ranks_.size()))),
            chance(3) ? kAnyTag : static_cast<std::int32_t>(below(kTags))};
  }

  void step(std::uint32_t number) {
    Rank& rank = ranks_[number];
    if (rank.blocked) return;
    switch (below(8)) {
      case 0:
      case 1:
        return send(number, chance(2));
      case 2:
        return post(rank, wanted(), false);
      case 3:
        if (!rank.unexpected.empty()) post(rank, chance(10) ? wanted() : rank.unexpected.front().envelope, true);
        return;
      case 4:
        return probe(rank);
      case 5:
        if (chance(4)) cancel(rank);
        return;
      default:
        return complete_some(rank);
    }
  }

  void send(std::uint32_t from, bool blocking) {
    const std::uint32_t to = below(static_cast<std::uint32_t>(ranks_.size()));
    const Envelope sent{below(kComms), static_cast<std::int32_t>(from), static_cast<std::int32_t>(below(kTags))};
    const Envelope seen{sent.comm, static_cast<std::int32_t>(to), sent.tag};
    const std::uint64_t begin = tick();
    ranks_[to].coming[from].push_back({sent, begin});
    write(ranks_[from], record(begin, blocking ? FunctionId::kSend : FunctionId::kIsend, Shape::kSend, seen));
    if (!blocking) ranks_[from].sends.emplace_back(begin, seen);
  }

  // Delivers one message, from any source, to its rank.
  bool arrive() {
    const std::uint32_t first = below(static_cast<std::uint32_t>(ranks_.size()));
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
      Rank& rank = ranks_[(first + i) % ranks_.size()];
      for (auto& [source, coming] : rank.coming) {
        if (coming.empty() || (chance(2) && &coming != &rank.coming.rbegin()->second)) continue;
        const Message message = coming.front();
        coming.pop_front();
        take(rank, message);
        return true;
      }
    }
    for (Rank& rank : ranks_) {
      for (auto& [source, coming] : rank.coming) {
        if (!coming.empty()) return true;
      }
    }
    return false;
  }
  void take(Rank& rank, const Message& message) {
    const auto receive = std::ranges::find_if(
        rank.receives, [&](const Receive& each) { return each.send == 0 && matches(each.wanted, message.envelope); });
    if (receive == rank.receives.end()) return rank.unexpected.push_back(message);
    receive->send = message.send;
    receive->got = message.envelope;
    if (receive->blocking) end_blocking(rank, receive);
  }

  void post(Rank& rank, const Envelope& wanted, bool blocking) {
    Receive receive{wanted, {}, tick(), 0, blocking};
    const auto message =
        std::ranges::find_if(rank.unexpected, [&](const Message& each) { return matches(wanted, each.envelope); });
    if (message != rank.unexpected.end()) {
      receive.send = message->send;
      receive.got = message->envelope;
      rank.unexpected.erase(message);
    }
    rank.receives.push_back(receive);
    if (!blocking) return write(rank, record(receive.posted, FunctionId::kIrecv, Shape::kPostReceive, wanted));
    rank.blocked = receive.send == 0;
    if (!rank.blocked) end_blocking(rank, rank.receives.end() - 1);
  }
  void end_blocking(Rank& rank, std::deque<Receive>::iterator receive) {
    write(rank, record(receive->posted, FunctionId::kRecv, Shape::kReceive, receive->got));
    pairs.emplace(receive->send, receive->posted);
    rank.receives.erase(receive);
    rank.blocked = false;
  }

  void probe(Rank& rank) {
    const Envelope what = wanted();
    const auto message =
        std::ranges::find_if(rank.unexpected, [&](const Message& each) { return matches(what, each.envelope); });
    const std::uint64_t begin = tick();
    if (message == rank.unexpected.end()) {
      Envelope none = what;
      none.source = instrument::kNoPeer;
      return write(rank, record(begin, FunctionId::kImprobe, Shape::kProbe, none));
    }
    const bool matched = chance(2);
    write(rank, record(begin, matched ? FunctionId::kMprobe : FunctionId::kIprobe, Shape::kProbe, message->envelope));
    if (!matched) return;
    // Other messages may be received before MPI_Mrecv takes it.
    pairs.emplace(message->send, begin);
    Envelope nowhere = message->envelope;
    nowhere.comm = instrument::kNoComm;
    rank.unexpected.erase(message);
    if (chance(2)) post(rank, wanted(), false);
    write(rank, record(tick(), FunctionId::kMrecv, Shape::kReceive, nowhere));
  }

  void cancel(Rank& rank) {
    const auto receive = std::ranges::find_if(rank.receives, [](const Receive& each) { return each.send == 0; });
    if (receive == rank.receives.end()) return;
    complete(rank, FunctionId::kWait, receive->posted, {receive->wanted.comm, instrument::kNoPeer, kAnyTag},
             FunctionId::kIrecv);
    rank.receives.erase(receive);
  }

  void complete_some(Rank& rank) {
    for (int i = 0; i < 3 && !rank.receives.empty(); ++i) {
      const auto receive = rank.receives.begin() + below(static_cast<std::uint32_t>(rank.receives.size()));
      if (receive->send == 0) continue;
      complete(rank, chance(2) ? FunctionId::kWait : FunctionId::kTest, receive->posted, receive->got,
               FunctionId::kIrecv);
      pairs.emplace(receive->send, receive->posted);
      rank.receives.erase(receive);
    }
    if (!rank.sends.empty() && chance(2))
      end_send(rank, rank.sends.begin() + below(static_cast<std::uint32_t>(rank.sends.size())));
  }
  void end_send(Rank& rank, std::vector<std::pair<std::uint64_t, Envelope>>::iterator send) {
    Envelope envelope = send->second;
    envelope.source = instrument::kNoPeer;
    complete(rank, FunctionId::kWait, send->first, envelope, FunctionId::kIsend);
    rank.sends.erase(send);
  }

  void end(std::uint32_t number) {
    Rank& rank = ranks_[number];
    rank.blocked = false;
    std::erase_if(rank.receives, [](const Receive& each) { return each.blocking; });
    while (!rank.sends.empty()) end_send(rank, rank.sends.end() - 1);
    while (!rank.receives.empty()) {
      if (rank.receives.front().send == 0) {
        cancel(rank);
      } else {
        const Receive first = rank.receives.front();
        complete(rank, FunctionId::kWait, first.posted, first.got, FunctionId::kIrecv);
        pairs.emplace(first.send, first.posted);
        rank.receives.pop_front();
      }
    }
  }

  std::mt19937 random_;
  std::vector<Rank> ranks_;
  std::uint64_t tick_ = 0;
};

// Takes the ends in order of arrival, and pairs those of a channel in their order.
class Pairs {
 public:
  void add(std::span<const Arrived> arrived) {
    for (const Arrived& each : arrived) {
      const auto& end = std::get<EndOfMessage>(each);
      const auto& c = end.channel;
      auto& [sends, receives] = channels_[{c.comm.group_hash, c.source, c.destination, c.tag}];
      (end.sends ? sends : receives).push_back(static_cast<std::uint64_t>(end.part.posted));
      if (sends.empty() || receives.empty()) continue;
      found.emplace(sends.front(), receives.front());
      sends.pop_front();
      receives.pop_front();
    }
  }
  std::set<std::pair<std::uint64_t, std::uint64_t>> found;

 private:
  using Ends = std::pair<std::deque<std::uint64_t>, std::deque<std::uint64_t>>;
  std::map<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::int32_t>, Ends> channels_;
};

// The calls of a rank by its threads: from one call on, a second thread makes some of them.
struct Threads {
  std::vector<MpiRecord> records[2];
  std::uint64_t second_begin = ~std::uint64_t{0};  // tick of its first call
};
Threads one_thread(const std::vector<MpiRecord>& all) { return {{all, {}}}; }
Threads two_threads(const std::vector<MpiRecord>& all, std::mt19937& random) {
  Threads threads;
  const std::size_t from = random() % (all.size() + 1);
  bool by_second = false;
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].shape() != Shape::kCompletion) by_second = at >= from && random() % 3 == 0;
    threads.records[by_second].push_back(all[at]);
    if (by_second && threads.records[1].size() == 1) threads.second_begin = all[at].begin;
  }
  return threads;
}

std::vector<Threads> of_all_ranks(const Simulation& simulation, std::uint32_t ranks) {
  std::vector<Threads> result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) result.push_back(one_thread(simulation.records(rank)));
  return result;
}

// folded: one pack reports missing records before it.
Pairs pairs_of(std::span<const Threads> ranks_records, std::mt19937& random, bool folded) {
  Pairs pairs;
  const auto ranks = static_cast<std::uint32_t>(ranks_records.size());
  std::vector<RankCalls> calls;
  struct Pack {
    std::uint32_t rank, thread;
    std::uint64_t order;
    PackRecords records;
  };
  std::vector<Pack> packs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    calls.emplace_back(rank, 256u);
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      const std::span<const MpiRecord> all(ranks_records[rank].records[thread]);
      std::uint64_t order = 0;
      for (std::size_t at = 0; at < all.size();) {
        const std::size_t count = std::min<std::size_t>(1 + random() % 20, all.size() - at);
        const bool several = std::ranges::any_of(all.subspan(at, count), [&](const MpiRecord& record) {
          return record.shape() != Shape::kCompletion && record.begin >= ranks_records[rank].second_begin;
        });
        packs.push_back({rank, thread, order++, {all.subspan(at, count), 0, 1.0, false, several}});
        at += count;
      }
    }
  }
  if (folded && !packs.empty()) packs[random() % packs.size()].records.folded = true;
  std::ranges::shuffle(packs, random);
  std::vector<Arrived> room;
  Arrivals out(room, [&](std::span<const Arrived> some) { pairs.add(some); });
  const auto define = [&](std::uint32_t rank, std::uint32_t comm) {
    calls[rank].define({comm, rank, {100 + comm, 0, ranks}, true}, out);
    out.flush();
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) define(rank, 0);
  for (const Pack& pack : packs) {
    calls[pack.rank].add(pack.thread, pack.order, pack.records, out);
    out.flush();
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) define(rank, 1);
  return pairs;
}

TEST(MessageOrder, RandomProgramsHaveNoWrongPairAndMissNone) {
  std::size_t messages = 0;
  for (std::uint32_t seed = 0; seed < rounds(10'000); ++seed) {
    const std::uint32_t ranks = 2 + seed % 4;
    Simulation simulation(seed, ranks);
    simulation.run(600);
    std::mt19937 random(seed);
    ASSERT_EQ(pairs_of(of_all_ranks(simulation, ranks), random, false).found, simulation.pairs) << "seed " << seed;
    messages += simulation.pairs.size();
  }
  EXPECT_GT(messages, rounds(300'000));
}

TEST(MessageOrder, WhereRecordsBecameSumsThereAreFewerPairsAndNoWrongOne) {
  std::size_t found = 0;
  for (std::uint32_t seed = 0; seed < rounds(2000); ++seed) {
    Simulation simulation(seed, 3);
    simulation.run(600);
    std::mt19937 random(seed);
    const Pairs pairs = pairs_of(of_all_ranks(simulation, 3), random, true);
    ASSERT_TRUE(std::ranges::includes(simulation.pairs, pairs.found)) << "seed " << seed;
    found += pairs.found.size();
  }
  EXPECT_GT(found, rounds(40'000));
}

// MPI leaves the order between threads open.
TEST(MessageOrder, WhereASecondThreadMakesCallsThereAreFewerPairsAndNoWrongOne) {
  std::size_t found = 0;
  for (std::uint32_t seed = 0; seed < rounds(2000); ++seed) {
    const std::uint32_t ranks = 2 + seed % 3;
    Simulation simulation(seed, ranks);
    simulation.run(600);
    std::mt19937 random(seed);
    auto records = of_all_ranks(simulation, ranks);
    for (std::uint32_t rank = 0; rank <= seed % ranks; ++rank)
      records[rank] = two_threads(simulation.records(rank), random);
    const Pairs pairs = pairs_of(records, random, false);
    ASSERT_TRUE(std::ranges::includes(simulation.pairs, pairs.found)) << "seed " << seed;
    found += pairs.found.size();
  }
  EXPECT_GT(found, rounds(10'000));
}

// Marks are no calls, in any thread.
TEST(MessageOrder, WhereThreadsMakeMarksNoPairIsMissing) {
  std::size_t messages = 0;
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    const std::uint32_t ranks = 2 + seed % 3;
    Simulation simulation(seed, ranks);
    simulation.run(600);
    std::mt19937 random(seed);
    auto records = of_all_ranks(simulation, ranks);
    const auto mark = std::bit_cast<MpiRecord>(
        instrument::MarkExtension{1, 2, 3, 4, instrument::MarkKind::kSnapshot, {}, instrument::kMarkWord});
    for (Threads& threads : records) {
      threads.records[1].assign(1 + random() % 50, mark);
      std::vector<MpiRecord> first;
      for (const MpiRecord& record : threads.records[0]) {
        first.push_back(record);
        if (random() % 4 == 0) first.push_back(mark);
      }
      threads.records[0] = std::move(first);
    }
    ASSERT_EQ(pairs_of(records, random, false).found, simulation.pairs) << "seed " << seed;
    messages += simulation.pairs.size();
  }
  EXPECT_GT(messages, 10'000u);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

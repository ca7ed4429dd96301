// Why ranks wait in collectives and for messages: how long, for whom, in which pattern, and what those did instead of
// coming. Reads the mpi_events, contexts and definitions of its level; contributes Application::waiting.
//
//   pack ──▶ in the order of its thread ──▶ its collectives: n-th on a communicator ──▶ meet the others' n-th
//            (in_order.hpp)                 (rank_calls.hpp)                             (meetings.hpp)
//                                       └─▶ its ends of messages, as MPI matches them ──▶ meet the other ends
//                                           (post_order.hpp)                              (messages.hpp)
//                                       └─▶ its epochs on windows, by number          ──▶ meet the other halves
//                                           (rank_windows.hpp)                            (epochs.hpp, locks.hpp)
//
// What was sampled between a rank's calls comes in line with them, and goes into the meetings as what the rank did
// since the last one (stretch.hpp); causes.hpp sums it up.
//
// All packs of a rank come to one analyzer, those of the ranks it meets perhaps to others: each operation has a key,
// and meets at the analyzer that owns it (knowledge_sources/keyed.hpp, travel.hpp). So do the waits for the operations
// of one call (shared_calls.hpp), and, at one analyzer for a program, all waits for its critical path
// (critical_path.hpp). When its length is known a wait goes back to the analyzer that has the waiter's packs, for those
// who keep its calls there (wait_spans.hpp).
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/keyed.hpp"
#include "knowledge_sources/pack_time.hpp"
#include "knowledge_sources/plugin.hpp"
#include "knowledge_sources/rank_locks.hpp"
#include "knowledge_sources/wait_spans.hpp"
#include "knowledge_sources/waits/critical_path.hpp"
#include "knowledge_sources/waits/epochs.hpp"
#include "knowledge_sources/waits/locks.hpp"
#include "knowledge_sources/waits/path_profile.hpp"
#include "knowledge_sources/waits/rank_calls.hpp"
#include "knowledge_sources/waits/travel.hpp"
#include "knowledge_sources/waits/unreceived.hpp"
#include "knowledge_sources/worker_slots.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 7;

std::vector<RankCalls> calls_of(std::uint32_t ranks) {
  std::vector<RankCalls> result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) result.emplace_back(rank, grid_slots(ranks));
  return result;
}

// Of each rank, ns on the program's time axis; 0: not known.
struct Lives {
  std::vector<std::int64_t> begins, ends;  // ends: MPI_Finalize, or the last that is known of it
};
Lives lives_of(const Resolver& resolver) {
  Lives lives;
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const RankLedger& ledger = resolver.ledger(rank);
    const ProcessFacts& facts = resolver.process(rank);
    const auto time = [&](std::uint64_t tick) -> std::int64_t {
      if (ledger.origin_tick == 0 || tick <= ledger.origin_tick) return 0;
      return static_cast<std::int64_t>(static_cast<double>(tick - ledger.origin_tick) *
                                       resolver.seconds_per_tick(rank) * 1e9);
    };
    lives.begins.push_back(time(facts.process.begin_tick));
    lives.ends.push_back(time(facts.has_clock && facts.clock.end_tick != 0 ? facts.clock.end_tick : ledger.last_tick));
  }
  return lives;
}

class Waits final : public Analysis {
 public:
  explicit Waits(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        ranks_(calls_of(context.ranks)),
        contexts_(context.ranks),
        sums_(context.ranks),
        path_(context.ranks),
        path_key_(std::hash<std::string>()(context.level)),
        places_(context.ranks),
        timelines_(context.ranks, RankTimeline(grid_slots(context.ranks))) {}

  void attach(LevelSources& sources) override {
    for (RankCalls& rank : ranks_) rank.count_on(sources.board());
    sources.at_no_room([this] { give_up_missing(); });
    sources.at_quiet([this] { tell_lives(); });
    travelling_.attach(sources, "waits", level_,
                       [this](const Travelling& record, unsigned from) { arrive(record, from); });
    found_.attach(sources, level_);
    sources.at_quiet([this] {
      const std::lock_guard guard(mutex_);  // what other analyzers flush arrives meanwhile
      found_.flush();
    });
    homes_.assign(ranks_.size(), sources.board().self());
    sums_.share_calls([this](const Wait& wait) {
      const std::uint64_t key = key_of(wait);
      if (travelling_.is_own(key)) return false;
      travelling_.send(key, SharedWait{wait, homes_[wait.waiter]});
      return true;
    });
    sums_.tell_waiters([this](const Wait& wait) { tell_waiter(wait); });
    sources.at_end([this] {
      const std::lock_guard guard(mutex_);
      WaitSums of_locks(static_cast<std::uint32_t>(ranks_.size()));
      of_locks.tell_waiters([this](const Wait& wait) { tell_waiter(wait); });
      locks_of_windows_.judge(of_locks);
    });
    sums_.tell_waits([this](const Wait& wait) {
      if (travelling_.is_own(path_key_)) return add_jump(path_, wait);
      travelling_.send(path_key_, jump_of(wait));
    });
    slots_.create(sources, [] { return std::make_unique<std::vector<Arrived>>(); });
    subscribe<MpiSpan>(sources, "waits", level_, kMpiEvents, slots_,
                       [this](auto& arrived, const MpiSpan& span) { add(arrived, span); });
    subscribe<ContextSpan>(sources, "waits", level_, kContexts, slots_,
                           [this](auto&, const ContextSpan& span) { add_contexts(span); });
    subscribe<DefinitionSpan>(sources, "waits", level_, kDefinitions, slots_,
                              [this](auto& arrived, const DefinitionSpan& span) { define(arrived, span); });
  }

  void shorten() override { path_.keep_latest(std::size_t{1} << 15); }

  std::vector<std::byte> partial() const override {
    ByteWriter out;
    out.put(kVersion);
    CriticalPath path = path_;
    all_sums(path).write(out);
    meetings_.write(out);
    messages_.write(out);
    contexts_.write(out);
    for (const auto& places : all_places()) out.put_array(std::span<const SampledPlace>(places));
    for (const RankTimeline* timeline : all_timelines()) timeline->write(out);
    path.write(out);
    found_.write(out);
    return out.take();
  }

  void absorb(std::span<const std::byte> partial) override {
    ByteReader in(partial, "waits");
    in.expect_version(kVersion);
    const auto count = static_cast<std::uint32_t>(ranks_.size());
    WaitSums sums(count);
    Meetings meetings;
    Messages messages;
    sums.read(in);
    meetings.read(in, count);
    messages.read(in, count);
    SampledRanks contexts(count);
    contexts.read(in);
    std::vector<std::vector<SampledPlace>> places(count);
    for (auto& each : places) each = in.get_array<SampledPlace>();
    std::vector<RankTimeline> timelines(count, RankTimeline(grid_slots(count)));
    for (auto& each : timelines) each.read(in);
    CriticalPath path(count);
    path.read(in);
    const auto found = in.get_array<RankWait>();
    in.check(std::ranges::all_of(found, [&](const RankWait& wait) { return wait.rank < count; }),
             "names a rank that is not there");
    in.expect_end();
    // What meets now goes to the calls of the waiter when the board runs again, if it does.
    found_.hold(true);
    for (const RankWait& wait : found) found_.add(homes_[wait.rank], wait);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      if (!places[rank].empty()) places_[rank] = std::move(places[rank]);
      if (timelines[rank].values().size() != 0) timelines_[rank] = std::move(timelines[rank]);
    }
    path_.merge(path);
    contexts_.merge(contexts);
    sums_.merge(sums);
    meetings_.merge(meetings, sums_);
    messages_.merge(messages, sums_);
    found_.hold(false);
  }

  void contribute(const Resolver& resolver, reports::Application& application) const override {
    CriticalPath path = path_;
    WaitSums sums = all_sums(path);
    sums.add_calls({.incomplete = meetings_.calls()});
    sums.add_ends({.incomplete = messages_.ends()});
    const auto places = all_places();
    sums.contribute(resolver, places, contexts_, application.waiting);
    contribute_path(resolver, path, places, application.waiting);
    // Else its receive may be one of those that are not known.
    if (sums.all_ends_known_but(messages_.ends()))
      contribute_unreceived(messages_, resolver, application.waiting.unreceived);
  }

 private:
  void add(std::vector<Arrived>& arrived, const MpiSpan& span);
  void add_contexts(const ContextSpan& span);
  void define(std::vector<Arrived>& arrived, const DefinitionSpan& span);
  void tell_lives();
  void give_up_missing();
  void meet(RankCalls& rank, std::span<const Arrived> arrived);
  void meet_in_windows(RankCalls& rank);
  // mutex_ is held.
  void tell_waiter(const Wait& wait) {
    constexpr double kLatest = 0x1p61;  // ns: later, and as much earlier, is no time
    if (!(std::abs(wait.call_begin) < kLatest && std::abs(wait.begin) < kLatest)) return;
    found_.add(homes_[wait.waiter],
               {wait.waiter, wait.function, wait.call_site, static_cast<std::uint32_t>(wait.pattern),
                static_cast<std::int64_t>(wait.call_begin), static_cast<std::int64_t>(wait.begin), wait.ns});
  }
  void add(const WindowPart& part);
  void arrive(const Travelling& record, unsigned from);
  void contribute_path(const Resolver& resolver, CriticalPath& jumps, std::span<const std::vector<SampledPlace>> places,
                       reports::Waiting& model) const;
  // With what is unresolved in the ranks' calls, and the locks of windows, whose waits go into the path, too.
  [[nodiscard]] WaitSums all_sums(CriticalPath& path) const {
    WaitSums sums = sums_;
    sums.tell_waiters([](const Wait&) {});
    sums.tell_waits([&path](const Wait& wait) { add_jump(path, wait); });
    for (const RankCalls& rank : ranks_) {
      sums.add_calls(rank.unresolved_calls());
      sums.add_ends(rank.unresolved_ends());
    }
    sums.add_calls({.incomplete = epochs_.alone()});
    locks_of_windows_.judge(sums);
    messages_.settle(sums);
    sums.tell_waits([](const Wait&) {});
    return sums;
  }
  static PathJump jump_of(const Wait& wait) {
    return {wait.waiter, wait.awaited, static_cast<std::int64_t>(wait.begin) + static_cast<std::int64_t>(wait.ns)};
  }
  static void add_jump(CriticalPath& path, const Wait& wait) {
    const PathJump jump = jump_of(wait);
    path.add(jump.waiter, jump.awaited, jump.time);
  }

  // A rank's are with the analyzer that has its packs.
  [[nodiscard]] std::vector<std::vector<SampledPlace>> all_places() const {
    auto places = places_;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (!ranks_[rank].places().empty()) places[rank] = ranks_[rank].places();
    }
    return places;
  }

  // A rank's is with the analyzer that has its packs.
  [[nodiscard]] std::vector<const RankTimeline*> all_timelines() const {
    std::vector<const RankTimeline*> result;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const bool is_own = ranks_[rank].timeline().values().size() != 0;
      result.push_back(is_own ? &ranks_[rank].timeline() : &timelines_[rank]);
    }
    return result;
  }

  std::string level_;
  double ticks_per_second_;
  WorkerSlots<std::vector<Arrived>> slots_;
  RankLocks locks_;
  std::vector<RankCalls> ranks_;
  SampledRanks contexts_;
  std::mutex mutex_;  // of those below; taken after a rank's
  Meetings meetings_;
  Messages messages_;
  Epochs epochs_;
  Locks locks_of_windows_;
  WaitSums sums_;
  CriticalPath path_;
  std::uint64_t path_key_;
  std::uint32_t hint_ = 0;                         // where the latest end from another analyzer went
  std::vector<std::vector<SampledPlace>> places_;  // of other analyzers
  std::vector<RankTimeline> timelines_;            // likewise
  std::vector<unsigned> homes_;                    // by rank: the analyzer that has its packs, as far as it was met
  WaitSpans found_;
  Keyed<Travelling, TravelCodec> travelling_;
};

// The lock of the rank is held until all have met: the order of a rank's messages counts.
void Waits::add(std::vector<Arrived>& arrived, const MpiSpan& span) {
  const auto& header = *span.header;
  const PackRecords pack{span.records, header.origin_tick, ns_per_tick(header, ticks_per_second_),
                         (header.flags & instrument::kFolded) != 0 || header.origin_tick == 0,
                         (header.flags & instrument::kSeveralMpiThreads) != 0};
  const auto guard = locks_.lock(header.rank);
  RankCalls& rank = ranks_[header.rank];
  Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
  rank.add(header.thread, header.order, pack, out);
  out.flush();
  meet_in_windows(rank);
}

void Waits::add_contexts(const ContextSpan& span) {
  const auto entries = entries_of(span.records);
  const auto guard = locks_.lock(span.header->rank);
  add_sums(contexts_.of(span.header->rank, span.header->thread).contexts, entries);
}

void Waits::define(std::vector<Arrived>& arrived, const DefinitionSpan& span) {
  const auto guard = locks_.lock(span.header->rank);
  RankCalls& rank = ranks_[span.header->rank];
  Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
  instrument::DefinitionReader reader(span.records);
  const auto& header = *span.header;
  const double scale = ns_per_tick(header, ticks_per_second_);
  const auto ns = [&](std::uint64_t tick) {
    return std::nearbyint(static_cast<double>(static_cast<std::int64_t>(tick - header.origin_tick)) * scale);
  };
  while (const auto definition = reader.next()) {
    if (const auto* const clock = std::get_if<instrument::DecodedClock>(&*definition)) {
      rank.set_clock_error(std::max(0.0, clock->fixed.offset_error_seconds) * 1e9);
      if (clock->fixed.end_tick != 0 && header.origin_tick != 0) rank.set_finalize(ns(clock->fixed.end_tick));
    } else if (const auto* const process = std::get_if<instrument::DecodedProcess>(&*definition)) {
      const auto& fixed = process->fixed;
      rank.set_program(fixed.first_rank, fixed.ranks);
      if (header.origin_tick != 0) rank.set_init(ns(fixed.begin_tick - fixed.init_ticks), ns(fixed.begin_tick));
    } else if (const auto* const comm = std::get_if<instrument::DecodedCommunicator>(&*definition)) {
      const auto& fixed = comm->fixed;
      const bool within_program =
          fixed.kind == instrument::CommunicatorKind::kIntra && fixed.size != 0 &&
          std::ranges::all_of(comm->ranges, [&](const auto& range) { return rank.is_of_program(range); });
      rank.define({fixed.comm, fixed.rank, {fixed.group_hash, fixed.instance, fixed.size}, within_program}, out);
    }
  }
  out.flush();
  meet_in_windows(rank);
}

void Waits::tell_lives() {
  std::vector<Arrived> arrived;
  for (RankCalls& rank : ranks_) {
    Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
    rank.tell_life(out);
    out.flush();
  }
}

// Nothing runs on the board.
void Waits::give_up_missing() {
  std::vector<Arrived> arrived;
  for (RankCalls& rank : ranks_) {
    Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
    rank.give_up_missing(out);
    out.flush();
    meet_in_windows(rank);
  }
}

void Waits::meet(RankCalls& rank, std::span<const Arrived> arrived) {
  const std::lock_guard guard(mutex_);
  const auto goes_away = [this](const auto& record) {
    const std::uint64_t key = key_of(record);
    if (travelling_.is_own(key)) return false;
    travelling_.send(key, record);
    return true;
  };
  for (const Arrived& each : arrived) {
    if (const auto* const end = std::get_if<EndOfMessage>(&each)) {
      if (!goes_away(*end)) messages_.add(end->channel, end->sends, end->part, rank.channel_hint(*end), sums_);
    } else if (const auto* const call = std::get_if<InCollective>(&each)) {
      if (!goes_away(*call)) meetings_.add(call->key, call->function, call->arrival, sums_);
    } else if (const auto* const pair = std::get_if<NeighbourPair>(&each)) {
      if (!goes_away(*pair)) meetings_.add(*pair);
    } else {
      const Wait wait = no_wait(std::get<OfNoKind>(each).part);
      sums_.add(std::span(&wait, 1));
    }
  }
}

void Waits::meet_in_windows(RankCalls& rank) {
  if (!rank.windows().has_parts()) return;
  const std::lock_guard guard(mutex_);
  for (const WindowPart& part : rank.windows().take()) {
    const std::uint64_t key = std::visit([](const auto& each) { return key_of(each); }, part);
    if (travelling_.is_own(key)) {
      add(part);
    } else {
      travelling_.send(key, part);
    }
  }
}

// mutex_ is held.
void Waits::add(const WindowPart& part) {
  if (const auto* const access = std::get_if<Access>(&part)) {
    epochs_.add(*access, sums_);
  } else if (const auto* const exposure = std::get_if<Exposure>(&part)) {
    epochs_.add(*exposure, sums_);
  } else {
    locks_of_windows_.add(std::get<LockEpoch>(part), sums_);
  }
}

// From another analyzer.
void Waits::arrive(const Travelling& record, unsigned from) {
  const auto check = [this](std::uint32_t rank) {
    if (rank >= ranks_.size()) throw BadPartial("Waits of another analyzer name a rank that is not there.");
  };
  const auto meet = [&](std::uint32_t rank) {
    check(rank);
    homes_[rank] = from;
  };
  const std::lock_guard guard(mutex_);
  if (const auto* const end = std::get_if<EndOfMessage>(&record)) {
    meet(end->part.rank);
    messages_.add(end->channel, end->sends, end->part, hint_, sums_);
  } else if (const auto* const call = std::get_if<InCollective>(&record)) {
    meet(call->arrival.part.rank);
    meetings_.add(call->key, call->function, call->arrival, sums_);
  } else if (const auto* const pair = std::get_if<NeighbourPair>(&record)) {
    meetings_.add(*pair);
  } else if (const auto* const jump = std::get_if<PathJump>(&record)) {
    check(jump->waiter);
    check(jump->awaited);
    path_.add(jump->waiter, jump->awaited, jump->time);
  } else if (const auto* const part = std::get_if<WindowPart>(&record)) {
    std::visit([&](const auto& each) { meet(each.rank); }, *part);
    add(*part);
  } else {
    const auto& [wait, home] = std::get<SharedWait>(record);
    check(wait.waiter);
    if (wait.awaited != kNobody) check(wait.awaited);
    if (home >= found_.homes()) throw BadPartial("Waits of another analyzer are of an analyzer that is not there.");
    if (wait.ns != 0) homes_[wait.waiter] = home;
    sums_.add_shared(wait);
  }
}

void Waits::contribute_path(const Resolver& resolver, CriticalPath& jumps,
                            std::span<const std::vector<SampledPlace>> places, reports::Waiting& model) const {
  const Lives lives = lives_of(resolver);
  const auto last = std::ranges::max_element(lives.ends);
  if (last == lives.ends.end() || *last == 0) return;
  PlaceNodes nodes(resolver, places, contexts_);
  const auto path = jumps.take_path(static_cast<std::uint32_t>(last - lives.ends.begin()), *last, lives.begins);
  describe_path(path, all_timelines(), nodes, resolver, model);
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(waits, "1.0", ardoise::knowledge_sources::Waits)

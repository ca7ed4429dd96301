#include "knowledge_sources/plugins/waits/world_waits.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/interface/pack_time.hpp"
#include "knowledge_sources/plugins/waits/path_profile.hpp"
#include "knowledge_sources/plugins/waits/unreceived.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 9;

std::vector<RankCalls> calls_of(std::uint32_t ranks) {
  std::vector<RankCalls> result;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) result.emplace_back(rank, grid_slots(ranks));
  return result;
}

// By rank of the world, ns on its time axis; 0: unknown.
struct Lives {
  std::vector<std::int64_t> begins, ends;  // ends: MPI_Finalize, or its last known time
};
void add_lives(const Resolver& resolver, std::uint32_t first, Lives& lives) {
  for (std::uint32_t rank = 0; rank < resolver.ranks(); ++rank) {
    const RankLedger& ledger = resolver.ledger(rank);
    const ProcessFacts& facts = resolver.process(rank);
    const auto time = [&](std::uint64_t tick) -> std::int64_t {
      if (ledger.origin_tick == 0 || tick <= ledger.origin_tick) return 0;
      return static_cast<std::int64_t>(static_cast<double>(tick - ledger.origin_tick) *
                                       resolver.seconds_per_tick(rank) * 1e9);
    };
    lives.begins[first + rank] = time(facts.process.begin_tick);
    lives.ends[first + rank] =
        time(facts.has_clock && facts.clock.end_tick != 0 ? facts.clock.end_tick : ledger.last_tick);
  }
}

std::span<const std::vector<SampledPlace>> places_of(std::span<const std::vector<SampledPlace>> by_rank,
                                                     const ProgramRanks& program) {
  return by_rank.subspan(program.first, program.ranks);
}

bool is_within(const instrument::RankRange& range, std::uint32_t ranks) {
  const std::int64_t steps = range.count == 0 ? 0 : range.count - 1;
  const std::int64_t last = range.start + steps * range.stride;
  return std::min<std::int64_t>(range.start, last) >= 0 && std::max<std::int64_t>(range.start, last) < ranks;
}

}  // namespace

WorldWaits::WorldWaits(std::uint32_t ranks)
    : programs_(ranks),
      ranks_(calls_of(ranks)),
      sums_(programs_),
      path_(ranks),
      places_(ranks),
      timelines_(ranks, RankTimeline(grid_slots(ranks))) {}

std::size_t WorldWaits::add_program(const AnalysisContext& context, LevelSources& sources) {
  if (!programs_.add({context.first_rank, context.ranks}))
    throw std::invalid_argument("the programs of its world are not in the order of their ranks");
  sums_.add_programs();
  OfProgram& program = of_programs_.emplace_back(context);
  program.found.attach(sources, context.level);
  if (programs_.size() == 1) attach(context.level, sources);
  return programs_.size() - 1;
}

void WorldWaits::attach(const std::string& level, LevelSources& sources) {
  for (RankCalls& rank : ranks_) rank.count_on(sources.board());
  path_key_ = std::hash<std::string>()(level);
  homes_.assign(ranks_.size(), sources.board().self());
  sources.at_no_room([this] { give_up_missing(); });
  sources.at_quiet([this] { add_inits_and_finalizes(); });
  travelling_.attach(sources, "waits", level,
                     [this](const Travelling& record, unsigned from) { arrive(record, from); });
  sources.at_quiet([this] {
    const std::lock_guard guard(mutex_);  // other analyzers' flushed data arrives concurrently
    for (OfProgram& program : of_programs_) program.found.flush();
  });
  sums_.share_calls([this](const Wait& wait) {
    const std::uint64_t key = key_of(wait);
    if (travelling_.is_own(key)) return false;
    travelling_.send(key, SharedWait{wait, homes_[wait.waiter]});
    return true;
  });
  sums_.on_waiter([this](const Wait& wait) { report_to_waiter(wait); });
  sources.at_end([this] {
    const std::lock_guard guard(mutex_);
    WaitSums of_locks(programs_);
    of_locks.on_waiter([this](const Wait& wait) { report_to_waiter(wait); });
    locks_of_windows_.evaluate(of_locks);
  });
  sums_.on_wait([this](const Wait& wait) {
    if (travelling_.is_own(path_key_)) return add_jump(path_, wait);
    travelling_.send(path_key_, jump_of(wait));
  });
  sums_.on_answer([this](std::uint32_t waiter, std::uint32_t awaited, double ns) {
    const PathJump jump{waiter, awaited, static_cast<std::int64_t>(ns)};
    if (travelling_.is_own(path_key_)) return path_.add(jump.waiter, jump.awaited, jump.time);
    travelling_.send(path_key_, jump);
  });
}

std::vector<std::byte> WorldWaits::partial() const {
  ByteWriter out;
  out.put(kVersion);
  CriticalPath path = path_;
  all_sums(path).write(out);
  open_collectives_.write(out);
  messages_.write(out);
  for (const auto& places : all_places()) out.put_array(std::span<const SampledPlace>(places));
  for (const RankTimeline* timeline : all_timelines()) timeline->write(out);
  path.write(out);
  for (const OfProgram& program : of_programs_) {
    program.contexts.write(out);
    program.found.write(out);
  }
  return out.take();
}

void WorldWaits::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, "waits");
  in.expect_version(kVersion);
  const std::uint32_t count = programs_.ranks();
  WaitSums sums(programs_);
  OpenCollectives open_collectives;
  Messages messages;
  sums.read(in);
  open_collectives.read(in, count);
  messages.read(in, count);
  Places places(count);
  for (auto& each : places) each = in.get_array<SampledPlace>();
  std::vector<RankTimeline> timelines(count, RankTimeline(grid_slots(count)));
  for (auto& each : timelines) each.read(in);
  CriticalPath path(count);
  path.read(in);
  std::vector<SampledRanks> contexts;
  std::vector<std::vector<RankWait>> found;
  for (std::size_t program = 0; program < programs_.size(); ++program) {
    const std::uint32_t ranks = programs_[program].ranks;
    contexts.emplace_back(ranks).read(in);
    const auto& waits = found.emplace_back(in.get_array<RankWait>());
    in.check(std::ranges::all_of(waits, [&](const RankWait& wait) { return wait.rank < ranks; }),
             "refers to a rank that does not exist");
  }
  in.expect_end();
  // Waits found now are sent to the calls of the waiter when the board runs again, if it does.
  for (OfProgram& program : of_programs_) program.found.hold(true);
  for (std::size_t program = 0; program < programs_.size(); ++program) {
    of_programs_[program].contexts.merge(contexts[program]);
    for (const RankWait& wait : found[program])
      of_programs_[program].found.add(homes_[programs_[program].first + wait.rank], wait);
  }
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (!places[rank].empty()) places_[rank] = std::move(places[rank]);
    if (timelines[rank].values().size() != 0) timelines_[rank] = std::move(timelines[rank]);
  }
  path_.merge(path);
  sums_.merge(sums);
  open_collectives_.merge(open_collectives, sums_);
  messages_.merge(messages, sums_);
  for (OfProgram& program : of_programs_) program.found.hold(false);
}

void WorldWaits::contribute(std::size_t program, const Resolver& resolver, reports::Application& application) const {
  const ProgramRanks& own = programs_[program];
  CriticalPath path = path_;
  WaitSums sums = all_sums(path);
  open_collectives_.add_open(sums);
  messages_.add_alone(sums);
  const auto places = all_places();
  sums.contribute(program, resolver, places_of(places, own), of_programs_[program].contexts, application.waiting);
  contribute_others(program, sums, resolver, places, application.waiting);
  contribute_path(program, resolver, path, places, application.waiting);
  // Otherwise its receive may be one of the unknown ones.
  if (sums.all_ends_known_but(messages_.ends()))
    contribute_unreceived(messages_, own, resolver, application.waiting.unreceived);
}

// The lock of the rank is held until all are matched: the order of a rank's messages matters.
void WorldWaits::add(std::size_t program, std::vector<Arrived>& arrived, const MpiSpan& span) {
  const auto& header = *span.header;
  const PackRecords pack{span.records, header.origin_tick, ns_per_tick(header, of_programs_[program].ticks_per_second),
                         (header.flags & instrument::kFolded) != 0 || header.origin_tick == 0,
                         (header.flags & instrument::kSeveralMpiThreads) != 0};
  const std::uint32_t number = programs_[program].first + header.rank;
  const auto guard = locks_.lock(number);
  RankCalls& rank = ranks_[number];
  Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
  rank.add(header.thread, header.order, pack, out);
  out.flush();
  add_window_parts(rank);
}

void WorldWaits::add_contexts(std::size_t program, const ContextSpan& span) {
  const auto entries = entries_of(span.records);
  const auto guard = locks_.lock(programs_[program].first + span.header->rank);
  add_sums(of_programs_[program].contexts.of(span.header->rank, span.header->thread).contexts, entries);
}

void WorldWaits::define(std::size_t program, std::vector<Arrived>& arrived, const DefinitionSpan& span) {
  const std::uint32_t number = programs_[program].first + span.header->rank;
  const auto guard = locks_.lock(number);
  RankCalls& rank = ranks_[number];
  Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
  instrument::DefinitionReader reader(span.records);
  const auto& header = *span.header;
  const double scale = ns_per_tick(header, of_programs_[program].ticks_per_second);
  const auto ns = [&](std::uint64_t tick) {
    return std::nearbyint(static_cast<double>(static_cast<std::int64_t>(tick - header.origin_tick)) * scale);
  };
  while (const auto definition = reader.next()) {
    if (const auto* const clock = std::get_if<instrument::DecodedClock>(&*definition)) {
      rank.set_clock_error(std::max(0.0, clock->fixed.offset_error_seconds) * 1e9);
      if (clock->fixed.end_tick != 0 && header.origin_tick != 0) rank.set_finalize(ns(clock->fixed.end_tick));
    } else if (const auto* const process = std::get_if<instrument::DecodedProcess>(&*definition)) {
      const auto& fixed = process->fixed;
      rank.set_world(programs_.ranks());
      if (header.origin_tick != 0) rank.set_init(ns(fixed.begin_tick - fixed.init_ticks), ns(fixed.begin_tick));
    } else if (const auto* const comm = std::get_if<instrument::DecodedCommunicator>(&*definition)) {
      const auto& fixed = comm->fixed;
      const bool within_world =
          fixed.kind == instrument::CommunicatorKind::kIntra && fixed.size != 0 &&
          std::ranges::all_of(comm->ranges, [&](const auto& range) { return is_within(range, programs_.ranks()); });
      rank.define({fixed.comm, fixed.rank, {fixed.group_hash, fixed.instance, fixed.size}, within_world}, out);
    }
  }
  out.flush();
  add_window_parts(rank);
}

void WorldWaits::add_inits_and_finalizes() {
  std::vector<Arrived> arrived;
  for (RankCalls& rank : ranks_) {
    Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
    rank.add_init_and_finalize(out);
    out.flush();
  }
}

// Nothing runs on the board.
void WorldWaits::give_up_missing() {
  std::vector<Arrived> arrived;
  for (RankCalls& rank : ranks_) {
    Arrivals out(arrived, [&](std::span<const Arrived> some) { meet(rank, some); });
    rank.give_up_missing(out);
    out.flush();
    add_window_parts(rank);
  }
}

void WorldWaits::meet(RankCalls& rank, std::span<const Arrived> arrived) {
  const std::lock_guard guard(mutex_);
  const auto is_sent_elsewhere = [this](const auto& record) {
    const std::uint64_t key = key_of(record);
    if (travelling_.is_own(key)) return false;
    travelling_.send(key, record);
    return true;
  };
  for (const Arrived& each : arrived) {
    if (const auto* const end = std::get_if<EndOfMessage>(&each)) {
      if (!is_sent_elsewhere(*end)) messages_.add(end->channel, end->sends, end->part, rank.channel_hint(*end), sums_);
    } else if (const auto* const call = std::get_if<InCollective>(&each)) {
      if (!is_sent_elsewhere(*call)) open_collectives_.add(call->key, call->function, call->arrival, sums_);
    } else if (const auto* const pair = std::get_if<NeighbourPair>(&each)) {
      if (!is_sent_elsewhere(*pair)) open_collectives_.add(*pair);
    } else {
      const Wait wait = no_wait(std::get<OfNoKind>(each).part);
      sums_.add(std::span(&wait, 1));
    }
  }
}

void WorldWaits::add_window_parts(RankCalls& rank) {
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
void WorldWaits::add(const WindowPart& part) {
  if (const auto* const access = std::get_if<Access>(&part)) {
    epochs_.add(*access, sums_);
  } else if (const auto* const exposure = std::get_if<Exposure>(&part)) {
    epochs_.add(*exposure, sums_);
  } else {
    locks_of_windows_.add(std::get<LockEpoch>(part), sums_);
  }
}

// mutex_ is held.
void WorldWaits::report_to_waiter(const Wait& wait) {
  constexpr double kLatest = 0x1p61;  // ns: times beyond ± this are invalid
  if (!(std::abs(wait.call_begin) < kLatest && std::abs(wait.begin) < kLatest)) return;
  const std::size_t program = programs_.program_of(wait.waiter);
  of_programs_[program].found.add(
      homes_[wait.waiter],
      {wait.waiter - programs_[program].first, wait.function, wait.call_site, static_cast<std::uint32_t>(wait.pattern),
       static_cast<std::int64_t>(wait.call_begin), static_cast<std::int64_t>(wait.begin), wait.ns});
}

// From another analyzer.
void WorldWaits::arrive(const Travelling& record, unsigned from) {
  const auto check = [this](std::uint32_t rank) {
    if (rank >= ranks_.size()) throw BadPartial("Waits of another analyzer refer to a rank that does not exist.");
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
    open_collectives_.add(call->key, call->function, call->arrival, sums_);
  } else if (const auto* const pair = std::get_if<NeighbourPair>(&record)) {
    open_collectives_.add(*pair);
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
    if (home >= of_programs_.front().found.homes())
      throw BadPartial("Waits of another analyzer refer to an analyzer that does not exist.");
    if (wait.ns != 0) homes_[wait.waiter] = home;
    sums_.add_shared(wait);
  }
}

// Includes unresolved operations of the ranks' calls, and locks of windows, whose waits are part of the path too.
WaitSums WorldWaits::all_sums(CriticalPath& path) const {
  WaitSums sums = sums_;
  sums.on_waiter([](const Wait&) {});
  sums.on_wait([&path](const Wait& wait) { add_jump(path, wait); });
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    sums.add_calls(rank, ranks_[rank].unresolved_calls());
    sums.add_ends(rank, ranks_[rank].unresolved_ends());
  }
  epochs_.add_alone(sums);
  locks_of_windows_.evaluate(sums);
  messages_.settle(sums);
  sums.on_wait([](const Wait&) {});
  return sums;
}

// The analyzer that has a rank's packs has its places.
WorldWaits::Places WorldWaits::all_places() const {
  auto places = places_;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank].places().empty()) places[rank] = ranks_[rank].places();
  }
  return places;
}

// The same for timelines.
std::vector<const RankTimeline*> WorldWaits::all_timelines() const {
  std::vector<const RankTimeline*> result;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const bool is_own = ranks_[rank].timeline().values().size() != 0;
    result.push_back(is_own ? &ranks_[rank].timeline() : &timelines_[rank]);
  }
  return result;
}

// One path for the world: from its last rank to end.
void WorldWaits::contribute_path(std::size_t program, const Resolver& resolver, CriticalPath& jumps,
                                 const Places& places, reports::Waiting& model) const {
  Lives lives{std::vector<std::int64_t>(programs_.ranks()), std::vector<std::int64_t>(programs_.ranks())};
  for (std::size_t number = 0; number < programs_.size(); ++number)
    add_lives(resolver_of(number, program, resolver), programs_[number].first, lives);
  const auto last = std::ranges::max_element(lives.ends);
  if (last == lives.ends.end() || *last == 0) return;
  PlaceNodes nodes(resolver, places_of(places, programs_[program]), of_programs_[program].contexts);
  const auto path = jumps.take_path(static_cast<std::uint32_t>(last - lives.ends.begin()), *last, lives.begins);
  describe_path(path, programs_[program], all_timelines(), nodes, resolver, model);
}

// The ranks of other programs that the program's ranks wait for most, and the main cause of each: its part in all waits
// for that rank.
void WorldWaits::contribute_others(std::size_t program, const WaitSums& sums, const Resolver& resolver,
                                   const Places& places, reports::Waiting& model) const {
  constexpr std::size_t kMost = 32;
  std::map<std::uint32_t, double> waited;  // seconds, by rank of the world
  for (const reports::WaitEdge& edge : model.edges_between) waited[edge.awaited] += edge.seconds;
  for (const auto& [rank, seconds] : waited) {
    reports::WaitedOther& other = model.others.emplace_back();
    other.rank = rank;
    other.seconds = seconds;
  }
  std::ranges::stable_sort(model.others, std::ranges::greater{}, &reports::WaitedOther::seconds);
  model.others.resize(std::min(model.others.size(), kMost));
  const auto caused = sums.caused_seconds();
  for (std::size_t number = 0; number < programs_.size() && !model.others.empty(); ++number) {
    if (number == program) continue;
    const ProgramRanks& ranks = programs_[number];
    const Resolver& names = resolver_of(number, program, resolver);
    const auto causes = sums.causes(number, names, places_of(places, ranks), of_programs_[number].contexts);
    for (reports::WaitedOther& other : model.others) {
      if (!ranks.has(other.rank)) continue;
      other.program = names.name();
      const auto cause = std::ranges::find(causes, other.rank - ranks.first, &reports::WaitCause::rank);
      if (cause == causes.end()) continue;
      other.cause = *cause;
      other.cause.rank = other.rank;
      const double part = other.seconds / caused[other.rank];
      other.cause.seconds *= part;
      other.cause.error *= part;
    }
  }
}

const Resolver& WorldWaits::resolver_of(std::size_t program, std::size_t own, const Resolver& resolver) const {
  const auto all = resolver.of_world();
  return program == own || program >= all.size() ? resolver : *all[program];
}

}  // namespace ardoise::knowledge_sources

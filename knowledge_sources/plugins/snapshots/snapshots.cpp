// The profile over time: iterations of a program's main loop, found automatically (main_loop.hpp), the program's marks
// (rank_marks.hpp), and intervals of time (timed_calls.hpp). The data of each rank is divided into iterations at the
// end, when all ranks are known. Contributes Application::snapshots.
//
// Records that were aggregated for lack of memory have no times: no loop is searched in such a rank, and its sums are
// spread evenly over the snapshots that they may belong to.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "instrument/format/mark_name.hpp"
#include "instrument/format/pack_reader.hpp"
#include "knowledge_sources/calls/aggregate_bytes.hpp"
#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/containers/rank_locks.hpp"
#include "knowledge_sources/interface/plugin.hpp"
#include "knowledge_sources/interface/worker_slots.hpp"
#include "knowledge_sources/matching/wait_spans.hpp"
#include "knowledge_sources/otf2/writer/trace_sink.hpp"
#include "knowledge_sources/plugins/snapshots/in_step.hpp"
#include "knowledge_sources/plugins/snapshots/loop_cuts.hpp"
#include "knowledge_sources/plugins/snapshots/pack_moments.hpp"
#include "knowledge_sources/plugins/snapshots/program_watch.hpp"
#include "knowledge_sources/plugins/snapshots/rank_series.hpp"
#include "knowledge_sources/plugins/snapshots/series_model.hpp"
#include "knowledge_sources/plugins/snapshots/sink_names.hpp"
#include "knowledge_sources/plugins/snapshots/timed_calls.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kVersion = 5;
constexpr std::size_t kMostNames = 65536;
constexpr std::size_t kMostSnapshots = 2048, kMostOfAllMarks = 8192, kFewestSnapshots = 64;

// For a program of this many ranks: some 30 MB in all, enough for some hundred iterations of as many calls and
// functions of each.
std::size_t room_of_rank(std::uint32_t ranks) {
  return std::clamp<std::size_t>((std::size_t{1} << 20) / std::max(ranks, 1u), 512, 16384);
}

// Data of a worker: the calls over time, and reusable memory for a pack.
struct OfWorker {
  TimedCalls timed;
  std::vector<Moment> room;
};

class Snapshots final : public Analysis {
 public:
  explicit Snapshots(const AnalysisContext& context)
      : level_(context.level),
        ticks_per_second_(context.ticks_per_second),
        ranks_(context.ranks),
        contexts_(context.ranks),
        counters_(context.ranks),
        conditions_(context.snapshots.conditions.begin(), context.snapshots.conditions.end()),
        partition_(context.partition),
        watch_(context),
        sink_(context.snapshots.sink),
        trace_(context.traces.sink),
        interval_(static_cast<std::int64_t>(context.snapshots.interval_seconds * 1e9)) {
    if (sink_ == nullptr) return;
    for (std::uint32_t c = 0; c < conditions_.size(); ++c)
      sink_->name_series(partition_, SeriesKind::kCondition, c, conditions_[c].text());
  }

  void attach(LevelSources& sources) override {
    watch_.attach(sources);
    board_ = &sources.board();
    sources.at_no_room([this] {
      for (const auto& rank : ranks_) {
        if (rank) rank->give_up_missing();
      }
    });
    slots_.create(sources, [] { return std::make_unique<OfWorker>(); });
    subscribe<MpiSpan>(sources, "snapshots", level_, kMpiEvents, slots_,
                       [this](OfWorker& worker, const MpiSpan& span) { add(worker, span); });
    subscribe<PosixSpan>(sources, "snapshots", level_, kPosixEvents, slots_,
                         [this](OfWorker& worker, const PosixSpan& span) { add(worker, span); });
    subscribe<AggregateSpan>(sources, "snapshots", level_, kAggregates, slots_,
                             [this](OfWorker& worker, const AggregateSpan& span) { add(worker, span); });
    subscribe<SampleSpan>(sources, "snapshots", level_, kSamples, slots_,
                          [this](OfWorker&, const SampleSpan& span) { add(span); });
    subscribe<ContextSpan>(sources, "snapshots", level_, kContexts, slots_,
                           [this](OfWorker&, const ContextSpan& span) { add(span); });
    subscribe<DefinitionSpan>(sources, "snapshots", level_, kDefinitions, slots_,
                              [this](OfWorker&, const DefinitionSpan& span) { add_names(span); });
    sources.add({"snapshots@" + level_,
                 {WaitSpans::type(level_)},
                 [this](const blackboard::Context& context, std::span<blackboard::EntryRef> entries) {
                   add_waits(slots_.of(context), entries[0]);
                 }});
  }
  std::vector<std::byte> partial() const override;
  void absorb(std::span<const std::byte> partial) override;
  void contribute(const Resolver& resolver, reports::Application& application) const override;

 private:
  [[nodiscard]] std::unique_ptr<RankSeries> make_series(std::uint32_t rank, Watch watch = {}) const {
    const std::size_t room = room_of_rank(static_cast<std::uint32_t>(ranks_.size()));
    return std::make_unique<RankSeries>(room, conditions_, SnapshotOrigin{sink_, partition_, rank}, interval_,
                                        std::move(watch));
  }
  [[nodiscard]] RankSeries& of_rank(std::uint32_t rank) {
    if (!ranks_[rank]) {
      ranks_[rank] = make_series(rank, watch_.of_rank(rank));
      if (board_ != nullptr) ranks_[rank]->count_on(*board_);
    }
    return *ranks_[rank];
  }
  void add(OfWorker& worker, const MpiSpan& span);
  void add(OfWorker& worker, const PosixSpan& span);
  void add(OfWorker& worker, const AggregateSpan& span);
  void add(const SampleSpan& span);
  void add(const ContextSpan& span);
  void add_waits(OfWorker& worker, const blackboard::EntryRef& entry);
  void add_names(const DefinitionSpan& span);
  void name_counters(std::uint32_t rank, const instrument::DecodedCounters& counters);
  void send_place(std::uint32_t rank, const instrument::Definition& definition);
  [[nodiscard]] TimedCalls timed() const;
  void contribute_loops(const Resolver& resolver, PlaceNodes& nodes, reports::Application& application) const;
  void contribute_marks(const Resolver& resolver, PlaceNodes& nodes, reports::Application& application) const;
  void contribute_complaints(reports::Application& application) const;
  void give_iterations(std::uint32_t number, const reports::SnapshotSeries& series,
                       std::span<const RankCut> cuts) const;
  void send_rounds(std::span<const RankCut> cuts) const;
  void send_ends(const Resolver& resolver, PlaceNodes& nodes) const;

  using Where = std::vector<std::vector<PlaceNodes::Where>>;  // by rank
  struct OfSeries {
    std::uint32_t call_site = 0;
    std::vector<RankCut> cuts;
  };
  using CutsBySeries = std::map<std::pair<SeriesKind, std::uint32_t>, OfSeries>;
  [[nodiscard]] CutsBySeries cuts_by_series(const Resolver& resolver, PlaceNodes& nodes, Where& where) const;

  std::string level_;
  double ticks_per_second_;
  blackboard::Blackboard* board_ = nullptr;
  std::vector<std::unique_ptr<RankSeries>> ranks_;  // nullptr: no packs of the rank arrived here
  SampledRanks contexts_;
  std::vector<std::vector<std::uint32_t>> counters_;  // by rank: the events counted with each sample, by name
  std::atomic<bool> samples_events_ = false;          // relaxed: set before the first sample
  const std::vector<Condition> conditions_;
  const std::uint32_t partition_;
  ProgramWatch watch_;
  SnapshotSink* const sink_;     // nullptr: none
  TraceSink* const trace_;       // nullptr: none
  const std::int64_t interval_;  // ns
  RankLocks locks_;
  WorkerSlots<OfWorker> slots_;
  TimedCalls absorbed_;
  std::mutex names_mutex_;
  MarkNameTable names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> modules_;  // by rank and number; for the sink
};

void Snapshots::add(OfWorker& worker, const MpiSpan& span) {
  const auto& header = *span.header;
  const auto moments = moments_of(span, PackTime(header, ticks_per_second_), worker.room);
  for (const Moment& moment : moments) {
    const bool is_call = moment.kind == Moment::Kind::kVisit || moment.kind == Moment::Kind::kCall;
    if (header.origin_tick == 0 || !is_call) continue;
    worker.timed.add(without_thread(moment.key), moment.begin, moment.begin + static_cast<std::int64_t>(moment.sums.ns),
                     moment.sums.bytes, moment.sums.calls);
  }
  const auto guard = locks_.lock(header.rank);
  RankSeries& rank = of_rank(header.rank);
  if (header.origin_tick == 0) rank.lacks_calls();
  if ((header.flags & instrument::kFolded) != 0) rank.lacks_moments();
  if (header.thread == 0) {
    rank.add_first_thread(header.order, moments);
    return watch_.send();
  }
  for (const Moment& moment : moments) rank.add_other(moment);
}

void Snapshots::add(OfWorker& worker, const PosixSpan& span) {
  const auto& header = *span.header;
  const PackTime time(header, ticks_per_second_);
  const auto guard = locks_.lock(header.rank);
  RankSeries& rank = of_rank(header.rank);
  for (const auto& record : span.records) {
    const std::uint64_t key = key_of_call(true, record.function, record.call_site, header.thread);
    const std::int64_t begin = time.at(record.begin);
    const std::uint64_t ns = time.length(record.duration);
    rank.add_other({.kind = Moment::Kind::kCall,
                    .begin = begin,
                    .key = key,
                    .sums = {header.weight, ns * header.weight, record.bytes * header.weight}});
    if (header.origin_tick != 0)
      worker.timed.add(without_thread(key), begin, begin + static_cast<std::int64_t>(ns), record.bytes * header.weight,
                       header.weight);
  }
}

// Queries that were only counted have no times either, and need none.
void Snapshots::add(OfWorker& worker, const AggregateSpan& span) {
  const auto& header = *span.header;
  const PackTime time(header, ticks_per_second_);
  const std::int64_t begin = time.at(header.first_tick), end = time.at(header.last_tick);
  const auto guard = locks_.lock(header.rank);
  RankSeries& rank = of_rank(header.rank);
  if (header.origin_tick == 0) return rank.lacks_calls();
  for (const auto& record : span.records) {
    if (record.records != 0) rank.lacks_moments();
    using instrument::AggregatePart;
    if (!is_known(record)) continue;
    const bool is_posix = record.part == AggregatePart::kPosix;
    CallSums sums{record.calls, time.length(record.ticks), record.bytes};
    if (record.part == AggregatePart::kCall) {
      sums.bytes = moved(record).size;
    } else if (record.part == AggregatePart::kCompletion && tells_bytes(record)) {
      sums = {0, 0, record.bytes};
    } else if (record.part == AggregatePart::kStarted) {
      sums = {0, 0, record.bytes};
    } else if (!is_posix) {
      continue;
    }
    const std::uint64_t key = key_of_call(is_posix, record.function, record.call_site);
    worker.timed.spread(key, begin, end, sums);
    rank.add_sums(key, begin, end, sums);
  }
}

// Samples of other threads than the first, whose samples are ordered with its calls; and counters of all threads.
void Snapshots::add(const SampleSpan& span) {
  const auto& header = *span.header;
  const bool takes_samples = header.thread != 0 && !samples_events_.load(std::memory_order_relaxed);
  if (header.origin_tick == 0 || !(takes_samples || header.counter_count != 0)) return;
  const instrument::PackView pack(&header);
  const PackTime time(header, ticks_per_second_);
  const auto guard = locks_.lock(header.rank);
  RankSeries& rank = of_rank(header.rank);
  const std::vector<std::uint32_t>& counters = counters_[header.rank];
  for (std::size_t i = 0; i < header.record_count; ++i) {
    const auto [sample, counted] = pack.sample(i);
    for (std::size_t c = 0; c < std::min(counted.size(), counters.size()); ++c) {
      if (counted[c] == 0) continue;
      rank.add_other({.kind = Moment::Kind::kCounted,
                      .begin = time.at(sample.tick),
                      .key = kIsCounted | counters[c],
                      .sums = {0, 0, counted[c] * header.weight}});
    }
    if (!takes_samples || sample.weight == 0 ||
        (sample.flags & (instrument::kInsideMpi | instrument::kInsideTool)) != 0)
      continue;
    rank.add_other({.kind = Moment::Kind::kSample,
                    .where = sample.context,
                    .begin = time.at(sample.tick),
                    .key = Moment::key_of_sample(header.thread, sample.function, sample.flags),
                    .sums = {0, std::uint64_t{sample.weight} * header.weight, 0}});
  }
}

void Snapshots::add(const ContextSpan& span) {
  const auto entries = entries_of(span.records);
  const auto guard = locks_.lock(span.header->rank);
  add_sums(contexts_.of(span.header->rank, span.header->thread).contexts, entries);
}

// One lock for all waits of a rank.
void Snapshots::add_waits(OfWorker& worker, const blackboard::EntryRef& entry) {
  const std::vector<RankWait> waits = waits_by_rank(entry);
  if (!waits.empty() && waits.back().rank >= ranks_.size())
    throw BadPartial("Waits of another analyzer refer to a rank that does not exist.");
  const auto is_time = [](const RankWait& wait) {
    return SnapshotList::is_time(wait.call_begin) && SnapshotList::is_time(wait.begin) &&
           wait.ns < static_cast<std::uint64_t>(SnapshotList::kLatest);
  };
  if (!std::ranges::all_of(waits, is_time)) throw BadPartial("Waits of another analyzer have invalid times.");
  std::unique_lock<std::mutex> guard;
  RankSeries* series = nullptr;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const RankWait& wait = waits[i];
    if (i == 0 || wait.rank != waits[i - 1].rank) {
      if (guard) guard.unlock();
      guard = locks_.lock(wait.rank);
      series = &of_rank(wait.rank);
    }
    const std::uint64_t key = key_of_call(false, wait.function, wait.call_site);
    series->add_wait(key, wait.call_begin, wait.ns);
    worker.timed.add_wait(key, wait.begin, wait.begin + static_cast<std::int64_t>(wait.ns));
  }
}

void Snapshots::add_names(const DefinitionSpan& span) {
  for (instrument::DefinitionReader reader(span.records); const auto definition = reader.next();) {
    if (const auto* const name = std::get_if<instrument::DecodedMarkName>(&*definition)) {
      const std::scoped_lock guard(names_mutex_);
      if (names_.size() < kMostNames) names_.try_emplace(name->fixed.name, name->name);
      if (sink_ != nullptr) sink_->name_mark(partition_, name->fixed.name, name->name);
    } else if (const auto* const counters = std::get_if<instrument::DecodedCounters>(&*definition)) {
      samples_events_.store(counters->fixed.unit == instrument::SampleUnit::kEvents, std::memory_order_relaxed);
      name_counters(span.header->rank, *counters);
    } else if (sink_ != nullptr) {
      send_place(span.header->rank, *definition);
    }
  }
}

// Their names are encoded like those of marks.
void Snapshots::name_counters(std::uint32_t rank, const instrument::DecodedCounters& counters) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < counters.fixed.counters; ++i) {
    const std::string_view name = counters.names[i];
    ids.push_back(instrument::mark_name_id(name));
    const std::scoped_lock guard(names_mutex_);
    if (names_.size() < kMostNames) names_.try_emplace(ids.back(), name);
    if (sink_ != nullptr) sink_->name_mark(partition_, ids.back(), name);
  }
  const auto guard = locks_.lock(rank);
  counters_[rank] = std::move(ids);
}

// A file read during the run has the module and offset of each call.
void Snapshots::send_place(std::uint32_t rank, const instrument::Definition& definition) {
  const std::scoped_lock guard(names_mutex_);
  if (const auto* const module = std::get_if<instrument::DecodedModule>(&definition)) {
    modules_.try_emplace({rank, module->fixed.module}, module->path);
  } else if (const auto* const site = std::get_if<instrument::DecodedCallSite>(&definition)) {
    const auto found = modules_.find({rank, site->fixed.module});
    if (found == modules_.end()) return;
    sink_->name_call_site(partition_, site->fixed.call_site, {found->second, site->fixed.offset, "", "", 0, {}});
  }
}

TimedCalls Snapshots::timed() const {
  TimedCalls all = absorbed_;
  for (const auto& slot : slots_) all.merge(slot->timed);
  return all;
}

std::vector<std::byte> Snapshots::partial() const {
  ByteWriter out;
  out.put(kVersion);
  timed().write(out);
  contexts_.write(out);
  out.put_count(names_.size());
  for (const auto& [id, name] : names_) {
    out.put(id);
    out.put_text(name);
  }
  out.put_count(
      static_cast<std::size_t>(std::ranges::count_if(ranks_, [](const auto& each) { return each != nullptr; })));
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank]) continue;
    out.put(rank);
    ranks_[rank]->write(out);
  }
  return out.take();
}

void Snapshots::absorb(std::span<const std::byte> partial) {
  ByteReader in(partial, "snapshots");
  in.expect_version(kVersion);
  TimedCalls timed;
  timed.read(in);
  SampledRanks contexts(static_cast<std::uint32_t>(ranks_.size()));
  contexts.read(in);
  MarkNameTable names;
  for (auto left = in.get_count(8); left != 0; --left) {
    const auto id = in.get<std::uint32_t>();
    names[id] = in.get_text();
  }
  std::map<std::uint32_t, std::unique_ptr<RankSeries>> read;
  for (auto left = in.get_count(8); left != 0; --left) {
    const auto rank = in.get<std::uint32_t>();
    in.check(rank < ranks_.size(), "refers to a rank that does not exist");
    auto& series = read[rank] = make_series(rank);
    series->read(in);
  }
  in.expect_end();
  absorbed_.merge(timed);
  contexts_.merge(contexts);
  names_.merge(names);
  // All packs of a rank go to one analyzer.
  for (auto& [rank, series] : read) ranks_[rank] = std::move(series);
}

void Snapshots::contribute_loops(const Resolver& resolver, PlaceNodes& nodes, reports::Application& application) const {
  std::uint32_t number = 0;
  for (const LoopCuts& loop : cut_by_loops(ranks_, nodes)) {
    const Location& place = resolver.call_site(place_of_key(loop.head));
    reports::SnapshotSeries series;
    series.trigger = trigger_of(SeriesKind::kIteration);
    if (number != 0) series.name = "inner";
    series.function = function_info(instrument::PackClass::kMpi, function_of_key(loop.head)).name;
    series.symbol = place.symbol;
    series.source_file = place.source_file;
    series.line = place.line;
    series.call_sites = loop.sites;
    series.regular = loop.regular;
    if (number == 0 && trace_ != nullptr) send_rounds(loop.cuts);
    give_iterations(number++, series, loop.cuts);
    fill_series(loop.cuts, false, resolver, nodes.tree(), names_, application.ranks, kMostSnapshots, series);
    application.snapshots.series.push_back(std::move(series));
  }
}

void Snapshots::send_rounds(std::span<const RankCut> cuts) const {
  for (const RankCut& cut : cuts) {
    std::uint64_t first = 1;
    for (const Snapshot& snapshot : cut.snapshots) {
      trace_->take_rounds(partition_, {cut.rank, first, snapshot.rounds, snapshot.begin, snapshot.end});
      first += snapshot.rounds;
    }
  }
}

void Snapshots::give_iterations(std::uint32_t number, const reports::SnapshotSeries& series,
                                std::span<const RankCut> cuts) const {
  if (sink_ == nullptr) return;
  sink_->name_series(partition_, SeriesKind::kIteration, number, title_of_loop(series));
  for (const RankCut& cut : cuts) {
    std::uint64_t index = 0;
    for (Snapshot snapshot : cut.snapshots) {
      snapshot.number = static_cast<std::int64_t>(index + snapshot.rounds);
      sink_->take({partition_, cut.rank, SeriesKind::kIteration, number}, {index}, snapshot, cut.keys, cut.names);
      index += snapshot.rounds;
    }
  }
}

// End of a rank's run, in ns on the program's time axis.
std::int64_t end_of_rank(const Resolver& resolver, std::uint32_t rank) {
  const RankLedger& ledger = resolver.ledger(rank);
  const ProcessFacts& facts = resolver.process(rank);
  const std::uint64_t end = std::max(facts.has_clock ? facts.clock.end_tick : 0, ledger.last_tick);
  const auto ticks = static_cast<double>(end - std::min(end, ledger.origin_tick));
  return static_cast<std::int64_t>(ticks * 1e9 * resolver.seconds_per_tick(rank));
}

// Remainders after the last snapshots, and the places of all calls.
void Snapshots::send_ends(const Resolver& resolver, PlaceNodes& nodes) const {
  SinkNames names(*sink_, partition_, resolver, nodes.tree());
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank]) continue;
    const RankMarks& marks = ranks_[rank]->marks();
    marks.send_rest(end_of_rank(resolver, rank), !ranks_[rank]->is_whole(), !ranks_[rank]->has_moments());
    const auto where = nodes.of_rank(rank);
    std::vector<std::uint64_t> keys = keys_of(ranks_[rank]->series());
    keys.insert(keys.end(), marks.keys().begin(), marks.keys().end());
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    names.give(rank, keys, where);
  }
}

const char* function_of(SeriesKind kind) {
  switch (kind) {
    case SeriesKind::kSnapshot:
      return "ardoise_snapshot";
    case SeriesKind::kPhase:
      return "ardoise_phase_begin";
    case SeriesKind::kPcontrol:
      return "MPI_Pcontrol";
    case SeriesKind::kCondition:
    case SeriesKind::kTimer:
    case SeriesKind::kIteration:
      break;
  }
  return "";
}

// The series of all ranks with this kind and name.
Snapshots::CutsBySeries Snapshots::cuts_by_series(const Resolver& resolver, PlaceNodes& nodes, Where& where) const {
  CutsBySeries all;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank] || !ranks_[rank]->is_whole()) continue;
    const RankMarks& marks = ranks_[rank]->marks();
    if (marks.is_empty()) continue;
    where[rank] = nodes.of_rank(rank);
    for (const RankMarks::Series& series : marks.series()) {
      if (series.kind == SeriesKind::kTimer) continue;
      RankCut cut{rank, marks.snapshots_of(series, end_of_rank(resolver, rank)), marks.keys(), marks.names(),
                  where[rank]};
      if (cut.snapshots.empty()) continue;
      auto& [call_site, cuts] = all[{series.kind, series.name}];
      if (cuts.empty()) call_site = series.call_site;
      cuts.push_back(std::move(cut));
    }
  }
  return all;
}

void Snapshots::contribute_marks(const Resolver& resolver, PlaceNodes& nodes, reports::Application& application) const {
  Where where(ranks_.size());
  CutsBySeries all = cuts_by_series(resolver, nodes, where);
  const std::size_t most_snapshots =
      std::clamp(kMostOfAllMarks / std::max<std::size_t>(all.size(), 1), kFewestSnapshots, kMostSnapshots);
  for (auto& [key, of_series] : all) {
    auto& [call_site, cuts] = of_series;
    std::vector<std::uint64_t> rounds;
    for (const RankCut& cut : cuts) rounds.push_back(cut.rounds());
    const std::uint64_t most = mode_of(rounds);
    std::erase_if(cuts, [&](const RankCut& cut) { return !are_about_as_many(cut.rounds(), most); });
    const auto [kind, name] = key;
    reports::SnapshotSeries& series = application.snapshots.series.emplace_back();
    series.trigger = trigger_of(kind);
    if (kind == SeriesKind::kCondition) series.name = conditions_[name].text();
    if (kind == SeriesKind::kSnapshot || kind == SeriesKind::kPhase) series.name = name_of_mark(names_, name);
    const Location& place = resolver.call_site(call_site);
    series.function = function_of(kind);
    series.symbol = place.symbol;
    series.source_file = place.source_file;
    series.line = place.line;
    fill_series(cuts, RankMarks::is_cut(kind), resolver, nodes.tree(), names_, application.ranks, most_snapshots,
                series);
  }
  // Phases, which are contiguous, by time; their names have no order.
  auto& all_series = application.snapshots.series;
  const auto is_phase = [](const reports::SnapshotSeries& series) { return series.trigger == "phase"; };
  const auto begin = std::ranges::find_if(all_series, is_phase),
             end = std::ranges::find_if_not(begin, all_series.end(), is_phase);
  std::ranges::stable_sort(begin, end, std::ranges::greater{},
                           [](const auto& series) { return sum_of(series.seconds); });
}

// Calls in no series.
void Snapshots::contribute_complaints(reports::Application& application) const {
  reports::Snapshots& snapshots = application.snapshots;
  for (const auto& rank : ranks_) {
    if (!rank) continue;
    const auto complaints = rank->marks().complaints();
    snapshots.ranks_with_gaps += rank->is_whole() ? 0 : 1;
    snapshots.ranks_with_sums += rank->has_moments() ? 0 : 1;
    snapshots.unfinished_phases += complaints.unfinished_phases;
    snapshots.unbegun_phases += complaints.unbegun_phases;
    snapshots.further_marks += complaints.further_series;
    snapshots.marks_of_other_threads += rank->marks_of_other_threads();
  }
  for (std::uint32_t condition = 0; condition < conditions_.size(); ++condition) {
    const auto has_held = [&](const auto& rank) { return rank && rank->has_held(condition); };
    if (std::ranges::none_of(ranks_, has_held))
      application.quality.notices.push_back(
          fmt::format("The condition \"{}\" (--snapshot-when) never became true.", conditions_[condition].text()));
  }
}

void Snapshots::contribute(const Resolver& resolver, reports::Application& application) const {
  std::vector<std::vector<SampledPlace>> places(ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank]) places[rank] = ranks_[rank]->places();
  }
  PlaceNodes nodes(resolver, places, contexts_);
  contribute_complaints(application);
  contribute_marks(resolver, nodes, application);
  contribute_loops(resolver, nodes, application);
  if (sink_ != nullptr) send_ends(resolver, nodes);
  if (auto series = series_of(timed(), resolver, application))
    application.snapshots.series.push_back(std::move(*series));
}

}  // namespace
}  // namespace ardoise::knowledge_sources

ARDOISE_ANALYSIS(snapshots, "2.0", ardoise::knowledge_sources::Snapshots)
